"""`askfirst` in a fork of a process that has imported the program already.

Most of the time that a command takes goes into imports, and there are hundreds of commands here. A fork is a whole
process all the same: its own arguments, folder, environment, streams, signals and end. That the installed command
starts from nothing is shown by the tests of streams and signals, of what a start loads, of the wheel, and by those on
servers that we did not write.

The forking process has no threads and no event loop. An order comes over a socket with the streams that the command
is given; a process in between waits for the command and tells its id and how it ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import importlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

PRELOADED = (
    "bot.cli.chat",
    "bot.cli.demo",
    "bot.cli.doctor",
    "bot.cli.on_slack",
    "bot.cli.on_telegram",
    "bot.cli.parked",
    "bot.cli.records",
    "bot.cli.serve",
    "bot.cli.specs",
    "adapters.slack.again",
    "adapters.slack.doctor",
    "adapters.telegram.again",
    "adapters.telegram.doctor",
    "adapters.terminal.jsonl",
    "config.check",
    "storage.postgres",
    "storage.sqlite",
)
LARGEST_ORDER = 100_000  # bytes

# What a command reads, writes and complains to, as file descriptors; None is nowhere.
Streams = tuple[int | None, int | None, int | None]


class Forked:
    """A command under way; what `asyncio` and `subprocess` call a process."""

    def __init__(self, told: IO[str]) -> None:
        self._told = told
        self.pid = int(told.readline())
        self.returncode: int | None = None

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.kill(self.pid, number)

    def end(self) -> int:
        """Wait for its end."""
        if self.returncode is None:
            with self._told:
                self.returncode = int(self._told.readline())
        return self.returncode

    async def wait(self) -> int:
        return await asyncio.to_thread(self.end)


def start(arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path, streams: Streams = (None,) * 3) -> Forked:
    order = json.dumps({"arguments": list(arguments), "env": dict(env), "cwd": str(cwd)}).encode()
    assert len(order) < LARGEST_ORDER
    nowhere = os.open(os.devnull, os.O_RDWR)
    told, telling = os.pipe()
    try:
        given = [nowhere if stream is None else stream for stream in streams]
        socket.send_fds(_forking(), [order], [*given, telling])
    finally:
        os.close(nowhere)
        os.close(telling)
    return Forked(os.fdopen(told))


@functools.cache
def _forking() -> socket.socket:
    """The forking process of this test run, by the socket that it listens to; it ends with the run."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        run = "from tests.e2e.forked import main; main()"
        command = [sys.executable, "-c", run, str(theirs.fileno())]
        root = Path(__file__).parents[2]
        subprocess.Popen(command, cwd=root, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]).returncode = 0
    return ours


# -- the process that forks ------------------------------------------------------------------------------------------


def main() -> None:
    listening = socket.socket(fileno=int(sys.argv[1]))
    for name in PRELOADED:
        importlib.import_module(name)  # noqa: TID251 - what the commands import
    gc.collect()
    gc.freeze()  # or each fork copies all of it, to look through it for garbage at its end
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those in between are not waited for
    while True:
        raw, fds, _, _ = socket.recv_fds(listening, LARGEST_ORDER, 4)
        if not raw:
            return
        if os.fork() == 0:
            listening.close()
            order = json.loads(raw)
            if _in_between(fds):
                _become(order)
                from bot.cli import main as askfirst

                askfirst()
                return
        for fd in fds:
            os.close(fd)


def _in_between(fds: Sequence[int]) -> bool:
    """True in the process that is to be the command; the other one waits for it and ends."""
    told = fds[3]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    command = os.fork()
    if command == 0:
        for number, fd in enumerate(fds[:3]):
            os.dup2(fd, number)
        for fd in fds:
            os.close(fd)
        return True
    for fd in fds[:3]:
        os.close(fd)
    os.write(told, f"{command}\n".encode())
    _, status = os.waitpid(command, 0)
    os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(order: dict[str, Any]) -> None:
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    random.seed()
    if os.environ.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")
    sys.path.remove("")  # of `python -c`: the folder that it runs in
    sys.argv = ["askfirst", *order["arguments"]]
