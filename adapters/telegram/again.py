"""Updates that were put aside, and handling them once more without asking Telegram anything."""

from __future__ import annotations

import json
from collections.abc import Mapping

from adapters.parked import Parked
from adapters.telegram.cards import Cards
from adapters.telegram.intake import PARKED, Intake
from adapters.telegram.places import PLATFORM, Me, Moves
from adapters.telegram.surface import ME
from bot.core.events import Ignored
from bot.ports import Clock, Store
from bot.runner import OUR_MISTAKE, Runner


def bot_name(kept: Mapping[str, str]) -> str | None:
    """Without the @, as the last `serve` learned it."""
    names = [str(json.loads(words)["username"]) for key, words in kept.items() if key.startswith(ME)]
    return names[0] if names else None


async def handle_again(one: Parked, store: Store, runner: Runner, clock: Clock) -> tuple[bool, str]:
    """Whether it could be handled now, and what became of it. What was handled is no longer kept."""
    kept = await store.kept(f"{PLATFORM}:")
    bot = f"{ME}{one.key.removeprefix(PARKED).partition(':')[0]}"
    if bot not in kept:
        return False, "it is not known which bot this was for: let `askfirst serve` start once"
    who = json.loads(kept[bot])
    moves = Moves()
    me = Me(who["id"], who["username"], first=moves.first)
    intake = Intake(None, me, moves, store, runner, clock, None, Cards(store), None, again=True)
    await intake.recall()
    try:
        taken = await intake.handle(one.update)
    except Exception as error:  # noqa: BLE001 - it stays where it is
        return False, f"failed again: {type(error).__name__}"
    if isinstance(taken, Ignored) and taken.reason.startswith("unreadable"):
        return False, taken.reason
    await store.keep(one.key, None)
    if isinstance(taken, Ignored):
        return True, f"nothing to do: {taken.reason}"
    if (taken.reason or "").startswith(OUR_MISTAKE):
        return False, f"{taken.reason}; now listed as an event"
    return True, taken.outcome if taken.reason is None else f"{taken.outcome}: {taken.reason}"
