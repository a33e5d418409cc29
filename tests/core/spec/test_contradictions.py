"""Approved decisions that can not hold together: told with both places, asked about once (SC-2, critical 4)."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.core.replies.phrases import SIGNS, STATED_WORDS
from bot.core.score import Score, score
from bot.core.spec import Signal
from bot.core.state import Between
from bot.core.statements import differ, statements
from config.phrases_loader import FOLDER
from tests.core.spec.talk import SpecTalk, book
from tests.core.spec.test_import import imported, with_log
from tests.core.spec.test_score import ANSWERED, kinds

LINES = (Path(__file__).parent / "statements.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", [line for line in LINES if not line.startswith("#")])
def test_when_two_texts_can_not_both_hold(row: str) -> None:
    """SC-2 Numbers, owners, dates, in and out of scope; near misses say nothing."""
    whole = book(short=False)
    one, other = row[2:].split(" || ")
    mine = list(statements(one, whole.phrases, whole.times))
    theirs = list(statements(other, whole.phrases, whole.times))
    assert any(differ(a, b) for a in mine for b in theirs) == row.startswith("!")
    assert any(differ(b, a) for a in mine for b in theirs) == row.startswith("!")


def score_of(talk: SpecTalk) -> Score:
    whole = book(short=False)
    return score(talk.session, whole.playbooks, whole.phrases, whole.times)


def found(talk: SpecTalk) -> list[Signal]:
    return [s for s in score_of(talk).signals if s.kind == "contradiction"]


def discovered(request: str = "/spec Refunds", first: str = ANSWERED) -> SpecTalk:
    """Discovery is approved, research is open."""
    talk = SpecTalk(short=False)
    talk.ana(request, first, "/continue")
    assert talk.spec.phase == 2
    return talk


DATE = "1: other (launch on 10 December), rest default"


def test_an_answer_against_an_approved_one_is_asked_about_with_both_places() -> None:
    """SC-2 RD-8 The pause names both, and its options are the two statements."""
    talk = discovered(first="5: other (clerks. launch on 3 December), rest default")
    talk.ana(DATE)
    assert "Ambiguity score 2" in talk.heard
    [signal] = found(talk)
    assert signal.level == "critical"
    assert "“launch on 10 December” does not fit “launch on 3 December”" in signal.said
    assert signal.evidence.startswith("phase 2, research, clar-")
    assert " against phase 1, discovery, clar-" in signal.evidence
    talk.ana("/continue")
    assert "A  The present one: “launch on 10 December”" in talk.heard
    assert "B  The earlier one: “launch on 3 December”" in talk.heard
    assert not found(talk)  # what is on the table does not count (RD-7)
    talk.ana("B", "/continue")
    assert talk.spec.phase == 3
    talk.ana("y", ANSWERED)
    assert not found(talk)  # asked once, in whichever phase


def test_the_request_is_a_place_once_discovery_is_approved() -> None:
    """SC-2 Before that an answer makes the request more precise."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds: launch on 3 December", "5: other (clerks. launch on 10 December), rest default")
    assert not found(talk)
    talk.ana("/continue")
    assert talk.spec.phase == 2
    assert [s.fill["source"] for s in found(talk)] == ["your request"]


def test_two_approved_phases_contradict_each_other_after_an_amendment() -> None:
    """SC-2 RD-13 Neither is the present phase; the later word is the one amended."""
    talk = discovered()
    talk.ana(DATE, "/continue", "y", ANSWERED, "/continue")
    assert (talk.spec.phase, found(talk)) == (4, [])
    first = next(r for r in talk.session.rounds if r.phase == 1)
    talk.says("ana", "change 5 to other (clerks. launch on 3 December)", about=first.id)
    talk.ana("yes")
    [signal] = found(talk)
    assert "phase 1, discovery" in signal.evidence
    assert "phase 2, research" in signal.evidence
    talk.ana(ANSWERED, "/continue")
    assert "Ambiguity pause" in talk.heard


