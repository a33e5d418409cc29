"""One payload, whichever way it came: read, completed from the store and from Slack, handled.

When `take` returns, what the payload says is committed, or there is nothing to commit; only then is it acknowledged.
What it returns is the body of the acknowledgement: empty, or the mistakes of a form.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError

from adapters.parked import shelf
from adapters.slack import acts, codec
from adapters.slack.belonging import Belonging
from adapters.slack.directory import Directory
from adapters.slack.drafts import Drafts
from adapters.slack.errors import code_of, named
from adapters.slack.filled import form_errors
from adapters.slack.homes import Homes
from adapters.slack.lines import Lines
from adapters.slack.modal import REQUEST_FORM, ROUND_FORM, request_form, round_form
from adapters.slack.places import PLATFORM, Known, address_of
from adapters.slack.reach import LOST as LOST_PLACES
from adapters.slack.reach import RESTORED, Reach
from adapters.slack.roots import Roots
from adapters.slack.transport import EXPIRED, SlackTransport
from adapters.slack.workspaces import Workspace, Workspaces
from bot.core.effects import Reply
from bot.core.events import (
    ButtonPressed,
    Envelope,
    FormSubmitted,
    Ignored,
    MessageDeleted,
    MessageReceived,
)
from bot.ports import Handled, Store, Undeliverable
from bot.runner import Runner

PARKED = shelf(PLATFORM)
MOST_PARKED = 200  # unreadable payloads kept for a look; more are only counted
LONGEST_PARKED = 20_000  # characters
LEAVING = ("app_uninstalled", "tokens_revoked")
GOODBYE = 5.0  # seconds that notices under way get at the end
LOST = "I can't tell where this button belongs; nothing is recorded. Please answer in the thread itself."
UNREAD = "I could not read this form; nothing of it is recorded. Please answer in the thread itself."
ELSEWHERE = (
    "I am not set up for this workspace, so nothing is recorded. "
    "Whoever runs me has to install the app here and give me its token."
)
EMPTY = "Please write what you need."
NO_PLACE = "Please choose a channel: I can't write to you directly."
NO_WORDS = "I find no words in that message. Mention me and say what you need."
NOT_HERE = "I'm not in this channel. Invite me with /invite @askfirst, then do that again."

Ack = dict[str, Any]
Body = Mapping[str, Any]
Also = Callable[[Workspace, Body], Awaitable[None]]  # what else is done about an event

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways in that the operator has switched on."""

    reactions: frozenset[str] = frozenset()  # emoji names
    every: frozenset[str] = frozenset()  # channels in which every message asks for an intake
    apps: frozenset[str] = frozenset()  # apps that may speak for people


