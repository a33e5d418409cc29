"""A whole specification run, played on every stage: the exported document is the same everywhere (SP-1, CA-1)."""

from __future__ import annotations

import asyncio
import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot.core.effects import Audit, Say, Step
from bot.core.events import Envelope
from bot.core.spec_record import markdown
from bot.core.state import Conversation
from tests.transcripts.all_stages import STAGES
from tests.transcripts.conftest import core
from tests.transcripts.script import read

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
REFERENCE = re.compile(
    r'(?P<id>.+?)(?: <[^<>]+>)?(?: on (?P<card>.+?))?(?:: (?P<pressed>pressed )?"(?P<quote>.*)")?', re.DOTALL
)
PEOPLE = ("answered_by", "requester", "raised_by", "by", "actor", "reconfirmed_by")
REFERENCES = ("user_message_ref", "request_ref", "reconfirmed_ref")


def last_export(name: str, stage: str) -> dict[str, Any]:
    """The last specification document that the play of a transcript has sent, or would send now.

    With the audit log that the store would put in: the entries of its session, in their order.
    """
    script = read((Path(__file__).parent / f"{name}.chat").read_text(encoding="utf-8"))
    decide = core(dict(script.directives))
    sent: list[str] = []
    audit: list[Audit] = []

    def watched(state: Conversation | None, envelope: Envelope) -> Step:
        made = decide(state, envelope)
        audit.extend(r for r in made.records if isinstance(r, Audit))
        for effect in made.effects:
            if isinstance(effect, Say):
                sent.extend(f.content for f in effect.message.files if f.name.endswith(".spec.json"))
        return made

    async def play() -> None:
        playing = STAGES[stage](watched)
        try:
            for act in script.acts:
                await playing.play(act)
        finally:
            await playing.close()

    asyncio.run(play())
    found: dict[str, Any] = json.loads(sent[-1])
    mine = [r for r in audit if r.session == found["meta"]["session"] and not r.event.startswith("delivery.")]
    found["audit_log"] = [json.loads(r.model_dump_json(include={"event", "phase", "actor", "details"})) for r in mine]
    return found


class Neutral:
    """The document without a platform's own names: each id of a message or person becomes the nth of its kind."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], str] = {}

    def nth(self, kind: str, name: str) -> str:
        count = sum(1 for other, _ in self.known if other == kind)
        return self.known.setdefault((kind, name), f"{kind} {count + 1}")

    def value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: self.value(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(v) for v in value]
        if not isinstance(value, str):
            return value
        if key in PEOPLE:
            return self.nth("person", value.removeprefix("human:"))
        if key == "surface":
            return "surface"
        if key in REFERENCES:
            return self.reference(value)
        return TIME.sub("then", value)

    def reference(self, value: str) -> str:
        """An act has its own id: a message, or a press; the words stay, where the phone has room for them."""
        found = REFERENCE.fullmatch(value)
        assert found is not None
        act = f"{self.nth('act', found['id'])}{' on a card' if found['card'] else ''}"
        if found["quote"] is None:  # some entries name the message alone
            return act
        return f'{act}: "{found["quote"][:1] if found["pressed"] else found["quote"]}"'


@functools.cache
def whole(stage: str) -> tuple[bytes, bytes]:
    """As bytes, the order of everything included: the document, and the same for people."""
    document = Neutral().value(last_export("spec_whole_run", stage))
    return json.dumps(document, ensure_ascii=False, indent=1).encode(), markdown(document).encode()


@pytest.mark.parametrize("stage", [name for name in STAGES if name != "core"])
def test_a_whole_run_exports_the_same_on_every_stage(stage: str) -> None:
    """SP-1 CA-1 AU-1 From /spec to phase 7 in the terminal, Telegram and Slack: the same bytes as on the core.

    Answers, gates, scope and audit log; only names that platforms give to messages, people and cards differ.
    """
    assert whole(stage)[0].decode().splitlines() == whole("core")[0].decode().splitlines()
    assert whole(stage) == whole("core")
    document = json.loads(whole(stage)[0])
    assert document["phase"]["run_status"] == "complete"
    assert {g["status"] for g in document["gates"].values()} == {"approved"}
    assert len(document["context"]["clarifications"]) == 12
    assert len([e for e in document["audit_log"] if e["event"] == "clarification_resolved"]) == 12
