"""What goes wrong, in three kinds: Slack says no, the person's client says no, this fake does not know."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """An answer with `ok: false`. `status` is the HTTP status: 200 for all but a few."""

    def __init__(self, error: str, *, status: int = 200, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(f"{error} {more or ''}".strip())
        self.error, self.status, self.headers, self.more = error, status, headers or {}, more

    @property
    def body(self) -> dict[str, Any]:
        return {"ok": False, "error": self.error} | self.more


class ClientRefused(AssertionError):
    """Slack's own client would not let the person do this: nothing reaches the app."""


class Unmodelled(AssertionError):
    """The app used, or a test asked for, something this fake does not know. Never passed over in silence."""


def invalid(error: str, problems: list[str]) -> Refusal:
    """Errors of form, with Slack's `response_metadata.messages`."""
    return Refusal(
        error,
        errors=problems,
        response_metadata={"messages": [f"[ERROR] {problem}" for problem in problems]},
    )


def ratelimited(seconds: int) -> Refusal:
    """docs.slack.dev/apis/web-api/rate-limits: 429 with Retry-After in seconds."""
    return Refusal("ratelimited", status=429, headers={"Retry-After": str(seconds)})
