"""Socket Mode: the WebSocket side of the server.

docs.slack.dev/apis/events-api/using-socket-mode: `hello`, envelopes, acknowledgements within 3 s, `disconnect` with a
reason, at most ten connections; each payload goes to one of them.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.fakes.slack.outgoing import Delivery, Outcome, answered
from tests.fakes.slack.world import World

MOST_CONNECTIONS = 10


@dataclass(eq=False)
class Connection:
    socket: web.WebSocketResponse
    transport: Any
    number: int
    frozen: bool = False  # looks connected, and is dead: no frame in either direction (P58)
    leaving: bool = False
    acks: dict[str, asyncio.Future[Any]] = field(default_factory=dict)
    pings: int = 0
    unheard: int = 0  # frames that came while it was frozen
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def drop(self) -> None:
        """The network is gone: no close frame."""
        self.leaving = True
        if self.transport is not None:
            self.transport.abort()

    def lose(self) -> None:
        for future in self.acks.values():
            if not future.done():
                future.set_exception(ConnectionResetError("the connection is gone"))
                future.exception()  # looked at: nobody may be waiting any more
        self.gone.set()


class Sockets:
    def __init__(self, world: World, patience: float = 10.0) -> None:
        self.world, self.patience = world, patience
        self.connections: list[Connection] = []
        self.opened = 0
        self.drop_next: str = ""  # "before" or "after" the next envelope has gone out
        self.late: list[str] = []  # acknowledgements that nobody waited for any more
        self.arrived = asyncio.Event()
        self._asked: dict[str, tuple[Delivery, asyncio.Future[Any]]] = {}
        self._tickets: set[str] = set()
        self._turn = itertools.count()
        self._numbers = itertools.count(1)

    def will_not_answer(self, payload: Any) -> None:
        """The program has decided not to acknowledge this one; a wrong acknowledgement gets a moment to come."""
        for delivery, future in self._asked.values():
            if delivery.payload == payload:
                asyncio.get_running_loop().call_later(0.2, _over, future)

    # -- coming and going ----------------------------------------------------------------------------------------

    def ticket(self) -> str:
        """For one connection, once."""
        ticket = f"ticket-{self.world.number()}"
        self._tickets.add(ticket)
        return ticket

    async def endpoint(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=408, text="link expired")  # an address works once
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        if len(self.connections) >= MOST_CONNECTIONS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets", "debug_info": _HOST})
            await socket.close()
            return socket
        connection = Connection(socket, request.transport, next(self._numbers))
        self.connections.append(connection)
        self.opened += 1
        hello = {"type": "hello", "num_connections": len(self.connections), "debug_info": _HOST}
        await socket.send_json(hello | {"connection_info": {"app_id": self.world.app.id}})
        self.arrived.set()
        try:
            await self._listen(connection)
        finally:
            self.connections.remove(connection)
            connection.lose()
        return socket

    async def _listen(self, connection: Connection) -> None:
        async for frame in connection.socket:
            if connection.frozen:
                connection.unheard += 1
                continue
            if frame.type == WSMsgType.PING:
                connection.pings += 1
                await connection.socket.pong(frame.data)
            elif frame.type == WSMsgType.TEXT:
                self._acknowledged(connection, frame.data)
            elif frame.type == WSMsgType.BINARY:
                self.world.complain("a binary frame on the socket")

    def _acknowledged(self, connection: Connection, text: str) -> None:
        try:
            frame = json.loads(text)
            envelope = frame["envelope_id"]
        except (ValueError, KeyError, TypeError):
            self.world.complain(f"not an acknowledgement: {text[:200]!r}")
            return
        if unknown := set(frame) - {"envelope_id", "payload"}:
            self.world.complain(f"an acknowledgement with {sorted(unknown)}")
        future = connection.acks.get(envelope)
        if future is None:
            future = next((c.acks[envelope] for c in self.connections if envelope in c.acks), None)
        if future is None:
            self.late.append(envelope)
        elif not future.done():
            future.set_result(frame.get("payload"))

    async def connected(self, count: int = 1) -> None:
        """Wait until that many connections are there, in bounded real time."""
        async with asyncio.timeout(self.patience):
            while len([c for c in self.connections if not c.leaving]) < count:
                self.arrived.clear()
                await self.arrived.wait()

    async def recycle(self, connection: Connection | None = None, reason: str = "refresh_requested") -> None:
        """`warning`: about ten seconds' notice; `refresh_requested`: now. The client has to come again by itself."""
        assert reason in {"warning", "refresh_requested", "link_disabled", "too_many_websockets"}
        for one in [connection] if connection else list(self.connections):
            one.leaving = reason != "warning"
            await one.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": _HOST})

    async def close(self, connection: Connection | None = None) -> None:
        """With a close frame, as at the end of a connection's life."""
        for one in [connection] if connection else list(self.connections):
            one.leaving = True
            await one.socket.close()

    def drop(self, connection: Connection | None = None) -> None:
        for one in [connection] if connection else list(self.connections):
            one.drop()

    async def ping(self) -> None:
        for one in self.connections:
            if not one.frozen:
                await one.socket.ping(b"slack")

    # -- sending -------------------------------------------------------------------------------------------------

    async def send(self, delivery: Delivery) -> Outcome:
        now = self.world.clock.now()
        usable = [c for c in self.connections if not c.leaving and not c.socket.closed]
        if not usable:
            return Outcome(False, "connection_failed", at=now)
        connection = usable[next(self._turn) % len(usable)]
        drop, self.drop_next = self.drop_next, ""
        if drop == "before":
            connection.drop()
            return Outcome(False, "connection_failed", at=now)
        envelope = f"envelope-{self.world.number()}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        connection.acks[envelope] = future
        self._asked[envelope] = delivery, future
        try:
            if not connection.frozen:
                await connection.socket.send_json(self.envelope(delivery, envelope))
            if drop == "after":
                await connection.socket.close() if connection.transport is None else connection.drop()
            answer = await answered(self.world, asyncio.shield(future), self.patience)
        except TimeoutError:
            return Outcome(False, "timeout", at=now)
        except ConnectionError:
            return Outcome(False, "connection_failed", at=now)
        finally:
            connection.acks.pop(envelope, None)
            del self._asked[envelope]
            future.cancel()
        if answer is not None and delivery.kind == "events_api":
            self.world.complain("an acknowledgement of an event that has a payload")
        return Outcome(True, answer=answer, status=200, at=now)

    def envelope(self, delivery: Delivery, envelope: str) -> dict[str, Any]:
        made: dict[str, Any] = {"type": delivery.kind, "envelope_id": envelope, "payload": delivery.payload}
        made["accepts_response_payload"] = delivery.kind != "events_api"
        if delivery.kind == "events_api":
            reason = delivery.tries[-1].reason if delivery.tries else "timeout" if delivery.retry else ""
            made |= {"retry_attempt": delivery.retry, "retry_reason": reason}
        return made


def _over(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_exception(TimeoutError())


_HOST = {"host": "applink-fake-1", "build_number": 1, "approximate_connection_time": 18060}
