"""Every stage by its name."""

from __future__ import annotations

from collections.abc import Callable

from bot.runner import Decide
from tests.transcripts.slack_stage import SlackStage, SocketStage
from tests.transcripts.stages import CoreStage, FakeStage, Stage, TerminalStage
from tests.transcripts.telegram_stage import TelegramStage, WebhookStage

STAGES: dict[str, Callable[[Decide], Stage]] = {
    "core": CoreStage,
    "terminal": TerminalStage,
    "fake": FakeStage,
    "telegram": TelegramStage,
    "webhook": WebhookStage,
    "slack-socket": SocketStage,
    "slack-http": SlackStage,
}
