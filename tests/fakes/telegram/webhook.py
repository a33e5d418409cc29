"""Delivery to the bot's own address.

Client.cpp and WebhookActor.cpp: messages, edits and channel posts wait in one queue per chat, presses in one per
person; within a queue strictly one after the other, queues beside each other. Any 2xx confirms. Else: again at once,
then after 2 s, doubling up to a minute or two; `Retry-After` up to an hour is honoured; 410 for 23 h closes it all.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx

from bot.ports import Clock
from tests.fakes.telegram.model import Chat
from tests.fakes.telegram.people import Person
from tests.fakes.telegram.updates import Update, Updates

SECRET = "X-Telegram-Bot-Api-Secret-Token"
CLOSED_AFTER, LONGEST_WAIT = timedelta(hours=23), 3600


@dataclass(frozen=True, slots=True)
class Attempt:
    update: int
    at: datetime
    status: int  # 0: no answer

    @property
    def confirmed(self) -> bool:
        return 200 <= self.status < 300


@dataclass
class Webhook:
    updates: Updates
    clock: Clock
    secret: str = ""
    max_connections: int = 40
    attempts: list[Attempt] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)  # bodies with a "method": their outcome is never known
    at_once: int = 0
    most_at_once: int = 0
    _app: Any = None
    _client: httpx.AsyncClient | None = None
    _former: list[httpx.AsyncClient] = field(default_factory=list)
    _gone_since: datetime | None = None
    _busy: set[Hashable] = field(default_factory=set)
    _random: random.Random = field(default_factory=lambda: random.Random(1))

    @property
    def url(self) -> str:
        return self.updates.hook_url

    def answer_with(self, app: Any) -> None:
        """Deliver to an ASGI application in process, whatever host the address names."""
        if self._client is not None:
            self._former.append(self._client)  # with a connection that is kept alive: closed at the end
        self._app, self._client = app, None

    async def close(self) -> None:
        for client in (*self._former, self._client):
            if client is not None:
                await client.aclose()
        self._former.clear()
        self._client = None

    async def deliver(self, *only: Any, retry: bool = False) -> list[Attempt]:
        """Every queue as far as it goes; one that fails stays behind its failure.

        `only`: updates (messages, presses), or the queues of chats and people, in this order and one after the other,
        so that a test can let a press and a message overtake each other, or deliver again what was confirmed.
        `retry`: what has failed is tried again as long as it is due.
        """
        start = len(self.attempts)
        if only:
            for wanted in only:
                if isinstance(wanted, tuple):
                    await self._drain(wanted, retry)
                elif isinstance(wanted, Chat | Person):
                    await self._drain(("chat" if isinstance(wanted, Chat) else "user", wanted.id), retry)
                else:
                    await self._attempt(wanted if isinstance(wanted, Update) else wanted.update)
        else:
            limit = asyncio.Semaphore(self.max_connections)

            async def drain(queue: Hashable) -> None:
                async with limit:
                    await self._drain(queue, retry)

            await asyncio.gather(*(drain(queue) for queue in self._due()))
        return self.attempts[start:]

    async def run(self) -> None:
        """Deliver for ever, as updates come, with the real schedule of retries. Cancel it to stop."""
        news = asyncio.Event()
        self.updates.listeners.append(news.set)
        tasks: set[asyncio.Task[None]] = set()
        try:
            while True:
                news.clear()
                for queue in [q for q in self._due() if q not in self._busy]:
                    if len(tasks) >= self.max_connections:
                        break
                    task = asyncio.ensure_future(self._drain(queue, retry=True))
                    tasks.add(task)
                    task.add_done_callback(lambda done: (tasks.discard(done), news.set()))
                await self._until(news)
        finally:
            self.updates.listeners.remove(news.set)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)  # their connections are closed before the loop is

    async def _until(self, news: asyncio.Event) -> None:
        waits = [u.next_try for u in self.updates.heads() if u.next_try is not None and u.queue not in self._busy]
        waiting = {asyncio.ensure_future(news.wait())}
        if future := [at for at in waits if at > self.clock.now()]:
            seconds = (min(future) - self.clock.now()).total_seconds()
            waiting.add(asyncio.ensure_future(self.clock.sleep(seconds)))
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    def _due(self) -> list[Hashable]:
        now = self.clock.now()
        return [u.queue for u in self.updates.heads() if u.next_try is None or u.next_try <= now]

    async def _drain(self, queue: Hashable, retry: bool) -> None:
        if queue in self._busy:
            return
        self._busy.add(queue)
        try:
            while self.url and (update := self.updates.head(queue)) is not None:
                if update.next_try is not None and update.next_try > self.clock.now():
                    return
                if not await self._attempt(update) and not retry:
                    return
        finally:
            self._busy.discard(queue)

    async def _attempt(self, update: Update) -> bool:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        status, wait = 0, None
        try:
            response = await self._send(update)
        except (httpx.HTTPError, OSError):
            pass
        else:
            status, wait = response.status_code, _seconds(response.headers.get("retry-after"))
            self._note(response)
        finally:
            self.at_once -= 1
        attempt = Attempt(update.id, self.clock.now(), status)
        self.attempts.append(attempt)
        if attempt.confirmed:
            self.updates.remove(update)
            self._gone_since = None
        else:
            self._postpone(update, status, wait)
        return attempt.confirmed

    async def _send(self, update: Update) -> httpx.Response:
        if self._client is None:
            transport = (
                httpx.AsyncHTTPTransport(verify=False)
                if self._app is None
                else httpx.ASGITransport(self._app, raise_app_exceptions=False)
            )
            self._client = httpx.AsyncClient(transport=transport, timeout=60)
        headers = {"content-type": "application/json"} | ({SECRET: self.secret} if self.secret else {})
        return await self._client.post(self.url, content=json.dumps(update.json()), headers=headers)

    def _postpone(self, update: Update, status: int, wait: float | None) -> None:
        update.failures += 1
        if wait is None:
            cap = self._random.uniform(60, 120)
            wait = 0 if update.failures == 1 else min(cap, 2.0 ** (update.failures - 1))
        update.next_try = self.clock.now() + timedelta(seconds=wait)
        if status != 410:
            self._gone_since = None
        elif self._gone_since is None:
            self._gone_since = self.clock.now()
        elif self.clock.now() - self._gone_since >= CLOSED_AFTER:
            self.updates.hook_url = ""

    def _note(self, response: httpx.Response) -> None:
        try:
            body = response.json()
        except ValueError:
            return
        if isinstance(body, dict) and "method" in body:
            self.answers.append(body)


def _seconds(header: str | None) -> float | None:
    return min(float(header), LONGEST_WAIT) if header is not None and header.isdigit() else None
