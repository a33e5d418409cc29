"""`askfirst chat --jsonl`: one JSON object a line, in and out. For programs, tests and samples.

In, one act a line; one of `text`, `press`, `edit`, `delete` and `files` is needed:

    {"text": "1: B", "from": "ana", "place": "room", "files": [{"name": "draft.md"}], "reply_to": "m3", "id": "u7"}
    {"press": {"message": "m4", "button": "B"}}       the button's id, else its label, else its letter
    {"edit": "u2", "text": "2: C"}                    replaces the text of an earlier line of the same place
    {"delete": "u2"}

`from` is "you" and `place` "terminal" by default. The same `id` in the same place is the same act, and changes
nothing the second time; a line without one gets a fresh `u<n>`. Also understood: `shared` (true where several
people may be: only what is meant for the bot counts), `addressed` (as is a mention, `@askfirst`), `forwarded` (whose
words these are), `workflow` (declared by a program, by its id or command: the words are a request and never an
answer, and are not routed; beside an open intake it is asked about once, an unknown one is refused), `album`, `bot`
(the sender is one), `outside` (a guest), and for a file `media`, `size`, `caption`.
Other keys are ignored.

Out, a message; with `edits` it replaces an earlier one; `text` is complete without the buttons:

    {"message": "m5", "place": "room", "text": "…", "buttons": [{"id": "…", "label": "…"}], "edits": "m5",
     "only_to": "ana", "session": "…", "round": "…", "files": [{"name", "media", "content"}]}

The notice that answers a press is a message too, named after the act ("u7.reply"); it takes no number. When all that
a line caused is out: `{"done": "u7", "outcome": "accepted" | "duplicate" | "ignored" | "refused", "reason"?}`. A line
that can not be read gives `{"error": {"line", "code", "message"}}`; reading goes on, and the exit code is 1.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from adapters.terminal.chat import Chat, Parts
from adapters.terminal.codec import (
    LONGEST_LINE,
    BadLine,
    Shown,
    done_line,
    encode,
    error_line,
    message_line,
    read_line,
)
from bot.core.codec import UnreadableState
from bot.faults import report
from bot.outbox import TransportBroken
from bot.ports import StoreUnavailable


class Lines:
    """Reads lines in a thread: standard input may be a file, a pipe or a terminal, and not all can be awaited.

    The thread is a daemon: a read that never ends must not keep the program from ending.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._wanted = threading.Semaphore(0)
        self._futures: list[asyncio.Future[bytes | None]] = []
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="lines", daemon=True).start()

    def next(self) -> asyncio.Future[bytes | None]:
        """The next line, None at the end. A line beyond the limit comes cut, but longer than the limit."""
        future: asyncio.Future[bytes | None] = self._loop.create_future()
        self._futures.append(future)
        self._wanted.release()
        return future

    def _read(self) -> None:
        while True:
            self._wanted.acquire()
            try:
                line = self._line()
            except (OSError, ValueError):  # closed under our feet
                line = None
            try:
                self._loop.call_soon_threadsafe(self._give, line)
            except RuntimeError:  # the loop has ended
                return

    def _line(self) -> bytes | None:
        line = self._stream.readline(LONGEST_LINE + 2)
        if not line:
            return None
        end = line
        while len(end) > LONGEST_LINE and not end.endswith(b"\n"):
            end = self._stream.readline(LONGEST_LINE + 2)
        return line.rstrip(b"\r\n")

    def _give(self, line: bytes | None) -> None:
        future = self._futures.pop(0)
        if not future.done():
            future.set_result(line)


class Writer:
    """Writes lines of JSON, each at once. When they reach nobody any more it says so with `TransportBroken`."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, line: dict[str, Any]) -> None:
        try:
            self._stream.write(encode(line))
            self._stream.flush()
        except BrokenPipeError as error:
            raise TransportBroken("nobody reads the output any more") from error
        except (OSError, ValueError) as error:  # a full disk, a closed stream
            said = getattr(error, "strerror", None) or error
            raise TransportBroken(
                f"the output can not be written: {said}. What was said is stored; the rest comes first next time."
            ) from error

    def show(self, shown: Shown) -> None:
        self.write(message_line(shown))

    def abandon(self) -> None:
        """Keep the interpreter from complaining at exit about what it can not flush (docs.python.org: SIGPIPE)."""
        try:
            number = self._stream.fileno()
        except (OSError, ValueError):
            return
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, number)
        os.close(devnull)


async def run_jsonl(make_parts: Callable[[Callable[[Shown], None]], Parts], source: BinaryIO, sink: BinaryIO) -> int:
    """Talk until the input ends. The exit code: 0, or 1 after a line that was not understood or could not be handled.

    `make_parts` gets the screen that the terminal transport is to show messages on.
    """
    writer = Writer(sink)
    try:
        return await _talk(Chat(make_parts(writer.show)), Lines(source), writer)
    except TransportBroken as broken:
        writer.abandon()
        if not isinstance(broken.__cause__, BrokenPipeError):  # that is how a reader says "enough"
            raise
        return 1


async def _talk(chat: Chat, lines: Lines, writer: Writer) -> int:
    await chat.begin()
    code, number = 0, 0
    while (raw := await chat.wait_for(lines.next())) is not None:
        number += 1
        if not raw.strip():
            continue
        bad = await _line(chat, writer, raw)
        if bad is not None:
            code = 1
            writer.write(error_line(number, bad))
    await chat.end()
    return code


async def _line(chat: Chat, writer: Writer, raw: bytes) -> BadLine | None:
    line = read_line(raw)
    if isinstance(line, BadLine):
        return line
    line_id = await chat.name(line)
    try:
        handled = await chat.take(line, line_id)
        while line.id is None and handled.outcome == "duplicate":  # another process has taken that number meanwhile
            line_id = await chat.name(line)
            handled = await chat.take(line, line_id)
    except (TransportBroken, StoreUnavailable):
        raise
    except UnreadableState as error:
        return BadLine("unreadable", f"{line_id}: {error}")
    except Exception as error:  # noqa: BLE001 - one line's failure must not end the others
        report("line_failed", error, line=line_id)
        return BadLine("internal", f"our mistake on {line_id}: nothing of it was stored; the log says where")
    writer.write(done_line(line_id, handled.outcome, handled.reason))
    return None
