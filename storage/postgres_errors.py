"""What PostgreSQL and the way to it can answer, in kinds: ours to take back, gone for a moment, or to be told."""

from __future__ import annotations

import socket

import asyncpg
from asyncpg import exceptions as pg

from bot.ports import StoreUnavailable

# What a single commit can be guilty of: a constraint, or a value that no column takes.
GUILTY = (
    pg.IntegrityConstraintViolationError,
    pg.DataError,
    pg.ProgramLimitExceededError,  # a key too long for an index
    OverflowError,
    ValueError,
    TypeError,
)
RACED = (pg.UniqueViolationError, pg.ForeignKeyViolationError)  # of these, what another worker may have caused
# Another worker was in the way; the same again goes well.
CROSSED = (pg.DeadlockDetectedError, pg.SerializationError, pg.LockNotAvailableError)
# Of a batch in one statement: what shows when one looks first. Who has waited for a lock in vain would do so again.
FOUND_OUT = (*GUILTY, pg.DeadlockDetectedError, pg.SerializationError)
# The connection is gone, and with it whatever was not committed.
LOST = (
    pg.PostgresConnectionError,
    pg.OperatorInterventionError,  # shut down, starting up, a statement timed out
    pg.InterfaceError,
    pg.InternalClientError,
    OSError,
    TimeoutError,
)
DATABASE = (*LOST, asyncpg.PostgresError)

_MEANINGS: tuple[tuple[type[BaseException], str], ...] = (
    (pg.InvalidPasswordError, "it refuses the password. Correct ASKFIRST_DATABASE."),
    (pg.InvalidAuthorizationSpecificationError, "it does not let this user in. Correct ASKFIRST_DATABASE."),
    (
        pg.InvalidCatalogNameError,
        "there is no database of that name. Create it (`createdb NAME`), or correct ASKFIRST_DATABASE.",
    ),
    (
        pg.InsufficientPrivilegeError,
        "this user may not do that. Grant it CREATE on the schema and all rights on its tables.",
    ),
    (
        pg.TooManyConnectionsError,
        "it takes no more connections. Raise max_connections, or give each worker fewer (…?pool=4).",
    ),
    (pg.DiskFullError, "its disk is full. Nothing was written. Make room, then try again."),
    (
        pg.ReadOnlySQLTransactionError,
        "it can only be read: a standby, or a server set to read-only. Nothing was written. Name the primary.",
    ),
    (pg.DataCorruptedError, "it is damaged. Stop writing to it, and go back to the last backup."),
    (
        pg.IndexCorruptedError,
        "an index of it is damaged. Stop writing to it; REINDEX, or go back to the last backup.",
    ),
    (pg.QueryCanceledError, "it took too long. Nothing was written. Try again; see what else it has to do."),
    (pg.CannotConnectNowError, "it is starting up or shutting down. Try again in a moment."),
    (socket.gaierror, "its host is not found. See the name in ASKFIRST_DATABASE, and the name service."),
    (ConnectionRefusedError, "nobody answers there. See that the server runs and that host and port are right."),
    (FileNotFoundError, "nobody answers there. See that the server runs and that host and port are right."),
    (TimeoutError, "it does not answer in time. See that it runs and can be reached from here."),
)


def unavailable(error: BaseException, name: str) -> StoreUnavailable:
    for kind, meaning in _MEANINGS:
        if isinstance(error, kind):
            return StoreUnavailable(f"the database {name}: {meaning}")
    if isinstance(error, LOST):
        return StoreUnavailable(f"the database {name}: the connection was lost ({type(error).__name__}). Try again.")
    return StoreUnavailable(f"the database {name} can not be used now: {error}. Nothing was written.")
