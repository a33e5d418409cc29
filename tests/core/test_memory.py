"""What the program keeps between steps: tables and a playbook's questions, no words of people."""

from __future__ import annotations

import functools
import sys
from datetime import UTC, datetime

from bot.core import view
from bot.core.flows import replying
from bot.core.model import MessageRef, Option, Person, Question
from bot.core.replies import read_reply
from bot.core.state import Asking, Item, Request, Round, Session
from tests.core.builders import book

ANA = Person(id="x:ana", name="Ana")
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def _drawn_and_read(secret: str, phase: int | None) -> None:
    options = (Option(key="A", label=f"{secret} only", recommended=True), Option(key="B", label="Other", other=True))
    questions = (
        Question(id="q1", topic=secret, why=f"{secret} decides", options=options),
        Question(id="q2", form="validate", topic=f"{secret} again", text=secret, why="It is unclear"),
    )
    round_ = Round(
        id="s.1", number=1, phase=phase, title=secret, purpose=f"About {secret}", card="s.1", opened_at=AT,
        items=tuple(Item(number=n, question=q) for n, q in enumerate(questions, start=1)),
    )  # fmt: skip
    request = Request(text=secret, original=secret, ref=MessageRef(id="u1", quote=secret))
    session = Session(
        id="s", number=1, requester=ANA, request=request, pack="ars", stage=Asking(), started_at=AT, touched_at=AT,
        rounds=(round_,),
    )  # fmt: skip
    assert secret in view.plain(view.round_card(session, round_, bulk=True))
    assert secret in view.plain(view.compact_card(round_, bulk=True))
    assert read_reply(f"1: {secret} only", replying.slots(round_), book().phrases).answers[1].key == "A"


def _added() -> int:
    """How often anything was new to what the core keeps."""
    modules = [module for name, module in sys.modules.items() if name.startswith("bot.core.")]
    values = [value for module in modules for value in vars(module).values()]
    values += [part for value in values if isinstance(value, tuple) for part in value]
    kept = {id(value): value.cache_info() for value in values if isinstance(value, functools._lru_cache_wrapper)}
    return sum(info.misses for info in kept.values())


def test_questions_with_words_of_people_are_not_kept() -> None:
    """A phase's questions hold what people have said; those of a workflow are the playbook's, alike for everybody."""
    _drawn_and_read("saffron", 1)  # tables that are made at the first use
    before = _added()
    _drawn_and_read("cardamom", 1)
    assert _added() == before
    _drawn_and_read("cumin", None)
    assert _added() > before
