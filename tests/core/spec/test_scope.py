"""What locks a scope, and how a described change is read (SC-3)."""

from __future__ import annotations

import pytest

from bot.core.scope import boundary, conflicts, count_in, tier_in
from bot.core.scope_change import Described
from bot.core.scope_change import described as read_change
from bot.core.spec import Lock, Spec
from config.phrases_loader import load_phrases
from tests.core.spec.talk import DISCOVERED, SpecTalk
from tests.core.spec.test_claims import at_the_scope
from tests.core.spec.test_gate import both

BOOK = load_phrases()
LOCKED = Spec(name="x", tier=2, lock=Lock(complexity_tier=2, surface_count=2, comparator_count=3))


def described(words: str, spec: Spec) -> Described:
    return read_change(words, spec, BOOK)


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("2", 2),
        ("two screens", 2),
        ("2 screens, so 2", 2),
        ("２", 2),
        ("about 3", 3),
        ("some", None),
        ("2 or 3", None),
        ("1.5", None),
        ("v2", None),
        ("", None),
        ("> 4", None),
    ],
)
def test_a_count_is_one_number_or_none(words: str, count: int | None) -> None:
    """SC-3 "2 or 3" settles nothing; a quoted number is somebody else's."""
    assert count_in(words) == count


@pytest.mark.parametrize(
    ("words", "tier"),
    [
        ("1", 1),
        ("full", 1),
        ("Tier 3", 3),
        ("3 incremental", 3),
        ("2 full", None),
        ("4", None),
        ("0", None),
        ("", None),
    ],
)
def test_a_tier_is_one_of_three(words: str, tier: int | None) -> None:
    assert tier_in(words) == tier


def test_a_boundary_in_own_words() -> None:
    """SC-3 What is in and what is out, from a sentence."""
    assert boundary("in: refunds; out: exchanges, vouchers") == (("refunds",), ("exchanges, vouchers",))
    assert boundary("refunds in the shop, not exchanges") == (("refunds in the shop",), ("exchanges",))
    assert boundary("refunds") == (("refunds",), ())


@pytest.mark.parametrize(
    ("words", "fields", "because"),
    [
        ("surfaces: 4 because the admin page joins", {"surface_count": "4"}, "the admin page joins"),
        (
            "surfaces: 4 because the admin page joins; tier 1",
            {"surface_count": "4", "complexity_tier": "1"},
            "the admin page joins",
        ),
        (
            "surfaces: 4 because the admin page joins; pages are cheap",
            {"surface_count": "4"},
            "the admin page joins; pages are cheap",
        ),
        ("4 screens", {"surface_count": "4"}, None),
        ("change surfaces from 2 to 4, since we forgot one", {"surface_count": "4"}, "we forgot one"),
        ("tier 1; comparators: 4", {"complexity_tier": "1", "comparator_count": "4"}, None),
        ("make it tier full", {"complexity_tier": "1"}, None),
        ("add vouchers", {"in_scope": "vouchers"}, None),
        ("out of scope: exchanges", {"out_of_scope": "exchanges"}, None),
        ("it is wrong", {}, None),
        ("> surfaces: 9\nsurfaces: 3", {"surface_count": "3"}, None),
    ],
)
def test_a_described_change(words: str, fields: dict[str, str], because: str | None) -> None:
    """SC-3 Field by field, with the reason where the words hold one; quoted lines change nothing (AU-3)."""
    found = described(words, LOCKED)
    assert {w.field: w.to for w in found.wanted} == fields
    assert not any(w.problem for w in found.wanted)
    assert found.because == because


@pytest.mark.parametrize("words", ["surfaces: 0", "comparators: 2", "tier 9", "surfaces: many", "out of scope:"])
def test_a_change_that_can_not_be_says_why(words: str) -> None:
    """SC-3 Comparators: at least 3 at tiers 1 and 2."""
    assert [bool(w.problem) for w in described(words, LOCKED).wanted] == [True]


def test_a_tier_and_its_comparators_have_to_fit() -> None:
    """SC-3 Tier 3 compares 2; the same 2 do not do at tier 1."""
    assert conflicts(Lock(complexity_tier=3, surface_count=1, comparator_count=2)) is None
    assert conflicts(Lock(complexity_tier=1, surface_count=1, comparator_count=2)) is not None


def changed(*texts: str) -> SpecTalk:
    talk = SpecTalk()
    talk.ana("/spec Refunds", "accept recommendations", "/continue", "accept recommendations", "/continue", *texts)
    return talk


def test_doing_phase_1_again_keeps_a_deliberate_change_of_the_scope() -> None:
    """SC-3, RD-11: the later word stands; the "y" is said to what is shown."""
    talk = changed("surfaces: 4, out of scope: exchanges", "because the admin page joins", "go on", "y")
    talk.ana("accept recommendations")
    talk.ana("/jump 1")
    assert "3 · Surfaces that it touches: 4 — from the change of scope in phase 3" in talk.heard
    talk.ana("y")
    lock = talk.spec.lock
    assert lock.surface_count == 4
    assert "exchanges" in lock.out_of_scope
    assert len(lock.changes) == 2


def test_code_in_a_described_change_is_no_change_and_stays_in_its_reason() -> None:
    """SC-2 SC-3"""
    found = described("surfaces: 4 because `tier 1` and `comparators = 9` moved to `admin; page`", LOCKED)
    assert [(w.field, w.to) for w in found.wanted] == [("surface_count", "4")]
    assert found.because == "`tier 1` and `comparators = 9` moved to `admin; page`"
    [change] = described("leave out the `legacy; v1` page because old", LOCKED).wanted
    assert change.to == "the `legacy; v1` page"


