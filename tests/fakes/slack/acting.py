"""Presses, choices, modals, shortcuts and commands: what becomes an interaction payload.

Shapes: docs.slack.dev/reference/interaction-payloads. Each is sent once, with a trigger that lives three seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.fakes.slack.errors import ClientRefused
from tests.fakes.slack.model import INITIAL, LISTS, STATE, Channel, Json, Message, Team, View, elements_of, state_of
from tests.fakes.slack.outgoing import Delivery, Outcome
from tests.fakes.slack.table import RESERVED

TROUBLE = "We had some trouble connecting. Try again?"


@dataclass(eq=False)
class Trigger:
    id: str
    team: Team
    person: Any
    at: datetime
    used: bool = False


@dataclass(eq=False)
class Link:
    """A response_url."""

    url: str
    channel: Channel
    person: Any
    at: datetime
    message: Message | None = None
    uses: int = 0


@dataclass(eq=False)
class Interaction:
    """`trouble` is what the person sees when the app did not answer in time; `shown` the app's words to a command."""

    payload: Json
    delivery: Delivery
    trigger: Trigger
    link: Link | None = None
    trouble: str = ""
    view: View | None = None
    then: Callable[[Outcome], None] = field(default=lambda outcome: None)

    @property
    def answer(self) -> Any:
        return self.delivery.answer

    @property
    def errors(self) -> dict[str, str]:
        """Under the fields of the modal, by block_id."""
        return self.view.errors if self.view else {}


