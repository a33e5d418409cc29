"""The lints of a question and of a round: every violation at once, with its path (RD-2, RD-3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.lints import Finding, is_other, lint_question, lint_round
from bot.core.model import Grounding, Option, Question
from bot.core.policies import AGENT, EXCHANGE, PACKET, PLAYBOOK, POLICIES, SPEC, Policy

A = Option(key="A", label="Last 5 years", tradeoff="least to screen; misses early papers")
B = Option(key="B", label="Last 10 years", tradeoff="current methods; twice the screening", recommended=True)
OTHER = Option(key="C", label="Other, I'll describe it", other=True)

GOOD = Question(
    id="years",
    topic="Years to cover",
    why="Sets the search filter.",
    options=(A, B, OTHER),
    rationale="Older key papers turn up in reference lists anyway.",
    grounding=Grounding(kind="constraint", reference="screening time"),
)


def changed(**changes: Any) -> Question:
    return Question.model_validate(GOOD.model_dump() | changes)


def option(base: Option, **changes: Any) -> Option:
    return base.model_copy(update=changes)


def first(**changes: Any) -> Question:
    """The good question with another first option."""
    return changed(options=(option(A, **changes), B, OTHER))


def codes(question: Question, policy: Policy = SPEC, deny: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    found = lint_question(question, policy, deny=deny, path="q")
    assert all(len(finding.message) > 20 for finding in found), "a message says how to repair it"
    return [(finding.level, finding.code, finding.path) for finding in found]


def test_a_good_question_is_clean() -> None:
    assert codes(GOOD) == []


R, W = "refused", "warned"
LONG = tuple(option(A, key=k, label=f"Choice {k}", recommended=k == "A") for k in "ABCDE")
GUESS = "Best guess: older key papers turn up anyway."

CASES: dict[str, tuple[Question, list[tuple[str, str, str]]]] = {
    "no id": (changed(id=" "), [(R, "empty_id", "q")]),
    "no topic": (changed(topic=""), [(R, "missing_topic", "q.topic")]),
    "no why": (changed(why=" \u200b"), [(R, "missing_why", "q.why")]),
    "six options": (changed(options=(*LONG, option(OTHER, key="F"))), [(R, "too_many_options", "q")]),
    "one option": (
        changed(options=(option(OTHER, key="A"),)),
        [(R, "too_few_options", "q"), (R, "no_recommendation", "q")],
    ),
    "none recommended": (changed(options=(A, option(B, recommended=False), OTHER)), [(R, "no_recommendation", "q")]),
    "two recommended": (first(recommended=True), [(R, "two_recommended", "q.options[1]")]),
    "no Other": (changed(options=(A, B)), [(R, "other_missing", "q")]),
    "Other first": (changed(options=(option(OTHER, key="Z"), A, B)), [(R, "other_not_last", "q.options[0]")]),
    "Other twice": (
        changed(options=(A, B, option(OTHER, key="Z", label="Other"), OTHER)),
        [(R, "other_not_last", "q.options[2]")],
    ),
    "Other recommended": (
        changed(options=(A, option(B, recommended=False), option(OTHER, recommended=True))),
        [(R, "other_recommended", "q.options[2]")],
    ),
    "empty label": (first(label=" — "), [(R, "empty_label", "q.options[0]")]),
    "empty key": (first(key=""), [(R, "empty_key", "q.options[0]")]),
    "same key": (first(key="b"), [(R, "duplicate_key", "q.options[1]")]),
    "same label": (first(label="LAST  10 years."), [(R, "duplicate_label", "q.options[1]")]),
    "no rationale": (changed(rationale=None), [(R, "missing_rationale", "q.rationale")]),
    "ungrounded": (changed(grounding=None), [(R, "ungrounded", "q.rationale")]),
    "no reference": (changed(grounding={"kind": "constraint", "reference": " "}), [(R, "ungrounded", "q.rationale")]),
    "guess not said": (
        changed(grounding={"kind": "best_guess", "reference": "x"}),
        [(R, "ungrounded", "q.rationale")],
    ),
    "guess said": (changed(grounding=None, rationale=GUESS), []),
    "guess denied": (
        changed(grounding=None, rationale="This is not a best guess."),
        [(R, "ungrounded", "q.rationale")],
    ),
    "best practice": (
        changed(grounding=None, rationale="Industry best practice says so."),
        [(R, "best_practice", "q.rationale"), (R, "ungrounded", "q.rationale")],
    ),
    "best practice as reference": (
        changed(grounding={"kind": "convention", "reference": "best practice"}),
        [(R, "best_practice", "q.rationale"), (R, "ungrounded", "q.rationale")],
    ),
    "best practice with a source": (
        changed(rationale="Best practice for filters.", grounding={"kind": "compliance", "reference": "PRISMA 2020"}),
        [],
    ),
    "rationale is the label": (changed(rationale="last 10 years!"), [(R, "rationale_repeats_option", "q.rationale")]),
    "rationale is the tradeoff": (
        changed(rationale="B because it has current methods."),
        [(R, "rationale_repeats_option", "q.rationale")],
    ),
    "praise as rationale": (
        changed(rationale="This is simply better and modern."),
        [(R, "ungrounded", "q.rationale")],
    ),
    "open in a spec round": (changed(form="open", options=()), [(R, "options_required", "q")]),
    "points elsewhere": (changed(text="See my questions above."), [(R, "points_elsewhere", "q")]),
    "short topic": (changed(topic="Years"), [(W, "topic_length", "q.topic")]),
    "long topic": (changed(topic="Years that the search should cover now"), [(W, "topic_length", "q.topic")]),
    "Chinese topic": (changed(topic="检索的年份范围"), []),
    "short Chinese topic": (changed(topic="年份"), [(W, "topic_length", "q.topic")]),
    "long Chinese topic": (changed(topic="检" * 17), [(W, "topic_length", "q.topic")]),
    "Thai topic": (changed(topic="ช่วงปีที่ค้นหา"), []),
    "Korean topic": (changed(topic="검색할 연도 범위"), []),
    "praise as tradeoff": (first(tradeoff="modern and clean"), [(W, "adjective_tradeoff", "q.options[0]")]),
    "praise with a price": (first(tradeoff="faster but spills data"), []),
    "no tradeoff": (first(tradeoff=""), [(W, "missing_tradeoff", "q.options[0]")]),
    "bundled topic": (changed(topic="Years and databases"), [(W, "bundled", "q")]),
    "bundled text": (changed(text="Which years, and which databases?"), [(W, "bundled", "q")]),
    "two question marks": (changed(text="Which years? Which databases?"), [(W, "bundled", "q")]),
    "leading": (changed(text="Obviously ten years will do?"), [(W, "leading", "q.text")]),
    "leading label": (
        changed(options=(A, option(B, label="Last 10 years (recommended)"), OTHER)),
        [(W, "leading", "q.options[1]")],
    ),
    "names the recommended": (changed(text="Shall it be the last 10 years?"), [(W, "leading", "q")]),
    "names both": (changed(text="The last 5 years or the last 10 years?"), []),
    "near duplicate": (first(label="The last 10 year"), [(W, "near_duplicate_label", "q.options[1]")]),
    "one real option": (
        changed(options=(option(B, key="A"), option(OTHER, key="B"))),
        [(W, "single_real_option", "q")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_lint(name: str) -> None:
    """RD-3, one violation each."""
    question, expected = CASES[name]
    assert codes(question) == expected


def test_all_violations_come_at_once() -> None:
    """RD-3."""
    bad = changed(id="", topic="", why="", rationale="", options=(option(A, key="", label=""), option(A, key="")))
    assert {code for _, code, _ in codes(bad)} >= {
        "empty_id", "missing_topic", "missing_why", "missing_rationale", "empty_label", "empty_key", "other_missing",
        "no_recommendation",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("C", "C++"),
        ("> 5 years", "< 5 years"),
        ("👍", "👎"),
        ("With images", "Without images"),
        ("5 days", "15 days"),
    ],
)
def test_labels_that_only_look_alike_are_distinct(one: str, two: str) -> None:
    question = changed(options=(option(A, label=one), option(B, label=two), OTHER))
    assert [code for _, code, _ in codes(question) if "label" in code] == []


def test_policies_differ_in_values_only() -> None:
    """RD-1: a recommendation, Other and options are asked for only where the policy says so."""
    bare = changed(options=(A, option(B, recommended=False)), rationale=None, grounding=None)
    assert [code for _, code, _ in codes(bare, PLAYBOOK)] == [
        "other_missing",
        "no_recommendation",
        "missing_rationale",
    ]
    assert codes(bare, AGENT) == []
    assert (
        codes(bare, PACKET) == [(R, "options_required", "q")] if bare.form != "choice" else codes(bare, PACKET) == []
    )
    assert codes(bare, EXCHANGE) == []
    opened = changed(form="open", options=(), rationale=None, grounding=None)
    assert codes(opened, AGENT) == []
    assert [code for _, code, _ in codes(changed(), EXCHANGE)] == ["recommendation_not_allowed"]
    assert [code for _, code, _ in codes(changed(rationale=None), AGENT)] == ["missing_rationale"]
    two = first(recommended=True)
    assert [code for _, code, _ in codes(two, AGENT)] == ["two_recommended"]


def test_open_and_validate_questions() -> None:
    assert [c for _, c, _ in codes(changed(form="open", rationale=None, grounding=None), AGENT)] == [
        "unexpected_options"
    ]
    validate = changed(form="validate", options=(), rationale=None, grounding=None)
    assert codes(validate, AGENT) == [(R, "missing_text", "q.text")]


@pytest.mark.parametrize(
    ("deny", "text", "found"),
    [
        ("Acme", "What ACME's team needs", True),
        ("Acme", "ａｃｍｅ and others", True),
        ("Acme", "ac\u200bme and others", True),
        ("Acme", "Acme-Corp and others", True),
        ("Acme", "acmeology and others", False),
        ("Acme", "pacme and others", False),
        ("Müller & Söhne", "for MÜLLER & SÖHNE only", True),
        ("AT&T", "for at & t only", False),
        ("AT&T", "for AT&T only", True),
        ("丸善", "これは丸善の話です", True),
        ("", "anything at all", False),
    ],
)
def test_customer_names_are_whole_words(deny: str, text: str, found: bool) -> None:
    """RD-3: names from the configured list, wherever a person would read them."""
    for changes in (
        {"topic": text},
        {"text": text},
        {"why": text},
        {"rationale": text + " for once"},
        {"options": (option(A, tradeoff=text), B, OTHER)},
        {"options": (option(A, label=text), B, OTHER)},
        {"grounding": {"kind": "convention", "reference": text}},
    ):
        refused = [f for f in lint_question(changed(**changes), SPEC, deny=(deny,)) if f.code == "customer_name"]
        assert bool(refused) is found


def test_a_round_names_its_questions() -> None:
    found = lint_round([GOOD, changed(why="", id="other"), changed()], SPEC)
    assert [(f.code, f.path) for f in found] == [
        ("missing_why", "questions[1].why"),
        ("duplicate_id", "questions[2]"),
    ]


def test_an_empty_round_is_refused_and_the_ceiling_refuses_nothing() -> None:
    """RD-4: what is above the ceiling is deferred, not refused."""
    assert [(f.level, f.code) for f in lint_round([], SPEC)] == [(R, "empty_round")]
    seven = [changed(id=f"q{n}") for n in range(7)]
    assert [(f.level, f.code) for f in lint_round(seven, SPEC)] == [(W, "over_ceiling")]
    assert lint_round(seven[:6], SPEC) == ()
    assert lint_round(seven, PACKET) == ()


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("Other", True),
        ("Other — let me describe it", True),
        ("Other, I'll describe it", True),
        ("Other journals first", False),
        ("Another way", False),
        ("", False),
    ],
)
def test_other_by_its_label(label: str, other: bool) -> None:
    assert is_other(label) is other


TEXT = st.one_of(
    st.text(max_size=40), st.sampled_from(["Best guess", "best practice", " and ", "检索", "?", "clean", "—", "A"])
)
OPTIONS = st.builds(Option, key=TEXT, label=TEXT, tradeoff=TEXT, recommended=st.booleans(), other=st.booleans())
KINDS = st.sampled_from(["constraint", "best_guess", "user_impact"])
QUESTIONS = st.builds(
    Question,
    id=TEXT,
    form=st.sampled_from(["choice", "open", "validate"]),
    topic=TEXT,
    text=TEXT,
    why=TEXT,
    options=st.lists(OPTIONS, max_size=7).map(tuple),
    rationale=st.none() | TEXT,
    grounding=st.none() | st.builds(Grounding, kind=KINDS, reference=TEXT),
)


@given(st.lists(QUESTIONS, max_size=4), st.sampled_from(sorted(POLICIES)), st.lists(TEXT, max_size=3))
def test_any_round_can_be_linted(questions: list[Question], policy: str, deny: list[str]) -> None:
    found = lint_round(questions, POLICIES[policy], deny=deny)
    assert all(isinstance(f, Finding) and f.path.startswith("questions") for f in found)
    assert len({(f.code, f.path, f.message) for f in found}) == len(found)
    if POLICIES[policy].recommendation == "exactly_one":
        for number, question in enumerate(questions):
            marked = [o for o in question.options if o.recommended]
            wrong = question.form == "choice" and question.options and len(marked) != 1
            told = {f.code for f in found if f.path.startswith(f"questions[{number}]")}
            assert not wrong or told & {"no_recommendation", "two_recommended"}


def test_long_texts_are_linted_in_time() -> None:
    long = "best and worst " * 7000
    question = changed(topic=long, text=long, why=long, rationale=long, options=(option(A, label=long), B, OTHER))
    assert lint_question(question, SPEC, deny=("Acme",))
