"""Answers that are no success, worded as the Bot API server words them (tdlib/telegram-bot-api, Client.cpp)."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """`{"ok": false, …}`: the HTTP code, the description, and what stands under `parameters`."""

    def __init__(self, code: int, description: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(f"{code} {description}")
        self.code, self.description, self.parameters = code, description, parameters or {}

    @property
    def body(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"ok": False, "error_code": self.code, "description": self.description}
        return answer | ({"parameters": self.parameters} if self.parameters else {})


def bad(why: str, **parameters: Any) -> Refusal:
    """400. The first letter becomes small unless the second is a capital: `TOPIC_CLOSED` stays as it is."""
    if len(why) > 1 and not (why[1] == "_" or why[1].isupper()):
        why = why[0].lower() + why[1:]
    return Refusal(400, f"Bad Request: {why}", parameters)


def forbidden(why: str) -> Refusal:
    return Refusal(403, f"Forbidden: {why}")


def flood(seconds: int) -> Refusal:
    return Refusal(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})