class Acting:
    world: Any
    id: str
    name: str
    team: Team
    modals: list[View]

    @property
    def modal(self) -> View:
        """The modal in front of the person."""
        if not self.modals:
            raise ClientRefused(f"{self.name} has no modal open")
        return self.modals[-1]

    @property
    def home(self) -> View | None:
        found: View | None = self.world.homes.get((self.world.dm(self).team.id, self.id))
        return found

    # -- elements ------------------------------------------------------------------------------------------------

    def press(self, what: str, on: Message | View | None = None, *, confirm: bool = True) -> Interaction | None:
        """A button, by its label, action_id or value; by default on the newest thing that has one."""

        def meant(block: Json, element: Json) -> bool:
            named = (element.get("action_id"), element.get("value"), element.get("text", {}).get("text"))
            return element["type"] == "button" and what in named

        place, block, button = self._find(meant, on, f"no button {what!r}")
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
        container = {"type": "message", "message_ts": place.ts, "channel_id": place.channel.id}
        container |= {"is_ephemeral": place.only_to is not None}
        container |= {"thread_ts": place.thread_ts} if place.thread_ts else {}
        payload |= {"container": container, "channel": _named(place.channel)}
        payload |= {"state": {"values": state_of(place.blocks, place.chosen.get(self.id, {}))}}
        if place.only_to is None:
            payload["message"] = place.json()
        return self._interact(place.channel.team, payload, link=self._link(place.channel, place))

    def _find(
        self, meant: Callable[[Json, Json], bool], on: Message | View | None, problem: str
    ) -> tuple[Message | View, Json, Json]:
        for place in [on] if on is not None else self._reachable():
            blocks = place.body["blocks"] if isinstance(place, View) else place.blocks
            for block, element in elements_of(blocks):
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

    # -- modals and home -----------------------------------------------------------------------------------------

    def submit(self, view: View | None = None) -> Interaction:
        """Raises ClientRefused for what the client checks itself: required fields, lengths."""
        view = view or self.modal
        if not view.body.get("submit"):
            raise ClientRefused("the modal has no submit button")
        values = view.values()
        for block, element in elements_of(view.body["blocks"]):
            if block["type"] == "input":
                given = next(v for k, v in values[block["block_id"]][element["action_id"]].items() if k != "type")
                if not given and not block.get("optional"):
                    raise ClientRefused(f"Please complete this required field: {block['label']['text']}")
                if given and len(given) < element.get("min_length", 0):
                    raise ClientRefused(f"{block['label']['text']}: at least {element['min_length']} characters")
        view.errors, view.trouble = {}, ""
        payload = {"type": "view_submission", "view": view.json(), "response_urls": []}
        made = self._interact(view.team, payload, view=view)
        made.then = lambda outcome: self._submitted(view, outcome)
        return made

    def _submitted(self, view: View, outcome: Outcome) -> None:
        answer = outcome.answer or {}
        action = answer.get("response_action") if isinstance(answer, dict) else "?"
        if not outcome.ok:
            view.trouble = TROUBLE
        elif action is None:
            self._shut(view)
        elif action == "clear":
            for one in list(self.modals):
                self._shut(one)
        elif action == "errors":
            inputs = {block["block_id"] for block in view.body["blocks"] if block["type"] == "input"}
            if not answer.get("errors") or answer["errors"].keys() - inputs:
                self.world.complain(f"errors for blocks that are no inputs of the modal: {answer.get('errors')}")
                view.trouble = TROUBLE
            view.errors = dict(answer.get("errors", {}))
        elif action in {"update", "push"}:
            body = self.world.check_view(answer.get("view"), "modal", view if action == "update" else None)
            if action == "update":
                self.world.rebuild(view, body)
            else:
                self.world.show(view.team.app, self, body, view)
        else:
            self.world.complain(f"an answer to view_submission that Slack does not know: {answer!r}")
            view.trouble = TROUBLE

    def close(self, view: View | None = None, *, whole: bool = False) -> Interaction | None:
        """The cross, or Escape. `whole`: the stack at once."""
        view = view or self.modal
        told = view.body.get("notify_on_close")
        payload = {"type": "view_closed", "view": view.json(), "is_cleared": whole}
        for one in list(self.modals) if whole else [view]:
            self._shut(one)
        return self._interact(view.team, payload, trigger=False) if told else None

    def _shut(self, view: View) -> None:
        view.open = False
        if view in self.modals:
            self.modals.remove(view)

    def open_home(self, tab: str = "home") -> Delivery | None:
        if tab == "home" and not self.world.app.home_tab:
            raise ClientRefused("the app has no Home tab")
        channel = self.world.dm(self)
        home = self.home
        event = {"type": "app_home_opened", "user": self.id, "channel": channel.id, "tab": tab}
        event |= {"view": home.json()} if home and tab == "home" else {}
        told: Delivery | None = self.world.tell(channel.team, "app_home_opened", event)
        return told

    # -- shortcuts and commands ----------------------------------------------------------------------------------

    def shortcut(self, callback_id: str, on: Message | None = None) -> Interaction:
        """With a message: from its menu, and the bot need not be in the channel. Without: a global one."""
        kind = "message" if on is not None else "global"
        if self.world.app.shortcuts.get(callback_id) != kind:
            raise ClientRefused(f"the app has no {kind} shortcut {callback_id!r}: {self.world.app.shortcuts}")
        payload: Json = {"callback_id": callback_id, "action_ts": self.world.ts()}
        if on is None:
            return self._interact(self.world.dm(self).team, payload | {"type": "shortcut"})
        if on.only_to:
            raise ClientRefused("ephemeral messages have no shortcuts")
        payload |= {
            "type": "message_action",
            "message_ts": on.ts,
            "message": on.json(),
            "channel": _named(on.channel),
        }
        return self._interact(on.channel.team, payload, link=self._link(on.channel, None))

    def command(self, name: str, text: str = "", to: Channel | None = None, *, thread: Any = None) -> Interaction:
        channel = to or self.world.dm(self)
        if thread is not None:
            raise ClientRefused(f"{name} is not supported in threads. Sorry!")
        if name in RESERVED:
            raise ClientRefused(f"{name} is Slack's own command")
        if name not in self.world.app.commands:
            raise ClientRefused(f"{name} is not a valid command")
        if self.id not in channel.members or channel.archived:
            raise ClientRefused(f"{self.name} cannot write in {channel}")
        link = self._link(channel, None)
        named, team = _named(channel), channel.team
        words = self.world.escaped(text, team) if self.world.app.commands[name] else text
        payload = {"token": self.world.app.verification, "team_id": team.id, "team_domain": team.domain}
        payload |= {"channel_id": named["id"], "channel_name": named["name"], "user_id": self.id}
        payload |= {"user_name": self.handle, "command": name, "text": words, "api_app_id": self.world.app.id}
        payload |= {"is_enterprise_install": "true" if team.app.org_wide else "false", "response_url": link.url}
        made = self._send("slash_commands", team, payload, link)
        made.then = lambda outcome: self._commanded(made, channel, outcome)
        return made

    def _commanded(self, made: Interaction, channel: Channel, outcome: Outcome) -> None:
        if not outcome.ok:
            made.trouble = f'{made.payload["command"]} failed with the error "operation_timeout"'
        elif outcome.answer:
            answer = {"text": outcome.answer} if isinstance(outcome.answer, str) else outcome.answer
            free = Link("", channel, self, self.world.clock.now())
            self.world.respond(free, {"response_type": "ephemeral"} | answer)

    # -- sending -------------------------------------------------------------------------------------------------

    handle: Any

    def _link(self, channel: Channel, message: Message | None) -> Link:
        number = self.world.number()
        made = Link(f"{self.world.origin}/response/{number}", channel, self, self.world.clock.now(), message)
        self.world.links[str(number)] = made
        return made

    def _interact(
        self, team: Team, payload: Json, *, link: Link | None = None, view: View | None = None, trigger: bool = True
    ) -> Interaction:
        if not self.world.app.interactivity:
            raise ClientRefused("This app is not configured to handle interactive responses.")
        who = {"id": self.id, "username": self.handle, "name": self.handle, "team_id": self.team.id}
        app = team.app
        assert app is not None
        enterprise = {"id": team.enterprise, "name": "Org"} if team.enterprise else None
        head = {"type": payload["type"], "user": who, "api_app_id": self.world.app.id, "enterprise": enterprise}
        head |= {"token": self.world.app.verification, "team": None if app.org_wide else team.json()}
        head |= {"is_enterprise_install": app.org_wide}
        more = {"response_url": link.url} if link else {}
        return self._send("interactive", team, head | payload | more, link, view=view, trigger=trigger)

    def _send(
        self,
        kind: Any,
        team: Team,
        payload: Json,
        link: Link | None,
        *,
        view: View | None = None,
        trigger: bool = True,
    ) -> Interaction:
        number, now = self.world.number(), self.world.clock.now()
        given = Trigger(f"{number}.{int(now.timestamp())}.fake", team, self, now)
        if trigger:
            payload = payload | {"trigger_id": given.id}
            self.world.triggers[given.id] = given
        delivery = Delivery(kind, payload)
        made = Interaction(payload, delivery, given, link, view=view)

        def starts() -> None:
            given.at = self.world.clock.now()  # the person's click and its way to the app are one moment

        def done(outcome: Outcome) -> None:
            made.trouble = "" if outcome.ok else TROUBLE
            if (
                outcome.ok
                and outcome.answer
                and payload.get("type") in {"block_actions", "message_action", "shortcut"}
            ):
                self.world.complain(f"an answer to {payload['type']} that nobody reads: {outcome.answer!r}")
            made.then(outcome)

        delivery.starts, delivery.done = starts, done
        self.world.outgoing.add(delivery)
        return made


def _named(channel: Channel) -> Json:
    """Private places do not tell their names."""
    hidden = {"im": "directmessage", "group": "privategroup"}
    return {"id": channel.id, "name": hidden.get(channel.kind, channel.name)}


def _option(element: Json, wanted: str) -> Json | None:
    groups = [element.get("options", []), *(group["options"] for group in element.get("option_groups", []))]
    for option in [option for group in groups for option in group]:
        if wanted in (option["value"], option["text"]["text"]):
            return {key: option[key] for key in ("text", "value", "description") if key in option}
    return None
