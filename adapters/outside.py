"""What the doctors of the platforms share: calls without their libraries, and two clocks held against each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from bot.checks import Check


class Unanswered(Exception):
    """The platform can not be reached, or answers with something else than it documents."""


class Api:
    """A platform's calls without its library: what stands in the headers is asked for too."""

    def __init__(self, client: httpx.AsyncClient, root: str) -> None:
        self._client, self._root = client, root
        self.date: datetime | None = None  # of the last answer that told one

    async def ask(self, method: str, **how: Any) -> tuple[httpx.Response, Any]:
        """The answer and its JSON. The error holds neither the address nor a header: there are tokens in them."""
        try:
            answer = await self._client.post(f"{self._root}{method}", **how)
            body = answer.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise Unanswered(type(error).__name__) from None
        self.date = _date_of(answer) or self.date
        return answer, body


def unreached(name: str, api: str, error: Unanswered, host: str, setting: str) -> Check:
    """`api` is what the platform calls it; `setting` is where its address is given."""
    fix = f"See that this machine reaches {host}, or that {setting} is right."
    return Check(name, "finding", f"the {api} does not answer: {error}", fix)


def _date_of(answer: httpx.Response) -> datetime | None:
    """When the platform answered, by its own clock."""
    try:
        return parsedate_to_datetime(answer.headers["date"])
    except (KeyError, ValueError):
        return None


def clocks(
    name: str, theirs: datetime | None, ours: datetime, bound: timedelta, of: str, then: str = ""
) -> list[Check]:
    """Ours against the platform's. `of` names it; `then`: what follows from a difference beyond `bound`."""
    if theirs is None:
        return []
    skew = ours - theirs.astimezone(UTC)
    if abs(skew) <= bound:
        return [Check(name, "ok", f"agrees with {of}'s")]
    way = "ahead of" if skew > timedelta(0) else "behind"
    message = f"this machine's clock is {abs(skew).total_seconds():.0f} s {way} {of}'s{then}"
    return [Check(name, "finding", message, "Set it, or switch on time synchronisation (NTP).")]