@dataclass(slots=True)
class Intake:
    workspaces: Workspaces
    directory: Directory
    roots: Roots
    store: Store
    runner: Runner
    transport: SlackTransport
    ways: Ways = Ways()
    also: dict[str, Also] = field(default_factory=dict)  # by event type: the home tab, revoked tokens
    again: bool = False  # what was put aside is taken once more: it replaces nothing that was said since
    ignored: int = 0
    parked: int = 0
    drafts: Drafts = field(init=False)
    homes: Homes = field(init=False)
    belonging: Belonging = field(init=False)
    _lines: Lines = field(default_factory=Lines)
    _answers: set[asyncio.Task[Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.drafts = Drafts(self.store)
        self.homes = Homes(self.store, self.directory, self.roots)
        self.belonging = Belonging(self.store, self.roots, self.homes.acted_in)
        reach = Reach(self.store, self.runner, self.directory)
        kinds = dict.fromkeys((*LOST_PLACES, *RESTORED), reach.channel_changed)
        self.also = {**kinds, "user_change": reach.user_changed, "app_home_opened": self._home_opened, **self.also}

    async def take(self, body: Body) -> Ack:
        """Raises when nothing was written: then nothing may be acknowledged."""
        async with self._lines.turn(_queue_of(body)):
            return await self._take(body)

    async def finish(self) -> None:
        """Let the notices under way be sent, within bounds."""
        if self._answers:
            _, late = await asyncio.wait(self._answers, timeout=GOODBYE)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # -- by kind -------------------------------------------------------------------------------------------------

    async def _take(self, body: Body) -> Ack:
        is_event = body.get("type") == "event_callback"
        team = codec.team_of(body) if is_event else acts.team_in(body)
        enterprise = codec.enterprise_of(body) if is_event else acts.enterprise_in(body)
        workspace = await self.workspaces.of(team, enterprise or "")
        if workspace is None and not is_event and await self._ours(acts.card_in(body)):
            workspace = await self.workspaces.of(team)  # sent by somebody of another organisation (Slack Connect)
        if workspace is None:
            return await self._elsewhere(body, team)
        if is_event:
            return await self._event(workspace, body)
        return await self._act(workspace, body)

    async def _event(self, workspace: Workspace, body: Body) -> Ack:
        event = body.get("event")
        kind = event.get("type") if isinstance(event, Mapping) else None
        if kind == "reaction_added":
            return await self._reacted(workspace, body)
        if isinstance(kind, str) and kind in self.also:
            await self.also[kind](workspace, body)
            return {}
        assert event is None or isinstance(event, Mapping)
        users, channel = codec.people_in(body), codec.channel_of(body)
        known = await self._known(workspace, users, channel, (event or {}).get("channel_type"))
        made = codec.event_from_payload(body, known)
        if isinstance(made, Envelope) and not made.place.shared and isinstance(made.event, MessageReceived):
            self.directory.own(workspace.me.team, str(channel), made.event.person.id.removeprefix(f"{PLATFORM}:"))
        if isinstance(made, Ignored):
            return await self._aside(body, made)
        made = await self.belonging.where(made, body, known)
        handled = await self._handled(made)
        if handled.reply is not None:  # nothing could be stored of it: said at once, or not at all
            self._answer(self.transport.reply(made, handled.reply))
        if isinstance(made.event, MessageDeleted) and made.event.message == address_of(made.place.conversation).root:
            await self.roots.bury(made.place.conversation)
        return {}

    async def _act(self, workspace: Workspace, body: Body) -> Ack:
        kind, view = body.get("type"), body.get("view")
        user, trigger = acts.user_in(body), str(body.get("trigger_id") or "")
        if user is None:
            return await self._aside(body, Ignored(reason="unreadable act: nobody's"))
        if isinstance(view, Mapping) and kind in ("block_actions", "view_closed") and view.get("type") != "home":
            if view.get("callback_id") == ROUND_FORM:
                await self.drafts.keep(user, view)
            return {}
        if kind == "shortcut" and body.get("callback_id") == acts.ASK_FOR:
            home = await self.directory.home(workspace, user)
            self._answer(self.transport.open_form(workspace, trigger, request_form(home)))
            return {}
        if acts.is_link(body):
            return {}
        channel = acts.channel_in(body)
        is_request = (
            kind == "view_submission" and isinstance(view, Mapping) and view.get("callback_id") == REQUEST_FORM
        )
        if is_request:
            channel = acts.place_asked(body)
        begins = channel is not None and (kind is None or kind == "message_action" or is_request)
        if begins and not await self.directory.reachable(workspace, str(channel)):
            return {"response_action": "errors", "errors": {"where": NOT_HERE}} if is_request else self._outside(body)
        named = codec.mentioned_in(body)
        known = await self._known(workspace, (user, *named), channel, _kind_named(body))
        made = acts.request_from_form(body, known) if is_request else acts.event_from_act(body, known)
        if isinstance(made, Ignored):
            if kind == "block_actions" or made.reason == acts.WORDLESS:
                await self._lost(body, LOST if kind == "block_actions" else NO_WORDS)
            ack = await self._aside(body, made)
            if is_request:
                return {"response_action": "errors", "errors": {"words": EMPTY if channel else NO_PLACE}}
            # A form that closes looks sent: it stays, and says that it was not.
            return ack if kind != "view_submission" else form_errors(view, {0: UNREAD})
        return await self._answered(workspace, body, await self.belonging.where(made, body, known), trigger)

    async def _answered(self, workspace: Workspace, body: Body, made: Envelope, trigger: str) -> Ack:
        """The event, and what goes back at once: mistakes of a form, a form to open, or a notice."""
        handled = await self._handled(made)
        if _at_home(body):
            self._answer(self.homes.publish(workspace, str(acts.user_in(body))))
        event, reply = made.event, handled.reply or Reply(text="")
        if isinstance(event, FormSubmitted):
            view = body.get("view")
            assert isinstance(view, Mapping)
            if handled.outcome == "refused":
                return form_errors(view, reply.errors or {0: reply.text or UNREAD})
            await self.drafts.forget(event.person.id, event.round)
            return {}
        if reply.form is not None and isinstance(event, ButtonPressed):
            self._answer(self._open(workspace, made, reply, trigger))
        elif reply.text and handled.outcome != "duplicate":
            self._answer(self.transport.reply(made, reply))
        return {}

    async def _open(self, workspace: Workspace, made: Envelope, reply: Reply, trigger: str) -> None:
        """Within the trigger's three seconds; on a failure the words say how to go on (P60)."""
        event, form = made.event, reply.form
        assert isinstance(event, ButtonPressed)
        assert form is not None
        draft = await self.drafts.of(event.person.id, form.round)
        view = round_form(form, made.place.conversation, event.ref.card, draft, event.ref.link)
        if await self.transport.open_form(workspace, trigger, view) is not None:
            await self.transport.reply(made, Reply(text=reply.text or EXPIRED))

    async def _home_opened(self, workspace: Workspace, body: Body) -> None:
        self._answer(self.homes.opened(workspace, body))  # nothing is committed: Slack need not wait for it

    async def _handled(self, made: Envelope) -> Handled:
        handled = await self.runner.handle(made.model_copy(update={"again": True}) if self.again else made)
        person = getattr(made.event, "person", None)
        if handled.outcome == "ignored":
            self.ignored += 1
        elif person is not None and handled.outcome == "accepted":
            await self.homes.acted(person.id, made.place.conversation)
        return handled

    # -- ways in that are no messages ---------------------------------------------------------------------------

    async def _reacted(self, workspace: Workspace, body: Body) -> Ack:
        """A switched-on emoji on a message: an intake of its words, for whoever reacted."""
        known = await self._known(workspace, (), None)
        wanted = acts.reaction_wanted(body, known)
        if wanted is None:
            return self._left(body, Ignored(reason="a reaction that asks for nothing"))
        channel, ts, user, emoji = wanted
        try:
            answer = await workspace.client.conversations_replies(channel=channel, ts=ts, limit=1, inclusive=True)
        except SlackApiError as error:
            if not isinstance(named(error), Undeliverable):
                raise  # told once more
            return self._left(body, Ignored(reason=f"a reaction on a message that is not shown: {code_of(error)}"))
        found = [one for one in answer.get("messages") or () if one.get("ts") == ts]
        if not found:
            return self._left(body, Ignored(reason="a reaction on a message that is not shown"))
        known = await self._known(workspace, (user, *codec.mentioned_in(found[0])), channel)
        if known.people[user].bot or found[0].get("user") == workspace.me.user:
            return self._left(body, Ignored(reason="a reaction by a bot, or on our own message"))
        made = acts.summons(found[0], channel, user, f":{emoji}:", acts.reaction_id(body, known), known)
        if isinstance(made, Ignored):
            return self._left(body, made)
        await self._handled(await self.belonging.where(made, body, known))
        return {}

    # -- what the store and Slack know --------------------------------------------------------------------------

    async def _known(
        self, workspace: Workspace, users: tuple[str, ...], channel: str | None, kind: str | None = None
    ) -> Known:
        people = await self.directory.people(workspace, users)
        direct = {} if channel is None else {channel: await self.directory.direct(workspace, channel, kind)}
        ways = self.ways
        groups = self.directory.groups(workspace.me.team)
        return Known(workspace.me, people, groups, direct, ways.apps, ways.reactions, ways.every)

    # -- small things --------------------------------------------------------------------------------------------

    async def _aside(self, body: Body, why: Ignored) -> Ack:
        return await self._park(body, why) if why.reason.startswith("unreadable") else self._left(body, why)

    def _left(self, body: Body, why: Ignored) -> Ack:
        self.ignored += 1
        log.info("payload_ignored", kind=body.get("type"), reason=why.reason)
        return {}

    async def _ours(self, conversation: str | None) -> bool:
        """Whether we have asked there. Of another installation's cards our store knows nothing.

        Where it can not be read, we have: raised, so that it is delivered again.
        """
        return conversation is not None and await self.store.load(conversation) is not None

    async def _elsewhere(self, body: Body, team: str | None) -> Ack:
        """Of a workspace that we have no token of: nothing can be done there but to say so, where it can be seen."""
        event = body.get("event")
        if isinstance(event, Mapping) and event.get("type") in LEAVING:  # told twice, and forgotten at the first
            return self._left(body, Ignored(reason="a workspace that is forgotten already"))
        self.ignored += 1
        log.warning("slack_other_workspace", team=team, kind=body.get("type") or body.get("command"))
        if body.get("type") == "view_submission":
            return form_errors(body.get("view"), {0: ELSEWHERE})
        if body.get("command"):
            return {"response_type": "ephemeral", "text": ELSEWHERE}
        await self._lost(body, ELSEWHERE)
        return {}

    def _outside(self, body: Body) -> Ack:
        """A command or a shortcut in a channel that the app is not in: what it would say would reach nobody."""
        url = body.get("response_url")
        if body.get("command"):
            return {"response_type": "ephemeral", "text": NOT_HERE}
        if isinstance(url, str) and url.startswith("http"):
            self._answer(self.transport.respond(url, NOT_HERE))
        return {}

    async def _lost(self, body: Body, words: str = LOST) -> None:
        """A press that belongs nowhere is told so, to the presser only."""
        url = body.get("response_url")
        if isinstance(url, str) and url.startswith("http"):
            self._answer(self.transport.respond(url, words))

    async def _park(self, body: Body, why: Ignored) -> Ack:
        """Kept as it came, for a look and a later version; never asked for again, so nobody waits behind it."""
        self.parked += 1
        log.warning("payload_parked", reason=why.reason)
        if self.parked <= MOST_PARKED and not self.again:
            kept = {name: part for name, part in body.items() if name != "token"}  # the app's; nothing needs it again
            words = json.dumps({"reason": why.reason, "body": kept}, default=str)[:LONGEST_PARKED]
            # Taps and forms have no id; a count would begin anew after a restart, and write over the first one.
            name = body.get("event_id") or hashlib.sha256(words.encode()).hexdigest()[:16]
            await self.store.keep(f"{PARKED}{name}", words)
        return {}

    def _answer(self, sending: Awaitable[Any]) -> None:
        task: asyncio.Task[Any] = asyncio.ensure_future(sending)
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)


def _queue_of(body: Body) -> str:
    if body.get("type") == "event_callback":
        return codec.channel_of(body) or "-"
    return acts.channel_in(body) or acts.user_in(body) or "-"


def _at_home(body: Body) -> bool:
    view = body.get("view")
    return isinstance(view, Mapping) and view.get("type") == "home"


def _kind_named(body: Body) -> str | None:
    """Acts tell the kind of a place by its name, and only of direct messages and private channels."""
    channel = body.get("channel")
    name = channel.get("name") if isinstance(channel, Mapping) else body.get("channel_name")
    return str(name) if name in ("directmessage", "privategroup") else None
