"""What was exported can be read in again; what can not be believed is refused whole (AU-1, CA-2)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from bot.core.capture import reference
from bot.core.effects import Audit, Clarification
from bot.core.events import RaisedSignal, SignalsRaised, SpecImported
from bot.core.gate import check, of_record
from bot.core.model import MessageRef
from bot.core.spec_evidence import gate_of
from bot.core.spec_file import Document, read
from bot.core.spec_record import markdown, spec_state
from tests.core.spec.talk import DISCOVERED, SpecTalk

ILLEGAL = ("agent_default", "auto", "recommended", "inferred", "", None, 1, "USER_RESPONSE", ...)
NO_MESSAGE = (
    "", ..., "the user said yes", "yes", "n/a", "-", 'none: "yes"', 'system: "accepted"', 'agent:writer: "ok"',
    '12: ""', 'agent-7: "A"', 'the orchestrator: "A"', 'model gpt: "A"', 'auto: "accept recommendations"', 12,
)  # fmt: skip
NOBODY = ("agent:writer", "AGENT:x", " agent:x", "bot:gpt", "orchestrator:x", "terminal:", ":", "x", "slack:system")


def exported(*texts: str) -> tuple[SpecTalk, dict[str, Any]]:
    talk = SpecTalk()
    talk.ana(*DISCOVERED, *texts)
    return talk, with_log(talk)


def with_log(talk: SpecTalk) -> dict[str, Any]:
    """As `askfirst export` writes it."""
    return audited(spec_state(talk.session, "x"), talk)


def imported(document: dict[str, Any]) -> SpecTalk:
    talk = SpecTalk()
    talk.at = talk.at.replace(year=2027)
    talk.happens(SpecImported(document=document, digest="ab" * 32))
    return talk


def test_the_names_are_those_of_the_source() -> None:
    """CA-1 CA-5"""
    _, made = exported("/continue", "1: B, rest default")
    assert {"meta", "scope_lock", "phase", "gates", "context", "audit_log", "artifacts"} <= made.keys()
    assert made["scope_lock"].keys() >= {
        "locked", "locked_at", "complexity_tier", "scope_summary", "in_scope", "out_of_scope", "surface_count",
        "comparator_count", "reconfirmed_at_phase_3", "reconfirmed_at", "changes",
    }  # fmt: skip
    assert made["gates"]["phase_2"]["intake_clarifications"] == {
        "rounds_completed": 1,
        "questions_asked": 2,
        "questions_resolved": 2,
        "bulk_accept_used": True,
        "escalated": False,
    }
    row = made["context"]["clarifications"][-1]
    assert row.keys() >= {
        "id", "phase", "round", "trigger", "topic", "why_it_matters", "options", "recommendation_rationale", "chosen",
        "chosen_at", "chosen_via", "user_message_ref", "user_note",
    }  # fmt: skip
    result = made["gates"]["phase_2"]["rounds"][0]
    assert result.keys() >= {
        "phase", "round", "trigger", "questions_asked", "questions_resolved", "clarifications", "bulk_accept_used",
        "ready_to_proceed", "escalation_needed",
    }  # fmt: skip
    assert result["ready_to_proceed"] is True


def test_a_round_trip_keeps_every_decision_and_every_gate() -> None:
    """AU-1 Exported, read in elsewhere, exported again: the same, but for the store's own times."""
    talk, made = exported("/continue", "1: B, rest default", "/continue", "surfaces: 4 because it grew", "y", "A")
    again = imported(made)
    back = spec_state(again.session, "x")
    for row in back["context"]["clarifications"]:
        assert row.pop("imported") is True
        assert row["chosen_at"].startswith("2027")
        row["chosen_at"] = row.pop("claimed_at")
    for one in (made, back):
        for row in one["context"]["clarifications"]:
            row.pop("run_round")
            row.pop("session")
    assert back["context"]["clarifications"] == made["context"]["clarifications"]
    for key in ("surface_count", "comparator_count", "in_scope", "out_of_scope", "complexity_tier", "locked"):
        assert back["scope_lock"][key] == made["scope_lock"][key]
    for number in range(1, 8):
        assert gate_of(again.session, number).open == gate_of(talk.session, number).open
    again.ana("/resume 1", "/continue")
    assert again.spec.phase == 4


