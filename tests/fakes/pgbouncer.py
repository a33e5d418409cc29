"""A real PgBouncer in front of a test's PostgreSQL: each transaction may come by another of its few connections."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.fakes.postgres import SUPERUSER, PostgresServer

MISSING = (
    "PgBouncer is not installed here, and what goes through it is tested with a real one. Install it "
    "(Debian: `apt install pgbouncer`); `pgbouncer` is looked for on PATH and in /usr/sbin."
)
PORT = 6432  # in the name of its socket only
CONNECTIONS = 2  # to the server, of all its clients together
# pgbouncer.org/config.html. What a connection was told to prepare or to set is not there in the next transaction.
SETTINGS = """
[databases]
* = host={server} user={user}

[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
logfile = {folder}/log
pidfile = {folder}/pid
"""


class NoPgBouncer(Exception):
    """It says what to install."""


class PgBouncer:
    def __init__(self, server: PostgresServer) -> None:
        program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
        if program is None:
            raise NoPgBouncer(MISSING)
        self.folder = Path(tempfile.mkdtemp(prefix="askfirst-pgb-", dir="/tmp"))  # a socket's path must be short
        settings = self.folder / "pgbouncer.ini"
        settings.write_text(
            SETTINGS.format(
                server=server.folder, user=SUPERUSER, folder=self.folder, port=PORT, connections=CONNECTIONS
            )
        )
        if server.user:  # nor does it run as root
            for path in (self.folder, settings):
                os.chown(path, server.user["user"], server.user["group"])
        self._process = subprocess.Popen([program, "-q", settings], cwd=self.folder, **server.user)
        until = time.monotonic() + 60
        while not (self.folder / f".s.PGSQL.{PORT}").exists():
            if time.monotonic() > until or self._process.poll() is not None:
                raise NoPgBouncer(f"PgBouncer did not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def url(self, of_server: str) -> str:
        """The same database through the pooler, as askfirst is given it."""
        database = of_server.partition("@/")[2].partition("?")[0]
        return f"postgresql://{SUPERUSER}@/{database}?host={self.folder}&port={PORT}&pgbouncer=true"

    def remove(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)
