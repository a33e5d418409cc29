"""The ambiguity score: its signals, its thresholds, and what does not count (SC-1, SC-2, RD-7)."""

from __future__ import annotations

import itertools

import pytest

from bot.core.events import RaisedSignal, SignalsRaised
from bot.core.score import LEVELS, BadSignal, Score, of_agent, score
from bot.core.spec import Signal
from tests.core.spec.talk import SpecTalk, book


def signal(level: str, number: int) -> Signal:
    return Signal.model_validate({"id": f"k:{number}", "kind": "k", "level": level, "said": "s", "evidence": "e"})


@pytest.mark.parametrize(("critical", "minor"), list(itertools.product(range(4), range(6))))
def test_the_thresholds_are_exact(critical: int, minor: int) -> None:
    """SC-1 +2 and +1; 0–1 go on, 2–3 pause, 4 and more escalate."""
    signals = tuple(signal("critical", n) for n in range(critical)) + tuple(signal("minor", n) for n in range(minor))
    found = Score(signals=signals)
    assert found.points == 2 * critical + minor
    assert found.action == ("go" if found.points < 2 else "pause" if found.points < 4 else "escalate")


def score_of(talk: SpecTalk, *, short: bool) -> Score:
    made = book(short=short)
    return score(talk.session, made.playbooks, made.phrases, made.times)


def kinds(*texts: str) -> list[str]:
    """The kinds of signal after these words in phase 1."""
    talk = SpecTalk()
    talk.ana(*texts)
    return sorted(s.kind for s in score_of(talk, short=True).signals)


ANSWERED = "accept recommendations"


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("/spec Refunds", ANSWERED), []),
        (("/spec Refunds: many refunds", ANSWERED), ["vague_quantifier"]),
        (("/spec Refunds: 40 refunds a day, often at night", ANSWERED), []),
        (("/spec Refunds", "5: other (users), rest default"), ["generic_role"]),
        (("/spec Refunds", "5: other (users with a refund right), rest default"), []),
        (("/spec Refunds", "2: B, rest default"), ["boundary_unstated"]),
        (("/spec Refunds", "2: other (refunds; out: exchanges), rest default"), []),
        (("/spec Refunds on the phone", ANSWERED), ["parity_unstated"]),
        (("/spec Refunds on phone and desktop", ANSWERED), []),
        (("/spec Refunds: according to a blog people hate it", ANSWERED), ["single_untrusted_source"]),
        (("/spec Refunds: everything by friday", ANSWERED), ["scope_vs_time"]),
        (("/spec Refunds: by friday", ANSWERED), []),
        (("/spec Refunds: there is no component for it", ANSWERED), ["design_system_gap"]),
        (("/spec Refunds: `many()` on `mobile`, `by friday` `everything`", ANSWERED), []),
        (("/spec Refunds", "5: other (cashiers, as in `users`), rest default"), []),
        (("/spec Refunds", "2: other (the `out of stock` page; out: `no` exchanges), rest default"), []),
        (("/spec Refunds", "3: other (`screens_9`, that is 2 screens), rest default"), []),
        (("/spec Refunds", "5: other (cashiers, see `i heard that 7 screens`), rest default"), []),
        (("/spec Refunds", "3: other (it depends), rest default"), ["missing_field"]),
        (("/spec Refunds", "4: other (1), rest default"), ["missing_field"]),
        (("/spec Refunds", "4: A, rest default"), ["missing_field"]),
        (("/spec Refunds\n> many refunds, according to a blog", ANSWERED), []),
    ],
)
def test_what_the_detectors_find(texts: tuple[str, ...], found: list[str]) -> None:
    """SC-2 Each with its evidence; a quoted word is not the person's own."""
    assert kinds(*texts) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("viele Erstattungen", "vague_quantifier"),
        ("plusieurs remboursements", "vague_quantifier"),
        ("varias devoluciones", "vague_quantifier"),
        ("vários reembolsos", "vague_quantifier"),
        ("несколько возвратов", "vague_quantifier"),
        ("кілька повернень", "vague_quantifier"),
        ("很多退款", "vague_quantifier"),
        ("たくさんの返金", "vague_quantifier"),
        ("여러 환불", "vague_quantifier"),
        ("nhiều khoản hoàn tiền", "vague_quantifier"),
        ("laut einem Blog unbeliebt", "single_untrusted_source"),
        ("по словам chatgpt это нужно", "single_untrusted_source"),
        ("听说有用", "single_untrusted_source"),
        ("am Handy", "parity_unstated"),
        ("スマホで", "parity_unstated"),
        ("alles bis Freitag", "scope_vs_time"),
    ],
)
def test_the_detectors_read_every_language(text: str, found: str) -> None:
    """SC-2 RT-12 The words are data of the phrase files."""
    assert kinds(f"/spec Refunds: {text}", ANSWERED) == [found]


