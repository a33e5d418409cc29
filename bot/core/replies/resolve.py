"""Last stage: statements become one reading of the message.

    force-quit, cancel -> acceptance with exceptions -> all-same, rest -> items -> the message as a whole

Explicit items override a general phrase (RP-4). Each question gets at most one outcome; two different ones are a
conflict unless the person marked the change. An acceptance is held back where an exception cannot be placed:
taking everything else could then take the very item that was meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.core.replies import wording
from bot.core.replies.grammar import Statement
from bot.core.replies.message import Message
from bot.core.replies.reading import ItemError, ItemReading, Proposal, Reading, Slot
from bot.core.replies.typed import read_typed
from bot.core.replies.values import Value, asks, letter_ends, read_value
from bot.core.replies.whole import ACCEPT, by_line, read_whole, spoken

_LONG_PROSE = 40  # words of running text before the first item that make the message no answer (RP-1)


@dataclass(slots=True)
class _Sums:
    """What has been gathered from the statements so far."""

    values: dict[int, Value] = field(default_factory=dict)
    errors: list[ItemError] = field(default_factory=list)
    subs: dict[int, list[tuple[str, Value]]] = field(default_factory=dict)
    unknown: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflicts: set[int] = field(default_factory=set)
    same: tuple[Value, int] | None = None
    rest: Value | None = None
    accepted: bool = False
    delegated: bool = False
    doubted: bool = False  # an acceptance that is asked, conditional or not understood
    negated: bool = False
    excepting: bool = False
    unplaced: bool = False  # an exception or a letter without its question
    agreed: bool = False
    corrected: bool = False
    ranged_yes: bool = False
    loose: bool = False  # words that belong to no statement
    cluttered: bool = False  # a letter among those words: part of an answer that could not be placed


def resolve(msg: Message, statements: Sequence[Statement]) -> Reading:
    statements = _in_company(msg, statements)
    if (heard := spoken(msg)) is not None:
        return heard
    if not any(s.kind in ("item", "rest", "same", "except") for s in statements):
        lined = by_line(msg)
        if lined is not None:
            return lined
    if not any(s.kind not in ("words", "correct") for s in statements):
        return read_whole(msg)
    sums = _Sums(corrected=msg.clean.starred or msg.clean.struck)
    for n, statement in enumerate(statements):
        _take(msg, sums, statement, statements[n + 1] if n + 1 < len(statements) else None)
    return _conclude(msg, sums, statements)


def _in_company(msg: Message, statements: Sequence[Statement]) -> list[Statement]:
    """Drop items that count only beside others: a bare "2 …" in words, a letter found in running text, and
    whatever stands in or behind long prose."""
    items = [s for s in statements if s.kind == "item"]
    dropped: list[Statement] = []
    if len(items) == 1 and items[0].weak:
        dropped = items
    elif items and items[0].buried:
        if len(items) < 2 and not _led_in(msg, items[0].first):
            dropped = items
    first = items[0].first if items else 0
    spoken = sum(t.kind in ("word", "char") for t in msg.tokens[:first])
    if items and spoken > _LONG_PROSE and (spoken > 4 * _LONG_PROSE or not items[0].on_line):
        return []
    gone = {id(s) for s in dropped}
    return [replace(s, kind="words") if id(s) in gone else s for s in statements]


def _led_in(msg: Message, first: int) -> bool:
    """Whether only courtesy and words of choosing stand before a single item found in running text."""
    i = 0
    while i < first:
        stop = msg.any_at(("polite", "lead", "agree", "filler", "option", "article", "for", "note", "item", "correct"), i)
        if not stop and msg.tokens[i].kind in ("mark", "line", "mention"):
            stop = i + 1
        if not stop:
            return False
        i = stop
    return True


# -- statements ----------------------------------------------------------------------------------------------


def _take(msg: Message, sums: _Sums, statement: Statement, following: Statement | None) -> None:
    kind = statement.kind
    if kind == "item":
        _take_item(msg, sums, statement, following)
    elif kind == "words":
        _take_words(msg, sums, statement)
    elif kind == "accept":
        _take_accept(msg, sums, statement)
    elif kind == "rest":
        _take_rest(msg, sums, statement)
    elif kind == "same":
        slot = Slot(number=0, letters=tuple(chr(65 + i) for i in range(26)))
        end = statement.value_end if statement.value_end >= 0 else statement.end
        head = statement.value_end if statement.value_end >= 0 else statement.start + 1
        sums.same = (read_value(msg, statement.start, max(head, statement.start + 1), slot, glued=True), statement.start)
        tail = statement.tail if statement.tail >= 0 else head
        if any(msg.at("recommended", i, statement.end) for i in range(tail, statement.end)):
            sums.accepted = True
        elif end > tail and msg.skip_decoration(tail, end) < end:
            sums.loose = True
            sums.notes.append(msg.words(tail, end))
    elif kind == "except":
        sums.excepting = True
        if following is None:
            sums.unplaced = True
    elif kind == "correct":
        sums.corrected = True


def _take_accept(msg: Message, sums: _Sums, statement: Statement) -> None:
    if statement.negated:
        sums.negated = True
        sums.loose = True
    elif statement.condition or statement.asked:
        sums.doubted = True
    elif statement.partial:
        led = any(
            msg.at(name, i) for name in ("accept", "all", "lead") for i in range(statement.first, statement.end)
        ) and any(msg.at("recommended", i) for i in range(statement.first, statement.end))
        sums.doubted = sums.doubted or led
        sums.loose = True
    else:
        sums.accepted = True
        sums.delegated = statement.delegated
        return
    sums.notes.append(msg.words(statement.first, max(statement.end, statement.first)))


def _take_rest(msg: Message, sums: _Sums, statement: Statement) -> None:
    slot = Slot(number=0, letters=tuple(chr(65 + i) for i in range(26)), recommended="A")
    if statement.forced == "skip":
        sums.rest = Value("skip")
        return
    end = statement.value_end if statement.value_end >= 0 else max(_core_end(msg, statement), statement.start + 1)
    value = read_value(msg, statement.start, end, slot, glued=True)
    if statement.forced == "recommended" or value.kind in ("recommended", "ambiguous_agreement") and msg.any_at(
        ("accept", "recommended", "delegate"), statement.start
    ):  # fmt: skip
        value = Value("recommended")
    sums.rest = value if value.kind in ("letter", "recommended", "skip", "ambiguous_agreement") else None
    tail = statement.tail if statement.tail >= 0 else end
    if tail < statement.end and msg.skip_decoration(tail, statement.end) < statement.end:
        sums.notes.append(msg.words(tail, statement.end))


def _core_end(msg: Message, statement: Statement) -> int:
    stop = msg.any_at(("recommended", "delegate", "skip", "agree", "accept"), statement.start)
    return stop or statement.start + 1


def _take_words(msg: Message, sums: _Sums, statement: Statement) -> None:
    start, end = statement.first, statement.end
    i = msg.skip_decoration(start, end)
    while i < end and (stop := msg.any_at(("filler", "pointer"), i, end)):
        i = msg.skip_decoration(stop, end)
    if i >= end:
        sums.agreed = sums.agreed or any(msg.at("agree", k, end) for k in range(start, end))
        return
    if sums.excepting and not sums.values and not sums.unknown:
        sums.unplaced = True
    agreed = i
    while agreed < end and (
        (stop := msg.any_at(("agree", "polite", "filler", "lead", "all"), agreed, end))
        or (msg.tokens[agreed].kind == "mark" and (stop := agreed + 1))
    ):
        sums.agreed = sums.agreed or bool(msg.at("agree", agreed, end))
        agreed = stop
    if agreed >= end:
        return
    for k in range(i, end):
        clear = msg.letter(k, end) and not msg.tokens[k].lower and msg.letter(k) in msg.offered
        if clear and letter_ends(msg, k, end):
            sums.cluttered = True
    letter = msg.letter(i, end)
    if letter and not letter.startswith("~") and (i + 1 >= end or not msg.tokens[i + 1].kind == "word"):
        if letter not in "IEOYU" or not msg.tokens[i].lower:
            sums.unplaced = True
    sums.loose = True
    sums.notes.append(msg.words(start, end))


def _take_item(msg: Message, sums: _Sums, item: Statement, following: Statement | None) -> None:
    sums.corrected = sums.corrected or item.changed
    start, end = item.start, item.end
    if item.value_end < 0 and not item.forced:
        end = _own_end(msg, sums, item, following)
    spread = _spread(msg, item, start, end)
    for n, number in enumerate(item.numbers):
        slot = msg.by_number.get(number)
        if slot is None:
            sums.unknown.append(number)
            continue
        value = spread[n] if spread else _item_value(msg, item, start, end, slot)
        if item.sub:
            sums.subs.setdefault(number, []).append((item.sub, value))
            continue
        if value.kind == "empty":
            if sums.excepting and number not in sums.values:
                sums.values[number] = Value("needs_answer", said=str(number))
            continue
        if len(item.numbers) > 1 and value.kind == "ambiguous_agreement":
            sums.ranged_yes = True
        _merge(sums, number, value)


def _own_end(msg: Message, sums: _Sums, item: Statement, following: Statement | None) -> int:
    """Where the item's own words end: lines after a finished last answer are a general remark."""
    if following is not None and following.kind != "words":
        return item.end
    slot = msg.by_number.get(item.numbers[0]) if item.numbers else None
    for i in range(item.start + 1, item.end):
        if msg.is_break(i) and slot is not None:
            if any(msg.is_word(k) for k in range(item.start, i)) and (
                read_value(msg, item.start, i, slot, glued=item.glued).kind in ("letter", "recommended", "skip")
            ):
                if msg.skip_decoration(i, item.end) < item.end:
                    sums.notes.append(msg.words(i, item.end))
                    sums.loose = True
                return i
            break
    return item.end