@pytest.mark.parametrize(
    "ref",
    [
        MessageRef(id="17.1", quote="1: B", link="https://acme.slack.com/archives/C1/p17?thread_ts=1.0&cid=C1"),
        MessageRef(id="T:U:1", quote="B", link="https://t.me/c/15/3?thread=2", card="17.0"),
    ],
)
def test_a_link_to_the_message_is_kept_as_it_stands(ref: MessageRef) -> None:
    """CA-2 AU-1"""
    _, made = exported()
    row = made["context"]["clarifications"][0]
    words = (json.dumps(one) for one in (row["user_message_ref"], reference(ref)))
    again = imported(json.loads(json.dumps(made).replace(*words)))
    assert spec_state(again.session, "x")["context"]["clarifications"][0]["user_message_ref"] == reference(ref)


def test_claimed_times_stand_beside_the_stores_own() -> None:
    """AU-1 Marked as imported, in the record and in the audit log."""
    _, made = exported()
    again = imported(made)
    records = [r for r in again.records if isinstance(r, Clarification)]
    assert all(r.platform_at is not None and r.platform_at.year == 2026 for r in records)
    assert all(e.details["imported"] and e.actor == "system" for e in again.audited("clarification_resolved"))
    assert again.audited("import.accepted")[0].details["clarifications"] == 5


def test_what_was_open_at_the_export_is_asked_again() -> None:
    """CA-6 A question without an answer does not get one by being read in."""
    _, made = exported("/continue", "1: A")
    again = imported(made)
    again.ana("/resume 1", "/continue")
    assert "Evidence that counts as enough" in again.heard


UNPROVEN = ("/continue", "A, A", "/continue", "surfaces: 4 because it grew", "y", "A")


@pytest.mark.parametrize("log", [None, [], "none", {}])
def test_a_file_without_an_audit_log_proves_no_answer(log: Any) -> None:
    """CA-6 AU-1 RD-5 What it says is known, with the file as its source; no clarification, no gate, no lock of it."""
    talk, made = exported(*UNPROVEN)
    made["audit_log"] = log
    again = imported(made)
    assert "no audit log, so nothing proves that a person gave its 8 answers: " in again.heard
    for row in made["context"]["clarifications"]:
        assert row["topic"] in again.heard
    assert not again.clarified()
    assert not again.audited("clarification_resolved")
    assert again.spec.phase == 1
    assert not again.spec.lock.locked
    assert not any(gate_of(again.session, number).open for number in range(1, 8))
    kept = again.audited("import.accepted")[0].details
    assert kept["clarifications"] == 0
    assert [(r["id"], r["chosen"], r["user_message_ref"]) for r in kept["unproven"]] == [
        (r["id"], r["chosen"], r["user_message_ref"]) for r in made["context"]["clarifications"]
    ]
    assert not any(row["chosen_via"] for row in spec_state(again.session, "x")["context"]["clarifications"])
    assert talk.spec.lock.surface_count == 4


def test_what_is_known_without_proof_is_not_asked_but_confirmed_with_a_persons_y() -> None:
    """RD-5 CA-6 SC-3 One "y" a phase; it is no clarification, and the scope is locked by it anew."""
    talk, made = exported(*UNPROVEN)
    again = imported({**made, "audit_log": []})
    again.ana("/resume 1", "/continue")
    assert "the file, without proof" in again.heard
    assert not again.spec.lock.locked
    again.ana("y")
    lock = again.spec.lock
    assert (lock.locked, lock.surface_count, lock.complexity_tier) == (True, 4, talk.spec.tier)
    assert (lock.in_scope, lock.out_of_scope) == (talk.spec.lock.in_scope, talk.spec.lock.out_of_scope)
    assert gate_of(again.session, 1).open
    again.ana("/continue", "y", "/continue", "y")
    assert again.spec.phase == 3
    assert not again.clarified()


def test_what_is_known_without_proof_can_be_corrected() -> None:
    """RD-5"""
    _, made = exported(*UNPROVEN)
    again = imported({**made, "audit_log": []})
    again.ana("/resume 1", "/continue", "5", "B")
    assert [c.chosen for c in again.clarified()] == ["B"]


def test_an_open_point_that_a_file_without_a_log_calls_settled_is_open() -> None:
    """AU-1 RD-7"""
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    signals = tuple(RaisedSignal(kind="diverging", said=words, evidence="line 3") for words in ("one", "two"))
    talk.happens(SignalsRaised(session=talk.session.id, raised_by="agent:writer", signals=signals))
    talk.ana("/continue", "2: we know after the pilot", "/point 1 done: legal says 30 days")
    again = imported({**with_log(talk), "audit_log": []})
    assert [p.status for p in again.spec.open_points] == ["open", "open"]
    again.ana("/resume 1", "/point V-001")
    assert "legal says 30 days" in again.heard


