"""`askfirst serve`, forked from a process that has imported the program already.

Of the four seconds that a start takes on a busy machine, three go into imports. A campaign of hundreds of kills forks
most of its processes instead; each is a whole process with its own connections, and SIGKILL ends it like any other.

The forking process is a program of its own, without threads or an event loop. It reads a line of JSON for each order:
`{"start": {"log", "environment", "folder"}}` → the process id; `{"wait": id}` → its return code, as of subprocess.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import random
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from tests.e2e.installed import ASKFIRST


class Started:
    """A process of either kind."""

    def __init__(self, pid: int, forking: Forking | None, own: asyncio.subprocess.Process | None) -> None:
        self.pid, self._forking, self._own = pid, forking, own
        self._code: int | None = None

    async def end(self, how: int) -> int:
        """Send a signal, and wait for the return code."""
        if self._code is None:
            os.kill(self.pid, how)
            if self._own is not None:
                self._code = await self._own.wait()
            elif self._forking is not None:
                self._code = await self._forking.ask({"wait": self.pid})
        assert self._code is not None
        return self._code

    @property
    def ended(self) -> bool:
        return self._code is not None


class Forking:
    """`afresh` starts the installed command instead."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._one = asyncio.Lock()

    async def start(self, log: Path, environment: dict[str, str], folder: Path, *, afresh: bool) -> Started:
        if afresh:
            with log.open("ab") as stream:
                own = await asyncio.create_subprocess_exec(
                    ASKFIRST, "serve", env=environment, stderr=stream, cwd=folder
                )
            return Started(own.pid, None, own)
        order = {"log": str(log), "environment": environment, "folder": str(folder)}
        return Started(await self.ask({"start": order}), self, None)

    async def ask(self, order: dict[str, Any]) -> int:
        async with self._one:
            if self._process is None:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "tests.e2e.forking",
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    cwd=Path(__file__).parents[2],
                )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            return int(await self._process.stdout.readline())

    async def close(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            await self._process.wait()


# -- the process that forks ------------------------------------------------------------------------------------------


def main() -> None:
    for name in ("bot.cli", "bot.cli.serve", "storage.postgres", "storage.sqlite"):
        importlib.import_module(name)  # noqa: TID251 - what a start imports
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            pid = os.fork()
            if pid == 0:
                _serve(**order["start"])
            print(pid, flush=True)
        else:
            _, status = os.waitpid(order["wait"], 0)
            print(os.waitstatus_to_exitcode(status), flush=True)


def _serve(log: str, environment: dict[str, str], folder: str) -> NoReturn:
    code: int | str | None = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(0, 1)
        os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        random.seed()
        sys.argv = ["askfirst", "serve"]
        from bot.cli import main as askfirst

        askfirst()
        code = 0
    except SystemExit as left:
        code = left.code
    except BaseException:  # noqa: BLE001 - told as the interpreter would
        traceback.print_exc()
    finally:
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    main()
