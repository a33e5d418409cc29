"""Modals, the home tab, shortcuts and commands."""

from __future__ import annotations

from typing import Any

from tests.fakes.slack.errors import ClientRefused
from tests.fakes.slack.interactions import TROUBLE, Interaction, Link, named
from tests.fakes.slack.model import Channel, Json, Message, View, elements_of
from tests.fakes.slack.outgoing import Delivery, Outcome
from tests.fakes.slack.pressing import Pressing
from tests.fakes.slack.table import RESERVED


class Acting(Pressing):
    @property
    def modal(self) -> View:
        """The modal in front of the person."""
        if not self.modals:
            raise ClientRefused(f"{self.name} has no modal open")
        return self.modals[-1]

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
        payload = {"type": "view_submission", "view": view.json(), "response_urls": self._response_urls(view, values)}
        made = self._interact(view.team, payload, view=view)
        made.then = lambda outcome: self._submitted(view, outcome)
        return made

    def _response_urls(self, view: View, values: Json) -> list[Json]:
        """For `response_url_enabled` pickers: the only way from a global shortcut into a channel."""
        urls = []
        for block, element in elements_of(view.body["blocks"]):
            if element.get("response_url_enabled"):
                state = values[block["block_id"]][element["action_id"]]
                channel = view.team.channels[next(v for k, v in state.items() if k != "type")]
                spot = {"block_id": block["block_id"], "action_id": element["action_id"], "channel_id": channel.id}
                urls.append(spot | {"response_url": self._link(channel, None).url})
        return urls

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
            "channel": named(on.channel),
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
        place, team = named(channel), channel.team
        words = self.world.escaped(text, team) if self.world.app.commands[name] else text
        payload = {"token": self.world.app.verification, "team_id": team.id, "team_domain": team.domain}
        payload |= {"enterprise_id": team.enterprise, "enterprise_name": "Org"} if team.enterprise else {}
        payload |= {"channel_id": place["id"], "channel_name": place["name"], "user_id": self.id}
        payload |= {"user_name": self.handle, "command": name, "text": words, "api_app_id": self.world.app.id}
        payload |= {
            "is_enterprise_install": "true" if team.app and team.app.org_wide else "false",
            "response_url": link.url,
        }
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