def _spread(msg: Message, item: Statement, start: int, end: int) -> list[Value] | None:
    """`1-5 A B CB C B`: one letter for each number of the range."""
    if len(item.numbers) < 2 or item.value_end >= 0:
        return None
    tokens = [i for i in range(start, end) if msg.tokens[i].kind == "word"]
    if len(tokens) != len(item.numbers) or any(not msg.is_mark(i, ",;:-/") and i not in tokens for i in range(start, end)):
        return None
    values = []
    for number, i in zip(item.numbers, tokens, strict=True):
        slot = msg.by_number.get(number)
        if slot is None:
            return None
        values.append(read_value(msg, i, i + 1, slot, glued=True))
    return values if sum(v.kind in ("letter", "multiple") for v in values) == len(values) else None


def _item_value(msg: Message, item: Statement, start: int, end: int, slot: Slot) -> Value:
    forced = {
        "skip": "skip", "unsure": "unsure", "later": "deferred", "withdraw": "unclear", "reject": "needs_answer",
        "explain": "question", "recommended": "recommended", "slip": "unclear",
    }  # fmt: skip
    if item.forced:
        value = Value(forced[item.forced], said=msg.words(item.first, item.end))
        return value
    if slot.form != "choice":
        return read_typed(msg, start, end if item.value_end < 0 else item.value_end, slot)
    if item.value_end < 0:
        return read_value(msg, start, end, slot, glued=item.glued)
    value = read_value(msg, start, item.value_end, slot, glued=True)
    if item.tail < end and msg.skip_decoration(item.tail, end) < end:
        if msg.is_mark(item.tail, "?"):
            return Value("tentative", letter=value.letter, said=msg.words(item.first, end))
        text = msg.words(item.tail, end)
        if value.kind == "other" or value.letter == slot.other:
            return Value("other", text=text, said=text)
        if value.kind in ("letter", "recommended"):
            return replace(value, note=text, complete=False)
    return value