@pytest.mark.parametrize(
    "text",
    [
        'the button says "many refunds"', "the label `many` stays", "„viele“ steht da", "「たくさん」と書いてある",
        "a handy todo list for bald eagles by friday",  # German, Spanish, German
    ],
)  # fmt: skip
def test_what_is_quoted_or_foreign_is_no_sign(text: str) -> None:
    """SC-2 AU-3 In the request and in an answer."""
    assert kinds(f"/spec Refunds: {text}", ANSWERED) == []
    assert kinds("/spec Refunds", f"2: other ({text}; out: exchanges), rest default") == []


def test_every_language_has_every_sign() -> None:
    """RT-12"""
    import yaml

    from bot.core.replies.phrases import SIGNS
    from config.phrases_loader import FOLDER

    for language in ("en", "de", "fr", "es", "pt", "ru", "uk", "zh", "ja", "ko", "vi"):
        read = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
        assert not [name for name in SIGNS if not read.get(name)], language


def test_every_signal_has_evidence_and_a_question() -> None:
    """SC-2 RD-8 Shown in the pause with its points and its proof."""
    talk = SpecTalk()
    talk.ana("/spec Refunds: many refunds", "2: B, rest default", "/continue")
    assert "Ambiguity score: 2" in talk.heard
    assert "Ambiguity pause · Round 2 of 3" in talk.heard
    assert "(+1; Refunds: many refunds)" in talk.heard
    for found in score_of(talk, short=True).signals:
        assert found.evidence.strip()


def test_what_the_open_round_asks_about_does_not_count() -> None:
    """RD-7 The pause is on the table: its own signals are not held against it."""
    talk = SpecTalk()
    talk.ana("/spec Refunds: many refunds", "2: B, rest default", "/continue")
    assert score_of(talk, short=True).points == 0


def test_an_intake_round_never_escalates() -> None:
    """RD-7 However unclear the request: the round comes first, and asks."""
    talk = SpecTalk()
    talk.ana("/spec Refunds: many, according to a blog, everything by friday on the phone")
    assert talk.session.stage.kind == "asking"
    assert not talk.audited("clarification_escalation")


def test_minors_that_were_passed_over_are_noted_and_not_counted_again() -> None:
    """SC-1 Kept in ambiguity_notes."""
    talk = SpecTalk()
    talk.ana("/spec Refunds: many refunds", ANSWERED, "/continue")
    assert [n.signal.kind for n in talk.spec.ambiguity_notes] == ["vague_quantifier"]
    assert talk.spec.phase == 2
    talk.ana("A, A", "/jump 1")
    assert score_of(talk, short=True).points == 0


def test_contradictions_between_answers_and_with_the_locked_scope() -> None:
    """SC-2 critical 4, with the two answers as evidence."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "1: A, 7: A, rest default")
    while talk.session.stage.kind == "between" and talk.spec.phase == 1 and talk.session.dropped:
        talk.ana("/continue")
        if talk.spec.phase == 1:
            talk.ana("accept recommendations")
    while talk.spec.phase < 3:
        talk.ana("accept recommendations", "/continue")
    talk.ana("y", "accept recommendations except 1: other (all 5 screens)")
    found = score_of(talk, short=False).signals
    assert [s.kind for s in found] == ["contradiction"]
    assert "2 surfaces" in found[0].said


def test_agents_raise_signals_as_data() -> None:
    """SC-2 They add up with the others, are asked about, and decide nothing."""
    talk = SpecTalk()
    talk.ana("/spec Refunds", ANSWERED)
    raised = RaisedSignal(kind="diverging", said="“refund” may mean money or voucher", evidence="line 3 of the notes")
    event = SignalsRaised(session=talk.session.id, raised_by="agent:writer", signals=(raised,))
    talk.happens(event)
    assert "writer says" in talk.heard
    assert "+2" in talk.heard
    assert talk.happens(event).outcome == "ignored"
    talk.ana("/continue")
    assert "Ambiguity pause" in talk.heard
    assert "“refund” may mean money or voucher" in talk.heard
    talk.ana("A", "/continue")
    assert talk.spec.phase == 2


@pytest.mark.parametrize(
    "bad",
    [None, [], {}, {"kind": "x", "said": "a", "evidence": "b"}, {"kind": "diverging", "said": "", "evidence": "b"},
     {"kind": "diverging", "said": "a"}, {"kind": "diverging", "said": 1, "evidence": "b"}],
)  # fmt: skip
def test_a_signal_without_its_kind_or_evidence_is_refused(bad: object) -> None:
    """SC-2 Each signal carries its evidence."""
    with pytest.raises(BadSignal):
        of_agent(bad, "agent:x")


def test_the_levels_are_those_of_the_protocol() -> None:
    """SC-1 Seven critical kinds, six minor ones; every one has its question in the bundled bank, at that level."""
    assert sorted(LEVELS.values()).count("critical") == 7
    assert sorted(LEVELS.values()).count("minor") == 6
    bank = book(short=False).playbooks["spec/signals"]
    assert {e.question.id: e.question.stakes for e in bank.entries} == dict(LEVELS)
