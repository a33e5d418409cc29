"""What holds for any message (RT-1, RT-2)."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.model import Material
from bot.core.routing import menu_for, route, route_record
from config.packs_loader import load_pack

PACKS_FOLDER = Path(__file__).parents[3] / "config" / "packs"
PACKS = {name: load_pack(PACKS_FOLDER / name) for name in ("research", "triage")}
RESEARCH = PACKS["research"]
PIECES = [
    "review",
    "my paper",
    "abstract",
    "check",
    "the",
    "citations",
    ",",
    ".",
    "?",
    "\n",
    "\n\n",
    "> ",
    '"',
    "`",
    "```",
    "«",
    "»",
    "[direct-mode]",
    "/ars-full",
    "@askfirst_bot",
    "don't",
    "not",
    "and",
    "on",
    "about",
    "#",
    "fwd:",
    "wrote:",
    "'",
    "👋",
    "draft.docx",
    "phase2_x/",
    "https://x.org/a",
    "10.1000/abc",
    "citation_agent",
    "审稿意见",
    "怎么办",
    "要旨",
    "써줘",
    "é",
    "\u202e",
    "\x00",
    "\ud800",
    "İ",
    "ß",
    "…",
    "&gt; ",
    "no wait",
    "Reviewer 1",
    "major revision",
    ":",
    "a",
    "b",
    "/",
    "!",
    "(",
    "1",
]
MESSAGES = st.one_of(
    st.text(max_size=300),
    st.text(alphabet=st.characters(), max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
)
NAMES = st.lists(
    st.text(max_size=40) | st.sampled_from(["draft.md", "a.pdf", "phase3_x/y", "", "/", "..", "R1.docx"]), max_size=5
)
POSITIONS = st.sampled_from(["first", "menu_open", "in_workflow"])


@settings(max_examples=300, deadline=None)
@given(MESSAGES, NAMES, POSITIONS, st.sampled_from(["research", "triage"]))
def test_any_message_is_judged(text: str, names: list[str], position: str, pack: str) -> None:
    """RT-1: never an exception; a menu has at most four lines; only a known workflow starts."""
    record = {"id": "x", "text": text, "files": names, "position": position, "pack": pack}
    out = route_record(record, PACKS)
    assert "error" not in out
    if out["outcome"] == "proceed":
        assert PACKS[pack].workflow(out["workflow"])
    materials = [Material(kind="file", name=name) for name in names]
    verdict = route(text, materials, PACKS[pack], position=position)  # type: ignore[arg-type]
    assert (verdict.workflow, list(verdict.phases)) == (out["workflow"], out["phases"])
    if verdict.outcome == "clarify":
        assert 1 <= len(menu_for(verdict, PACKS[pack]).lines) <= 4
    if not verdict.direct_mode:
        assert verdict.text == text


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="qxzjkw ,.\n!?-", max_size=200))
def test_nothing_starts_by_trigger_without_one(text: str) -> None:
    """RT-2."""
    assert route(text, [], RESEARCH).by not in ("trigger", "command", "agent")


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["review my paper", "check my citations", "write me an abstract", "/ars-full"]),
    st.sampled_from(["> {}", '"{}"', "«{}»", "`{}`", "“{}”", "「{}」", "```\n{}\n```", "Fwd: {}"]),
)
def test_quoted_words_start_nothing(request: str, form: str) -> None:
    """RT-2, AU-3."""
    assert route(form.format(request), [], RESEARCH).outcome == "clarify"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["review my paper", "check my citations", "write me an abstract"]),
    st.booleans(),
    st.sampled_from(["", "please ", "hi, ", "ok so "]),
    st.sampled_from(["", "!", " please", " thanks 🙏", " by Friday"]),
)
def test_small_talk_changes_nothing(request: str, loud: bool, before: str, after: str) -> None:
    """RT-5."""
    text = f"{before}{request}{after}"
    assert route(text.upper() if loud else text, [], RESEARCH).by == "trigger"


@pytest.mark.parametrize(
    "piece",
    [
        "review my paper ",
        "check, ",
        "'a ",
        '"',
        "`",
        "[direct-mode] ",
        "a_",
        "# a\n",
        "> a\n",
        "a.",
        "\n",
        "wrote:\n\n",
        "http://",
        "x_agent_",
        "/ars-",
        "参考文献检查",
        "Reviewer 1 ",
    ],
)
def test_time_grows_with_length_and_no_faster(piece: str) -> None:
    """RT-1: bounded. Eight times the text takes well under 8² times the time."""

    def best(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        times = []
        gc.disable()  # its pauses grow with the heap of the whole test run
        try:
            for _ in range(3):
                begun = time.process_time()
                route(text, [], RESEARCH)
                times.append(time.process_time() - begun)
        finally:
            gc.enable()
        return min(times)

    assert best(16384) < 30 * max(best(2048), 0.001)