def test_what_was_left_for_a_later_round_is_asked_after_an_import_as_well() -> None:
    """RD-4 AU-1 A file that was exported between two rounds of a phase loses none of its questions."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "1: A, rest default")
    left = {d.question for d in talk.session.dropped if d.later}
    assert left
    again = SpecTalk(short=False)
    again.happens(SpecImported(document=with_log(talk), digest="ab" * 32))
    assert {d.question for d in again.session.dropped if d.later} == left
    again.ana("/resume 1", "/continue")
    assert "Screens that it must serve" in again.heard


def test_what_was_carried_on_is_not_asked_after_an_import_either() -> None:
    """RD-7 AU-1"""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "1: A, rest default")
    signals = tuple(RaisedSignal(kind="diverging", said=words, evidence="line 3") for words in ("one", "two"))
    talk.happens(SignalsRaised(session=talk.session.id, raised_by="agent:writer", signals=signals))
    talk.ana("/continue", "2: we know after the pilot")
    again = SpecTalk(short=False)
    again.happens(SpecImported(document=with_log(talk), digest="ab" * 32))
    assert again.spec.present.carried
    again.ana("/resume 1", "/continue")
    assert again.spec.phase == 2


def change(path: str, value: Any) -> dict[str, Any]:
    _, made = exported("/continue", "A, A")
    made = {**copy.deepcopy(made), "audit_log": []}  # each is refused with nothing to hold it against
    at: Any = made
    *steps, last = path.split(".")
    for step in steps:
        at = at[int(step) if step.isdigit() else step]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return made


CLARIFIED = "context.clarifications.0"


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        *((f"{CLARIFIED}.chosen_via", via, "illegal_via") for via in ILLEGAL),
        (
            f"{CLARIFIED}.chosen",
            "A",
            "illegal_via",
        ),  # not what was recommended, yet accepted with the recommendations
        (f"{CLARIFIED}.chosen_at", "2031-01-01T00:00:00Z", "future_time"),
        (f"{CLARIFIED}.chosen_at", "yesterday", "no_time"),
        (f"{CLARIFIED}.chosen_at", "2026-01-01T00:00:00", "no_time"),
        (f"{CLARIFIED}.chosen_at", "in review", "no_time"),
        *((f"{CLARIFIED}.user_message_ref", ref, "no_message") for ref in NO_MESSAGE),
        *((f"{CLARIFIED}.answered_by", nobody, "no_person") for nobody in NOBODY),
        (f"{CLARIFIED}.answered_by", ..., "no_person"),
        (f"{CLARIFIED}.chosen", "Q", "no_option"),
        (f"{CLARIFIED}.chosen", None, "nothing_chosen"),
        (f"{CLARIFIED}.options.0.recommended", True, "two_recommended"),
        (f"{CLARIFIED}.phase", 9, "no_phase"),
        (f"{CLARIFIED}.phase", 5, "no_phase"),  # it is discovery's question
        (f"{CLARIFIED}.round", True, "no_round"),
        (f"{CLARIFIED}.trigger", "whim", "no_trigger"),
        (f"{CLARIFIED}.topic", 4, "wrong_type"),
        ("context.clarifications.1.id", "clar-2026-03-02-001", "duplicate_id"),
        ("context.clarifications", {}, "wrong_type"),
        ("meta.complexity_tier", "Tier 7", "no_tier"),
        ("scope_lock.comparator_count", 1, "scope_contradicts"),
        ("scope_lock.comparator_count", 5, "scope_contradicts"),
        ("scope_lock.surface_count", 7, "scope_contradicts"),
        ("scope_lock.complexity_tier", 1, "scope_contradicts"),
        ("scope_lock.in_scope", ["everything"], "scope_contradicts"),
        ("scope_lock.out_of_scope", [], "scope_contradicts"),
        ("scope_lock.surface_count", None, "scope_incomplete"),
        ("context.clarifications.2.field", "", "scope_incomplete"),  # nobody has said how many surfaces
        ("scope_lock.locked_at", "2099-01-01T00:00:00Z", "future_time"),
        ("schema_version", "1.0", "other_form"),
        ("phase.current", 0, "no_phase"),
    ],
)
def test_a_file_that_can_not_be_believed_is_refused_whole(path: str, value: Any, code: str) -> None:
    """CA-2 SC-3 AU-1 With the path, a stable code and the way on; nothing of it is written."""
    talk = refused(change(path, value))
    assert {line.split(": ")[1] for line in told(talk)} == {code}


def refused(document: dict[str, Any]) -> SpecTalk:
    talk = imported(document)
    assert talk.last is not None
    assert talk.last.outcome == "refused"
    assert not talk.last.state.sessions
    assert [r.kind for r in talk.last.records] == ["audit"]
    return talk


def told(talk: SpecTalk) -> list[str]:
    assert talk.last is not None
    return (talk.last.reason or "").splitlines()


def test_every_mistake_is_told_at_once_with_its_path() -> None:
    """AU-1"""
    made = change(f"{CLARIFIED}.chosen_via", "auto")
    made["context"]["clarifications"][1]["user_message_ref"] = "the user said yes"
    made["meta"]["complexity_tier"] = "Tier 0"
    assert [line.split(": ")[:2] for line in told(refused(made))] == [
        ["context.clarifications[0].chosen_via", "illegal_via"],
        ["context.clarifications[1].user_message_ref", "no_message"],
        ["meta.complexity_tier", "no_tier"],
    ]


def audited(document: dict[str, Any], talk: SpecTalk) -> dict[str, Any]:
    document = json.loads(json.dumps(document))
    entries = [{"event": r.event, "phase": r.phase, "details": r.details} for r in talk.records if r.kind == "audit"]
    return {**document, "audit_log": json.loads(json.dumps(entries))}


def test_an_answer_that_the_files_own_audit_log_does_not_know_is_refused() -> None:
    """CA-6 AU-1 Where the log is there, each answer has its entry, which says the same."""
    talk, made = exported()
    whole = audited(made, talk)
    assert imported(whole).session.rounds
    whole["context"]["clarifications"][0]["user_message_ref"] = 'u9: "accept recommendations"'
    assert "no_audit" in told(refused(whole))[0]
    whole = audited(made, talk)
    whole["audit_log"] = [e for e in whole["audit_log"] if e["event"] != "clarification_resolved"]
    assert len(told(refused(whole))) == 5


def test_changes_of_the_scope_come_back_with_their_reasons() -> None:
    """SC-3 AU-1 The lock follows from the answers and the changes; a change that does not fit them is refused."""
    talk, made = exported(
        "/continue", "A, A", "/continue", "surfaces: 4 because it grew; leave out exchanges", "y", "go on"
    )
    assert len(talk.spec.lock.changes) == 2
    again = imported(made)
    kept = [c.model_dump(exclude={"at", "claimed_at"}) for c in again.spec.lock.changes]
    assert kept == [c.model_dump(exclude={"at", "claimed_at"}) for c in talk.spec.lock.changes]
    assert [e.details["field"] for e in again.audited("scope_change")] == [c["field"] for c in kept]
    for key, value in (("to", "6"), ("rationale", ""), ("by", "agent:x"), ("user_message_ref", "yes")):
        forged = copy.deepcopy(made)
        forged["scope_lock"]["changes"][0][key] = value
        refused(forged)


def test_a_phase_done_again_comes_back_with_its_runs_apart() -> None:
    """CA-5 CA-6 Counts go on over the runs; the gate looks at the last one, in the file and after it was read in."""
    talk, made = exported("/continue", "A, A", "/jump 1", "1", "1: C")
    gate = made["gates"]["phase_1"]
    assert gate["intake_clarifications"]["questions_asked"] == 6
    assert gate["intake_clarifications"]["questions_resolved"] == 6
    assert gate["intake_clarifications"]["rounds_completed"] == 3
    assert gate["run"] == 2
    again = imported(made)
    assert again.spec.run(1) is not None
    assert [(r.phase, r.nth) for r in again.session.rounds] == [(1, 1), (2, 1), (1, 2)]
    for number in (1, 2):
        assert gate_of(again.session, number).open == gate_of(talk.session, number).open


@pytest.mark.parametrize(
    "data", [None, [], 1, "x", {}, {"schema_version": "2.0.0"}, {"schema_version": "2.0.0", "meta": 1}]
)
def test_anything_else_is_told_as_such(data: object) -> None:
    found = read(data, SpecTalk().at)
    assert not isinstance(found, Document)
    assert all(m.message for m in found)


def test_an_import_can_not_open_a_gate_without_answers() -> None:
    """CA-6 A file that says "approved" for a phase with nothing behind it."""
    _, made = exported()
    made["gates"]["phase_4"]["status"] = "approved"
    made["gates"]["phase_4"]["rounds"] = [{"questions": ["q4"]}]
    again = imported(made)
    rows = [r.model_dump() for r in again.records if isinstance(r, Clarification)]
    audit = [r.model_dump() for r in again.records if r.kind == "audit"]
    found = check("s", of_record({"clarifications": rows, "audit": audit}, 4))
    assert not found.open
    assert not gate_of(again.session, 4).open


def test_the_markdown_holds_text_from_people_on_its_line() -> None:
    _, made = exported("/continue", "1: other (**bold**\n# heading), 2: A")
    text = markdown(made)
    assert "\n# heading" not in text
    assert text.count("\n# ") == 0


def logged() -> dict[str, Any]:
    """An export with its audit log, as the command writes it."""
    talk, made = exported("/continue", "A, A")
    made["audit_log"] = [
        {
            "timestamp": talk.at.isoformat(),
            "event": e.event,
            "phase": e.phase,
            "actor": e.actor,
            "details": json.loads(json.dumps(e.details)),
        }
        for e in talk.records
        if isinstance(e, Audit)
    ]
    return made


def test_its_own_audit_log_is_believed_where_nothing_differs() -> None:
    """AU-1 And what was read in once can be read in again."""
    assert imported(logged()).audited("import.accepted")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("chosen_text", "what nobody said"),
        ("user_note", "what nobody said"),
        ("answered_by", "terminal:boss"),
        ("chosen_at", "2020-01-01T00:00:00Z"),
        ("user_message_ref", '99: "A"'),
    ],
)
def test_an_answer_told_otherwise_than_its_own_audit_log_is_refused(key: str, value: str) -> None:
    """AU-1 CA-6 Who, when, in which words: each is in the entry that the answer is tied to."""
    made = logged()
    made["context"]["clarifications"][-1][key] = value
    assert {line.split(": ")[1] for line in told(refused(made))} == {"no_audit"}


def test_an_answer_that_was_taken_back_can_not_be_put_back() -> None:
    """CA-6 The log of the file says that it was withdrawn."""
    made = logged()
    row = next(e for e in reversed(made["audit_log"]) if e["event"] == "clarification_resolved")
    made["audit_log"].append({**row, "event": "answer.withdrawn"})
    assert {line.split(": ")[1] for line in told(refused(made))} == {"no_audit"}


def test_words_of_ones_own_are_no_accepted_recommendation() -> None:
    """CA-2 Nothing that was typed is what was recommended."""
    made = change(f"{CLARIFIED}.chosen_text", "mine")
    made["context"]["clarifications"][0] |= {"chosen": None, "chosen_via": "accept_recommendations_bulk"}
    assert {line.split(": ")[1] for line in told(refused(made))} == {"illegal_via"}


def test_a_scope_that_is_only_said_to_be_confirmed_is_confirmed_again() -> None:
    """SC-3 CA-6 The flag is nobody's word: without the message of the "y" the gate of phase 3 stays closed."""
    _, made = exported("/continue", "A, A", "/continue", "y", "A", "/continue")
    assert gate_of(imported(made).session, 3).open
    del made["scope_lock"]["reconfirmed_ref"]
    again = imported(made)
    assert [v.code for v in gate_of(again.session, 3).violations] == ["scope_not_reconfirmed"]
    assert again.spec.run(3).status == "started"  # type: ignore[union-attr]
    made["scope_lock"] |= {"reconfirmed_ref": "yes", "reconfirmed_by": "agent:x"}
    assert {line.split(": ")[1] for line in told(refused(made))} == {"no_message", "no_person"}


def test_nothing_goes_on_before_the_scope_is_locked() -> None:
    """SC-3 SP-2 A file can not begin a later phase without the lock; discovery is asked for it again."""
    made = change("scope_lock.locked", False)
    made["phase"]["current"] = 7
    again = imported(made)
    assert again.spec.phase == 1
    assert again.spec.run(1).status == "started"  # type: ignore[union-attr]


def test_what_its_own_log_says_was_asked_is_not_forgotten() -> None:
    """CA-6 Leaving an answer and the list of questions out does not open the gate."""
    made = logged()
    for gate in made["gates"].values():
        gate.pop("rounds", None)
    del made["context"]["clarifications"][-1]
    assert not gate_of(imported(made).session, 2).open
