"""What the fake platforms share of misbehaving on request: orders, carried out in turn, and calls that are held."""

from __future__ import annotations

import asyncio
from typing import Any, Generic, Protocol, TypeVar


class Gate:
    """A call that waits until a test opens it. No time passes."""

    def __init__(self) -> None:
        self._reached, self._open = asyncio.Event(), asyncio.Event()

    async def reached(self) -> None:
        await self._reached.wait()

    def open(self) -> None:
        self._open.set()

    async def wait(self) -> None:
        self._reached.set()
        await self._open.wait()


class Order(Protocol):
    times: int

    def meant(self, method: str, args: dict[str, Any]) -> bool: ...


Ordered = TypeVar("Ordered", bound=Order)


class Orders(Generic[Ordered]):
    """Carried out in the order they were given, each as often as it says (`times=-1`: for ever)."""

    def __init__(self) -> None:
        self.orders: list[Ordered] = []

    def clear(self) -> None:
        self.orders.clear()

    def take(self, method: str, args: dict[str, Any]) -> Ordered | None:
        """What is to happen to this call, if anything."""
        for order in self.orders:
            if order.meant(method, args):
                order.times -= 1
                if order.times == 0:
                    self.orders.remove(order)
                return order
        return None

    def _order(self, order: Ordered) -> Ordered:
        self.orders.append(order)
        return order