def test_options_that_exclude_each_other_are_found_in_approved_phases_too() -> None:
    """SC-2 `against` of a playbook, after an answer of an approved phase was changed."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "1: A, rest default", "/continue", ANSWERED)
    while talk.spec.phase < 7 or talk.session.stage.kind != "asking":
        talk.ana("y" if isinstance(talk.session.stage, Between) and talk.session.stage.waits != "go" else "/continue")
        if talk.session.stage.kind == "asking" and talk.spec.phase < 7:
            talk.ana(ANSWERED)
    assert talk.session.round is not None
    number = next(i.number for i in talk.session.round.items if i.question.id == "rules")
    talk.ana(f"{number}: C, rest default")
    assert not found(talk)
    second = next(r for r in talk.session.rounds if r.phase == 1 and any(i.question.id == "rules" for i in r.items))
    law = next(i.number for i in second.items if i.question.id == "rules")
    talk.says("ana", f"change {law} to C", about=second.id)
    talk.ana("yes")
    assert [s.id for s in found(talk)] == ["contradiction:meta.frameworks=law"]


def test_what_is_in_scope_of_an_answer_and_out_of_the_locked_scope() -> None:
    """SC-2 SC-3 Until the scope is changed deliberately."""
    talk = discovered(first="2: other (in: refunds; out: exchanges), rest default")
    talk.ana("1: other (shops nearby; include exchanges), rest default")
    [signal] = found(talk)
    assert "“include exchanges” does not fit “out of scope: exchanges”" in signal.said
    talk.ana("/continue", "B", "/continue")
    assert talk.session.stage.waits == "reconfirm"  # type: ignore[union-attr]
    talk.ana("add exchanges because the shops ask", "y", "go on", "y", ANSWERED)
    assert not found(talk)


def test_a_deliberate_change_of_the_scope_has_the_last_word() -> None:
    """SC-3 What was said before it is decided anew, and asked about no more."""
    talk = discovered()
    talk.ana("1: other (shops nearby; include exchanges), rest default", "/continue")
    talk.ana("out of scope: exchanges because there are no people", "go on", "y")
    assert "exchanges" in talk.spec.lock.out_of_scope
    assert not found(talk)
    talk.ana("1: other (include exchanges), rest default")
    assert len(found(talk)) == 1


def test_the_number_of_surfaces_is_held_against_the_locked_one_in_every_phase() -> None:
    """SC-2 After it was changed, what was said before does not count."""
    talk = discovered()
    talk.ana("1: other (all 5 screens of theirs), rest default")
    assert [s.id for s in found(talk)] == ["contradiction:compared.surfaces"]
    talk = discovered()
    talk.ana(ANSWERED, "/continue")
    second = next(r for r in talk.session.rounds if r.phase == 2)
    talk.says("ana", "change 1 to other (all 5 screens of theirs)", about=second.id)
    talk.ana("yes")
    assert len(found(talk)) == 1
    talk.ana("surfaces: 3 because we forgot one", "go on", "y", ANSWERED)
    assert not found(talk)


def test_what_settles_it_is_no_further_place() -> None:
    """SC-2 Neither of the two holds: a third is told, and that is the end of it."""
    talk = discovered(first="5: other (clerks. launch on 3 December), rest default")
    talk.ana(DATE, "/continue", "other: launch on 5 December")
    assert not found(talk)
    talk.ana("/continue")
    assert talk.spec.phase == 3


def test_a_parents_decision_is_a_place() -> None:
    """RD-5 SC-2"""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "5: other (clerks. launch on 3 December), rest default", "/abandon")
    talk.ana("/spec Vouchers based on Refunds", ANSWERED, "/continue", DATE)
    assert [s.fill["source"].partition(",")[0] for s in found(talk)] == ["“Refunds”"]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("5: other (we get 40 refunds a day), rest default", "1: other (40 refunds per day), rest default"),
        ("5: other (5 people), rest default", "1: other (8 people), rest default"),
        ("5: other (clerks), rest default", "1: other (3 shops), rest default"),
        ('5: other (clerks, they said "launch on 3 December"), rest default', DATE),
        ("5: other (clerks. maybe launch on 3 December), rest default", DATE),
        (ANSWERED, DATE),
    ],
)
def test_near_misses_cost_no_question(first: str, then: str) -> None:
    """SC-2 RT-5 Over-asking is a defect."""
    talk = discovered(first=first)
    talk.ana(then)
    assert not found(talk)


def test_a_contradiction_is_found_again_after_an_import() -> None:
    """AU-1 SC-2 And one that was asked about is not asked again."""
    talk = discovered(first="5: other (clerks. launch on 3 December), rest default")
    talk.ana(DATE)
    back = imported(with_log(talk))
    assert [s.id for s in found(back)] == [s.id for s in found(talk)]
    talk.ana("/continue", "B")
    assert not found(imported(with_log(talk)))


def test_every_language_has_every_sign_and_statement() -> None:
    """RT-12 All that are shipped."""
    for path in sorted(FOLDER.glob("*.yaml")):
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert not [name for name in (*SIGNS, *STATED_WORDS) if not read.get(name)], path.name


@pytest.mark.parametrize(
    "text",
    [
        "according to a blog people hate it", "laut einem Blog unbeliebt", "selon un blog", "según un blog",
        "segundo um blog", "secondo un blog", "podobno nikt nie lubi", "по словам chatgpt это нужно",
        "в одном блоге", "мені сказали що так", "bir blogda yazıyor", "nghe nói vậy", "听说有用", "ブログによると",
        "블로그에 따르면", "σύμφωνα με ένα blog", "לפי בלוג", "طبق یک وبلاگ", "एक ब्लॉग के अनुसार",
    ],
)  # fmt: skip
def test_one_untrusted_source_is_noticed_in_every_language(text: str) -> None:
    """SC-2 critical 7"""
    assert kinds(f"/spec Refunds: {text}", ANSWERED) == ["single_untrusted_source"]


@pytest.mark.parametrize(
    "text",
    [
        "everything by friday", "alles bis Freitag", "toute la chose avant vendredi", "todo el flujo para el viernes",
        "entro venerdì, tutto quanto", "wszystko do piątku", "всё, то есть весь процесс целиком, к пятнице",
        "усе терміново", "her şey cumaya kadar", "tất cả trước thứ sáu", "全部下周", "全部、来週", "전부 금요일까지",
        "τα πάντα μέχρι την παρασκευή", "הכל עד יום שישי", "همه چیز تا جمعه", "सब कुछ शुक्रवार तक",
    ],
)  # fmt: skip
def test_a_wide_scope_and_a_near_date_are_noticed_in_every_language(text: str) -> None:
    """SC-2 minor 6"""
    assert "scope_vs_time" in kinds(f"/spec Refunds: {text}", ANSWERED)


@pytest.mark.parametrize("text", ["by friday", "everything", "bis Freitag", "alles", "全部", "cumaya kadar"])
def test_one_of_the_two_alone_is_no_tradeoff(text: str) -> None:
    """SC-2"""
    assert kinds(f"/spec Refunds: {text}", ANSWERED) == []
