"""How fast Slack takes messages: about one a second in a channel, several hundred a minute in a workspace
(docs.slack.dev/apis/web-api/rate-limits). Updates count to another tier, but are told apart nowhere here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from adapters.slack.places import PLATFORM, address_of
from bot.pace import Rate

CHANNEL = Rate(1, timedelta(seconds=1.05), burst=3)  # short bursts are taken
WORKSPACE = Rate(5, timedelta(seconds=1), burst=20)


def pace(conversation: str) -> Sequence[tuple[str, Rate]]:
    """The threads of a channel share its budget."""
    address = address_of(conversation)
    team = f"{PLATFORM}:{address.team}"
    return [(f"{team}:{address.channel}", CHANNEL), (team, WORKSPACE)]
