"""Last stage: statements become one reading of the message.

    force-quit, cancel -> acceptance with exceptions -> all-same, rest -> items -> the message as a whole

Explicit items override a general phrase (RP-4). Each question gets at most one outcome; two different ones are a
conflict unless the person marked the change. An acceptance is held back where an exception cannot be placed:
taking everything else could then take the very item that was meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from bot.core.replies import wording
from bot.core.replies.company import conditioned, in_company
from bot.core.replies.exceptions import but_named, unmet
from bot.core.replies.gather import Sums, take
from bot.core.replies.limits import held_back, pauses, turned_down
from bot.core.replies.message import Message
from bot.core.replies.offered import behind_comma
from bot.core.replies.reading import ItemError, ItemReading, Proposal, Reading, Slot
from bot.core.replies.statement import Statement
from bot.core.replies.typed import letter_of_another
from bot.core.replies.unnumbered import below_numbers, by_labels, by_line, in_turn, spoken
from bot.core.replies.value import Value, asks, skip_leads
from bot.core.replies.values import item_within, read_value
from bot.core.replies.whole import ACCEPT, about, postponed, read_whole

_ASIDE = ("deferred", "unsure", "reference", "question")  # where incomplete, free words that are no answer


def resolve(msg: Message, statements: Sequence[Statement]) -> Reading:
    statements = conditioned(msg, in_company(msg, statements))
    if (heard := spoken(msg) or below_numbers(msg) or by_labels(msg)) is not None:
        return heard
    if not any(s.kind in ("item", "rest", "same", "except") for s in statements):
        lined = by_line(msg) or in_turn(msg)
        if lined is not None:
            return lined
    if not any(s.kind not in ("words", "correct") for s in statements):
        return read_whole(msg)
    if _all_asked(msg, statements):
        return Reading(kind="question_back", asked_about=about(msg))
    sums = Sums(corrected=msg.clean.starred or msg.clean.struck)
    for n, statement in enumerate(statements):
        take(msg, sums, statement, statements[n + 1] if n + 1 < len(statements) else None)
    sums.unplaced = sums.unplaced or (sums.excepting and unmet(statements))
    for number, said in sums.asides:
        sums.values.setdefault(number, Value("question", said=said))
    return _conclude(msg, sums, statements)


def _all_asked(msg: Message, statements: Sequence[Statement]) -> bool:
    """ "What's the difference between 2A and 2B?": one sentence that asks from its first words to its end."""
    ends = next((i for i in range(msg.count - 1, -1, -1) if not msg.is_quote(i)), 0)
    if not msg.is_mark(ends, "?"):
        return False
    items = [s for s in statements if s.kind == "item"]
    if not items or any(s.kind not in ("item", "words") or s.forced for s in statements):
        return False
    if not all(msg.asked(item.first) for item in items):
        return False
    first = msg.skip_decoration(0, msg.count)
    begins = range(first, min(items[0].first, first + 5))
    return any(msg.any_at(("question", "copula"), i) and msg.asked(i) for i in begins)


def _conclude(msg: Message, sums: Sums, statements: Sequence[Statement]) -> Reading:
    kinds = {s.kind for s in statements}
    note = "\n".join(n for n in sums.notes if n) or None
    if "force_quit" in kinds and _asked_to_stop(msg, statements):
        answers, errors = _outcomes(msg, sums)
        shaped = not sums.loose
        return Reading(kind="force_quit", answers=answers, errors=tuple(errors), note=note, shaped=shaped)
    if "force_quit" in kinds and not (kinds - {"force_quit", "words"}) and (put := _paused(msg, statements)):
        return put
    if "cancel" in kinds and "item" not in kinds:
        if all(s.forced for s in statements if s.kind == "cancel"):  # "clear", "delete": the request, or an answer?
            return Reading(kind="needs_confirmation", proposals=(wording.CANCEL,), note=note)
        return Reading(kind="cancel", note=note)
    if _pasted_example(msg, sums):
        return Reading(kind="needs_confirmation")
    if digits := _digits(msg, sums):
        return digits
    if sums.accepted:
        for number, value in sums.values.items():
            if value.kind == "refused":
                sums.values[number] = replace(value, kind="needs_answer")
    if sums.unknown:
        sums.values |= {n: letter_of_another(v) for n, v in sums.values.items()}
    answers, errors = _outcomes(msg, sums)
    if sums.same is not None:
        sums.doubted = sums.doubted or sums.cluttered
        return _all_same(msg, sums, answers, errors, note)
    accepted = sums.accepted or (sums.rest is not None and sums.rest.kind == "recommended")
    if sums.excepting and not accepted and (sums.agreed or sums.unplaced) and not sums.negated:
        accepted = sums.agreed
        if sums.unplaced or not sums.values:
            return Reading(kind="needs_confirmation", errors=tuple(errors), note=note)
    if accepted:
        sums.doubted = sums.doubted or held_back(msg, statements)
        return _accepted(msg, sums, statements, answers, errors, note)
    if not answers and not errors:
        return _nothing(msg, sums, statements, note)
    if sums.rest is not None:
        _put_rest(msg, sums, answers, errors)
    if sums.unplaced and not sums.excepting:
        _place_letter(msg, sums, answers, errors, statements)
    agreed_only = bool(sums.values) and all(v.kind == "ambiguous_agreement" for v in sums.values.values())
    opened = {slot.number for slot in msg.open}
    if agreed_only and (sums.ranged_yes or (len(sums.values) > 1 and opened <= set(sums.values))) and not answers:
        numbers = tuple(sorted(sums.values)) if sums.ranged_yes else ()
        proposal = Proposal(kind="accept_all", numbers=numbers, label="the recommended options")
        return Reading(kind="needs_confirmation", proposals=(proposal,), note=note)
    if not answers and all(e.code == "question" for e in errors) and len(errors) == 1 and sums.rest is None:
        return Reading(kind="question_back", asked_about=tuple(sums.values), note=note)
    letters = sum(item.key != "other" for item in answers.values())  # "1a 2b 3 only this year": said to nobody else
    loose = sums.loose or any(s.buried or (s.weak and letters < 2) for s in statements)
    proposals = _kept(msg, sums)
    if not proposals and any(item.note for item in answers.values()):
        proposals = behind_comma(msg, {*sums.values, *sums.subs})
    if not proposals and answers and (
        sums.agreed or (sums.rest is not None and sums.rest.kind == "ambiguous_agreement")
    ):  # fmt: skip
        proposals = (Proposal(kind="accept_all", label="recommendations for the rest"),)
    return Reading(
        kind="answers", answers=answers, errors=tuple(errors), proposals=proposals, note=note,
        correction=sums.corrected, shaped=not loose and not _all_free(msg, sums, statements),
    )  # fmt: skip


def _kept(msg: Message, sums: Sums) -> tuple[Proposal, ...]:
    told = ((msg.by_number[n], value) for n, value in sums.values.items() if n not in sums.conflicts)
    return wording.kept(told)


def _all_free(msg: Message, sums: Sums, statements: Sequence[Statement]) -> bool:
    """Whether every item is free words: a list of things ("1. buy milk"), which need not be answers."""
    values = sums.values.values()
    spoken = [v.kind == "other" or (v.kind in _ASIDE and not v.complete) for v in values]
    if sums.subs or not all(told or v.kind == "unclear" for told, v in zip(spoken, values, strict=True)):
        return False
    if not any(told and (v.text or v.kind != "other") for told, v in zip(spoken, values, strict=True)):
        return False
    for item in statements:
        at = skip_leads(msg, item.start, msg.count)
        if item.kind == "item" and (item.forced or item.value_end >= 0 or msg.at("other", at) or (
            msg.letter(at) and not msg.tokens[at].lower
        )):  # fmt: skip
            return False
    return True


def _asked_to_stop(msg: Message, statements: Sequence[Statement]) -> bool:
    said = next(s for s in statements if s.kind == "force_quit")
    if (said.first > 0 and msg.at("negate", said.first - 1)) or pauses(msg, said.end):
        return False
    return not msg.asked(said.first) and not asks(msg, 0, msg.count)


def _paused(msg: Message, statements: Sequence[Statement]) -> Reading | None:
    said = next(s for s in statements if s.kind == "force_quit")
    if not pauses(msg, said.end) or asks(msg, 0, msg.count):
        return None
    return postponed(msg) or Reading(kind="put_off", until=msg.words(said.end, msg.count) or msg.words(0, said.end))


def _nothing(msg: Message, sums: Sums, statements: Sequence[Statement], note: str | None) -> Reading:
    whole = read_whole(msg)
    first = msg.skip_decoration(0, msg.count)
    if whole.kind == "question_back" and (not sums.doubted or msg.any_at(("question", "asks_recommended"), first)):
        return whole
    if sums.doubted:
        if (put := turned_down(msg, statements)) is not None:
            return put
        return Reading(kind="needs_confirmation", proposals=(ACCEPT,), note=note)
    if sums.rest is not None and (sums.cluttered or sums.unplaced):
        return Reading(kind="needs_confirmation", note=note)
    if sums.rest is not None and sums.rest.kind in ("letter", "skip"):
        answers: dict[int, ItemReading] = {}
        errors: list[ItemError] = []
        _put_rest(msg, sums, answers, errors)
        return Reading(kind="answers", answers=answers, errors=tuple(errors), note=note, shaped=not sums.loose)
    if sums.unplaced and sums.excepting and sums.agreed and not sums.negated:
        return Reading(kind="needs_confirmation", note=note)
    if sums.negated and whole.kind not in ("put_off", "question_back"):
        return Reading(kind="unparsed")
    if whole.kind in ("answers", "accept_all"):
        return Reading(kind="unparsed") if sums.negated else whole
    return whole


def _outcomes(msg: Message, sums: Sums) -> tuple[dict[int, ItemReading], list[ItemError]]:
    """Answers and errors of the explicit items."""
    answers: dict[int, ItemReading] = {}
    errors: list[ItemError] = list(sums.errors)
    for number, value in list(sums.values.items()):
        slot = msg.by_number[number]
        if number in sums.conflicts:
            errors.append(wording.error(slot, str(number), replace(value, kind="conflict")))
            continue
        if value.kind == "same":
            value = sums.values[number] = _referred(msg, sums, number, value, slot)
        item = wording.item(slot, value)
        if item is not None:
            answers[number] = item
        if item is None or (item.key == "other" and item.text is None):
            errors.append(wording.error(slot, str(number), value))
    for number, subs in sums.subs.items():
        slot = msg.by_number[number]
        if number in answers:
            told = answers[number].key
            for letter, value in subs:
                item = wording.item(slot, value)
                if item is not None and item.key == told:
                    code = Value("unknown_question")
                    errors.append(wording.error(slot, f"{number}{letter}", code, last=msg.slots[-1].number))
                else:
                    answers.pop(number, None)
                    errors.append(wording.error(slot, str(number), Value("unclear", said=f"{number}{letter}")))
        else:
            said = ", ".join(f"{number}{letter}" for letter, _ in subs)
            errors = [e for e in errors if e.item != str(number)]
            errors.append(wording.error(slot, str(number), Value("unclear", said=said)))
    last = max(msg.by_number, default=0)
    for label in _spans(sums.unknown):
        errors.append(wording.error(None, label, Value("unknown_question"), last=last))
    return answers, errors


def _referred(msg: Message, sums: Sums, number: int, value: Value, slot: Slot) -> Value:
    """ "same as 1": words carry over; a letter only where it is an ordinary option of this question too."""
    numbers = [n for n in sums.values if n != number]
    source = value.number or (
        numbers[numbers.index(max(n for n in numbers if n < number))] if any(n < number for n in numbers) else 0
    )
    said = sums.values.get(source)
    held = msg.by_number[source].held if said is None and source in msg.by_number else None
    if held is not None and held in msg.by_number[source].letters:
        said = Value("letter", held)
    if said is None or source == number or source in sums.conflicts:
        return Value("reference", said=value.said)
    if said.kind in ("other", "answer") and said.text and slot.form != "validate":
        return replace(said, kind=wording.OWN[slot.form], note=None)
    if said.kind == "recommended" or said.kind == "skip":
        return Value(said.kind, said=value.said)
    if said.kind == "letter" and said.letter in slot.letters and said.letter != slot.other:
        return Value("letter", said.letter, said=value.said)
    return Value("reference", said=value.said)


def _spans(numbers: list[int]) -> list[str]:
    """Unknown numbers as "7" or "5-9", in the order said."""
    out: list[str] = []
    run: list[int] = []
    for number in dict.fromkeys(numbers):
        if run and number == run[-1] + 1:
            run.append(number)
            continue
        if run:
            out.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
        run = [number]
    if run:
        out.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return out


def _accepted(
    msg: Message,
    sums: Sums,
    statements: Sequence[Statement],
    answers: dict[int, ItemReading],
    errors: list[ItemError],
    note: str | None,
) -> Reading:
    nested = _nested(msg, sums, statements)
    if sums.unknown or sums.cluttered or sums.unplaced or nested:
        clear = bool(sums.named) and not (sums.unknown or sums.lettered or sums.unplaced or sums.negated or nested)
        others = but_named(msg, sums.named, statements, answers) if clear and not errors else ()
        return Reading(kind="needs_confirmation", errors=tuple(errors), proposals=others, note=note)
    if sums.loose and len(sums.values) > 1 and _all_free(msg, sums, statements):
        return Reading(kind="needs_confirmation", note=note)  # minutes, or other notes with a late acceptance
    if sums.doubted and not answers and not errors and (put := turned_down(msg, statements)) is not None:
        return put
    if sums.doubted or sums.negated:
        offer = (
            ACCEPT.model_copy(update={"answers": answers}) if answers else ACCEPT
        )  # a yes keeps what else was said
        return Reading(kind="needs_confirmation", errors=tuple(errors), proposals=(offer,), note=note)
    addressed = set(sums.values) | set(sums.subs)
    taken = tuple(s.number for s in msg.open if s.recommended is not None and s.number not in addressed)
    exceptions = bool(addressed)
    return Reading(
        kind="accept_all_except" if exceptions else "accept_all",
        answers=answers,
        accepted=taken,
        errors=tuple(errors),
        proposals=_kept(msg, sums),
        note=note,
        delegation=sums.delegated,
        correction=sums.corrected,
        shaped=not sums.loose and (bool(answers) or not sums.delegated),
    )


def _nested(msg: Message, sums: Sums, statements: Sequence[Statement]) -> bool:
    """ "#3 2: B, rest default": what could not be placed names another question, which "the rest" would then take.
    In "1: 2B, rest default" the first number names the round, or is a slip."""
    items = [s for s in statements if s.kind == "item"]
    if any(a.start == b.first and a.bound and not a.forced for a, b in pairwise(items)):
        return True
    unread = (s for s in statements if any(sums.values.get(n, _READ).kind == "unclear" for n in s.numbers))
    return any(item_within(msg, s.start, s.end) for s in unread)


_READ = Value("letter")


def _place_letter(
    msg: Message,
    sums: Sums,
    answers: dict[int, ItemReading],
    errors: list[ItemError],
    statements: Sequence[Statement],
) -> None:
    """A letter without a number, beside items: it can only mean the one question left, else it is asked about."""
    left = [slot for slot in msg.open if slot.number not in sums.values]
    loose = [s for s in statements if s.kind == "words" and msg.letter(msg.skip_decoration(s.first, s.end), s.end)]
    if len(left) == 1 and len(loose) == 1:
        start = msg.skip_decoration(loose[0].first, loose[0].end)
        value = read_value(msg, start, loose[0].end, left[0], glued=True)
        item = wording.item(left[0], value)
        if value.kind == "letter" and item is not None and item.key != "other":
            answers[left[0].number] = item
            return
    for statement in loose:
        said = msg.words(statement.first, statement.end)
        errors.append(wording.error(None, "?", Value("unclear", said=said)))


def _put_rest(msg: Message, sums: Sums, answers: dict[int, ItemReading], errors: list[ItemError]) -> None:
    value = sums.rest
    if value is None or value.kind not in ("letter", "skip"):
        return
    for slot in msg.open:
        if slot.number in sums.values or slot.number in sums.subs:
            continue
        _put_letter(slot, value, answers, errors)


def _put_letter(slot: Slot, value: Value, answers: dict[int, ItemReading], errors: list[ItemError]) -> None:
    if slot.form != "choice" and value.kind == "letter":
        return
    item = wording.item(slot, value)
    if item is not None:
        answers[slot.number] = item
    if item is None or (item.key == "other" and item.text is None):
        errors.append(wording.error(slot, str(slot.number), replace(value, said=value.letter)))


def _all_same(
    msg: Message, sums: Sums, answers: dict[int, ItemReading], errors: list[ItemError], note: str | None
) -> Reading:
    assert sums.same is not None
    value = sums.same[0]
    if value.kind != "letter":
        return Reading(kind="needs_confirmation", note=note)
    if sums.unplaced:
        return Reading(kind="needs_confirmation", errors=tuple(errors), note=note)
    differs = any(s.recommended != value.letter for s in msg.slots if s.number not in sums.values)
    if sums.doubted or (sums.accepted and differs):
        return Reading(kind="needs_confirmation", note=note)
    for slot in msg.slots:
        if slot.number not in sums.values:
            _put_letter(slot, value, answers, errors)
    return Reading(kind="answers", answers=answers, errors=tuple(errors), note=note, shaped=not sums.loose)


def _pasted_example(msg: Message, sums: Sums) -> bool:
    """The card's own example, unchanged: a copy, not answers."""
    copied = [v for v in sums.values.values() if v.kind == "other" and v.text is None]
    placeholder = bool(msg.places("placeholder"))
    return bool(copied) and placeholder and len(sums.values) > 1


def _digits(msg: Message, sums: Sums) -> Reading | None:
    """Digits as values: options by their order, which is proposed when all are so, and asked about otherwise."""
    digits = {n: v for n, v in sums.values.items() if v.kind == "digit"}
    if not digits:
        return None
    if len(digits) < len(sums.values) or sums.accepted or sums.rest is not None:
        return None
    answers = {}
    for number, value in digits.items():
        slot = msg.by_number[number]
        if not 1 <= value.number <= len(slot.letters) or slot.letters[value.number - 1] == slot.other:
            return Reading(kind="needs_confirmation")
        answers[number] = ItemReading(key=slot.letters[value.number - 1])
    label = ", ".join(f"{number}: {item.key}" for number, item in answers.items())
    return Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=answers, label=label),))