def test_an_answer_that_no_longer_does_takes_the_lock_back() -> None:
    """SC-3 CA-6 The lock never says what the answers do not: it is open again, on record, and asked about."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    assert talk.spec.lock.locked
    talk.ana("change 3 to other (some)")
    assert not talk.spec.lock.locked
    assert "The scope is not locked any more. The number of surfaces: “some” holds no one number." in talk.heard
    assert both(talk, 1) == ["scope_not_locked"]
    [entry] = [e for e in talk.audited("scope_change") if e.details["field"] == "locked"]
    assert entry.details["to"] == "no"
    talk.ana("/continue")
    assert "Ambiguity pause" in talk.heard
    talk.ana("1: A")
    assert talk.spec.lock.surface_count == 1
    assert both(talk, 1) == []


def test_taking_back_what_was_left_to_the_bot_takes_tier_and_lock_back() -> None:
    """SC-3 RP-3 Neither outlives the answer that it was made from."""
    talk = SpecTalk()
    talk.ana("/spec Refunds", "you decide")
    assert talk.spec.lock.locked
    talk.ana("undo")
    assert (talk.spec.tier, talk.spec.lock.locked) == (None, False)
    assert "The scope is not locked any more." in talk.heard
    talk.ana("accept recommendations")
    assert (talk.spec.tier, talk.spec.lock.locked) == (2, True)
    assert both(talk, 1) == []


@pytest.mark.parametrize(
    "words",
    [
        "maybe 4 surfaces because of the kiosk", "should we have 4 surfaces because of the kiosk?",
        "4 surfaces would be too many because it costs", "not 4 surfaces because of the cost",
        "if legal agrees surfaces: 4 because of the kiosk", "we had 3 screens last year because of the kiosk",
        "don't add returns because legal forbids it", "remove one page because it is old",
        "I wonder whether tier 1 is better because it is new",
    ],
)  # fmt: skip
def test_words_about_a_change_that_make_none_change_nothing(words: str) -> None:
    """SC-3 A scope that nobody has decided is not recorded; it is asked about."""
    talk = at_the_scope()
    talk.ana(words)
    assert not talk.spec.lock.changes
    assert talk.session.stage.waits == "reconfirm"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("add returns and exchanges because asked", {"in_scope": "what the request names; returns; exchanges"}),
        ("in scope: a, b; because asked", {"in_scope": "what the request names; a; b"}),
        ("add a; add b because asked", {"in_scope": "what the request names; a; b"}),
        (
            "not in scope: payment because legal",
            {"out_of_scope": "everything that the request does not name; payment"},
        ),
        ("surfaces should be 4 because of the kiosk", {"surface_count": "4"}),
        ("4 surfaces instead of 2 because of the kiosk", {"surface_count": "4"}),
        ("4 surfaces, not 2, because of the kiosk", {"surface_count": "4"}),
        ("3 surfaces because of the kiosk, and tier 1", {"surface_count": "3", "complexity_tier": "1"}),
        ("drop tier to 3, comparators 2 because it is small", {"complexity_tier": "3", "comparator_count": "2"}),
    ],
)
def test_no_part_of_a_described_change_is_lost(words: str, changes: dict[str, str]) -> None:
    """SC-3 What is described by a verb is recorded after a yes."""
    talk = at_the_scope()
    talk.ana(words)
    if talk.session.stage.waits == "rationale":  # type: ignore[union-attr]
        assert not talk.spec.lock.changes
        talk.ana("y")
    assert {c.field: c.to for c in talk.spec.lock.changes} == changes


def test_a_part_that_names_no_field_is_told() -> None:
    """SC-3 RP-2"""
    talk = at_the_scope()
    talk.ana("surfaces: 4; the board meets on friday; because of the kiosk")
    assert "Not used, as it names no part of the scope: the board meets on friday." in talk.heard
    assert talk.spec.lock.surface_count == 4


@pytest.mark.parametrize("words", ["unchanged", "no changes", "bleibt so"])
def test_a_scope_that_stays_is_confirmed(words: str) -> None:
    """SC-3"""
    talk = at_the_scope()
    talk.ana(words)
    assert talk.spec.lock.reconfirmed_at is not None


@pytest.mark.parametrize("words", ["I don't know", "no idea", "why?", "later", "weiß nicht", "hm", "ok"])
def test_words_that_give_no_reason_are_none(words: str) -> None:
    """SC-3"""
    talk = at_the_scope()
    talk.ana("surfaces: 4", words)
    assert not talk.spec.lock.changes
    talk.ana("because the kiosk joins")
    assert [c.rationale for c in talk.spec.lock.changes] == ["the kiosk joins"]


@pytest.mark.parametrize("words", ["", "because", "since", "because.", "please", "thanks!", "as", "weil"])
def test_a_tier_is_not_changed_for_a_reason_that_says_nothing(words: str) -> None:
    """SC-3"""
    talk = SpecTalk()
    made = talk.ana(*DISCOVERED, f"/tier 1 {words}")
    assert made.outcome == "refused"
    assert not talk.spec.lock.changes


@pytest.mark.parametrize("words", ["continue?", "go on?", "next?", "shall we continue?"])
def test_a_question_lets_no_work_through_a_gate(words: str) -> None:
    """SP-2 RD-6 Nothing advances but by a person's word, and asking is none."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, words)
    assert not talk.audited("gate_approved")
    assert "/continue goes on to phase 2" in talk.heard
