"""A change of the scope in words, in every language: what is read, and that it is asked about first (SC-3, AU-3)."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.core.replies.phrases import CHANGE_WORDS
from bot.core.scope_change import described, of_others
from bot.core.spec import Lock, Spec
from bot.core.state import Between
from config.phrases_loader import FOLDER, load_phrases
from tests.core.spec.talk import SpecTalk
from tests.core.spec.test_claims import at_the_scope

BOOK = load_phrases()
LOCKED = Spec(name="x", tier=2, lock=Lock(complexity_tier=2, surface_count=2, comparator_count=3))
FIELDS = {"+": ("in_scope",), "-": ("out_of_scope",), "#": ("surface_count", "comparator_count", "complexity_tier")}
LINES = (Path(__file__).parent / "scope_words.txt").read_text(encoding="utf-8").splitlines()
ROWS = [line for line in LINES if not line.startswith(("# What", "# (it"))]


@pytest.mark.parametrize("row", ROWS)
def test_what_words_say_of_the_scope(row: str) -> None:
    """SC-3 AU-3"""
    mark, _, rest = row.partition(" ")
    words, _, read = rest.partition(" -> ")
    what, _, why = read.partition(" | ")
    found = described(words, LOCKED, BOOK)
    others = of_others(words, LOCKED, BOOK)
    if mark == "@":
        assert others is not None
        return
    assert others is None
    if mark == "=":
        assert all(w.problem for w in found.wanted), found
        return
    [one] = found.wanted
    assert (one.field in FIELDS[mark], one.to, one.problem) == (True, what, "")
    assert (found.because or "") == why
    assert one.asks == (mark != "#" and ": " not in words and " : " not in words and "：" not in words)


def test_every_language_has_the_words_of_a_change() -> None:
    """RT-12 What a language puts behind is `because_after` or `told_of`; the rest every language has."""
    for path in sorted(FOLDER.glob("*.yaml")):
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
        missing = {name for name in CHANGE_WORDS if not read.get(name)}
        assert missing <= {"because_after", "says", "told_of"}, path.name
        assert read.get("says") or read.get("told_of"), path.name


def waits(talk: SpecTalk) -> str:
    assert isinstance(talk.session.stage, Between)
    return talk.session.stage.waits


@pytest.mark.parametrize(
    ("words", "to"),
    [
        ("füge Retouren hinzu, weil der Chef es will", "what the request names; Retouren"),
        ("ajoute les retours parce que le magasin le demande", "what the request names; les retours"),
        ("add returns because the shop asks", "what the request names; returns"),
    ],
)
def test_a_change_in_words_counts_after_a_yes(words: str, to: str) -> None:
    """SC-3 Shown field by field with its reason; the proof names both messages."""
    talk = at_the_scope()
    talk.ana(words)
    assert "nothing is recorded yet" in talk.heard
    assert f"in scope: what the request names → {to}." in talk.heard
    assert not talk.spec.lock.changes
    talk.ana('"y"')
    assert not talk.spec.lock.changes
    talk.ana("y")
    [change] = talk.spec.lock.changes
    assert (change.field, change.to) == ("in_scope", to)
    assert change.user_message_ref.count(";") >= 1
    assert waits(talk) == "reconfirm"  # the changed scope waits for its own y


def test_a_no_leaves_the_scope() -> None:
    """SC-3 And the question whether this is the scope is open again."""
    talk = at_the_scope()
    talk.ana("quita las devoluciones porque no hay tiempo", "no")
    assert not talk.spec.lock.changes
    assert waits(talk) == "reconfirm"
    talk.ana("y")
    assert talk.spec.lock.reconfirmed_at is not None


def test_a_further_change_is_no_reason() -> None:
    """SC-3 It joins the first, both are shown again, and nothing is recorded before their reason."""
    talk = at_the_scope()
    talk.ana("drop the voucher page", "looks good, but surfaces 3 pls")
    assert not talk.spec.lock.changes
    assert (
        "out of scope: everything that the request does not name → everything that the request does not name; "
        in (talk.heard)
    )
    assert "surfaces: 2 → 3." in talk.heard
    talk.ana("too much work otherwise")
    assert {c.field: c.rationale for c in talk.spec.lock.changes} == {
        "out_of_scope": "too much work otherwise", "surface_count": "too much work otherwise",
    }  # fmt: skip


def test_words_that_may_be_a_reason_or_a_change_are_asked_back() -> None:
    """SC-3 With "because" they are the reason."""
    talk = at_the_scope()
    talk.ana("surfaces: 1", "we drop the old page")
    assert "Is that the reason, or another change" in talk.heard
    assert not talk.spec.lock.changes
    talk.ana("because we drop the old page")
    assert [(c.field, c.rationale) for c in talk.spec.lock.changes] == [("surface_count", "we drop the old page")]


def test_a_yes_beside_a_further_change_records_neither() -> None:
    """SC-3 RD-15 What is recorded is what was shown."""
    talk = at_the_scope()
    talk.ana("drop vouchers because legal", "yes but surfaces 3")
    assert not talk.spec.lock.changes
    assert "surfaces: 2 → 3." in talk.heard
    assert "Why: “legal”" in talk.heard
    talk.ana("y")
    assert len(talk.spec.lock.changes) == 2


@pytest.mark.parametrize("words", ["it is friday", "thanks", "later", "y?", "go on"])
def test_only_a_yes_records_what_has_its_reason_already(words: str) -> None:
    """SC-3"""
    talk = at_the_scope()
    talk.ana("drop vouchers because legal", words)
    assert not talk.spec.lock.changes
    assert waits(talk) == "rationale"


def test_a_button_means_the_change_that_it_was_shown_with() -> None:
    """RD-15"""
    talk = at_the_scope()
    talk.ana("drop vouchers because legal")
    old = yes_button(talk)
    talk.ana("and drop exchanges because legal")
    new = yes_button(talk)
    assert talk.presses("ana", old).outcome == "refused"
    assert not talk.spec.lock.changes
    talk.presses("ana", new)
    assert [c.to.count(";") for c in talk.spec.lock.changes] == [2]


def yes_button(talk: SpecTalk) -> str:
    assert talk.last is not None
    rows = [row for effect in talk.last.effects for row in getattr(effect, "message", effect).buttons]  # type: ignore[attr-defined]
    return next(button.token for row in rows for button in row if button.label.startswith("Yes"))


def test_what_comes_in_leaves_what_is_out() -> None:
    """SC-3 Nothing is in and out, and nothing is there twice."""
    talk = at_the_scope()
    talk.ana("out of scope: returns, vouchers because legal")
    talk.ana("add returns because legal changed its mind", "y")
    assert "returns" in talk.spec.lock.in_scope
    assert "returns" not in talk.spec.lock.out_of_scope


def test_somebody_elses_change_is_told_in_every_language() -> None:
    """AU-3 Also as an answer to "why?"."""
    talk = at_the_scope()
    talk.ana("Bo meinte, wir sollen Retouren streichen")
    assert talk.audited("injection_incident")
    assert waits(talk) == "reconfirm"
    talk.ana("surfaces: 4", "老板说去掉退货")
    assert waits(talk) == "rationale"
    assert not talk.spec.lock.changes


def test_a_tier_waits_for_the_change_that_was_described_first() -> None:
    """SC-3 RD-15 What the yes takes is what was shown, with the values that it was shown beside."""
    talk = at_the_scope()
    talk.ana("tier 1 because it is new ground; drop vouchers")
    assert waits(talk) == "rationale"
    assert talk.ana("/tier 3 because it is small").outcome == "refused"
    assert not talk.spec.lock.changes
    talk.ana("y")
    assert talk.spec.lock.complexity_tier == 1
