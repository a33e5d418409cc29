"""Misbehaviour on request: refusals, floods, lost connections, answers that take their time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from bot.ports import Clock
from tests.fakes.orders import Gate, Orders
from tests.fakes.telegram.errors import Refusal, flood

_WORDS = {
    400: "Bad Request: message can't be edited",
    401: "Unauthorized",
    403: "Forbidden: bot was blocked by the user",
    409: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


@dataclass(eq=False)
class Fault:
    method: str
    how: Literal["refuse", "lost before", "lost after", "timeout before", "timeout after", "garbage", "hold", "held"]
    chat: Any = None
    times: int = 1
    refusal: Refusal | None = None
    gate: Gate | None = None

    def meant(self, method: str, args: dict[str, Any]) -> bool:
        if self.method not in {"*", method} or (self.method == "*" and method == "getUpdates"):
            return False
        return self.chat is None or str(args.get("chat_id")) == str(self.chat)


class Faults(Orders[Fault]):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self._floods: list[tuple[Any, datetime]] = []

    def fail(
        self,
        code: int,
        description: str | None = None,
        *,
        method: str = "*",
        chat: Any = None,
        times: int = 1,
        **parameters: Any,
    ) -> Fault:
        """An answer that is no success. `*` is every method but getUpdates."""
        refusal = Refusal(code, description or _WORDS[code], parameters)
        return self._order(Fault(method, "refuse", chat, times, refusal))

    def limit(self, retry_after: int = 3, *, method: str = "*", chat: Any = None, times: int = 1) -> Fault:
        """429 with the seconds to wait. `times`: that many calls, whatever the clock says."""
        return self._order(Fault(method, "refuse", chat, times, flood(retry_after)))

    def flood(self, seconds: float, chat: Any = None) -> None:
        """429 for every call (to a chat) until the clock has passed it, each with the seconds that are left."""
        self._floods.append((chat, self.clock.now() + timedelta(seconds=seconds)))

    def lose(
        self, *, method: str = "*", taken: bool, chat: Any = None, times: int = 1, timeout: bool = False
    ) -> Fault:
        """The connection drops before or after the call had its effect. With `timeout` no answer comes instead."""
        what = "timeout" if timeout else "lost"
        return self._order(Fault(method, f"{what} {'after' if taken else 'before'}", chat, times))

    def garbage(self, *, method: str = "*", chat: Any = None, times: int = 1) -> Fault:
        """A 502 in HTML, as a proxy gives it. The call had no effect."""
        return self._order(Fault(method, "garbage", chat, times))

    def hold(self, *, method: str = "*", taken: bool = False, chat: Any = None) -> Gate:
        """The next such call waits: before its effect, or (`taken`) between the effect and the answer."""
        gate = Gate()
        self._order(Fault(method, "held" if taken else "hold", chat, 1, gate=gate))
        return gate

    def clear(self) -> None:
        super().clear()
        self._floods.clear()

    def take(self, method: str, args: dict[str, Any]) -> Fault | None:
        now = self.clock.now()
        for chat, until in self._floods:
            meant = Fault("*", "refuse", chat).meant(method, args)
            if meant and until > now:
                left = max(1, -int(-(until - now).total_seconds() // 1))
                return Fault(method, "refuse", refusal=flood(left))
        return super().take(method, args)
