"""What must be true whatever people, platforms and time do. `hold` is asked after every act."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from adapters.contract import clean
from bot.core.audit import EVENTS
from bot.core.capture import quote, reference
from bot.core.codec import decode_envelope, decode_state, encode_envelope, encode_state, write_state
from bot.core.effects import Audit, Clarification, Redraw, Say, SessionRow
from bot.core.events import ButtonPressed, Forwarded, MessageDeleted, MessageEdited, MessageReceived, TimerDue
from bot.core.model import Answer, Person
from bot.core.state import Asking, Conversation, Item, Session, TakeSeveral
from bot.core.step import step
from bot.core.view import plain
from storage.memory import MemoryStore
from storage.verify import verify
from tests.stateful.world import LET_IN, PASTE, Taken, World, book

UNMARKED = {"deleted_at": None}
VIAS = {"user_response", "accept_recommendations_bulk"}
REFERENCE = re.compile(r'(\S+?)(?:: | on \S+: pressed )"(.*?)(?:", confirming (\S+): "(.*))?"', re.DOTALL)
RECORD = "The record so far."

# Nothing of this is an answer, an order or a request, so in a shared place it is left alone (CH-2).
TALK = ("lunch at noon?", "haha", "I think B is nicer for lunch", "ok", "yes", "b", "no idea", "🎉", "+1", "thanks")


def hold(world: World, fresh: Sequence[Taken]) -> None:
    for taken in fresh:
        _one_step(world, taken)
    for room in {taken.envelope.place.conversation for taken in fresh}:
        state = decode_state(world.store.tables.conversation[room]["state"])
        assert state == fresh_state(fresh, room)
        _stored(world.store, state)


def fresh_state(fresh: Sequence[Taken], room: str) -> Conversation:
    """The state that the last of these steps decided on."""
    return next(t.commit.state for t in reversed(fresh) if t.envelope.place.conversation == room)


# -- one step ----------------------------------------------------------------------------------------------------


def _one_step(world: World, taken: Taken) -> None:
    state, made = taken.commit.state, taken.step
    assert decode_state(encode_state(state)) == state
    if taken.before is not None:
        assert write_state(state, write_state(taken.before).parts).text == encode_state(state)
    assert decode_envelope(encode_envelope(taken.envelope)) == taken.envelope
    assert state.revision == (taken.before.revision if taken.before else 0) + 1
    _shape(state)
    _said(taken)
    _outcome(taken)
    _who(taken)
    for record in made.records:
        if isinstance(record, Audit):
            assert record.event in EVENTS
        if isinstance(record, Clarification):
            _clarification(world, taken, record)
    _handed_over(taken)
    _silence(taken)
    _several(world, taken)


def _shape(state: Conversation) -> None:
    """At most one session is active, and what is active is not over; stages agree with their rounds."""
    if state.active is not None:
        assert state.current is not None
        assert state.current.stage.kind != "ended"
    assert len({s.id for s in state.sessions}) == len(state.sessions)
    assert len({p.id for p in state.pending}) == len(state.pending)
    for session in state.sessions:
        round_ = session.round
        kind = session.stage.kind
        if kind == "asking":
            assert round_ is not None
            assert round_.open_items or any(i.rivals for i in round_.items), "asking, but nothing is open"
        if kind == "closing" or (kind == "ended" and round_ is not None):
            assert round_ is not None
            assert not round_.open_items, f"{kind}, but something is open"
        for item in _items(session):
            assert (item.status == "resolved") == (item.answer is not None)
            assert not item.rivals or item.status == "resolved"
            assert len({rival.by for rival in item.rivals}) == len(item.rivals), "one word a person"
        if isinstance(session.stage, Asking) and round_ is not None:
            assert all(round_.item(n) for n in session.stage.describing.values())


def _items(session: Session) -> list[Item]:
    return [item for round_ in session.rounds for item in round_.items]


def _said(taken: Taken) -> None:
    """Nothing empty is said; button tokens fit every platform and are told apart (CH-1, CH-4)."""
    for effect in taken.step.effects:
        if isinstance(effect, Say | Redraw):
            assert plain(effect.message).strip(), f"an empty message: {effect}"
            tokens = [b.token for row in effect.message.buttons for b in row]
            assert len(set(tokens)) == len(tokens), tokens
            assert all(0 < len(t) <= 64 and t.isascii() and t.isprintable() for t in tokens), tokens
            assert all(b.label.strip() for row in effect.message.buttons for b in row)
    if taken.step.reply is not None:
        assert taken.step.reply.text.strip()


def _outcome(taken: Taken) -> None:
    """What was ignored has no consequence; what was refused or ignored decides nothing (CH-2, RD-12)."""
    made = taken.step
    if made.outcome != "accepted":
        assert made.reason
        assert not [r for r in made.records if isinstance(r, Clarification)], (made.reason, made.records)
    if made.outcome == "ignored":
        assert not [e for e in made.effects if isinstance(e, Say | Redraw)], (made.reason, made.effects)
        assert not [r for r in made.records if not isinstance(r, SessionRow)], (made.reason, made.records)


def actor(taken: Taken) -> Person | None:
    """Whose message, edit or press a step is about. The parts of an album count when the last one is in (RT-11)."""
    event = taken.envelope.event
    if isinstance(event, MessageReceived | MessageEdited | ButtonPressed | Forwarded):
        return event.person
    if isinstance(event, TimerDue) and event.name == "gather:parts" and taken.before and taken.before.gathering:
        return taken.before.gathering.event.person
    return None


def may(taken: Taken, session: Session | None, person: Person) -> bool:
    """RD-12, told again in the plainest words. A session that begins in this step is its opener's."""
    inside = not person.outside or (taken.before is not None and taken.before.settings.outsiders)
    if person.kind != "person" or not inside or person.name not in LET_IN:
        return False
    if session is None or not taken.envelope.place.shared:
        return True
    before = taken.before
    assert before is not None
    named = {session.requester.id, *session.participants}
    settings = before.settings
    by_policy = {
        "requester": False,
        "anyone": True,
        "participants": person.id in before.taken_part,
        "listed": person.id in settings.listed,
    }
    return by_policy[settings.answerers or "requester"] or person.id in named


