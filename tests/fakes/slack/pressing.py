"""Buttons, radio buttons, checkboxes, menus and text fields, in messages, modals and the home tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fakes.slack.errors import ClientRefused
from tests.fakes.slack.interactions import Interacting, Interaction, named
from tests.fakes.slack.model import INITIAL, LISTS, STATE, Json, Message, View, elements_of, state_of


class Pressing(Interacting):
    @property
    def home(self) -> View | None:
        """The home tab that the app has published for this person."""
        found: View | None = self.world.homes.get((self.world.dm(self).team.id, self.id))
        return found

    # -- elements ------------------------------------------------------------------------------------------------

    def press(
        self,
        what: str,
        on: Message | View | None = None,
        *,
        confirm: bool = True,
        screen: list[Json] | None = None,
    ) -> Interaction | None:
        """A button, by its label, action_id or value; by default on the newest thing that has one.

        `screen`: the blocks that this person's screen still shows of `on`, from before an update.
        """

        def meant(block: Json, element: Json) -> bool:
            labels = (element.get("action_id"), element.get("value"), element.get("text", {}).get("text"))
            return element["type"] == "button" and what in labels

        place, block, button = self._find(meant, on, f"no button {what!r}", screen)
        if "confirm" in button and not confirm:
            return None
        action = {"text": button["text"]} | {k: button[k] for k in ("value", "style", "url") if k in button}
        return self._act(place, block, button, action)

    def choose(self, *options: str, of: str | None = None, on: Message | View | None = None) -> Interaction | None:
        """In radio buttons, checkboxes, selects or an overflow menu, by label or value. `of`: action_id or block_id.

        Checkboxes and multi-selects get exactly these. In an input block nothing is sent unless it dispatches.
        """

        def meant(block: Json, element: Json) -> bool:
            return self._is(block, element, of) and bool(options) and all(_option(element, o) for o in options)

        place, block, element = self._find(meant, on, f"no choice {options} of {of!r}")
        chosen = [_option(element, option) for option in options]
        key = STATE.get(element["type"], "selected_option")
        value: Any = chosen if key in LISTS else chosen[0]
        return self._set(place, block, element, key, value)

    def pick(self, *ids: Any, of: str | None = None, on: Message | View | None = None) -> Interaction | None:
        """People, channels, a date or a time in a picker."""
        kinds = {k for k, key in STATE.items() if key.startswith("selected_") and "option" not in key}
        place, block, element = self._find(
            lambda b, e: e["type"] in kinds and self._is(b, e, of), on, f"no picker {of!r}"
        )
        key = STATE[element["type"]]
        given = [one if isinstance(one, str) else one.id for one in ids]
        return self._set(place, block, element, key, given if key in LISTS else given[0])

    def type_in(self, text: str, of: str | None = None, on: Message | View | None = None) -> Interaction | None:
        """Into a text field; by default the first of the modal, else of the newest message that has one."""
        place, block, element = self._find(
            lambda b, e: STATE.get(e["type"]) == "value" and self._is(b, e, of), on, f"no text field {of!r}"
        )
        most = element.get("max_length", 3000)
        if len(text) > most:
            raise ClientRefused(f"the field takes {most} characters")
        return self._set(place, block, element, "value", text or None)

    def _set(self, place: Message | View, block: Json, element: Json, key: str, value: Any) -> Interaction | None:
        kind = element["type"]
        if kind in STATE:
            chosen = place.chosen if isinstance(place, View) else place.chosen.setdefault(self.id, {})
            chosen.setdefault(block["block_id"], {})[element["action_id"]] = {"type": kind, key: value}
        if block["type"] == "input" and not block.get("dispatch_action"):
            return None
        initial = {INITIAL[kind]: element[INITIAL[kind]]} if INITIAL.get(kind) in element else {}
        return self._act(place, block, element, {key: value} | initial)

    def _act(self, place: Message | View, block: Json, element: Json, action: Json) -> Interaction:
        at = self.world.ts()
        made = {"action_id": element["action_id"], "block_id": block["block_id"], "type": element["type"]}
        payload: Json = {"type": "block_actions", "actions": [made | action | {"action_ts": at}]}
        if isinstance(place, View):
            payload |= {"container": {"type": "view", "view_id": place.id}, "view": place.json()}
            return self._interact(place.team, payload, view=place)
        if place.channel.archived or place.channel.deleted:
            raise ClientRefused(f"nothing can be pressed in {place.channel}: it is archived or deleted")
        container: Json = {"type": "message", "message_ts": place.ts, "channel_id": place.channel.id}
        container |= {"is_ephemeral": place.only_to is not None}
        container |= {"thread_ts": place.thread_ts} if place.thread_ts else {}
        payload |= {"container": container, "channel": named(place.channel)}
        payload |= {"state": {"values": state_of(place.blocks, place.chosen.get(self.id, {}))}}
        if place.only_to is None:
            payload["message"] = place.json()
        return self._interact(place.channel.team, payload, link=self._link(place.channel, place))

    def _find(
        self,
        meant: Callable[[Json, Json], bool],
        on: Message | View | None,
        problem: str,
        screen: list[Json] | None = None,
    ) -> tuple[Message | View, Json, Json]:
        for place in [on] if on is not None else self._reachable():
            blocks = place.body["blocks"] if isinstance(place, View) else place.blocks
            for block, element in elements_of(screen or blocks):
                if meant(block, element):
                    if isinstance(place, View) and not place.open:
                        raise ClientRefused("the modal is closed")
                    return place, block, element
        raise ClientRefused(f"{self.name} sees {problem}")

    def _reachable(self) -> list[Message | View]:
        """The modal in front, else messages, the newest first, else the home tab."""
        if self.modals:
            return [self.modals[-1]]
        messages = [
            message
            for team in self.world.teams.values()
            for channel in team.channels.values()
            if self.id in channel.members
            for message in channel.messages.values()
            if not message.gone and message.only_to in (None, self.id)
        ]
        home = self.home
        return [*sorted(messages, key=lambda m: m.ts, reverse=True), *([home] if home else [])]

    @staticmethod
    def _is(block: Json, element: Json, of: str | None) -> bool:
        label = (block.get("label") or block.get("text") or {}).get("text")
        return of is None or of in (element["action_id"], block["block_id"], label)


def _option(element: Json, wanted: str) -> Json | None:
    groups = [element.get("options", []), *(group["options"] for group in element.get("option_groups", []))]
    for option in [option for group in groups for option in group]:
        if wanted in (option["value"], option["text"]["text"]):
            return {key: option[key] for key in ("text", "value", "description") if key in option}
    return None
