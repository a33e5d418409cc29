"""The escape hatch, commands and positions (RT-6, RT-7, RT-9, RT-10, RT-11, CH-3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.model import Material
from bot.core.routing import Verdict, menu_for, route
from config.packs_loader import load_pack

PACKS_FOLDER = Path(__file__).parents[3] / "config" / "packs"
RESEARCH = load_pack(PACKS_FOLDER / "research")
TRIAGE = load_pack(PACKS_FOLDER / "triage")
BLANKS = st.text(alphabet=" \t\n\r\u00a0\u3000\u200b", max_size=6)


def files(*names: str) -> list[Material]:
    return [Material(kind="file", name=name) for name in names]


def either_case(word: str) -> st.SearchStrategy[str]:
    return st.tuples(*(st.sampled_from((c.lower(), c.upper())) for c in word)).map("".join)


@given(BLANKS, either_case("[direct-mode]"), BLANKS)
def test_the_token_counts_after_any_blanks_in_any_case(before: str, token: str, after: str) -> None:
    """RT-6: first non-blank token, any letter case, stripped with surrounding blanks."""
    verdict = route(f"{before}{token}{after}run citation_agent", [], RESEARCH)
    assert verdict.direct_mode
    assert (verdict.outcome, verdict.by, verdict.workflow) == ("proceed", "agent", "agent/citation_agent")
    assert verdict.text.strip("\u200b") == "run citation_agent"


@given(st.text(min_size=1, max_size=30).filter(lambda s: s.strip(" \t\n\r\u00a0\u3000\u200b") and "@" not in s))
def test_the_token_later_in_a_message_is_ordinary_text(before: str) -> None:
    """RT-6: after any other character it is not honoured, and the text is passed on as it is."""
    text = f"x{before} [direct-mode] run citation_agent"
    verdict = route(text, [], RESEARCH)
    assert not verdict.direct_mode
    assert verdict.text == text


@pytest.mark.parametrize(
    "form",
    [
        "(direct-mode)",
        "<direct-mode>",
        "[direct mode]",
        "[directmode]",
        "[direct–mode]",
        "[direct_mode]",
        "`[direct-mode]`",
    ],
)
def test_a_near_miss_is_named_in_the_menu_and_not_honoured(form: str) -> None:
    """RT-6."""
    verdict = route(f"{form} run citation_agent", [], RESEARCH)
    assert (verdict.outcome, verdict.direct_mode) == ("clarify", False)
    assert verdict.near_miss == form
    assert form in menu_for(verdict, RESEARCH).remark


@pytest.mark.parametrize(
    "form", ["(direct-mode)", "<direct-mode>", "［direct-mode］", "[direct mode]", "`[direct-mode]`", "<b>"]
)
def test_behind_a_near_miss_a_request_is_a_request(form: str) -> None:
    """RT-6, RT-5: the near miss is ordinary text, so the words behind it begin a clause like any others."""
    verdict = route(f"{form} lit-review this", [], RESEARCH)
    assert (verdict.by, verdict.workflow, verdict.direct_mode) == ("trigger", "academic-paper/lit-review", False)


def test_an_arrow_is_no_bracket() -> None:
    """RT-2: what it stands between is one clause."""
    assert route("convert <my draft.docx -> tex", [], RESEARCH).workflow == "academic-paper/format-convert"


def test_ordinary_brackets_are_no_near_miss() -> None:
    """RT-6."""
    assert route("(directly model this) help", [], RESEARCH).near_miss is None


@pytest.mark.parametrize("mention", ["@askfirst_bot ", "<@U0BOT0001> ", "@askfirst_bot, "])
def test_a_leading_mention_is_transport(mention: str) -> None:
    """RT-6, RT-11."""
    verdict = route(f"{mention}[direct-mode]/ars-abstract short", [], RESEARCH)
    assert (verdict.direct_mode, verdict.by, verdict.workflow) == (True, "command", "academic-paper/abstract-only")
    assert verdict.text == "/ars-abstract short"


def test_direct_mode_skips_only_the_cross_phase_menu() -> None:
    """RT-6: one phase gives its default; several or none give the menu."""
    one = route("[direct-mode] have a go", files("draft.docx"), RESEARCH)
    assert (one.outcome, one.by, one.workflow) == ("proceed", "phase", "academic-paper-reviewer/full")
    two = route("[direct-mode] have a go", files("draft.docx", "refs.bib"), RESEARCH)
    assert (two.outcome, two.phases, two.direct_mode) == ("clarify", (2, 4), True)
    none = route("[direct-mode]", [], RESEARCH)
    assert (none.outcome, none.menu, none.options[0]) == ("clarify", "stage", "deep-research/socratic")


def test_an_agent_counts_only_after_the_token() -> None:
    """RT-7, RT-9."""
    plain = route("run bibliography_agent", [], RESEARCH)
    assert (plain.outcome, plain.agent_named) == ("clarify", "agent/bibliography_agent")
    assert "bibliography_agent" in menu_for(plain, RESEARCH).remark
    negated = route("[direct-mode] don't run bibliography_agent", [], RESEARCH)
    assert negated.outcome == "clarify"
    both = route("[direct-mode] citation_agent and formatter_agent", [], RESEARCH)
    assert both.options == ("agent/citation_agent", "agent/formatter_agent")


@pytest.mark.parametrize(
    ("text", "workflow"),
    [
        ("/ars-lit-review", "academic-paper/lit-review"),
        ("/ARS_LIT_REVIEW@Askfirst_Bot bees", "academic-paper/lit-review"),
        ("!ars-lit-review", "academic-paper/lit-review"),
        ("/ars—lit—review “my topic” —short", "academic-paper/lit-review"),
        ("／ars-full", "academic-pipeline/full"),
        ("@askfirst_bot ars-full", "academic-pipeline/full"),
        ("/askfirst ars-full", "academic-pipeline/full"),
        ("/ars lit-review bees", "academic-paper/lit-review"),
        ("please run /ars-abstract on this", "academic-paper/abstract-only"),
        ("ars-3w these", "deep-research/three-way-scan"),
        ("/ars-abstract don't review my paper, check the citations", "academic-paper/abstract-only"),
    ],
)
def test_commands_in_every_form(text: str, workflow: str) -> None:
    """RT-2, RT-11; the text is passed on unchanged."""
    verdict = route(text, files("draft.md", "refs.bib"), RESEARCH, bot_name="askfirst_bot")
    assert (verdict.outcome, verdict.by, verdict.workflow) == ("proceed", "command", workflow)
    assert verdict.text == text


def test_a_command_for_another_bot_is_nobodys_here() -> None:
    """CH-2."""
    verdict = route("/ars-full@other_bot", [], RESEARCH, bot_name="askfirst_bot")
    assert (verdict.outcome, verdict.other_bot) == ("continue", "other_bot")


@pytest.mark.parametrize(
    "text", ["/ars-full?", "what does /ars-full do", "> /ars-full", "`/ars-full`", "not /ars-full"]
)
def test_commands_that_are_not_meant(text: str) -> None:
    """RT-2: asked about, quoted, in code, negated."""
    assert route(text, [], RESEARCH).outcome == "clarify"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("/ars-lit", "academic-paper/lit-review"),
        ("/ars-ful", "academic-pipeline/full"),
        ("/review", "academic-paper/lit-review"),
        ("!ars-abstrct", "academic-paper/abstract-only"),
    ],
)
def test_an_unknown_command_gets_the_nearest(text: str, first: str) -> None:
    """RT-10."""
    for position in ("first", "menu_open", "in_workflow"):
        verdict = route(text, [], RESEARCH, position=position)
        assert (verdict.outcome, verdict.unknown_command) == ("clarify", text)
        assert first in verdict.options
        assert 1 <= len(verdict.options) <= 3
        assert text in menu_for(verdict, RESEARCH).text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/nwe", "new"), ("/ne", "new"), ("/hlep", "help"), ("/stauts", "status"), ("/cancell", "cancel"),
        ("/setings", "settings"), ("/exprot", "export"), ("/resmue", "resume"), ("/statt", "start"),
        ("/ars-3w", None), ("/news-feed", None), ("/x", None), ("/now", "new"), ("/list", None),
    ],
)  # fmt: skip
def test_a_mistyped_command_names_the_one_that_was_meant(typed: str, meant: str | None) -> None:
    """RT-10, CH-3: one slip in a short word, two in a longer one; two letters swapped are one slip."""
    assert RESEARCH.mistyped(typed) == meant
    verdict = route(typed, [], RESEARCH)
    if meant is not None:
        assert verdict.unknown_command == typed
        assert f"/{meant}" in menu_for(verdict, RESEARCH).text


@pytest.mark.parametrize("text", ["!important: hello", "/tmp/a/b is the folder", "1/2 of it"])
def test_what_only_looks_like_a_command(text: str) -> None:
    """RT-10."""
    assert route(text, [], RESEARCH).unknown_command is None


@pytest.mark.parametrize("word", ["help", "status", "new", "cancel", "resume", "export", "settings", "start"])
def test_general_commands_are_not_routed(word: str) -> None:
    """CH-3, RT-14: in any position, with all the ways of writing a command."""
    for text in (
        f"/{word}",
        f"!{word}",
        f"/{word.upper()}@askfirst_bot",
        f"@askfirst_bot {word}",
        f"/askfirst {word}",
    ):
        for position in ("first", "menu_open", "in_workflow"):
            verdict = route(text, files("a.docx"), RESEARCH, position=position)
            assert (verdict.outcome, verdict.general) == ("continue", word)


def test_commands_of_a_running_session() -> None:
    """SP-2."""
    assert route("/jump 3", [], TRIAGE, position="in_workflow").general == "jump"


def test_within_a_workflow() -> None:
    """RT-7, RT-10: only a command or the token asks whether to leave."""
    command = route("/ars-abstract", [], RESEARCH, position="in_workflow")
    assert (command.outcome, command.by, command.workflow) == (
        "confirm_leave",
        "command",
        "academic-paper/abstract-only",
    )
    token = route("[direct-mode] write me an abstract", [], RESEARCH, position="in_workflow")
    assert (token.outcome, token.by, token.direct_mode) == ("confirm_leave", "direct-mode", True)
    for text in ("write me an abstract", "", "b", "run citation_agent", "> /ars-full"):
        assert route(text, files("draft.md", "x.bib"), RESEARCH, position="in_workflow").outcome == "continue"


def test_two_readings_are_equal_for_equal_input() -> None:
    """RT-1: deterministic."""
    once: Verdict = route("review my paper and check the citations", files("a.docx"), RESEARCH)
    assert once == route("review my paper and check the citations", files("a.docx"), RESEARCH)
