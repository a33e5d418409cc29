"""A whole specification run, played on every stage: the exported document is the same everywhere (SP-1, CA-1)."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.core.effects import Say, Step
from bot.core.events import Envelope
from bot.core.state import Conversation
from tests.transcripts.all_stages import STAGES
from tests.transcripts.conftest import core
from tests.transcripts.script import read

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
QUOTE = re.compile(r'^.*?"(.*)"$', re.DOTALL)


def last_export(name: str, stage: str) -> dict[str, Any]:
    """The last specification document that the play of a transcript has sent, or would send now."""
    script = read((Path(__file__).parent / f"{name}.chat").read_text(encoding="utf-8"))
    decide = core(dict(script.directives))
    sent: list[str] = []

    def watched(state: Conversation | None, envelope: Envelope) -> Step:
        made = decide(state, envelope)
        for effect in made.effects:
            if isinstance(effect, Say):
                sent.extend(f.content for f in effect.message.files if f.name.endswith(".spec.json"))
        return made

    async def play() -> None:
        playing = STAGES[stage](watched)
        for act in script.acts:
            await playing.play(act)

    asyncio.run(play())
    found: dict[str, Any] = json.loads(sent[-1])
    return found


def without_the_platform(value: Any, key: str = "") -> Any:
    """Without what a platform gives its own name: ids of messages, people, places, and the moments of a play."""
    if isinstance(value, dict):
        left_out = ("answered_by", "requester", "surface", "raised_by", "by")
        return {k: without_the_platform(v, k) for k, v in value.items() if k not in left_out}
    if isinstance(value, list):
        return [without_the_platform(v) for v in value]
    if isinstance(value, str) and key in ("user_message_ref", "request_ref"):
        words = QUOTE.sub(r"\1", value)
        return words[:1] if "pressed" in value else words  # some phones have room for the option beside its letter
    return TIME.sub("then", value) if isinstance(value, str) else value


@pytest.mark.parametrize("stage", [name for name in STAGES if name != "core"])
def test_a_whole_run_exports_the_same_on_every_stage(stage: str) -> None:
    """SP-1 From /spec to phase 7; terminal, fake platform, Telegram by polling and as a webhook, like the core."""
    there = without_the_platform(last_export("spec_whole_run", "core"))
    here = without_the_platform(last_export("spec_whole_run", stage))
    assert here == there
    assert here["phase"]["run_status"] == "complete"
    assert {g["status"] for g in here["gates"].values()} == {"approved"}
    assert len(here["context"]["clarifications"]) == 12
