"""An interaction: its payload on the way to the app, its trigger, its response_url, and what came back.

Shapes: docs.slack.dev/reference/interaction-payloads. Each is sent once, with a trigger that lives three seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.fakes.slack.errors import ClientRefused, Refusal
from tests.fakes.slack.model import Channel, Json, Message, Team, View
from tests.fakes.slack.outgoing import Delivery, Outcome

TROUBLE = "We had some trouble connecting. Try again?"


@dataclass(eq=False)
class Trigger:
    id: str
    team: Team
    person: Any
    at: datetime
    channel: Channel | None = None  # where the person was
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


class Interacting:
    world: Any
    id: str
    name: str
    team: Team
    deleted: bool
    handle: Any
    modals: list[View]

    # -- sending -------------------------------------------------------------------------------------------------

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
        if app is None or app.dead:
            raise ClientRefused("the app is no longer installed")
        enterprise = {"id": team.enterprise, "name": "Org"} if team.enterprise else None
        head = {"type": payload["type"], "user": who, "api_app_id": self.world.app.id, "enterprise": enterprise}
        head |= {"token": self.world.app.verification, "team": None if app.org_wide else team.json()}
        head |= {"is_enterprise_install": app.org_wide}
        if view is not None and self.team is not team:  # Slack Connect: the view alone names the app's workspace
            head["team"] = self.team.json()  # (slack-bolt's extract_team_id), and nothing names its organisation
            head["enterprise"] = {"id": self.team.enterprise, "name": "Org"} if self.team.enterprise else None
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
        if self.deleted:
            raise ClientRefused(f"{self.name} is deactivated")
        number, now = self.world.number(), self.world.clock.now()
        given = Trigger(f"{number}.{int(now.timestamp())}.fake", team, self, now, link.channel if link else None)
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
            try:
                made.then(outcome)
            except Refusal as refusal:  # an answer with a view or blocks that Slack does not take
                made.trouble = TROUBLE
                self.world.complain(f"the answer to {payload.get('type', payload.get('command'))}: {refusal}")
                if view is not None:
                    view.trouble = TROUBLE

        delivery.starts, delivery.done = starts, done
        self.world.outgoing.add(delivery)
        return made


def named(channel: Channel) -> Json:
    """Private places do not tell their names."""
    hidden = {"im": "directmessage", "group": "privategroup"}
    return {"id": channel.id, "name": hidden.get(channel.kind, channel.name)}
