"""What a platform sent and could not be read: put aside in the store under `<platform>:parked:`, to be looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Parked:
    """`key` is the store's; what people see is the part behind "parked:", with the platform in front.

    `update` is None for what was cut for its length: it can be looked at, but not handled.
    """

    platform: str
    key: str
    reason: str
    update: Any

    @property
    def id(self) -> str:
        return f"{self.platform}:{self.key.removeprefix(shelf(self.platform))}"


def shelf(platform: str) -> str:
    """What the keys of a platform's rows begin with."""
    return f"{platform}:parked:"


def parked(kept: Mapping[str, str], platform: str, payload: str) -> list[Parked]:
    """Everything that was put aside. `payload` names the field of a row that holds what the platform sent."""
    found = []
    for key, words in kept.items():
        if key.startswith(shelf(platform)):
            try:
                held = json.loads(words)
            except ValueError:
                held = {"reason": "too long to be kept whole"}
            found.append(Parked(platform, key, str(held.get("reason")), held.get(payload)))
    return found
