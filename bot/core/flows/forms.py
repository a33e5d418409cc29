"""A round as a form: opened by a tap, sent as selections, words and notes; nothing of it is read as prose (RP-5).

A form with a mistake in it is not recorded in part: it stays open with the mistake beside its field, and what was put
in stays with the person. An empty form records nothing (AG-4).
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import view
from bot.core.effects import Field, FormView, Reply
from bot.core.events import FormField, FormSubmitted
from bot.core.flows import intake, recording
from bot.core.flows.disputing import same
from bot.core.model import Person
from bot.core.replies.reading import ItemReading
from bot.core.state import Item, Round
from bot.core.turn import Turn

CONFIRMED = "+"  # the value that confirms a statement, as on its button


def form_of(round_: Round, person: Person, items: Sequence[Item] | None = None) -> FormView:
    """The form of a round, or of some of its items. Selected is only what this person has answered (RD-9)."""
    shown = round_.items if items is None else items
    return FormView(
        round=round_.id,
        revision=round_.revision,
        title=round_.title,
        lead=(round_.purpose,) if items is None else (),
        fields=tuple(_field(item, person) for item in shown if item.status in ("open", "resolved")),
    )


def _field(item: Item, person: Person) -> Field:
    question, answer = item.question, item.answer
    words = [question.text, question.why]
    best = question.recommended
    own = answer if answer is not None and answer.by == person.id else None
    if answer is not None and own is None:
        words.append(view.item_line(item))
    chosen = None if own is None else own.chosen
    if own is not None and question.form == "validate" and own.text is None:
        chosen = CONFIRMED
    return Field(
        number=item.number,
        form=question.form,
        topic=question.topic,
        words=tuple(line for line in words if line),
        options=question.options,
        reason=f"Why {best.key}: {question.rationale}" if best is not None and question.rationale else "",
        chosen=chosen,
        text=None if own is None else own.text,
        note=None if own is None else own.note,
    )


def submitted(turn: Turn, event: FormSubmitted) -> None:
    """Record what was sent, or say at each field what is wrong with it."""
    session = turn.state.session(event.round.partition(".")[0])
    round_ = next((r for r in session.rounds if r.id == event.round), None) if session else None
    if session is None or round_ is None or not intake.on_the_table(session, round_):
        _refused(turn, event, "late form", view.over(session, round_, "nothing of the form was recorded"))
        return
    refusal = intake.may_answer(turn, session, event.person)
    if refusal is not None:
        turn.audit("access.answer_refused", session, event.person, round_, reason=refusal)
        _refused(turn, event, "may not answer here", refusal)
        return
    if event.revision != round_.revision:  # RD-15
        words = "The questions have changed since. Close this and open the form again; nothing is recorded."
        _refused(turn, event, "the round has changed", words)
        return
    readings: dict[int, ItemReading] = {}
    errors: dict[int, str] = {}
    for number, field in sorted(event.fields.items()):
        item = round_.item(number)
        said = GONE if item is None else _said(item, field, event.person)
        if isinstance(said, str):
            errors[number] = said
        elif item is not None and not _unchanged(turn, item, said, event):
            readings[number] = said
    if errors:
        turn.outcome, turn.reason = "refused", "mistakes in the form"
        turn.reply = Reply(text=" ".join(f"{n}: {words}" for n, words in errors.items()), errors=errors)
        return
    if not readings:
        held = any(i.answer is not None and i.answer.by == event.person.id for i in round_.items)
        words = "Nothing here differs from what is recorded. Change a field, or close this." if held else EMPTY
        _refused(turn, event, "an empty form", words)
        return
    session, round_, done = recording.record(turn, session, round_, readings, (), event.person, event.ref)
    turn.reply = Reply(text=" ".join(done.lines) or "Passed on to the requester.")
    intake.echo(turn, session, round_, done, None)


GONE = "It is not asked like this any more. Close this and open the form again."
EMPTY = "Nothing is filled in yet. Choose or write an answer, or close this."
MOVED = "This answer has changed since the form was opened. Close it and open it again, or write it in a message."


def _said(item: Item, field: FormField, person: Person) -> ItemReading | str:
    """What a form was filled in with, and nobody has touched, is not said by sending it (RP-7, RD-13): a note alone
    goes with the answer that stands by now."""
    if not field.left:
        return _read(item, field)
    held = item.answer
    if held is None or held.by != person.id:
        return MOVED
    chosen = CONFIRMED if item.question.form == "validate" and held.text is None else held.chosen
    if (chosen, held.text) == (field.chosen, field.text):
        return _read(item, field)
    both = (held.note, field.note) if held.note != field.note else (held.note,)
    note = "; ".join(note for note in both if note) or None
    return _read(item, FormField(chosen=chosen, text=held.text, note=note))


def _read(item: Item, field: FormField) -> ItemReading | str:
    """What a question's fields say, or what is wrong with them."""
    question, chosen, text, note = item.question, field.chosen, field.text, field.note
    other = question.other
    if question.form == "open":
        return ItemReading(key="answer", text=text) if text else "Please write your answer."
    if question.form == "validate":
        if chosen and text:
            return "Either confirm the statement, or write what is right instead; not both."
        if chosen:
            return ItemReading(key="confirm", note=note)
        return ItemReading(key="correct", text=text, note=note) if text else "Confirm it, or write what is right."
    if chosen is None and text and other is not None:
        return ItemReading(key=other.key, text=text, note=note)
    if chosen is None:
        return "Choose an option for your note to belong to."
    option = question.option(chosen)
    if option is None:
        return GONE
    if option.other and not text:
        return "Please put it in your own words."
    if not option.other and text:
        return f"{chosen} is chosen; words of your own go with Other, or into the note."
    return ItemReading(key=chosen, text=text if option.other else None, note=note)


def _unchanged(turn: Turn, item: Item, reading: ItemReading, event: FormSubmitted) -> bool:
    """Whether it says what this person's recorded answer says: shown filled in, and sent along."""
    held = item.answer
    if held is None or held.by != event.person.id:
        return False
    return same(held, recording.answer_from(item.question, reading, "user_response", event.person, event.ref, turn))


def _refused(turn: Turn, event: FormSubmitted, reason: str, words: str) -> None:
    turn.outcome, turn.reason = "refused", reason
    turn.reply = Reply(text=words, errors={min(event.fields, default=1): words})
