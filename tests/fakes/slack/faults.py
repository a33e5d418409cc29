"""Misbehaviour of the Web API on request: refusals, 429, 5xx, lost connections, answers that take their time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.orders import Gate, Orders
from tests.fakes.slack.errors import Refusal, ratelimited

How = Literal[
    "refuse",
    "broken",
    "lost before",
    "lost after",
    "timeout before",
    "timeout after",
    "hold",
    "held",
    "slow",
    "answer",
]


@dataclass(eq=False)
class Fault:
    method: str
    how: How
    channel: str | None = None
    times: int = 1
    refusal: Refusal | None = None
    status: int = 500
    gate: Gate | None = None
    seconds: float = 0.0
    when: dict[str, Any] = field(default_factory=dict)
    reply: dict[str, Any] = field(default_factory=dict)

    def meant(self, method: str, args: dict[str, Any]) -> bool:
        if self.method not in {"*", method} or (self.method == "*" and method == "apps.connections.open"):
            return False
        if any(args.get(name) != value for name, value in self.when.items()):
            return False
        return self.channel is None or args.get("channel") == self.channel


class Faults(Orders[Fault]):
    """`method`: a name, `*` (all but apps.connections.open), or `response_url`. `channel`: an id, or what has one."""

    def fail(self, error: str, *, method: str = "*", channel: Any = None, times: int = 1, **more: Any) -> Fault:
        """`ok: false` with this error: fatal_error, internal_error, request_timeout, team_access_not_granted …"""
        return self._order(Fault(method, "refuse", _id(channel), times, Refusal(error, **more)))

    def limit(self, retry_after: int = 3, *, method: str = "*", channel: Any = None, times: int = 1) -> Fault:
        """429 with Retry-After in seconds."""
        return self._order(Fault(method, "refuse", _id(channel), times, ratelimited(retry_after)))

    def broken(self, status: int = 503, *, method: str = "*", channel: Any = None, times: int = 1) -> Fault:
        """5xx with a page of HTML. The call had no effect."""
        return self._order(Fault(method, "broken", _id(channel), times, status=status))

    def lose(
        self, *, taken: bool, method: str = "*", channel: Any = None, times: int = 1, timeout: bool = False
    ) -> Fault:
        """The connection drops before or after the call had its effect; with `timeout` no answer comes instead.

        slack_sdk repeats a call by itself once when the connection was lost: two of these are needed to be seen.
        """
        how: Any = f"{'timeout' if timeout else 'lost'} {'after' if taken else 'before'}"
        return self._order(Fault(method, how, _id(channel), times))

    def hold(self, *, method: str = "*", taken: bool = False, channel: Any = None) -> Gate:
        """The next such call waits: before its effect, or (`taken`) between the effect and the answer."""
        gate = Gate()
        self._order(Fault(method, "held" if taken else "hold", _id(channel), 1, gate=gate))
        return gate

    def answer(self, reply: dict[str, Any], *, method: str, times: int = -1, **when: Any) -> Fault:
        """This body, without any effect, for calls with these parameters: what a field case says that Slack said."""
        return self._order(Fault(method, "answer", times=times, when=when, reply=reply))

    def slow(self, seconds: float, *, method: str = "*", channel: Any = None, times: int = 1) -> Fault:
        """The effect is there at once, the answer after these seconds of the clock."""
        return self._order(Fault(method, "slow", _id(channel), times, seconds=seconds))


def _id(channel: Any) -> str | None:
    return channel if channel is None or isinstance(channel, str) else str(channel.id)
