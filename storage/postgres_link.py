"""Connections to PostgreSQL: how they are made, and one that is made again when it was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import asyncpg

from storage.postgres_url import Target

COMMAND = 20.0  # seconds until the client gives a statement up: a network that is gone answers nothing at all
CONNECT = 10.0  # seconds
# What the server is told of our connections, in milliseconds. A statement of ours takes a few.
SERVER = {
    "application_name": "askfirst",
    "statement_timeout": "15000",
    "lock_timeout": "5000",
    "idle_in_transaction_session_timeout": "60000",
    "jit": "off",  # to compile one takes a tenth of a second; none of ours is worth it
}

# And of those of the pool, whose statements go by keys: their plans are kept, and one that was made while a table had
# nothing in it must not read it whole when it has grown.
KEYS = {"enable_seqscan": "off"}

# And of those for work that is as long as the database is large, or waits for whoever reads what it gives out: a
# migration, a copy, an export. Behind a pooler it can be said of one transaction only, after its BEGIN.
PATIENT = {"statement_timeout": "0", "idle_in_transaction_session_timeout": "0"}
PATIENTLY = "; ".join(f"SET LOCAL {name} = {value}" for name, value in PATIENT.items())


def options(target: Target, settings: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"dsn": target.dsn, "command_timeout": COMMAND, "timeout": CONNECT, **more}
    if target.pgbouncer:
        made["statement_cache_size"] = 0
    else:
        made["server_settings"] = {**SERVER, **(settings or {})}
    return made


async def connect(target: Target, *, patient: bool = False) -> Any:
    made = options(target)
    if patient:
        made["command_timeout"] = None
        if not target.pgbouncer:
            made["server_settings"].update(PATIENT)
    return await asyncpg.connect(**made)


async def end(connection: Any) -> None:
    """Closed politely, or else cut off; what was not committed is rolled back."""
    with suppress(OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        await connection.close(timeout=5)
    await asyncio.sleep(0)  # a connection that was cut off is let go of in the next turn


class Link:
    """One connection, opened when it is first wanted and again after it was lost."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._connection: Any = None

    async def get(self) -> Any:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._target)
        return self._connection

    def drop(self) -> None:
        """Nobody knows what state it is in. The server rolls back what was not committed."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def close(self) -> None:
        if self._connection is not None:
            await end(self._connection)
            self._connection = None
