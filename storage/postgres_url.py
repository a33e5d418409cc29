"""`postgresql://…` taken apart: what asyncpg gets, what is ours, and a name for messages without the password."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from bot.ports import StoreUnavailable

SCHEMES = ("postgresql", "postgres")
POOL = 8  # connections for reading and for the outbox, beside the writer's and the listener's
HOW = "It is written postgresql://user:password@host:5432/database"


@dataclass(frozen=True, slots=True, repr=False)
class Target:
    """`dsn` holds the password: never shown. `name` is for messages.

    `pgbouncer`: connections go through a pooler that may give each transaction another one. Then no statement is
    prepared under a name, nothing is set for a whole connection, and nobody can LISTEN
    (pgbouncer.org/features.html, "transaction pooling").
    """

    dsn: str
    name: str
    pool: int = POOL
    pgbouncer: bool = False

    def __repr__(self) -> str:
        return f"Target({self.name})"


def target(url: str) -> Target:
    """Of the parameters, `pool` (how many connections) and `pgbouncer` (true, false) are ours."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise StoreUnavailable(f"ASKFIRST_DATABASE can not be read as a database address. {HOW}.") from None
    if parts.scheme not in SCHEMES or not url.startswith(f"{parts.scheme}://") or not parts.path.strip("/"):
        raise StoreUnavailable(f"ASKFIRST_DATABASE names no PostgreSQL database. {HOW}.")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    pool, pgbouncer = given.pop("pool", str(POOL)), given.pop("pgbouncer", "false").lower()
    if not pool.isascii() or not pool.isdigit() or not 1 <= int(pool) <= 100:
        raise StoreUnavailable("pool in ASKFIRST_DATABASE must be a number from 1 to 100: how many connections.")
    if pgbouncer not in ("true", "false"):
        raise StoreUnavailable("pgbouncer in ASKFIRST_DATABASE must be true or false.")
    where = host or unquote(given.get("host", "")) or "localhost"
    return Target(
        dsn=urlunsplit(parts._replace(query=urlencode(given))),
        name=f"postgresql://{where}{f':{port}' if port else ''}{parts.path}",
        pool=int(pool),
        pgbouncer=pgbouncer == "true",
    )
