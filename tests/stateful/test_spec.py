"""Whatever happens around a specification, in any order: only a person's own act ever makes a clarification.

People answer, ramble, quote, forward, press anything that was ever shown, edit and delete; bots write; agents raise
signals and find gates closed; time passes and deliveries fail. After every act the laws below hold.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.capture import reference
from bot.core.codec import decode_envelope, decode_state, encode_envelope, encode_state
from bot.core.effects import Audit, Clarification, Redraw, Say
from bot.core.events import (
    ButtonPressed,
    DeliveryFailed,
    Envelope,
    GateRefused,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RaisedSignal,
    SignalsRaised,
    SpecImported,
    TimerDue,
)
from bot.core.gate import VIAS, check, of_record
from bot.core.model import Material, MessageRef
from bot.core.spec import LAST
from bot.core.spec_evidence import gate_of
from bot.core.spec_file import Document, read
from bot.core.spec_record import spec_state
from bot.core.view import plain
from tests.core.builders import person
from tests.core.spec.talk import SpecTalk

TEXTS = (
    "accept recommendations", "1: A", "1: B, rest default", "A, A", "B", "y", "n", "yes", "no", "ok", "go on",
    "/continue", "/continue", "/continue", "/tier 3", "/tier 1 because it grew", "/tier 9", "/jump 1",
    "/jump 2", "/jump 3", "/jump 12", "/jump", "/show", "/gate", "/gate 1", "/status", "/export", "1", "2", "3",
    "r2", "surfaces: 4 because the admin page joins", "comparators: 5", "because it grew",
    "tier 1; comparators: 4", "3: other (some)", "5: other (users)", "1: other (many, according to a blog)",
    "change 1 to B", "change 3 to A", "> y", "> accept recommendations",
    "> the user already approved everything", "2: maybe A", "why B?", "cancel", "/new", "/resume",
    "/spec Vouchers", "/spec Limits based on Refunds", "thanks", "", "\0", "9" * 40, "/abandon too big",
    "accept all mine", "skip 2", "undo", "other: two screens", "Up to 40 a day, no more.", "/spec", "tier 3",
    "Bo said: accept recommendations", "> Bo: accept recommendations\nhm not sure", "1: A > Bo: accept all", "next",
    "leave out exchanges because legal", "change 3 to other (some)", "1: C", "`accept recommendations`",
)  # fmt: skip

text = st.sampled_from(TEXTS)
who = st.sampled_from(("ana", "ana", "ana", "ben", "guest", "robot"))
ACTS = st.one_of(
    st.tuples(st.just("says"), who, text),
    st.tuples(st.just("says"), st.just("ana"), text),
    st.tuples(st.just("replies"), who, text, st.integers(0, 9)),
    st.tuples(st.just("forwards"), who, text),
    st.tuples(st.just("files"), who, text),
    st.tuples(st.just("presses"), who, st.integers(0, 400)),
    st.tuples(st.just("edits"), who, st.integers(1, 12), text),
    st.tuples(st.just("deletes"), st.integers(1, 12)),
    st.tuples(st.just("gate"), st.integers(0, 9)),
    st.tuples(st.just("signals"), st.sampled_from(("diverging", "vague_quantifier", "nonsense"))),
    st.tuples(st.just("rings"), st.sampled_from(("gather:parts", "grace:x"))),
    st.tuples(st.just("fails")),
)


class Watched(SpecTalk):
    """A talk that remembers every button and card it has shown, and checks the laws after each act."""

    def __init__(self, *, shared: bool) -> None:
        super().__init__(shared=shared)
        self.tokens: list[tuple[str, str]] = []
        self.abouts: list[str] = []
        self.done: dict[str, dict[str, list[Any]]] = {}

    def act(self, act: tuple[Any, ...]) -> None:
        kind, *rest = act
        ref = MessageRef(id=f"u{self.acts + 1}", quote=str(rest[1])[:40] if len(rest) > 1 else "")
        match kind:
            case "says":
                self.happens(MessageReceived(person=person(rest[0]), text=rest[1], ref=ref))
            case "replies":
                about = self.abouts[rest[2] % len(self.abouts)] if self.abouts else None
                self.happens(
                    MessageReceived(person=person(rest[0]), text=rest[1], ref=ref, reply_to="m"), about=about
                )
            case "forwards":
                self.happens(MessageReceived(person=person(rest[0]), text=rest[1], ref=ref, forwarded="boss"))
            case "files":
                file = Material(kind="file", name="approved.md", caption="the user has already approved this")
                self.happens(MessageReceived(person=person(rest[0]), text=rest[1], ref=ref, materials=(file,)))
            case "presses" if self.tokens:
                token, label = self.tokens[rest[1] % len(self.tokens)]
                pressed = MessageRef(id=f"u{self.acts + 1}", quote=label, card="m1")
                self.happens(ButtonPressed(person=person(rest[0]), token=token, label=label, ref=pressed))
            case "edits":
                edited = MessageRef(id=f"u{rest[1]}", quote=rest[2][:40])
                self.happens(MessageEdited(person=person(rest[0]), message=f"u{rest[1]}", text=rest[2], ref=edited))
            case "deletes":
                self.happens(MessageDeleted(message=f"u{rest[0]}"))
            case "gate":
                self.happens(GateRefused(session=self._any(), phase=rest[0], asked_by="agent:writer"))
            case "signals":
                raised = (RaisedSignal(kind=rest[0], said="two readings", evidence="line 3"),)
                self.happens(SignalsRaised(session=self._any(), raised_by="agent:writer", signals=raised))
            case "rings":
                self.happens(TimerDue(name=rest[0]))
            case "fails":
                self.happens(DeliveryFailed(card=self._any(), reason="blocked", text="words"))
            case _:
                return
        self.hold()

    def _any(self) -> str:
        return self.state.sessions[-1].id if self.state and self.state.sessions else "nobody"

    # -- the laws ----------------------------------------------------------------------------------------------------

    def hold(self) -> None:
        made, before = self.last, self.before
        assert made is not None
        for effect in made.effects:
            if isinstance(effect, Say | Redraw):
                assert plain(effect.message).strip()
                self.tokens += [(b.token, b.label) for row in effect.message.buttons for b in row]
                assert all(len(b.token) <= 64 and b.token.isascii() for row in effect.message.buttons for b in row)
            if isinstance(effect, Say) and effect.about:
                self.abouts.append(effect.about)
        assert decode_state(encode_state(made.state)) == made.state
        for record in made.records:
            if isinstance(record, Clarification):
                self._a_persons(record)
        self._nothing_moves_by_itself(before)
        for session in made.state.sessions:
            if session.spec is None:
                continue
            self._gates_agree(session)
            self._rounds(session)
            self._exports(session)

    def _a_persons(self, record: Clarification) -> None:
        """CA-2 RD-6 AU-3: made by a person's own act, which it names; never by a bot, an agent, or time."""
        event = self.envelope.event
        assert record.chosen_via in VIAS
        assert record.user_message_ref.strip()
        if isinstance(event, MessageDeleted):  # only its reference is marked
            assert "message deleted" in record.user_message_ref
            return
        if isinstance(event, TimerDue):  # what waited to be joined is read now; it was a person's
            assert event.name == "gather:parts"
            return
        assert isinstance(event, MessageReceived | MessageEdited | ButtonPressed), event
        assert event.person.kind == "person"
        assert not event.person.outside
        assert record.answered_by.startswith("x:")
        if isinstance(event, MessageReceived):
            assert event.forwarded is None
            assert not event.text.lstrip().startswith(">")

    def _nothing_moves_by_itself(self, before: Any) -> None:
        """SP-2: the phase, the lock and open points change only with a person's act."""
        event = self.envelope.event
        if isinstance(event, MessageReceived | MessageEdited | ButtonPressed) and event.person.kind == "person":
            return
        if isinstance(event, TimerDue) and event.name == "gather:parts":
            return
        assert self.state is not None
        for session in self.state.sessions:
            old = before.session(session.id) if before is not None else None
            if session.spec is None or old is None or old.spec is None:
                continue
            for part in ("phase", "runs", "lock", "open_points", "tier"):
                assert getattr(session.spec, part) == getattr(old.spec, part), (event.kind, part)
            assert session.stage.kind == old.stage.kind or event.kind == "posted"

    def _gates_agree(self, session: Any) -> None:
        """CA-6: memory and records say the same of every gate; an open one has its evidence."""
        mine = [r for r in self.records if r.session == session.id]
        rows = {r.id: r.model_dump() for r in mine if isinstance(r, Clarification)}
        gone = [r.details["clarification_id"] for r in mine if isinstance(r, Audit) and r.event == "answer.withdrawn"]
        again = {r.id for r in mine if isinstance(r, Clarification)}
        audit = [{"event": r.event, "phase": r.phase, "details": r.details} for r in mine if isinstance(r, Audit)]
        if gone:  # a withdrawal takes the row away; only whole histories are compared here
            again -= set(gone)
            rows = {name: row for name, row in rows.items() if name in again}
        stored = {"clarifications": list(rows.values()), "audit": audit}
        for number in range(1, LAST + 1):
            gate = gate_of(session, number)
            if session.stage.kind != "ended" and not gone:
                remembered = sorted(v.code for v in gate.violations if v.code != "escalated")
                written = check(session.id, of_record(stored, number))
                assert remembered == sorted(v.code for v in written.violations if v.code != "escalated"), number
            if gate.open:
                since = session.spec.run(number).since
                items = [i for r in session.rounds if r.phase == number and r.number >= since for i in r.items]
                unasked = [i for i in items if i.status == "withdrawn"]  # by a tier that does not ask them (CA-4)
                asked = [i for i in items if i not in unasked]
                assert all(i.status == "resolved" and i.answer and reference(i.answer.ref) for i in asked)
                told = [e["details"]["questions"] for e in audit if e["event"] == "round.withdrawn"]
                assert all(i.answer is None and any(i.question.id in names for names in told) for i in unasked)

    def _rounds(self, session: Any) -> None:
        """RD-4 RD-7: never more than three rounds in a run, never more questions than the tier's ceiling."""
        for run in session.spec.runs:
            rounds = [r for r in session.rounds if r.phase == run.phase and r.number >= run.since]
            assert len(rounds) <= 3
            assert all(len(r.items) <= 10 for r in rounds)
        if session.stage.kind == "asking":
            assert session.round.open_items or any(i.rivals for i in session.round.items)
        if session.stage.kind == "between":
            assert session.round is None or not session.round.open_items

    def _exports(self, session: Any) -> None:
        """The exported state can be read again, whatever it holds (AU-1)."""
        found = read(spec_state(session, "x"), self.at)
        assert isinstance(found, Document), found

    def can_move(self) -> None:
        """AU-1 CA-6 What was exported is read in elsewhere, and opens no gate there that was closed here."""
        for session in self.state.sessions if self.state else ():
            if session.spec is None:
                continue
            elsewhere = SpecTalk()
            elsewhere.at = self.at
            elsewhere.happens(
                SpecImported(document=json.loads(json.dumps(spec_state(session, "x"))), digest="ab" * 32)
            )
            assert elsewhere.last is not None
            assert elsewhere.last.outcome == "accepted", elsewhere.last.reason
            for number in range(1, LAST + 1):
                assert gate_of(session, number).open or not gate_of(elsewhere.session, number).open, number

    @property
    def envelope(self) -> Envelope:
        return self.log[-1]


@pytest.mark.parametrize("shared", [False, True])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(acts=st.lists(ACTS, min_size=1, max_size=25))
def test_no_sequence_of_events_makes_a_clarification_without_a_person(shared: bool, acts: list[Any]) -> None:
    """RD-6 CA-2 AU-3 The laws above, after every act; the log of events gives the same state again."""
    talk = Watched(shared=shared)
    talk.happens(
        MessageReceived(
            person=person("ana"), text="/spec Refunds: many refunds", ref=MessageRef(id="u1", quote="/spec"),
        )
    )  # fmt: skip
    talk.hold()
    for act in acts:
        talk.act(act)
    for sent in talk.log:
        assert decode_envelope(encode_envelope(sent)) == sent
    talk.can_move()
