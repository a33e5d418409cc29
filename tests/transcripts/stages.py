"""Where a transcript is played: on the core alone, through the terminal, through the fake chat platform."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from adapters.limits import plain
from adapters.terminal.chat import Chat
from adapters.terminal.codec import Line, Press, Shown, envelope, find_button
from adapters.terminal.transport import order_of_line, order_of_message
from bot.core.effects import Clarification, ClearTimer, Message, Redraw, Say, SessionRow, SetTimer
from bot.core.elsewhere import OpenRound, reachable, root
from bot.core.events import ButtonPressed, Envelope, Ignored, MessageEdited, MessagePosted, MessageReceived, TimerDue
from bot.core.model import Material
from bot.core.state import Conversation
from bot.outbox import Outbox
from bot.ports import Commit, DueTimer
from bot.runner import Decide, Runner
from bot.timers import Timers, timer_event_id
from tests.fakes.adapter import PLATFORM as FAKE
from tests.fakes.adapter import FakeTransport, event_from_update
from tests.fakes.clock import ManualClock
from tests.fakes.platform import FakePlatform, Update
from tests.fakes.store import FakeStore
from tests.fakes.terminal import terminal_parts
from tests.transcripts.script import Act, Noted, Said

Happened = list[Said | Noted]


class Stage(Protocol):
    async def play(self, act: Act) -> Happened: ...

    async def close(self) -> None: ...


class CannotPlay(Exception):
    """The act makes no sense here: no such button, no such message."""


def counted() -> Callable[[], str]:
    """Ids that are the same on every stage and in every run."""
    numbers = iter(range(1, 10**9))
    return lambda: f"{next(numbers):010d}"


def lines_of(act: Act, name: str | None = None) -> list[Line]:
    """An act as lines of the terminal. Several files are an album, one line each."""
    name = name or f"a{act.number}"
    who = {"person": act.person, "place": act.room, "shared": act.shared}
    if act.kind == "edit":
        return [Line(text=act.text, edit=f"a{act.target}", id=name, **who)]
    if act.kind == "delete":
        return [Line(delete=f"a{act.target}", id=name, **who)]
    if act.kind == "press":
        return [Line(press=Press(f"m{act.message}", act.button), id=name, **who)]
    reply_to = f"m{act.message}" if act.kind == "reply" else None
    files = [Material(kind="file", name=file) for file in act.files]
    if len(files) < 2:
        source = act.source or None
        return [Line(text=act.text, files=tuple(files), reply_to=reply_to, forwarded=source, id=name, **who)]
    return [
        Line(text="" if n else act.text, files=(file,), album=name, id=f"{name}.{n}" if n else name, **who)
        for n, file in enumerate(files)
    ]


class Notes:
    """What is stored, in words. A session is noted when its state or workflow changes, not at each write."""

    def __init__(self) -> None:
        self._sessions: dict[str, str] = {}

    def of(
        self,
        clarifications: tuple[Clarification, ...],
        sessions: tuple[SessionRow, ...],
        outcome: str,
        reason: str | None,
    ) -> Iterator[Noted]:
        for c in clarifications:
            words = [c.question, c.chosen, f'"{c.chosen_text}"' if c.chosen_text else None, c.chosen_via]
            words.append(f"note: {c.user_note}" if c.user_note else None)
            words.append(f"revision {c.revision}" if c.revision > 1 else None)
            yield Noted("clarification " + " ".join(word for word in words if word))
        for s in sessions:
            state = f"session {s.state}" + (f" {s.workflow}" if s.workflow else "")
            if self._sessions.get(s.session) != state:
                self._sessions[s.session] = state
                yield Noted(state)
        if outcome != "accepted":
            yield Noted(outcome + (f": {reason}" if reason else ""))


def said(message: Message, room: str, *, redrawn: bool = False, only_to: str | None = None) -> Said:
    return Said(
        room,
        plain(message),
        tuple(tuple(button.label for button in row) for row in message.buttons),
        tuple((file.name, file.media) for file in message.files),
        redrawn,
        only_to,
    )


# -- the core alone ----------------------------------------------------------------------------------------------


class CoreStage:
    """Decide and fold, nothing else. What the shell does with effects is done here in the plainest way there is."""

    def __init__(self, decide: Decide) -> None:
        self._decide, self._clock, self._new_id = decide, ManualClock(), counted()
        self._states: dict[str, Conversation] = {}
        self._seen: set[str] = set()
        self._waiting: deque[tuple[Envelope, Say | Redraw]] = deque()
        self._timers: dict[tuple[str, str], datetime] = {}
        self._cards: dict[tuple[str, str], str] = {}
        self._about: dict[str, str | None] = {}
        self._drawn: dict[str, list[Message]] = {}
        self._acts: dict[int, Act] = {}
        self._posted = self._rows = 0
        self._orders: dict[str, int] = {}
        self._notes = Notes()

    async def close(self) -> None: ...

    async def play(self, act: Act) -> Happened:
        happened: Happened = []
        possible(act, self._drawn)
        if act.kind == "clock":
            self._clock.advance(act.by)
            self._ring(happened)
            return happened
        acted = self._acts[act.target] if act.kind == "again" else act
        self._acts[act.number] = acted
        if acted.kind == "press" and act.kind != "again":
            acted = self._acts[act.number] = with_card(act, self._drawn)
        for line in lines_of(acted):
            button = find_button(line.press.button, self._drawn.get(line.press.message, [])) if line.press else None
            order = order_of_line(self._posted)
            if line.edit is None:
                self._orders[line.id or ""] = order
            made = envelope(line, line.id or "", self._orders.get(line.edit or "", order), button)
            self._step(_as_of_fake(made), happened)
            self._send(happened)
            self._ring(happened)
        return happened

    def _step(self, made: Envelope, happened: Happened) -> None:
        if made.event_id in self._seen:
            happened.append(Noted("duplicate"))
            return
        key = made.place.conversation
        points = _points_at(made)
        about = None if points is None else self._about.get(points)
        made = made.model_copy(update={"at": self._clock.now(), "new_id": self._new_id(), "about": about})
        state = self._states.get(key)
        step = self._decide(state, made)
        while step.wants:
            found = {"numbered": self._begun(key), "elsewhere": self._elsewhere(made)}
            made = made.model_copy(update={want: found[want] for want in step.wants})
            step = self._decide(state, made)
        revision = 1 if state is None else state.revision + 1
        self._states[key] = step.state.model_copy(update={"revision": revision})
        self._seen.add(made.event_id)
        if isinstance(made.event, TimerDue):
            self._timers.pop((key, made.event.name), None)
        if step.reply is not None:
            person = getattr(made.event, "person", None)
            happened.append(Said(_room(key), step.reply.text, only_to=None if person is None else person.name))
        for effect in step.effects:
            match effect:
                case SetTimer(name=name, at=at):
                    self._timers[key, name] = at
                case ClearTimer(name=name):
                    self._timers.pop((key, name), None)
                case Say() | Redraw():
                    self._waiting.append((made, effect))
        clarifications = tuple(r for r in step.records if isinstance(r, Clarification))
        sessions = tuple(r for r in step.records if isinstance(r, SessionRow))
        happened += self._notes.of(clarifications, sessions, step.outcome, step.reason)

    def _begun(self, key: str) -> int:
        return sum(state.counted for name, state in self._states.items() if root(name) == root(key))

    def _elsewhere(self, made: Envelope) -> tuple[OpenRound, ...]:
        person = getattr(made.event, "person", None)
        here = made.place.conversation
        states = [s for name, s in self._states.items() if not made.place.shared or root(name) == root(here)]
        return () if person is None else reachable(states, person, here)

    def _send(self, happened: Happened) -> None:
        while self._waiting:
            cause, effect = self._waiting.popleft()
            key = cause.place.conversation
            self._rows += 1
            card = self._cards.get((key, effect.card or ""))
            if isinstance(effect, Redraw) and card is not None:
                happened.append(said(effect.message, _room(key), redrawn=True))
                self._drawn[card].append(effect.message)
                continue
            self._posted += 1
            message = f"m{self._posted}"
            only_to = effect.only_to if isinstance(effect, Say) else None
            happened.append(said(effect.message, _room(key), only_to=None if only_to is None else _room(only_to)))
            self._about[message] = (effect.about if isinstance(effect, Say) else None) or effect.card
            self._drawn[message] = [effect.message]
            if effect.card is not None:
                self._cards[key, effect.card] = message
                event = MessagePosted(card=effect.card, message=message, order=order_of_message(self._posted))
                self._step(cause.model_copy(update={"event_id": f"posted:{self._rows}", "event": event}), happened)

    def _ring(self, happened: Happened) -> None:
        while due := sorted((at, *key) for key, at in self._timers.items() if at <= self._clock.now()):
            at, key, name = due[0]
            for forward in self._states[key].forwards:
                if forward.name == name:
                    there = self._states[forward.place].place
                    event_id = f"{name}:{key}"
                    self._step(Envelope(event_id=event_id, place=there, at=at, event=forward.event), happened)
            made = Envelope(
                event_id=timer_event_id(DueTimer(key, name, at)),
                place=self._states[key].place,
                at=at,
                event=TimerDue(name=name),
            )
            self._step(made, happened)
            self._send(happened)


def _as_of_fake(made: Envelope) -> Envelope:
    """With the ids of the fake platform: the terminal lets everybody in, and the core alone is to show who is not."""
    place = made.place.model_copy(
        update={"platform": FAKE, "conversation": f"{FAKE}:{_room(made.place.conversation)}"}
    )
    event = made.event
    if isinstance(event, MessageReceived | MessageEdited | ButtonPressed):
        person = event.person.model_copy(update={"id": f"{FAKE}:{_room(event.person.id)}"})
        event = event.model_copy(update={"person": person})
    return made.model_copy(update={"place": place, "event": event})


def possible(act: Act, drawn: dict[str, list[Message]]) -> None:
    if act.message and f"m{act.message}" not in drawn:
        raise CannotPlay(f"there is no m{act.message}")


def with_card(act: Act, drawn: dict[str, list[Message]]) -> Act:
    """A press without a message is on the last one that has such a button now; one on a drawing is by its id."""
    possible(act, drawn)
    if act.drawing:
        button = find_button(act.button, drawn[f"m{act.message}"][act.drawing - 1 : act.drawing])
        if button is None:
            raise CannotPlay(f"drawing {act.drawing} of m{act.message} shows no button {act.button!r}")
        return replace(act, button=button.token)
    if act.message:
        return act
    for message in reversed(drawn):
        if find_button(act.button, drawn[message][-1:]) is not None:
            return replace(act, message=int(message.removeprefix("m")))
    raise CannotPlay(f"no message shows a button {act.button!r}")


def _points_at(made: Envelope) -> str | None:
    match made.event:
        case MessageReceived(reply_to=message) | MessageEdited(message=message):
            return message
        case ButtonPressed(ref=ref):
            return ref.card
    return None


def _room(whole: str) -> str:
    return whole.partition(":")[2]


# -- through the shell -------------------------------------------------------------------------------------------


class Shell:
    """What the stages with a shell have in common: a store whose commits are read, and a clock."""

    def __init__(self) -> None:
        self.store, self.clock = FakeStore(), ManualClock()
        self._read = 0
        self._notes = Notes()

    async def close(self) -> None: ...

    def stored(self) -> Iterator[Noted]:
        fresh: list[Commit] = self.store.commits[self._read :]
        self._read = len(self.store.commits)
        for commit in fresh:
            yield from self._notes.of(commit.clarifications, commit.sessions, commit.outcome, commit.reason)


class TerminalStage(Shell):
    def __init__(self, decide: Decide) -> None:
        super().__init__()
        self._shown: list[Shown] = []
        self._drawn: dict[str, list[Message]] = {}
        self._acts: dict[int, Act] = {}
        parts = terminal_parts(self.store, self.clock, self._show, decide=decide, new_id=counted())
        self._chat = Chat(parts)

    def _show(self, shown: Shown) -> None:
        self._shown.append(shown)
        if not shown.message.endswith(".reply"):
            self._drawn.setdefault(shown.message, []).append(shown.content)

    async def play(self, act: Act) -> Happened:
        self._shown.clear()
        possible(act, self._drawn)
        outcomes: Happened = []
        if act.kind == "clock":
            self.clock.advance(act.by)
            await self._chat.settle()
        else:
            acted = self._acts[act.target] if act.kind == "again" else act
            if acted.kind == "press" and act.kind != "again":
                acted = with_card(act, self._drawn)
            self._acts[act.number] = acted
            for line in lines_of(acted):
                handled = await self._chat.take(line, line.id or "")
                outcomes += [Noted("duplicate")] if handled.outcome == "duplicate" else []
        shown = [said(s.content, s.place, redrawn=s.edits is not None, only_to=s.only_to) for s in self._shown]
        return [*shown, *outcomes, *self.stored()]


class FakeStage(Shell):
    """Its messages are never split: splitting is tested elsewhere, and a transcript reads the same everywhere."""

    def __init__(self, decide: Decide) -> None:
        super().__init__()
        self._server = FakePlatform(text_limit=10**6)
        self._runner = Runner(self.store, decide, self.clock, counted())
        self._transport = _Noting(self._server)
        self._outbox = Outbox(self.store, self._runner, {"fake": self._transport}, self.clock)
        self._timers = Timers(self.store, self._runner, self.clock)
        self._updates: dict[int, list[Update]] = {}
        self._messages: dict[int, tuple[str, int]] = {}  # act -> where its message is

    async def play(self, act: Act) -> Happened:
        noting, duplicates = self._transport, 0
        noting.happened.clear()
        possible(act, noting.drawn)
        if act.kind == "clock":
            self.clock.advance(act.by)
        else:
            for update in self._delivered(act):
                made = event_from_update(update)
                if not isinstance(made, Ignored):
                    handled = await self._runner.receive(made, noting)
                    duplicates += handled.outcome == "duplicate"
                    await self._outbox.drain()
        await self._timers.fire_due()
        await self._outbox.drain()
        return [*noting.happened, *[Noted("duplicate")] * duplicates, *self.stored()]

    def _delivered(self, act: Act) -> list[Update]:
        if act.kind == "again":
            self._updates[act.number] = self._updates[act.target]
            return self._updates[act.target]
        before = len(self._server.updates)
        room = self._server.room(act.room, "group" if act.shared else "private").name
        if act.kind == "edit":
            self._server.edit(*self._messages[act.target], act.text)
        elif act.kind == "delete":
            self._server.delete(*self._messages[act.target])
        elif act.kind == "press":
            acted = with_card(act, self._transport.drawn)
            where, message = self._transport.posted[f"m{acted.message}"]
            button = find_button(acted.button, self._transport.drawn[f"m{acted.message}"])
            token, label = (acted.button, acted.button) if button is None else (button.token, button.label)
            self._server.press(where, act.person, message, token, label)
        else:
            reply_to = self._transport.posted[f"m{act.message}"][1] if act.kind == "reply" else None
            number = self._server.write(
                room, act.person, act.text, reply_to=reply_to, files=act.files, forwarded_from=act.source or None
            )
            self._messages[act.number] = (room, number)
        self._updates[act.number] = self._server.updates[before:]
        return self._updates[act.number]


class _Noting(FakeTransport):
    """The fake platform's transport, with a note of everything that it has shown."""

    def __init__(self, server: FakePlatform) -> None:
        super().__init__(server)
        self.happened: Happened = []
        self.drawn: dict[str, list[Message]] = {}
        self.posted: dict[str, tuple[str, int]] = {}
        self._notices = 0

    async def post(self, conversation: str, say: Say):  # type: ignore[no-untyped-def]
        sent = await super().post(conversation, say)
        room = _room(conversation)
        post = self._server.rooms[room].log[-1]
        media = {file.name: file.media for file in say.message.files}
        rows = tuple(tuple(label for _, label in row) for row in post.buttons)
        files = tuple((name, media[name]) for name, _ in post.files)
        self.happened.append(Said(room, post.text, rows, files, only_to=post.only_to))
        name = f"m{len(self.posted) + 1}"
        self.posted[name] = (room, int(sent.message))
        self.drawn[name] = [say.message]
        return sent

    async def redraw(self, conversation: str, message: str, redraw: Redraw):  # type: ignore[no-untyped-def]
        sent = await super().redraw(conversation, message, redraw)
        room = _room(conversation)
        post = self._server.rooms[room].posts[int(message)]
        rows = tuple(tuple(label for _, label in row) for row in post.buttons)
        self.happened.append(Said(room, post.text, rows, redrawn=True))
        name = next(n for n, where in self.posted.items() if where == (room, int(message)))
        self.drawn[name].append(redraw.message)
        return sent

    async def reply(self, made: Envelope, reply):  # type: ignore[no-untyped-def]
        await super().reply(made, reply)
        for person, text in self._server.answers[self._notices :]:
            self.happened.append(Said(_room(made.place.conversation), text, only_to=person))
        self._notices = len(self._server.answers)
