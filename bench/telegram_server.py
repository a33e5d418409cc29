"""A Bot API server that does as little as it can, in a process of its own, so that what is measured is the bots.

It hands out the updates of many chats, each chat's next one as soon as the reply to the one before has come, takes
whatever is sent, and keeps the time of both. `python -m bench.telegram_server` prints its port.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

ME = {
    "id": 7000000001,
    "is_bot": True,
    "first_name": "Askfirst",
    "username": "askfirst_bot",
    "can_join_groups": True,
    "can_read_all_group_messages": True,
    "supports_inline_queries": False,
}
CHAT = re.compile(rb'chat_id(?:=|"\r\n\r\n|":\s*"?)(-?\d+)')
LONGEST_POLL = 5.0  # seconds
DELIVERIES = 40  # at once to a webhook, Telegram's default


@dataclass
class Chat:
    id: int
    script: list[str]
    said: int = 0
    messages: int = 0
    waiting_since: float = 0.0  # of the update whose reply has not come yet; 0: there is none


@dataclass
class Run:
    """All chats go through the script; `done` is set when the last reply has come."""

    chats: dict[int, Chat]
    later: deque[Chat]  # those whose turn has not come: so many people write at the same time, not all of them
    updates: deque[dict[str, Any]] = field(default_factory=deque)  # made, not handed out
    delays: list[float] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    unconfirmed: list[dict[str, Any]] = field(default_factory=list)

    def say(self, chat: Chat, number: int) -> None:
        chat.messages += 1
        name = {"first_name": "Ana", "username": f"ana{chat.id}"}
        message = {
            "message_id": chat.messages,
            "from": {"id": chat.id, "is_bot": False, "language_code": "en", **name},
            "chat": {"id": chat.id, "type": "private", **name},
            "date": int(time.time()),
            "text": chat.script[chat.said],
        }
        chat.said += 1
        self.updates.append({"update_id": number, "message": message})
        self.news.set()

    def handed_out(self, update: dict[str, Any]) -> None:
        self.chats[update["message"]["chat"]["id"]].waiting_since = time.perf_counter()

    def replied(self, chat: Chat, next_number: Callable[[], int]) -> None:
        if not chat.waiting_since:
            return  # one more message about the same update
        self.delays.append(time.perf_counter() - chat.waiting_since)
        chat.waiting_since = 0.0
        if chat.said < len(chat.script):
            self.say(chat, next_number())
        elif self.later:
            self.say(self.later.popleft(), next_number())
        elif len(self.delays) == sum(len(one.script) for one in self.chats.values()):
            self.done.set()


class Server:
    def __init__(self) -> None:
        self.run: Run | None = None
        self.number = 1000
        self.hook = ""

    def next_number(self) -> int:
        self.number += 1
        return self.number

    # -- what a bot calls ----------------------------------------------------------------------------------------

    async def call(self, path: str, body: bytes) -> Any:
        if path == "/run":
            return await self.measure(json.loads(body))
        method = path.rpartition("/")[2]
        if method in ("sendMessage", "editMessageText", "sendDocument"):
            return self.sent(method, body)
        if method == "getUpdates":
            return {"ok": True, "result": await self.poll(body)}
        if method == "setWebhook":
            given = json.loads(body) if body.startswith(b"{") else dict(parse_qsl(body.decode()))
            self.hook = str(given["url"])
        if method == "getWebhookInfo":
            return {
                "ok": True,
                "result": {"url": self.hook, "has_custom_certificate": False, "pending_update_count": 0},
            }
        return {"ok": True, "result": ME if method == "getMe" else True}

    def sent(self, method: str, body: bytes) -> Any:
        found = CHAT.search(body)
        number = 0 if found is None else int(found[1])
        chat = None if self.run is None else self.run.chats.get(number)
        if chat is None or self.run is None:
            return {"ok": False, "error_code": 400, "description": "Bad Request: chat not found"}
        if method != "editMessageText":
            chat.messages += 1
        message = {
            "message_id": chat.messages,
            "from": {key: ME[key] for key in ("id", "is_bot", "first_name", "username")},
            "chat": {"id": number, "type": "private", "first_name": "Ana"},
            "date": int(time.time()),
            "text": "…",
        }
        if method == "sendMessage":
            self.run.replied(chat, self.next_number)
        return {"ok": True, "result": message}

    async def poll(self, body: bytes) -> list[Any]:
        """As the real one: what an offset has not confirmed comes again."""
        run = self.run
        asked = re.search(rb'offset(?:=|": "?)(-?\d+)', body)
        offset = int(asked[1]) if asked else 0
        seconds = re.search(rb'timeout(?:=|": "?)(\d+)', body)
        if run is None:
            await asyncio.sleep(0.01)
            return []
        run.unconfirmed = [u for u in run.unconfirmed if u["update_id"] >= offset]
        if not run.updates and not run.unconfirmed:
            run.news.clear()
            wait = min(LONGEST_POLL, float(seconds[1]) if seconds else 0.0)
            try:
                await asyncio.wait_for(run.news.wait(), wait)
            except TimeoutError:
                return []
        while run.updates and len(run.unconfirmed) < 100:
            update = run.updates.popleft()
            run.handed_out(update)
            run.unconfirmed.append(update)
        return run.unconfirmed

    # -- one measurement -----------------------------------------------------------------------------------------

    async def measure(self, order: dict[str, Any]) -> Any:
        """`chats`: ids; `at_once`: how many write at the same time; `script`; `url`: a webhook, or null; `secret`."""
        chats = {number: Chat(number, order["script"]) for number in order["chats"]}
        self.run = run = Run(chats, deque(chats.values()))
        started = time.perf_counter()
        for _ in range(min(order["at_once"], len(chats))):
            run.say(run.later.popleft(), self.next_number())
        posting = asyncio.ensure_future(post(run, order)) if order["url"] else None
        try:
            await asyncio.wait_for(run.done.wait(), 120)
        except TimeoutError:
            return {"error": f"{len(run.delays)} replies came"}
        finally:
            if posting is not None:
                posting.cancel()
        return {"seconds": time.perf_counter() - started, "delays": run.delays}


async def post(run: Run, order: dict[str, Any]) -> None:
    """Deliver to a webhook over kept connections; a chat has one update under way at a time by itself."""
    where = urlsplit(order["url"])
    free: asyncio.Queue[Any] = asyncio.Queue()
    for _ in range(DELIVERIES):
        free.put_nowait(await asyncio.open_connection(where.hostname, where.port))
    head = (
        f"POST {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
        f"X-Telegram-Bot-Api-Secret-Token: {order['secret']}\r\n"
    )

    async def deliver(update: dict[str, Any], connection: Any) -> None:
        reader, writer = connection
        content = json.dumps(update).encode()
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        answer = await reader.readuntil(b"\r\n\r\n")
        if length := re.search(rb"(?i)content-length: (\d+)", answer):
            await reader.readexactly(int(length[1]))
        if b" 200 " not in answer.split(b"\r\n", 1)[0]:
            print(answer, file=sys.stderr)
        free.put_nowait(connection)

    async with asyncio.TaskGroup() as group:
        while True:
            while not run.updates:
                run.news.clear()
                await run.news.wait()
            connection = await free.get()
            update = run.updates.popleft()
            run.handed_out(update)
            group.create_task(deliver(update, connection))


# -- HTTP, as little of it as httpx needs --------------------------------------------------------------------------


class Connection(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self.server, self.buffer = server, bytearray()
        self.transport: Any = None
        self.answering: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.buffer[:end])
        found = re.search(rb"(?i)content-length: (\d+)", head)
        size = int(found[1]) if found else 0
        if len(self.buffer) < end + 4 + size:
            return
        body = bytes(self.buffer[end + 4 : end + 4 + size])
        del self.buffer[: end + 4 + size]
        path = head.split(b" ", 2)[1].decode()
        self.answering = asyncio.ensure_future(self.answer(self.server.call(path, body)))

    async def answer(self, calling: Coroutine[Any, Any, Any]) -> None:
        try:
            answer = await calling
        except Exception as error:  # noqa: BLE001 - told to the one who waits for the figures
            answer = {"ok": False, "error_code": 500, "description": repr(error), "error": repr(error)}
        content = json.dumps(answer).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        self.transport.write(head.encode() + content)


async def main() -> None:
    server = Server()
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)  # until the one who started it closes the pipe


if __name__ == "__main__":
    asyncio.run(main())