def _merge(sums: _Sums, number: int, value: Value) -> None:
    before = sums.values.get(number)
    if before is None or before.kind == "needs_answer" or sums.corrected:
        sums.values[number] = value
        return
    if (before.kind, before.letter) == (value.kind, value.letter) and before.kind != "other":
        if value.note and not before.note:
            sums.values[number] = value
        return
    if value.kind == "recommended" and before.kind == "letter":
        return
    if before.kind in ("ambiguous_agreement", "unsure", "deferred") and value.kind == "letter":
        sums.values[number] = value
        return
    if value.kind == "ambiguous_agreement" and before.kind in ("letter", "recommended"):
        return
    if before.kind == "other" and value.kind == "other" and before.text == value.text:
        return
    sums.conflicts.add(number)


# -- the outcome ---------------------------------------------------------------------------------------------


def _conclude(msg: Message, sums: _Sums, statements: Sequence[Statement]) -> Reading:
    kinds = {s.kind for s in statements}
    note = "\n".join(n for n in sums.notes if n) or None
    if "force_quit" in kinds and _asked_to_stop(msg, statements):
        answers, errors = _outcomes(msg, sums)
        shaped = not sums.loose
        return Reading(kind="force_quit", answers=answers, errors=tuple(errors), note=note, shaped=shaped)
    if "cancel" in kinds and "item" not in kinds:
        return Reading(kind="cancel", note=note)
    if _pasted_example(msg, sums):
        return Reading(kind="needs_confirmation")
    if digits := _digits(msg, sums):
        return digits
    answers, errors = _outcomes(msg, sums)
    if sums.same is not None:
        return _all_same(msg, sums, answers, errors, note)
    accepted = sums.accepted or (sums.rest is not None and sums.rest.kind == "recommended")
    if sums.excepting and not accepted and (sums.agreed or sums.unplaced) and not sums.negated:
        accepted = sums.agreed
        if sums.unplaced or not sums.values:
            return Reading(kind="needs_confirmation", errors=tuple(errors), note=note)
    if accepted:
        return _accepted(msg, sums, answers, errors, note)
    if not answers and not errors:
        return _nothing(msg, sums, note)
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
    if not answers and all(e.code == "question" for e in errors) and len(errors) == 1:
        return Reading(kind="question_back", asked_about=tuple(sums.values), note=note)
    proposals = ()
    if (sums.agreed or (sums.rest is not None and sums.rest.kind == "ambiguous_agreement")) and answers:
        proposals = (Proposal(kind="accept_all", label="recommendations for the rest"),)
    return Reading(
        kind="answers", answers=answers, errors=tuple(errors), proposals=proposals, note=note,
        correction=sums.corrected, shaped=not sums.loose and not any(s.weak or s.buried for s in statements),
    )  # fmt: skip


