"""The questions of a snapshot, by the names of their statements; each database gives the way to ask them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from storage.queries import Row
from storage.values import text


class Reading(ABC):
    """A read transaction of its own: writers go on, and what they write is not seen here."""

    @abstractmethod
    def _rows(self, name: str, **values: Any) -> AsyncIterator[Row]:
        """The rows of a statement, a small portion of them at a time."""

    async def _first(self, name: str, **values: Any) -> Row | None:
        async for row in self._rows(name, **values):
            return row
        return None

    def sessions(self) -> AsyncIterator[Row]:
        return self._rows("sessions")

    async def session(self, session: str) -> Row | None:
        return await self._first("session", session=text(session))

    def events(self, conversation: str) -> AsyncIterator[Row]:
        return self._rows("events", conversation=text(conversation))

    def clarifications(self, session: str | None = None) -> AsyncIterator[Row]:
        if session is None:
            return self._rows("clarifications")
        return self._rows("session_clarifications", session=text(session))

    def history(self, session: str) -> AsyncIterator[Row]:
        return self._rows("session_history", session=text(session))

    async def chains(self) -> AsyncGenerator[str]:
        async for row in self._rows("chains"):
            yield row["chain"]

    def chain(self, chain: str) -> AsyncIterator[Row]:
        return self._rows("chain", chain=text(chain))

    async def chain_head(self, chain: str) -> Row | None:
        return await self._first("chain_head", chain=text(chain))

    def failures(self, mistake: str) -> AsyncIterator[Row]:
        return self._rows("failures", mistake=text(mistake))

    def unsent(self) -> AsyncIterator[Row]:
        return self._rows("unsent")
