"""How fast Telegram takes messages: core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this

One a second in a chat, twenty a minute in a group, thirty a second over all chats. Edits count. A burst and what
flows in after it must fit the window together, so groups get 5 + 15 and the whole bot 5 + 25.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from adapters.telegram.places import PLATFORM, Moves
from bot.pace import Pace, Rate

CHAT = Rate(1, timedelta(seconds=1.05))  # messages do not all travel equally fast
GROUP = Rate(15, timedelta(minutes=1), burst=5)
EVERYWHERE = Rate(25, timedelta(seconds=1), burst=5)


def pace_of(moves: Moves) -> Pace:
    """The topics of a group share its budget. Chat ids of groups are negative."""

    def budgets(conversation: str) -> Sequence[tuple[str, Rate]]:
        chat = moves.address(conversation).chat
        place = f"{PLATFORM}:{chat}"
        group = [(f"{place}:group", GROUP)] if chat < 0 else []
        return [(place, CHAT), *group, (PLATFORM, EVERYWHERE)]

    return budgets
