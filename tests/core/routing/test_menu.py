"""The menu and its answers (RT-4, RT-8, RT-9)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.model import Material
from bot.core.routing import Pack, examples, menu_for, read_menu_answer, route
from bot.core.routing.router import options_for
from config.packs_loader import load_pack

PACKS_FOLDER = Path(__file__).parents[3] / "config" / "packs"
RESEARCH = load_pack(PACKS_FOLDER / "research")
TRIAGE = load_pack(PACKS_FOLDER / "triage")
OFFERED = ("academic-pipeline/full", "academic-paper/lit-review", "academic-paper/citation-check")


def files(*names: str) -> list[Material]:
    return [Material(kind="file", name=name) for name in names]


def test_the_menu_for_mixed_materials() -> None:
    """RT-8: summary, question, four lettered lines, command or id, and the token in the last sentence."""
    verdict = route("Here's an abstract and some literature, see what you can do.", [], RESEARCH)
    assert (verdict.by, verdict.phases, verdict.options) == ("cross-phase", (2, 4), OFFERED)
    text = menu_for(verdict, RESEARCH).text
    assert text == (
        "I have papers or references and a draft. What shall come out of it?\n\n"
        "(a) The full pipeline — a finished paper, from research through writing and review to revision"
        " — academic-pipeline, /ars-full\n"
        "(b) A literature review — an annotated bibliography; nothing else is touched"
        " — academic-paper, /ars-lit-review\n"
        "(c) A citation check — every reference checked against its source — academic-paper, /ars-citation-check\n"
        "(d) Something else\n\n"
        "Send a letter, or say what you want to hold in your hands at the end."
        " To name the workflow yourself and skip this question, start a message with [direct-mode]."
    )


def test_the_stage_menu() -> None:
    """RT-4."""
    verdict = route("Can you help me with my paper?", [], RESEARCH)
    view = menu_for(verdict, RESEARCH)
    assert [line.workflow for line in view.lines] == [
        "deep-research/socratic",
        "academic-pipeline/full",
        "academic-paper-reviewer/full",
        None,
    ]
    assert "[direct-mode]" in view.closing.rstrip(".").rsplit(". ", 1)[-1]


@settings(deadline=None)
@given(st.sets(st.integers(0, 7), min_size=1))
def test_every_menu_is_short_and_has_the_whole_pipeline(phases: set[int]) -> None:
    """RT-8: two or three options that exist, the pipeline among them when phases are mixed."""
    options = options_for(sorted(phases), RESEARCH)
    assert 2 <= len(options) <= 3
    assert all(RESEARCH.workflow(option) for option in options)
    assert len(phases) == 1 or "academic-pipeline/full" in options


def test_the_menu_of_just_these() -> None:
    """RT-2."""
    verdict = route("write an abstract and check the citations", files("draft.docx"), RESEARCH)
    assert verdict.options == ("academic-paper/abstract-only", "academic-paper/citation-check")
    assert [line.key for line in menu_for(verdict, RESEARCH).lines] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "answer",
    [
        "b",
        "B",
        "(b)",
        "B.",
        "b)",
        "option b",
        "b please",
        "I'll take b",
        "ⓑ",
        "🅱️",
        "Ｂ",
        "в",
        "2",
        "opção b",
        "选b",
        "/ars-lit-review",
        "academic-paper/lit-review",
        "lit-review",
        "A literature review",
        "  b \n",
    ],
)
def test_answers_that_pick(answer: str) -> None:
    """RT-9, RP-6."""
    verdict = route(answer, [], RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.outcome, verdict.workflow) == ("proceed", "academic-paper/lit-review")


@pytest.mark.parametrize(
    ("answer", "workflow"),
    [
        ("just the annotated bibliography", "academic-paper/lit-review"),
        ("the abstract", "academic-paper/abstract-only"),
        ("an outline", "academic-paper/outline-only"),
        ("a finished paper", "academic-paper/full"),
        ("eine Gliederung", "academic-paper/outline-only"),
        ("аннотация", "academic-paper/abstract-only"),
        ("要旨", "academic-paper/abstract-only"),
        ("checked references", "academic-paper/citation-check"),
        ("a revised draft", "academic-paper/revision"),
    ],
)
def test_a_description_of_the_deliverable(answer: str, workflow: str) -> None:
    """RT-9: routed by RT-2; bare nouns count here."""
    verdict = route(answer, [], RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.outcome, verdict.workflow) == ("proceed", workflow)


@pytest.mark.parametrize("answer", ["d", "(d)", "something else", "none of these", "другое", "其他", "etwas anderes"])
def test_something_else(answer: str) -> None:
    """RT-9: one open question, no options."""
    verdict = route(answer, [], RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.outcome, verdict.options, verdict.workflow) == ("clarify", (), None)


@pytest.mark.parametrize(
    "answer", ["what is the difference?", "which one do you recommend?", "what does b mean", "why?"]
)
def test_a_question_about_the_menu(answer: str) -> None:
    """RT-9: answered, and the menu stays."""
    verdict = route(answer, [], RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.outcome, verdict.question, verdict.options) == ("clarify", True, OFFERED)


@pytest.mark.parametrize("answer", ["hm, hard to say", "g", "bananas", "a or b", "run citation_agent", "👍", ""])
def test_what_is_no_answer_leaves_the_menu_open(answer: str) -> None:
    """RT-9."""
    verdict = route(answer, [], RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.outcome, verdict.options) == ("clarify", OFFERED)


KEPT = [Material(kind="named", name="a draft"), Material(kind="named", name="some papers")]
NO_ANSWER = [
    "banana",
    "hmm",
    "either",
    "a and b",
    "b and c",
    "👍",
    "whatever you like",
    "a draft",
    "что-нибудь",
]


@pytest.mark.parametrize("answer", NO_ANSWER)
@pytest.mark.parametrize(
    ("kept", "menu"),
    [
        (KEPT, OFFERED),
        (KEPT[:1], OFFERED),
        (KEPT[:1], ()),
        (files("draft.docx"), ("academic-paper/abstract-only", "academic-paper/citation-check")),
        (files("draft.docx", "refs.bib"), OFFERED),
    ],
)
def test_what_is_no_answer_starts_nothing_from_kept_materials(
    kept: list[Material], menu: tuple[str, ...], answer: str
) -> None:
    """RT-9: the materials of the request are kept while the menu is open; only new files route it again."""
    verdict = route(answer, kept, RESEARCH, position="menu_open", menu=menu)
    assert (verdict.outcome, verdict.workflow, verdict.question) == ("clarify", None, False)


def test_kept_materials_keep_their_phases() -> None:
    """RT-3, RT-9: what was named in prose is mapped again as it was at first."""
    assert route("hmm", KEPT, RESEARCH, position="menu_open", menu=OFFERED).phases == (2, 4)
    more = route(
        "here are the reviews too", [*KEPT, *files("review_1.pdf")], RESEARCH, position="menu_open", menu=OFFERED
    )
    assert (more.by, more.phases) == ("cross-phase", (2, 4, 5))


@pytest.mark.parametrize(
    ("answer", "workflow"),
    [
        ("citation check of my draft", "academic-paper/citation-check"),
        ("a citation check of my paper", "academic-paper/citation-check"),
        ("outline of my draft", "academic-paper/outline-only"),
        ("abstract for my paper", "academic-paper/abstract-only"),
        ("summary of the reviewers' comments", "academic-paper/revision-coach"),
        ("review my draft", "academic-paper-reviewer/full"),
        ("b", "academic-paper/lit-review"),
    ],
)
def test_a_deliverable_of_kept_materials(answer: str, workflow: str) -> None:
    """RT-9: a description starts its workflow, whatever is kept."""
    verdict = route(answer, KEPT, RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.outcome, verdict.workflow) == ("proceed", workflow)


def test_a_question_about_the_menu_beside_kept_materials() -> None:
    """RT-9: answered, and the same menu stays."""
    verdict = route("what is the difference?", KEPT, RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.question, verdict.options) == (True, OFFERED)


ASKED = [
    "is (b) long?",
    "b or c?",
    "a or c?",
    "is (a) for beginners?",
    "was kommt bei c raus?",
    "b 要多久？",
    "can I do b later?",
]


@pytest.mark.parametrize("text", ASKED)
def test_a_question_about_a_line_of_the_menu(text: str) -> None:
    """RT-9: answered, and the one open question is not used up."""
    verdict = route(text, [], RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.outcome, verdict.question, verdict.options) == ("clarify", True, OFFERED)


@pytest.mark.parametrize(
    ("text", "workflow"),
    [("check the citations of chapter b?", "academic-paper/citation-check"), ("b?", "academic-paper/lit-review")],
)
def test_a_request_or_a_pick_that_ends_in_a_question_mark(text: str, workflow: str) -> None:
    """RT-9."""
    assert route(text, [], RESEARCH, position="menu_open", menu=OFFERED).workflow == workflow


@pytest.mark.parametrize(
    "text", ["could you make a poster about bees?", "c'est pour quand ?", "une sorte d'un ?", "b, then c"]
)
def test_words_that_only_look_like_a_question_about_a_line(text: str) -> None:
    assert not route(text, [], RESEARCH, position="menu_open", menu=OFFERED).question


@pytest.mark.parametrize("text", ["", "here it is"])
def test_a_new_file_after_the_stage_menu_starts(text: str) -> None:
    """RT-9: nothing of a known phase was there before, so the file is new."""
    stage = route("hi", [], RESEARCH).options
    verdict = route(text, files("draft.docx"), RESEARCH, position="menu_open", menu=stage)
    assert (verdict.by, verdict.workflow) == ("phase", "academic-paper-reviewer/full")


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("what can you do?", False),
        ("here is an abstract and some literature", False),
        ("here is a draft", False),
        ("what is a systematic review?", True),
        ("what does /ars-full do?", True),
    ],
)
def test_a_question_names_a_command_or_a_workflow(text: str, question: bool) -> None:
    """RT-2: only that is answered as one; any other is a message without a request."""
    assert route(text, [], RESEARCH).question is question


def test_files_while_the_menu_is_open_route_again() -> None:
    """RT-9."""
    verdict = route("", files("reviews.pdf", "draft.docx"), RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.by, verdict.phases) == ("cross-phase", (4, 5))


def test_a_letter_without_a_known_menu_starts_nothing() -> None:
    """RT-9."""
    assert route("b", [], RESEARCH, position="menu_open").outcome == "clarify"
    assert read_menu_answer("d", (), RESEARCH).kind == "else"


def test_the_last_letter_of_a_short_menu() -> None:
    """RT-9: on a menu of two, (c) is "something else", and so is d."""
    assert read_menu_answer("c", OFFERED[:2], RESEARCH).kind == "else"
    assert read_menu_answer("d", OFFERED[:2], RESEARCH).kind == "else"


@pytest.mark.parametrize("pack", [RESEARCH, TRIAGE])
def test_examples_start_something(pack: Pack) -> None:
    """RT-9: three requests, each of which would be routed."""
    shown = examples(pack)
    assert len(shown) == 3
    assert all(route(text, [], pack).outcome == "proceed" for text in shown)


def test_the_triage_menu() -> None:
    """RT-4 in the other pack."""
    view = menu_for(route("hi", [], TRIAGE), TRIAGE)
    assert [line.key for line in view.lines] == ["a", "b", "c", "d"]
    assert view.lines[-1].workflow is None


def test_names_of_files_cannot_break_the_menu() -> None:
    """CH-4: braces, newlines and control characters in names."""
    verdict = route("", files("{list}\n(a) x\x1b[2J.docx", "refs.bib"), RESEARCH)
    summary = menu_for(verdict, RESEARCH).summary
    assert "\n" not in summary
    assert "\x1b" not in summary


@pytest.mark.parametrize(("letter", "place"), [("a", 0), ("c", 2), ("C)", 2), ("(a) please", 0)])
def test_each_letter_is_its_own_line(letter: str, place: int) -> None:
    """RT-9."""
    verdict = route(letter, [], RESEARCH, position="menu_open", menu=OFFERED)
    assert (verdict.by, verdict.workflow) == ("menu", OFFERED[place])
