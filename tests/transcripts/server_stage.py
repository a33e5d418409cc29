"""A platform's adapter on its fake server: what the stages of Telegram and Slack have in common."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, ClassVar

from bot.core.effects import Button, Message
from bot.runner import Decide
from tests.fakes.clock import ManualClock
from tests.transcripts.script import Act, Noted, Said
from tests.transcripts.stages import Happened, Shell, counted, find_button, possible, with_card


class Noting:
    """Put before an adapter's transport: a note of everything that people see on the server after each call."""

    stage: Any

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.happened: Happened = []
        self.drawn: dict[str, list[Message]] = {}  # by the name that a transcript gives the message
        self.posted: dict[str, Any] = {}

    def note_post(self, said: Said, shown: Any, message: Message) -> str:
        """`shown` is the message on the server; None where only one person sees it."""
        self.happened.append(said)
        name = f"m{len(self.posted) + 1}"
        self.posted[name] = shown
        self.drawn[name] = [message]
        return name

    def note_redraw(self, said: Said, shown: Any, message: Message) -> str:
        self.happened.append(said)
        name = next(name for name, one in self.posted.items() if one is shown)
        self.drawn[name].append(message)
        return name


class ServerStage(Shell):
    """An act is done by a person on the server; what the server delivers of it is handed to the adapter."""

    style: ClassVar[str]
    rig: ClassVar[Callable[..., Any]]
    transport: ClassVar[type[Noting]]

    def __init__(self, decide: Decide, server: Any, clock: ManualClock) -> None:
        super().__init__()
        self.clock = clock
        self._decide, self._server = decide, server
        self._stack = AsyncExitStack()
        self._made: Any = None
        self._people: dict[str, Any] = {}
        self._rooms: dict[str, Any] = {}
        self._messages: dict[int, Any] = {}  # act -> its message
        self._sent: dict[int, list[Any]] = {}  # act -> what was delivered of it
        self._outcomes: list[str | None] = []

    async def play(self, act: Act) -> Happened:
        made = await self._ready()
        noting = made.transport
        assert isinstance(noting, Noting)
        noting.happened.clear()
        self._outcomes.clear()
        possible(act, noting.drawn)
        if act.kind == "clock":
            self.clock.advance(act.by)
            await self._passed(made)
        else:
            await self._hears(made, act, noting)
        await made.timers.fire_due()
        await made.outbox.drain()
        twice = self._outcomes.count("duplicate") if self._is_news(act) else 0
        return [*noting.happened, *[Noted("duplicate")] * twice, *self.stored()]

    async def close(self) -> None:
        await self._stack.aclose()

    async def _ready(self) -> Any:
        if self._made is None:
            self._made = await self._stack.enter_async_context(
                type(self).rig(
                    self._server,
                    self.store,
                    self.clock,
                    style=self.style,
                    decide=self._decide,
                    new_id=counted(),
                    transport=self.transport,
                )
            )
            self._made.transport.stage = self
            self._listen(self._made)
        return self._made

    def _delivered(self, act: Act, noting: Noting) -> list[Any]:
        """Does the act, and gives what the server would deliver of it."""
        if act.kind == "again":
            self._sent[act.number] = self._once_more(self._sent[act.target])
            return self._sent[act.number]
        before = len(self._log)
        who = self._person(act.person)
        if act.kind == "edit":
            self._edits(act, who)
        elif act.kind == "delete":
            self._deletes(act, who)
        elif act.kind == "press":
            acted = with_card(act, noting.drawn)
            name = f"m{acted.message}"
            button = find_button(acted.button, noting.drawn[name])
            self._presses(acted, who, name, button, noting)
        else:
            self._messages[act.number] = self._said(act, who, noting)
        self._sent[act.number] = self._of(act, self._log[before:])
        return self._sent[act.number]

    def called(self, identity: Any) -> str:
        """The name that a transcript gives somebody."""
        return next(name for name, one in self._people.items() if one.id == identity)

    # -- what is each platform's own -----------------------------------------------------------------------------

    @property
    def _log(self) -> list[Any]:
        """All that the server has delivered, or would."""
        raise NotImplementedError

    def _listen(self, made: Any) -> None:
        """See to it that the outcome of whatever is delivered is noted."""
        raise NotImplementedError

    async def _passed(self, made: Any) -> None:
        """Time has passed."""

    async def _hears(self, made: Any, act: Act, noting: Noting) -> None:
        raise NotImplementedError

    def _is_news(self, act: Act) -> bool:
        """Whether a transcript tells that something came twice."""
        return True

    def _once_more(self, sent: list[Any]) -> list[Any]:
        return sent

    def _of(self, act: Act, delivered: list[Any]) -> list[Any]:
        """What of all that counts as the act, where it is delivered once more."""
        return delivered

    def _person(self, name: str) -> Any:
        raise NotImplementedError

    def _edits(self, act: Act, who: Any) -> None:
        raise NotImplementedError

    def _deletes(self, act: Act, who: Any) -> None:
        raise NotImplementedError

    def _presses(self, act: Act, who: Any, name: str, button: Button | None, noting: Any) -> None:
        """`act` names its message; `button` is None where it was forged."""
        raise NotImplementedError

    def _said(self, act: Act, who: Any, noting: Any) -> Any:
        raise NotImplementedError
