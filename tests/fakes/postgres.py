"""A real PostgreSQL server for tests: its own data, its own socket, gone at the end. Durable: fsync stays on.

PostgreSQL refuses to run as root, so there it runs as `postgres` or `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import asyncpg

from storage.postgres_migrate import upgrade
from storage.postgres_url import target
from storage.schema import metadata

SUPERUSER = "postgres"
MISSING = (
    "PostgreSQL is not installed here, and the store is tested on a real server. Install it "
    "(Debian: `apt install postgresql`); `initdb` and `postgres` are looked for on PATH and in /usr/lib/postgresql."
)
PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)


class NoPostgres(Exception):
    """It says what to install."""


def program(name: str) -> Path:
    found = next((place / name for place in PLACES if (place / name).exists()), None)
    if found is not None:
        return found
    on_path = shutil.which(name)
    if on_path is None:
        raise NoPostgres(MISSING)
    return Path(on_path)


def _other_user() -> dict[str, Any]:
    """Who runs the server: this user, or somebody without privileges when this is root."""
    if os.geteuid() != 0:
        return {}
    for name in (SUPERUSER, "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    raise NoPostgres("PostgreSQL does not run as root, and there is no user `postgres` or `nobody` to run it as.")


class PostgresServer:
    """`url(database)` is what askfirst is given. `crash` is a power cut; `start` brings it back."""

    def __init__(self) -> None:
        self.user = _other_user()
        self.folder = Path(tempfile.mkdtemp(prefix="askfirst-pg-", dir="/tmp"))  # a socket's path must be short
        if self.user:
            os.chown(self.folder, self.user["user"], self.user["group"])
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0
        self._shared: str | None = None
        self._run(
            "initdb", "-D", "data", "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"
        )

    def _run(self, name: str, *arguments: str) -> None:
        done = subprocess.run(
            [program(name), *arguments], cwd=self.folder, capture_output=True, check=False, **self.user
        )
        if done.returncode:
            raise NoPostgres(f"{name} failed: {done.stderr.decode()}")

    def url(self, database: str = SUPERUSER) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={self.folder}"

    def start(self) -> None:
        assert self._process is None
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    program("postgres"),
                    "-D",
                    "data",
                    "-k",
                    self.folder,
                    "-c",
                    "listen_addresses=",
                    "-c",
                    "max_connections=60",
                ],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                **self.user,
            )
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            if self._is_ready():
                return
            time.sleep(0.02)
        raise NoPostgres(f"PostgreSQL did not start: {(self.folder / 'log').read_text()[-2000:]}")

    def _is_ready(self) -> bool:
        """The last line of this file says so: PostgreSQL's src/include/utils/pidfile.h."""
        try:
            lines = (self.folder / "data" / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        assert self._process is not None
        return len(lines) > 7 and lines[0] == str(self._process.pid) and lines[7].strip() == "ready"

    async def asks(self, *statements: str, database: str = SUPERUSER) -> Any:
        connection = await asyncpg.connect(database if ":" in database else self.url(database))
        try:
            return [await connection.fetch(statement) for statement in statements]
        finally:
            await connection.close()

    async def emptied(self) -> str:
        """The URL of a database with the tables of askfirst and nothing in them: the same one each time."""
        if self._shared is None:
            self._shared = await self.new_database()
            await upgrade(target(self._shared))
        emptied = "; ".join(f'DELETE FROM "{table.name}"' for table in reversed(metadata.sorted_tables))
        afresh = "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'"
        connection = await asyncpg.connect(self._shared)
        try:
            await connection.execute(f"{emptied}; {afresh}")  # TRUNCATE makes each file anew: 0.3 s instead of 0.05
        finally:
            await connection.close()
        return self._shared

    async def new_database(self, template: str | None = None) -> str:
        """An empty database, or a copy of one that nobody uses; its URL."""
        self._made += 1
        name = f"test{self._made}"
        await self.asks(f"CREATE DATABASE {name}" + ("" if template is None else f" TEMPLATE {template}"))
        return self.url(name)

    def stop(self, number: int = signal.SIGINT) -> None:
        """SIGINT: connections are ended, all is written. SIGQUIT: as when the power fails."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(60)
            self._process = None

    def crash(self) -> None:
        self.stop(signal.SIGQUIT)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
