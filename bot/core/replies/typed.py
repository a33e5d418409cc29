"""Answers to open and validate questions (RP-11).

    typed := question | put-off | hand-over | cancel | force-quit | skip | unsure | yes | no | words

With one such question open the whole message is its answer, as typed; with several only numbered parts are. A
validate question shows a statement: yes confirms it at once, anything else corrects it.
"""

from __future__ import annotations

from dataclasses import replace

from bot.core.replies import wording
from bot.core.replies.doubt import orders, puts_off, undoes
from bot.core.replies.message import Message
from bot.core.replies.own import aside
from bot.core.replies.reading import ItemReading, Reading, Slot
from bot.core.replies.value import Value, asks
from bot.core.replies.whole import about, carries_on, handed_over, postponed

_NO_ANSWER = ("deferred", "unsure", "question")  # other words about answering may be the answer here


def read_typed(msg: Message, start: int, end: int, slot: Slot) -> Value:
    """What a numbered part says on an open or validate question."""
    while end > start and (msg.is_break(end - 1) or msg.is_mark(end - 1, ",;/|")):
        end -= 1
    if start < end - 1 and end < msg.count and msg.at("and", end - 1) == end and msg.tokens[end - 1].kind == "word":
        end -= 1
    while start < end and (msg.is_break(start) or msg.is_mark(start, ":=.-,)")):
        start += 1
    if start and msg.at("ordinal", start - 1) == start and start < end:
        start = msg.at("option", start, end) or start  # "first one …"
    said = msg.words(start, end)
    if not said:
        return Value("empty")
    if asks(msg, start, end):
        return Value("question", said=said)
    if (moment := _moment(msg, slot, said)) is not None:
        return moment
    for name, kind in (("skip", "skip"), ("unsure", "unsure"), ("later", "deferred"), ("put_off", "deferred")):
        stop = msg.at(name, start, end)
        if stop and msg.skip_decoration(stop, end) >= end:
            return Value(kind, said=said)
    if (stop := msg.at("too", start, end)) and msg.skip_decoration(stop, end) >= end:
        return Value("same", said=said)  # "1: green and 2 too"
    if (code := aside(msg, start, end)) in _NO_ANSWER:
        return Value(code, said=said)
    if undoes(msg, start, end):
        return Value("unclear", said=said, kept=said)
    if orders(msg, start, end):
        return Value("order", said=said, kept=said)
    later = msg.dated(said, slot) == "rather_later"  # "sorry, friday"
    if later or puts_off(msg, start, end):
        return Value("moment" if later else "deferred", said=said, kept=said)
    return _typed(msg, start, end, slot, said)


def _moment(msg: Message, slot: Slot, said: str) -> Value | None:
    """ "Next week", "friday": the answer where the question asks for a time. Any other question may be put off with
    it as well as answered, which only the person can tell (CH-6)."""
    meant = msg.dated(said, slot) if slot.held is None else ""
    if meant == "answer":
        return Value("answer" if slot.form == "open" else "correct", text=said, said=said)
    return Value("moment", said=said, kept=said) if meant == "either" else None


def _typed(msg: Message, start: int, end: int, slot: Slot, said: str) -> Value:
    if slot.form == "open":
        return Value("answer", text=said, said=said)
    i = start
    while i < end and (
        (stop := msg.any_at(("agree", "polite", "filler"), i, end))
        or (msg.tokens[i].kind == "mark" and (stop := i + 1))
    ):
        i = stop
    if i >= end and any(msg.at("agree", k, end) for k in msg.places("agree", start, end)):
        return Value("confirm", said=said)
    if end - start == 1 and msg.letter(start):
        return Value("unclear", said=said, kept=said)  # an option's, of another question?
    return Value("correct", text=said, said=said)


def letter_of_another(value: Value) -> Value:
    """ "First one B, second one A" where there is one question: a letter that is no answer without a yes."""
    lone = value.kind == "answer" and value.text is not None and len(value.text) == 1 and value.text.isalpha()
    return replace(value, kind="unclear", text=None, kept=value.said) if lone else value


def read_open(msg: Message, slot: Slot, numbered: bool) -> Reading | None:
    """The whole message as the answer of the only open question; None where it is something else."""
    if numbered:
        return None
    first = msg.skip_decoration(0, msg.count)
    if first >= msg.count and not msg.places("agree"):
        return None
    if carries_on(msg):
        return None
    if asks(msg, 0, msg.count):
        return Reading(kind="question_back", asked_about=about(msg))
    text = msg.clean.text.strip()
    value = _moment(msg, slot, text)
    for reader in (postponed, handed_over) if value is None else ():
        reading = reader(msg)
        if reading is not None:
            return reading
    if value is None:
        value = read_typed(msg, 0, msg.count, slot)
    if value.kind == "question":
        return Reading(kind="question_back", asked_about=about(msg))
    if value.kept:  # "we'll see": one yes takes it as it stands
        offered = wording.kept(((slot, value),))
        return Reading(kind="needs_confirmation", proposals=offered)
    if value.kind in ("unsure", "deferred", "empty", "same"):
        return None
    if value.kind == "skip":
        return Reading(kind="answers", answers={slot.number: ItemReading(key="skip")})
    if value.kind == "confirm":
        return Reading(kind="answers", answers={slot.number: ItemReading(key="confirm")})
    return Reading(kind="answers", answers={slot.number: ItemReading(key=value.kind, text=text)})