def _who(taken: Taken) -> None:
    """Answers change only through a person who may give them; silence, restarts and timers resolve nothing (RD-6)."""
    for after in taken.commit.state.sessions:
        before = taken.before.session(after.id) if taken.before else None
        if before is None or _answers(before) == _answers(after):
            continue
        person = actor(taken)
        assert person is not None, f"{taken.envelope.event.kind} changed {after.id}"
        assert may(taken, before, person), f"{person.name} changed {after.id}"
        assert _own_words(taken), "forwarded words decided something (AU-3)"


def _own_words(taken: Taken) -> bool:
    """Whether the step is about words of the person's own, or about a press."""
    event, gathered = taken.envelope.event, taken.before.gathering if taken.before else None
    heard = [event, *([gathered.event] if gathered else [])]
    return isinstance(event, MessageEdited | ButtonPressed | Forwarded) or any(
        e.forwarded is None for e in heard if isinstance(e, MessageReceived)
    )


def _answers(session: Session) -> list[Any]:
    ended = [i for i in _items(session) if i.status != "open"]
    return [(i.question.id, i.status, _undeleted(i.answer), [_undeleted(rival) for rival in i.rivals]) for i in ended]


def _undeleted(answer: Answer | None) -> Answer | None:
    """The answer without the mark of its deleted message: deleting withdraws nothing (RD-13)."""
    return None if answer is None else answer.model_copy(update={"ref": answer.ref.model_copy(update=UNMARKED)})