def _asked_to_stop(msg: Message, statements: Sequence[Statement]) -> bool:
    return not any(
        asks(msg, s.first, msg.count) or (s.first > 0 and bool(msg.at("negate", s.first - 1)))
        for s in statements
        if s.kind == "force_quit"
    )


def _nothing(msg: Message, sums: _Sums, note: str | None) -> Reading:
    whole = read_whole(msg)
    first = msg.skip_decoration(0, msg.count)
    if whole.kind == "question_back" and (not sums.doubted or msg.any_at(("question", "asks_recommended"), first)):
        return whole
    if sums.doubted:
        return Reading(kind="needs_confirmation", proposals=(ACCEPT,), note=note)
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


def _outcomes(msg: Message, sums: _Sums) -> tuple[dict[int, ItemReading], list[ItemError]]:
    """Answers and errors of the explicit items."""
    answers: dict[int, ItemReading] = {}
    errors: list[ItemError] = list(sums.errors)
    for number, value in list(sums.values.items()):
        slot = msg.by_number[number]
        if number in sums.conflicts:
            errors.append(wording.error(slot, str(number), replace(value, kind="conflict")))
            continue
        if value.kind == "same":
            value = sums.values[number] = _referred(sums, number, value, slot)
        item = wording.item(slot, value)
        if item is not None:
            answers[number] = item
        if item is None or (item.key == "other" and item.text is None):
            errors.append(wording.error(slot, str(number), value))
    for number, subs in sums.subs.items():
        slot = msg.by_number[number]
        if number in answers:
            for letter, value in subs:
                item = wording.item(slot, value)
                if item is not None and item.key == answers[number].key:
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


def _referred(sums: _Sums, number: int, value: Value, slot: Slot) -> Value:
    """ "same as 1": words carry over; a letter only where it is an ordinary option of this question too."""
    numbers = [n for n in sums.values if n != number]
    source = value.number or (numbers[numbers.index(max(n for n in numbers if n < number))] if any(n < number for n in numbers) else 0)
    said = sums.values.get(source)
    if said is None or source == number:
        return Value("reference", said=value.said)
    if said.kind == "other" and said.text:
        return replace(said, note=None)
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
    msg: Message, sums: _Sums, answers: dict[int, ItemReading], errors: list[ItemError], note: str | None
) -> Reading:
    if sums.unknown or sums.cluttered or sums.unplaced:
        return Reading(kind="needs_confirmation", errors=tuple(errors), note=note)
    if sums.doubted or sums.negated:
        return Reading(kind="needs_confirmation", errors=tuple(errors), proposals=(ACCEPT,), note=note)
    addressed = set(sums.values) | set(sums.subs)
    taken = tuple(s.number for s in msg.open if s.recommended is not None and s.number not in addressed)
    exceptions = bool(addressed)
    return Reading(
        kind="accept_all_except" if exceptions else "accept_all",
        answers=answers,
        accepted=taken,
        errors=tuple(errors),
        note=note,
        delegation=sums.delegated,
        correction=sums.corrected,
        shaped=not sums.delegated and not sums.loose,
    )


def _place_letter(
    msg: Message, sums: _Sums, answers: dict[int, ItemReading], errors: list[ItemError], statements: Sequence[Statement]
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


def _put_rest(msg: Message, sums: _Sums, answers: dict[int, ItemReading], errors: list[ItemError]) -> None:
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
    msg: Message, sums: _Sums, answers: dict[int, ItemReading], errors: list[ItemError], note: str | None
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


def _pasted_example(msg: Message, sums: _Sums) -> bool:
    """The card's own example, unchanged: a copy, not answers."""
    copied = [v for v in sums.values.values() if v.kind == "other" and v.text is None]
    placeholder = any(msg.at("placeholder", i) for i in range(msg.count))
    return bool(copied) and placeholder and len(sums.values) > 1


def _digits(msg: Message, sums: _Sums) -> Reading | None:
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
