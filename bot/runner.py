"""Takes one envelope at a time through the core and into the store. Write, then speak.

Everything an event changes is one `Commit`. The caller may acknowledge the transport when `handle` has returned,
and not before; when it raises, nothing was written and the platform must deliver again. An event that the core itself
fails on is written as refused: it would fail again for ever, and some platforms deliver nothing behind it meanwhile.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from bot.bell import Bell, What
from bot.core.codec import UnreadableState
from bot.core.effects import (
    Audit,
    Clarification,
    ClearTimer,
    Redraw,
    Reply,
    Say,
    SessionRow,
    SetTimer,
    Want,
    Withdrawal,
)
from bot.core.elsewhere import reachable, root
from bot.core.events import (
    ButtonPressed,
    Envelope,
    FormSubmitted,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    TimerDue,
)
from bot.core.flows.words import command
from bot.core.model import Person, Place
from bot.core.policies import Settings
from bot.core.state import Conversation
from bot.core.step import Step
from bot.core.view import says
from bot.faults import report
from bot.ports import (
    Clock,
    Commit,
    DuplicateEvent,
    Handled,
    Settle,
    StaleRevision,
    Store,
    StoreUnavailable,
    Transport,
)

Decide = Callable[[Conversation | None, Envelope], Step]

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # base32 without i, l, o, u: crockford.com/base32.html
DELIVERED = (
    MessageReceived,
    MessageEdited,
    MessageDeleted,
    ButtonPressed,
    FormSubmitted,
)  # by a platform, again until taken
ATTEMPTS = 12  # at one event while other workers win; each loss means that somebody else got on
PAUSE = 0.002  # seconds before the second attempt; doubled each time, up to LONGEST_PAUSE
LONGEST_PAUSE = 0.25
LOOKED_THROUGH = 200  # conversations with an open round, the newest, that a message can reach by number


# How the reason of an event begins that the core failed on; its type follows. A replay passes over such events.
OUR_MISTAKE = "our mistake: "
SORRY = (
    "That was our mistake, and it has been logged.",
    "Nothing was recorded from it; please say it in other words.",
)


HOW_THINGS_STAND = ("status", "help", "start")
UNREADABLE = (
    "What is stored of this conversation can't be read by the program that is running.",
    "Nothing of it is lost: it is left as it is, with every answer and the record, and other conversations go on.",
    "The operator has to start the version that wrote it, or a newer one; `askfirst doctor` says more.",
    "What you write meanwhile is kept and may have to be sent again.",
)


def fresh_id() -> str:
    """Ten characters that people can read to each other: 50 random bits."""
    bits = secrets.randbits(50)  # at once: ten draws are ten calls of the system, for every event
    return "".join(ALPHABET[(bits >> shift) & 31] for shift in range(0, 50, 5))


class Runner:
    """Handles envelopes: in order within a conversation, side by side across conversations."""

    def __init__(
        self,
        store: Store,
        decide: Decide,
        clock: Clock,
        new_id: Callable[[], str] = fresh_id,
        *,
        bell: Bell | None = None,
        pack: str | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.bell = bell or Bell()
        self.troubles: dict[str, Callable[[], Sequence[str]]] = {}  # by platform: what is wrong now, in words
        self.store_failing = False  # the last commit could not be written
        self._store = store
        self._decide = decide
        self._clock = clock
        self._new_id = new_id
        self._pack = pack  # named by the operator: it is logged with each event, or a replay could not know it
        self._jitter = jitter
        self._queues = _Queues()
        self._handling: dict[asyncio.Task[Handled], asyncio.Future[Handled]] = {}  # whom it is for; they may go away

    async def handle(
        self,
        envelope: Envelope,
        *,
        settle: Settle | None = None,
        still: Callable[[], Awaitable[bool]] | None = None,
    ) -> Handled:
        """Decide and commit. A cancelled caller leaves early, but the event is handled to its end.

        `settle` is an outbox row that this event reports as sent. `still` is asked between loading and
        committing whether the event still holds (a timer may have been moved); a change after that moment changes
        the revision, and the question is asked again.
        """
        task = asyncio.create_task(self._in_order(envelope, settle, still))
        heard: asyncio.Future[Handled] = asyncio.get_running_loop().create_future()
        self._handling[task] = heard
        task.add_done_callback(self._handled)
        return await heard

    async def receive(self, envelope: Envelope, transport: Transport) -> Handled:
        """`handle`, then the answer to the transport, once. For adapters whose answer is a call of its own."""
        handled = await self.handle(envelope)
        if handled.reply is not None:
            await transport.reply(envelope, handled.reply)
        return handled

    async def finish(self) -> None:
        """Wait for what cancelled callers have left behind. Call it before the store is closed."""
        while self._handling:
            await asyncio.wait(self._handling)

    def _handled(self, task: asyncio.Task[Handled]) -> None:
        heard = self._handling.pop(task)
        error = None if task.cancelled() else task.exception()
        if heard.done():
            return  # its caller has gone away
        if task.cancelled():
            heard.cancel()
        elif error is not None:
            heard.set_exception(error)
        else:
            heard.set_result(task.result())

    async def _in_order(
        self, envelope: Envelope, settle: Settle | None, still: Callable[[], Awaitable[bool]] | None
    ) -> Handled:
        conversation = envelope.place.conversation
        turn = self._queues.enter(conversation)
        try:
            if turn is not None:
                await turn
            handled = await self._until_written(envelope, settle, still)
        finally:
            self._queues.leave(conversation, turn)
        return await self._in_order(handled, settle, still) if isinstance(handled, Envelope) else handled

    async def _until_written(
        self, envelope: Envelope, settle: Settle | None, still: Callable[[], Awaitable[bool]] | None
    ) -> Handled | Envelope:
        """What became of it; or the same event in the conversation that it belongs to, where that is another one."""
        # No look whether the event is known: nearly none is, and the commit finds those that are.
        ails = self.troubles.get(envelope.place.platform)
        trouble = tuple(ails()) if ails is not None and isinstance(envelope.event, MessageReceived) else ()
        new_id = envelope.new_id or self._new_id()
        now = self._clock.now()
        if isinstance(envelope.event, TimerDue):
            now = max(now, envelope.at)  # the clock may have been set back since it was found due
        stamp = {"at": now, "new_id": new_id, "trouble": trouble or None, "pack": self._pack}
        attempt = 1
        while True:
            try:
                state = await self._store.load(envelope.place.conversation)
            except UnreadableState as error:
                return self._unreadable(envelope.model_copy(update=stamp), error)
            if still is not None and not await still():
                return Handled("ignored", "no longer due")
            about, message = envelope.about, _points_at(envelope)
            if about is None and message is not None:  # unless the adapter already knows
                about = await self._store.about(envelope.place.conversation, message)
            known = {"about": about, "settings": await self._settings(envelope.place)}
            complete = envelope.model_copy(update={**stamp, **known})
            step = self._ask_core(state, complete)
            while step.wants:
                complete = complete.model_copy(update=await self._look_up(step.wants, state, complete))
                step = self._ask_core(state, complete)
            if step.belongs is not None and step.belongs != envelope.place.conversation:
                place = envelope.place.model_copy(update={"conversation": step.belongs})
                return complete.model_copy(update={"place": place})
            try:
                commit = _commit(state, complete, step, settle)
                await self._store.commit(commit)
            except DuplicateEvent:
                return Handled("duplicate")
            except StaleRevision:
                if attempt == ATTEMPTS:
                    raise
                pause = min(LONGEST_PAUSE, PAUSE * 2**attempt)
                await self._clock.sleep(pause * (0.5 + self._jitter() / 2))
                attempt += 1
                continue
            except StoreUnavailable:
                self.store_failing = True
                raise
            self.store_failing = False
            self.bell.ring(stirred(commit))
            return Handled(step.outcome, step.reason, step.reply)

    def _unreadable(self, envelope: Envelope, error: UnreadableState) -> Handled:
        """How things stand is said all the same (b38); nothing is written. Any other event is not taken, as ever."""
        event = envelope.event
        if not isinstance(event, MessageReceived) or event.person.kind != "person":
            raise error
        said = command(event.text, None, mentioned=event.addressed)
        if said is None or said[0] not in HOW_THINGS_STAND:
            raise error
        if self._decide(None, envelope).outcome == "refused":  # not let in: they learn nothing else (CH-5)
            raise error
        report("state_unreadable", error, conversation=envelope.place.conversation)
        return Handled("refused", "what is stored here can not be read", Reply(text=" ".join(UNREADABLE)))

    async def _settings(self, place: Place) -> Settings | None:
        """Those of the place that a thread belongs to; None where there are none, or it is no thread."""
        whole = root(place.conversation)
        if not place.shared or whole == place.conversation:
            return None
        state = await self._store.load(whole)
        return None if state is None or state.settings == Settings() else state.settings

    async def _look_up(
        self, wants: frozenset[Want], state: Conversation | None, envelope: Envelope
    ) -> dict[str, object]:
        """What a step has to know of other conversations. Few steps do; they say so, and are taken again with it."""
        found: dict[str, object] = {}
        place = envelope.place.conversation
        if "numbered" in wants:
            found["numbered"] = await self._store.sessions_begun(root(place))
        if "elsewhere" in wants:
            found |= await self._elsewhere(state, envelope)
        return found

    async def _elsewhere(self, state: Conversation | None, envelope: Envelope) -> dict[str, object]:
        person = _person_of(state, envelope)
        if person is None:
            return {"elsewhere": ()}
        place = envelope.place
        within = root(place.conversation) if place.shared else place.platform
        found, unseen = [], 0
        for name in await self._store.asking(within, LOOKED_THROUGH):
            try:
                one = await self._store.load(name)
                settings = None if one is None else await self._settings(one.place)
            except UnreadableState:
                unseen += 1
                continue
            if one is not None:
                found.append(one.model_copy(update={"settings": settings or one.settings}))
        return {"elsewhere": reachable(found, person, place.conversation), "unseen": unseen or None}

    def _ask_core(self, state: Conversation | None, envelope: Envelope) -> Step:
        try:
            return self._decide(state, envelope)
        except Exception as error:
            report(
                "step_failed",
                error,
                event_id=envelope.event_id,
                event_kind=envelope.event.kind,
                conversation=envelope.place.conversation,
            )
            if isinstance(error, MemoryError) or not isinstance(envelope.event, DELIVERED):
                raise  # may go well another time; what comes from ourselves is tried again by whoever keeps it
            return passed_over(state, envelope, f"{OUR_MISTAKE}{type(error).__name__}")


def passed_over(state: Conversation | None, envelope: Envelope, reason: str) -> Step:
    """What follows from an event that the core fails on: the conversation moves on by one, and its author is told."""
    unchanged = state or Conversation(place=envelope.place)
    moved_on = unchanged.model_copy(update={"revision": unchanged.revision + 1})
    event, shared = envelope.event, envelope.place.shared
    if isinstance(event, ButtonPressed | FormSubmitted):
        return Step(moved_on, reply=Reply(text=" ".join(SORRY)), outcome="refused", reason=reason)
    effects: tuple[Say, ...] = ()
    if isinstance(event, MessageReceived | MessageEdited) and (
        not shared or (isinstance(event, MessageReceived) and event.addressed)
    ):
        only_to = event.person.id if shared else None
        effects = (Say(message=says(*SORRY), reply_to=event.ref.id, only_to=only_to),)
    return Step(moved_on, effects, outcome="refused", reason=reason)


def _person_of(state: Conversation | None, envelope: Envelope) -> Person | None:
    """Whose act a step is about; the parts of one act count when the last of them is in."""
    event = envelope.event
    if isinstance(event, MessageReceived | MessageEdited | ButtonPressed):
        return event.person
    gathered = None if state is None else state.gathering
    return gathered.event.person if gathered is not None and isinstance(event, TimerDue) else None


def _points_at(envelope: Envelope) -> str | None:
    """The message replied to, pressed or edited."""
    match envelope.event:
        case MessageReceived(reply_to=message):
            return message
        case ButtonPressed(ref=ref) | FormSubmitted(ref=ref):
            return ref.card
        case MessageEdited(message=message):
            return message
        case _:
            return None


def _commit(state: Conversation | None, envelope: Envelope, step: Step, settle: Settle | None) -> Commit:
    """Effects and records sorted into rows. Of two orders for one timer, the later one holds."""
    expected = 0 if state is None else state.revision
    following = step.state
    if following.revision != expected + 1:
        following = following.model_copy(update={"revision": expected + 1})
    timers: dict[str, datetime | None] = {}
    if isinstance(envelope.event, TimerDue):
        timers[envelope.event.name] = None  # it has rung, also where it was rung before its time
    out: list[Say | Redraw] = []
    for effect in step.effects:
        match effect:
            case Say() | Redraw():
                out.append(effect)
            case SetTimer(name=name, at=at):
                timers[name] = at
            case ClearTimer(name=name):
                timers[name] = None
    return Commit(
        envelope=envelope,
        expected_revision=expected,
        state=following,
        outcome=step.outcome,
        reason=step.reason,
        clarifications=tuple([r for r in step.records if isinstance(r, Clarification)]),
        withdrawn=tuple([r for r in step.records if isinstance(r, Withdrawal)]),
        audit=tuple([r for r in step.records if isinstance(r, Audit)]),
        sessions=tuple([r for r in step.records if isinstance(r, SessionRow)]),
        out=tuple(out),
        timers_set=tuple((name, at) for name, at in timers.items() if at is not None),
        timers_cleared=tuple(name for name, at in timers.items() if at is None),
        settle=settle,
    )


def stirred(commit: Commit) -> tuple[What, ...]:
    """For whom there is something to do."""
    waiting: tuple[What, ...] = ("messages",) if commit.out else ()
    return (*waiting, "timers") if commit.timers_set else waiting


class _Queues:
    """One conversation, one event at a time, in the order in which they came; kept only while somebody is at it."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by conversation; empty: somebody, nobody behind

    def __len__(self) -> int:
        return len(self._waiting)

    def enter(self, conversation: str) -> asyncio.Future[None] | None:
        """None: it is yours. Else it is when this is done. Whoever entered leaves, also where it was cancelled."""
        waiting = self._waiting.get(conversation)
        if waiting is None:
            self._waiting[conversation] = deque()
            return None
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        return turn

    def leave(self, conversation: str, turn: asyncio.Future[None] | None) -> None:
        waiting = self._waiting.get(conversation, deque())
        if turn is not None and turn.cancelled():  # given up before it came
            if turn in waiting:
                waiting.remove(turn)
            return
        while waiting:
            following = waiting.popleft()
            if not following.done():
                following.set_result(None)
                return
        del self._waiting[conversation]
