"""What a store offers beside the runner's port: reading its records, for people and for checks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from bot.ports import Store

Row = dict[str, Any]


class Snapshot(Protocol):
    """One moment of the whole database. Rows are given as stored: times are microseconds, JSON is text."""

    def sessions(self) -> AsyncIterator[Row]:
        """Newest first."""
        ...

    async def session(self, session: str) -> Row | None: ...

    def events(self, conversation: str) -> AsyncIterator[Row]:
        """In the order in which they were applied."""
        ...

    def clarifications(self, session: str | None = None) -> AsyncIterator[Row]:
        """The latest revision of each, by session, in the order in which they were first made."""
        ...

    def history(self, session: str) -> AsyncIterator[Row]:
        """Every revision that no longer stands: replaced, amended or taken back."""
        ...

    def chains(self) -> AsyncGenerator[str]:
        """Every chain that has a row or an end, and every session that has clarifications; by name."""
        ...

    def chain(self, chain: str) -> AsyncIterator[Row]: ...

    def unsent(self) -> AsyncIterator[Row]:
        """The rows of the outbox that wait, oldest first."""
        ...

    def failures(self, mistake: str) -> AsyncIterator[Row]:
        """Events refused for a reason that begins with `mistake`, and what was handled again, oldest first."""
        ...

    async def chain_head(self, chain: str) -> Row | None: ...


class Ring(Protocol):
    """`bot.bell.Bell.ring`: there may be something to do. Without names: anything."""

    def __call__(self, what: Collection[str] = ...) -> None: ...


class RecordStore(Store, Protocol):
    """A store whose records can be read. Every store of this package is one.

    `shared`: other processes may be serving from the same database.
    """

    shared: bool

    def listen(self, ring: Ring) -> None:
        """`ring` is called when another process may have left something to do, or now and then."""
        ...

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]: ...