def _clarification(world: World, taken: Taken, record: Clarification) -> None:
    """CA-1, CA-2, CA-3: what was chosen, how, by whom, and the act that proves it."""
    session = taken.commit.state.session(record.session)
    assert session is not None
    item = next(i for i in _items(session) if i.question.id == record.question)
    before = taken.before.session(record.session) if taken.before else None
    earlier = next((i for i in _items(before) if i.question.id == record.question), None) if before else None

    if isinstance(taken.envelope.event, MessageDeleted):
        _marked(record, earlier)
        return
    person = actor(taken)
    assert person is not None, "recorded without an act"
    assert may(taken, before, person), f"recorded for {person.name}"
    if record.answered_by != person.id:  # the requester has chosen the other person's answer (RD-12)
        settled = [a for a in taken.step.records if isinstance(a, Audit) and a.event == "answer.conflict_settled"]
        assert settled
        assert earlier is not None
        assert record.answered_by in {rival.by for rival in earlier.rivals}
        assert person.id == session.requester.id

    question = item.question
    option = None if record.chosen is None else question.option(record.chosen)
    if question.form == "choice":
        assert option is not None, f"{record.chosen} is no option of {question.id}"
        assert option.other == bool((record.chosen_text or "").strip()), (option, record.chosen_text)
    else:
        assert record.chosen is None
        assert (record.chosen_text or "").strip()
    assert record.chosen_via in VIAS
    if record.chosen_via == "accept_recommendations_bulk":
        assert option is not None
        assert option.recommended
        assert earlier is not None
        assert earlier.status == "open"
        assert record.user_note is None
    assert record.revision == (earlier.revision if earlier else 0) + 1
    assert earlier is None or earlier.clarification in (None, record.id)
    _happened(world, taken, record)


def _several(world: World, taken: Taken) -> None:
    """Several rounds are answered by a yes to their summary; what arrives from elsewhere was decided there."""
    event, before = taken.envelope.event, taken.before
    sessions = {r.session for r in taken.step.records if isinstance(r, Clarification)}
    if len(sessions) > 1:
        assert before is not None
        summaries = [p for p in before.pending if isinstance(p.ask, TakeSeveral) and p.asked_of == _by(taken)]
        meant = [{m.session for m in p.ask.rounds} for p in summaries if isinstance(p.ask, TakeSeveral)]
        assert any(sessions <= named for named in meant), sessions
    if isinstance(event, Forwarded):
        sent = [f.event for t in world.taken for f in t.commit.state.forwards]
        assert event in sent
        was = before.session(event.session) if before else None
        if was is not None and was.round is not None and was.round.revision != event.revision:
            assert not sessions, "recorded for questions that nobody has seen (RD-15)"


def _by(taken: Taken) -> str | None:
    person = actor(taken)
    return None if person is None else person.id


def _marked(record: Clarification, earlier: Item | None) -> None:
    """A deleted message withdraws nothing: the same answer, its reference marked (RD-13)."""
    assert earlier is not None
    assert earlier.answer is not None
    assert (record.chosen, record.chosen_via) == (earlier.answer.chosen, earlier.answer.via)
    assert record.answered_by == earlier.answer.by
    assert record.user_message_ref.startswith(f"{reference(earlier.answer.ref)} (message deleted ")
    assert record.revision == earlier.revision + 1


def _happened(world: World, taken: Taken, record: Clarification) -> None:
    match = REFERENCE.fullmatch(record.user_message_ref)
    assert match, record.user_message_ref
    room = taken.envelope.place.conversation.removeprefix("fake:")
    first, at, origin = match[1].partition("@")  # an act in another place names it
    room = origin.removeprefix("fake:") if at else room
    for number, words in ((first, match[2]), match.group(3, 4)):
        if number is None:
            continue
        act = world.acts.get((room, number))
        assert act is not None, f"{number} never happened: {record.user_message_ref}"
        if number == first:
            assert record.answered_by == f"fake:{act.person}", record.user_message_ref
        texts = [quote(clean(text).replace("@askfirst ", "")) for text in act.texts]
        long = any(len(text) >= PASTE for text in act.texts)  # joined with what came behind it
        assert long or any(words.startswith(t.removesuffix("…")) for t in texts), (record.user_message_ref, texts)


