"""Payloads that were put aside, and taking them in once more; who people are is asked of Slack anew."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from adapters.parked import Parked
from adapters.slack.intake import Ways
from adapters.slack.surface import Keys, SlackSurface, TokenRefused, connect
from bot.ports import Clock, Store
from bot.runner import Runner

WAIT = 20.0  # seconds for Slack to say who we are


async def handle_again(
    one: Parked, keys: Keys, ways: Ways, store: Store, runner: Runner, clock: Clock
) -> tuple[bool, str]:
    """Whether it could be handled now, and what became of it. What was handled is no longer kept."""
    if not isinstance(one.update, Mapping):
        return False, "it was too long to be kept whole, and can only be looked at"
    try:
        async with asyncio.timeout(WAIT):
            connection = await connect(keys, clock)
    except (TimeoutError, TokenRefused) as error:
        return False, str(error) or "Slack does not answer"
    try:
        intake = SlackSurface(connection, store, runner, clock, ways).intake
        intake.again = True
        await intake.take(one.update)
        await intake.finish()
    except Exception as error:  # noqa: BLE001 - it stays where it is
        return False, f"failed again: {type(error).__name__}"
    finally:
        await connection.close()
    if intake.parked:
        return False, "it still can not be read"
    await store.keep(one.key, None)
    return True, "ignored" if intake.ignored else "handled"