def _handed_over(taken: Taken) -> None:
    """A result is handed over once for each completion, and once more for each amendment (RT-15, RD-13)."""
    documents = [
        (e.session, plain(e.message))
        for e in taken.step.effects
        if isinstance(e, Say | Redraw) and e.message.files and plain(e.message) != RECORD
    ]
    audits = [r for r in taken.step.records if isinstance(r, Audit)]
    ended = {
        s.id
        for s in (taken.before.sessions if taken.before else ())
        if s.stage.kind == "ended" and s.stage.how == "completed"
    }
    due = [a.session for a in audits if a.event == "session.completed"]
    due += sorted({a.session for a in audits if a.event == "answer.amended" and a.session in ended})
    handed = [session for session, _ in documents]
    kept = [s for s in handed if s in due or s not in ended]  # keeping an answer may say so again
    assert sorted(map(str, kept)) == sorted(map(str, due)), (documents, [a.event for a in audits])
    assert len(handed) == len(set(handed))


def _silence(taken: Taken) -> None:
    """In a shared place talk that is not for the bot is neither eaten nor answered (CH-2)."""
    event, before, about = taken.envelope.event, taken.before, taken.envelope.about
    gathered = before.gathering if before is not None else None
    if isinstance(event, TimerDue) and event.name == "gather:parts" and gathered is not None:
        event, about, gathered = gathered.event, gathered.about, None
    if not isinstance(event, MessageReceived) or not taken.envelope.place.shared:
        return
    owed = {
        person
        for s in (before.sessions if before else ())
        if isinstance(s.stage, Asking)
        for person in s.stage.describing
    }
    meant = event.addressed or about is not None or event.person.id in owed or gathered is not None
    if meant or event.text not in TALK:
        return
    assert taken.commit.state.gathering is not None or taken.step.outcome != "accepted"
    assert not [e for e in taken.step.effects if isinstance(e, Say | Redraw)], taken.step.effects


# -- what is stored ----------------------------------------------------------------------------------------------


def _stored(store: MemoryStore, state: Conversation) -> None:
    """One clarification a resolved question, equal to the answer held; none for a question that is not resolved."""
    for session in state.sessions:
        rows = {row["id"]: row for row in store.tables.clarification.values() if row["session"] == session.id}
        for item in _items(session):
            if item.status != "resolved" or item.answer is None:
                continue
            row = rows.pop(item.clarification or "")
            answer = item.answer
            confirmed = item.question.form == "validate" and answer.text is None
            assert (row["question"], row["revision"]) == (item.question.id, item.revision)
            assert (row["chosen"], row["user_note"]) == (answer.chosen, answer.note)
            assert row["chosen_text"] == (item.question.text if confirmed else answer.text)
            assert (row["chosen_via"], row["answered_by"]) == (answer.via, answer.by)
            assert answer.ref.id in row["user_message_ref"]
        assert not rows, f"clarifications of questions that are not resolved: {rows}"


def shown(store: MemoryStore) -> Any:
    """All that a second delivery must not change."""
    tables = store.tables
    return (
        dict(tables.conversation),
        list(tables.event),
        dict(tables.clarification),
        len(tables.audit),
        dict(tables.session),
        len(tables.outbox),
        dict(tables.timer),
    )


def at_the_end(world: World) -> None:
    """The chains verify, and folding the log of a conversation again gives the state that is stored."""
    assert world.run(verify(world.store)) == []
    completed = [row["chain"] for row in world.store.tables.audit if row["event"] == "session.completed"]
    assert len(completed) == len(set(completed)), "completed twice"
    for room, row in world.store.tables.conversation.items():
        events = [e for e in world.store.tables.event.values() if e["conversation"] == room]
        state = None
        for event in sorted(events, key=lambda e: e["revision"]):
            made = step(state, decode_envelope(event["envelope"]), book())
            assert (made.outcome, made.reason) == (event["outcome"], event["reason"])
            state = made.state
        assert state == decode_state(row["state"])
