"""Answers without question numbers.

    positional := one letter per open question (`-` skips, `?` is unsure), on one line or several
    lines      := as many lines as open questions, most of them plainly a letter or "recommended"
    bare       := lead* (letter | option phrase | label) note?      only when exactly one question is open
    digits     := numbers alone: which question, or which option, is asked back
    spoken     := what dictation makes of "one B, two A"

A reading counts only if it is the only one; otherwise its readings become proposals (RP-8).
"""

from __future__ import annotations

from bot.core.replies import wording
from bot.core.replies.labels import by_label, label_end
from bot.core.replies.letters import chosen_inside
from bot.core.replies.message import Message
from bot.core.replies.reading import ItemError, ItemReading, Proposal, Reading, Slot
from bot.core.replies.value import Value, asks, skip_leads
from bot.core.replies.values import read_value

_BEFORE_LETTER = ("lead", "option", "article", "agree", "polite", "filler", "correct", "accept")


def positional(msg: Message) -> Reading | None:
    if not msg.lettered:
        return None
    entries: list[tuple[str, int]] = []
    separated = 0
    for start, end in msg.lines:
        i = msg.skip_decoration(start, end) if not _placeholder(msg, start) else start
        if msg.at("negate", i):
            continue
        while (
            i < end
            and not msg.letter(i)
            and (stop := msg.any_at((*_BEFORE_LETTER, "item", "heading", "in_order"), i, end))
        ):
            i = msg.skip_marks(stop, end, ":")
        row: list[tuple[str, int]] = []
        while i < end:
            if msg.letter(i, end):
                row.append((msg.letter(i), i))
            elif _placeholder(msg, i):
                row.append((msg.tokens[i].fold, i))
            elif stop := msg.any_at(("polite", "and", "in_order"), i, end):
                i = stop
                continue
            elif msg.tokens[i].kind != "mark" or msg.is_mark(i, "+=&~>*#"):
                return None
            i += 1
        entries.extend(row)
        separated += bool(row)
    letters = [e for e in entries if e[0] not in "-?"]
    if len(entries) < 2 or not letters or _asked(msg, entries, len(letters)):
        return None
    if all(a == "A" for a, _ in letters) and len(letters) == 1:
        return None
    slots = msg.open
    if len(slots) == 1:
        slot = slots[0]
        if any(a in "-?" for a, _ in entries):
            return None
        if len({a for a, _ in letters}) == 1:
            return _answer(
                slot, Value("letter", letters[0][0]) if letters[0][0] in slot.letters else Value("unclear")
            )
        error = wording.error(slot, str(slot.number), Value("multiple", said=msg.words(0, msg.count)))
        return Reading(kind="answers", errors=(error,), shaped=True)
    if len(entries) != len(slots):
        return Reading(kind="needs_confirmation")
    answers: dict[int, ItemReading] = {}
    errors: list[ItemError] = []
    for slot, (entry, at) in zip(slots, entries, strict=True):
        if entry == "-":
            answers[slot.number] = ItemReading(key="skip")
        elif entry == "?":
            errors.append(wording.error(slot, str(slot.number), Value("unsure", said="?")))
        else:
            value = read_value(msg, at, at + 1, slot, glued=True)
            _put(slot, value, answers, errors)
    return Reading(kind="answers", answers=answers, errors=tuple(errors), shaped=True)


def letters_as_word(msg: Message) -> Reading | None:
    """ "BAD", "cab": one letter for each open question, or a word."""
    first = msg.skip_decoration(0, msg.count)
    token = msg.tokens[first]
    word = token.fold.upper()
    if len(word) < 2 or len(word) != len(msg.open) or not msg.skip_decoration(first + 1, msg.count) >= msg.count:
        return None
    if not all(letter in slot.letters for letter, slot in zip(word, msg.open, strict=True)):
        return None
    answers = {
        slot.number: ItemReading(key=letter)
        for letter, slot in zip(word, msg.open, strict=True)
        if letter != slot.other
    }
    return Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=answers),))


def _placeholder(msg: Message, i: int) -> bool:
    return msg.is_mark(i, "-?")


def _asked(msg: Message, entries: list[tuple[str, int]], letters: int) -> bool:
    """ "What is B?": the mark at the end asks; it is no second entry. In "A B ?" it stands off, as one."""
    mark, at = entries[-1]
    return mark == "?" and at == msg.count - 1 and (letters == 1 or not msg.tokens[at].spaced)


def by_line(msg: Message) -> Reading | None:
    """As many lines as open questions, most of them plainly a letter or "recommended"."""
    rows = msg.lines
    if len(rows) < 3 or len(rows) != len(msg.open):
        return None
    values = []
    for slot, (start, end) in zip(msg.open, rows, strict=True):
        at = start = msg.skip_decoration(start, end)
        while at < end and (stop := msg.any_at(("agree", "lead", "filler"), at, end)) and not msg.letter(at):
            at = stop
        value = read_value(msg, at if msg.letter(at) or msg.at("recommended", at) else start, end, slot)
        values.append((slot, value))
    plain = sum(value.kind in ("letter", "recommended") for _, value in values)
    if plain * 2 < len(rows) or plain < 2:
        return None
    answers: dict[int, ItemReading] = {}
    errors: list[ItemError] = []
    for slot, value in values:
        _put(slot, value, answers, errors)
    return Reading(kind="answers", answers=answers, errors=tuple(errors), shaped=True)


def in_turn(msg: Message) -> Reading | None:
    """ "B, recommended, skip": one word of choosing for each open question, at least one of them a letter."""
    if not msg.lettered or msg.numeric or not (msg.has("recommended") or msg.has("skip")):
        return None
    parts = _listed(msg)
    if len(parts) < 2 or len(parts) != len(msg.open):
        return None
    values = [
        read_value(msg, msg.skip_decoration(low, high), high, slot)
        for slot, (low, high) in zip(msg.open, parts, strict=True)
    ]
    plain = all(v.kind in ("letter", "recommended", "skip") and v.complete for v in values)
    if not plain or not any(v.kind == "letter" for v in values):
        return None
    answers: dict[int, ItemReading] = {}
    errors: list[ItemError] = []
    for slot, value in zip(msg.open, values, strict=True):
        _put(slot, value, answers, errors)
    return Reading(kind="answers", answers=answers, errors=tuple(errors), shaped=True)


def below_numbers(msg: Message) -> Reading | None:
    """A number on one line, what is said on it on the next."""
    rows = msg.lines
    if len(rows) < 4 or len(rows) % 2:
        return None
    answers: dict[int, ItemReading] = {}
    errors: list[ItemError] = []
    seen: set[int] = set()
    for (start, end), (low, high) in zip(rows[::2], rows[1::2], strict=True):
        number = msg.tokens[start].value
        bare = all(msg.is_mark(i, ".:)") for i in range(start + 1, end))
        if not bare or number not in msg.by_number or number in seen or msg.tokens[low].kind == "num":
            return None
        if msg.by_number[number].form != "choice":
            return None
        seen.add(number)
        _put(msg.by_number[number], read_value(msg, low, high, msg.by_number[number]), answers, errors)
    return Reading(kind="answers", answers=answers, errors=tuple(errors), shaped=True)


def by_labels(msg: Message) -> Reading | None:
    """The text of one option for each open question, in order."""
    if not msg.labelled or not msg.open:
        return None
    first = next((i for i in range(msg.count) if not _parts(msg, i)), 0)
    if msg.tokens[first].fold not in msg.open[0].folded.heard:
        return None
    parts = _listed(msg)
    if len(parts) == 1:
        parts = _in_a_row(msg, first)
    if len(parts) < 2 or len(parts) != len(msg.open):
        return None
    answers: dict[int, ItemReading] = {}
    for slot, (low, high) in zip(msg.open, parts, strict=True):
        value = by_label(msg, low, high, slot)
        if value is None or value.kind != "letter" or not value.complete:
            return None
        answers[slot.number] = ItemReading(key=value.letter)
    return Reading(kind="answers", answers=answers, shaped=True)


def _in_a_row(msg: Message, i: int) -> list[tuple[int, int]]:
    """ "weekly staff only printed": the text of an option of each open question, and nothing else."""
    parts: list[tuple[int, int]] = []
    for slot in msg.open:
        i = msg.at("and", i) or i
        end = label_end(msg, i, slot)
        if not end:
            return []
        parts.append((i, end))
        i = end
    return parts if msg.skip_decoration(i, msg.count) >= msg.count else []


def _listed(msg: Message) -> list[tuple[int, int]]:
    """Token ranges between commas and line breaks."""
    parts: list[tuple[int, int]] = []
    start = 0
    for i in range(msg.count + 1):
        if i == msg.count or _parts(msg, i):
            if i > start:
                parts.append((start, i))
            start = i + 1
    return parts


def _parts(msg: Message, i: int) -> bool:
    return msg.is_break(i) or msg.is_mark(i, ",;/|、")


def _put(slot: Slot, value: Value, answers: dict[int, ItemReading], errors: list[ItemError]) -> None:
    item = wording.item(slot, value)
    if item is not None:
        answers[slot.number] = item
    settled = item is not None and not (item.key == "other" and item.text is None)
    if not settled and value.kind != "empty":
        errors.append(wording.error(slot, str(slot.number), value))


def _answer(slot: Slot, value: Value) -> Reading:
    answers: dict[int, ItemReading] = {}
    errors: list[ItemError] = []
    _put(slot, value, answers, errors)
    return Reading(kind="answers", answers=answers, errors=tuple(errors), proposals=wording.kept([(slot, value)]))


def bare(msg: Message) -> Reading | None:
    i = msg.skip_decoration(0, msg.count)
    while i < msg.count and (stop := msg.any_at(_BEFORE_LETTER, i)):
        if (
            msg.letter(i)
            and stop == i + 1
            and not (msg.tokens[i].lower and msg.letter(skip_leads(msg, stop, msg.count)))
        ):
            break
        if msg.at("recommended", i) or msg.at("ordinal", i):
            break
        i = msg.skip_marks(stop, msg.count, ",:\"“”‘’'!")
    if i >= msg.count:
        return None
    hedged = msg.at("hedge", i)
    if hedged and len(msg.open) == 1:
        i = skip_leads(msg, hedged, msg.count)
        if msg.letter(i) and msg.skip_decoration(i + 1, msg.count) >= msg.count:
            return _proposed(msg.open[0], msg.letter(i))
        return None
    letter = msg.letter(i)
    if len(msg.open) == 1:
        slot = msg.open[0]
        turned = msg.any_at(("negate", "negative"), i)
        if turned and msg.letter(skip_leads(msg, turned, msg.count)):
            value = read_value(msg, i, msg.count, slot)
            if value.kind == "letter" or (value.kind == "negative_only" and not asks(msg, 0, msg.count)):
                return _answer(slot, value)
        passed = msg.at("skip", i)
        if passed and msg.skip_decoration(passed, msg.count) >= msg.count:
            return _answer(slot, Value("skip"))
        ranked = msg.at("ordinal", i + 1) if letter else 0
        if ranked and not msg.is_edge(ranked):
            return None
        if letter and msg.tokens[i].lower and i > 0 and letter in "AEIOUY" and _reads_on(msg, i) and not (
            ranked or msg.any_at(("note", "polite", "for"), i + 1)
        ):  # fmt: skip
            return None
        strange = letter and not letter.startswith("~") and letter not in slot.letters
        if strange and not msg.tokens[i].lower and i == 0 and msg.skip_decoration(1, msg.count) >= msg.count:
            return _answer(slot, Value("letter", letter, said=letter))
        if strange and (_reads_on(msg, i) or msg.at("agree", i) or msg.any_at(("question", "lead"), 0)):
            return None
        after_article = ("note", "polite", "recommended", "ordinal", "verdict", "for")
        if letter == "A" and _reads_on(msg, i) and not (msg.any_at(after_article, i + 1) or chosen_inside(msg, i)):
            return None
        placed = msg.at("ordinal", i) or msg.at("last", i)
        number = msg.tokens[i].kind == "num" or msg.at("number", i)
        counted = not placed and i > 0 and number and msg.at("option", i - 1)
        option = placed or counted
        unfit = msg.at("none", i)
        if not letter and not option and not unfit and not msg.at("other", i) and not slot.labels:
            return None
        start = i - 1 if counted else i
        if letter and asks(msg, 0, msg.count) and not (i + 2 >= msg.count):
            return None
        value = read_value(msg, start, msg.count, slot)
        if value.kind == "tentative" and value.letter:
            return _proposed(slot, value.letter)
        if value.kind in ("letter", "multiple", "out_of_range", "negative_only") or (
            value.kind == "unclear" and letter.startswith("~")
        ) or (value.kind == "other" and (msg.at("other", i) or letter or option or unfit)):  # fmt: skip
            return _answer(slot, value)
        return None
    if letter and msg.skip_decoration(i + 1, msg.count) >= msg.count and not msg.at("agree", i):
        return Reading(
            kind="needs_confirmation",
            proposals=tuple(
                Proposal(kind="answers", answers={s.number: ItemReading(key=letter)}, label=f"Question {s.number}")
                for s in msg.open
                if letter in s.letters and letter != s.other
            ),
        )
    return None


def _reads_on(msg: Message, i: int) -> bool:
    return i + 1 < msg.count and msg.tokens[i + 1].kind == "word"


def _proposed(slot: Slot, letter: str) -> Reading:
    proposals: tuple[Proposal, ...] = ()
    if letter in slot.letters and letter != slot.other:
        proposals = (
            Proposal(kind="answers", answers={slot.number: ItemReading(key=letter)}, label=f"Option {letter}"),
        )
    return Reading(kind="needs_confirmation", proposals=proposals)


def numbers_alone(msg: Message) -> Reading | None:
    """Numbers and nothing that says what about them: "2", "1-3", "1, 2, 4 please"."""
    if not msg.numeric:
        return None
    numbers: list[int] = []
    ranged = False
    first = msg.skip_decoration(0, msg.count)
    i = first
    while i < msg.count:
        token = msg.tokens[i]
        if token.kind == "num" and token.value > 0:
            if ranged and numbers and token.value - numbers[-1] in range(1, 50):
                numbers.extend(range(numbers[-1] + 1, token.value))
            numbers.append(token.value)
            ranged = False
        elif (
            stop := msg.any_at(
                ("item", "suffix", "and", "agree", "filler", "polite", "all", "article", "for", "to"), i
            )
        ) and not msg.letter(i):
            ranged = bool(msg.at("to", i))
            i = stop
            continue
        elif token.kind == "mark" and token.fold not in "?%":
            ranged = token.fold in "-~"
        elif token.kind not in ("line", "para", "mention"):
            return None
        i += 1
    if not numbers:
        return None
    if not (msg.tokens[first].kind == "num" or msg.any_at(("item", "article"), first) or len(numbers) > 1):
        return None
    known = tuple(n for n in numbers if n in msg.by_number)
    proposals = []
    if len(msg.open) == 1:
        slot = msg.open[0]
        return _proposed(slot, slot.letters[numbers[0] - 1] if numbers[0] <= len(slot.letters) else "")
    if known:
        proposals.append(Proposal(kind="accept_all", numbers=known, label="the recommended options"))
    return Reading(kind="needs_confirmation", proposals=tuple(proposals))


def spoken(msg: Message) -> Reading | None:
    """What dictation makes of "one B": number words and letters that sound alike ("won be two a three see")."""
    answers: dict[int, ItemReading] = {}
    i = 0
    expected = 1
    alike = False
    i = msg.skip_decoration(0, msg.count)
    if i >= msg.count or not any(name in msg.found[i] for name in ("number", "spoken")):
        return None
    while i < msg.count:
        if msg.is_edge(i) or (answers and msg.skip_decoration(i, msg.count) >= msg.count):
            i += 1
            continue
        heard = msg.at("number", i) or msg.at("spoken", i)
        value = msg.value_at("number", i) or msg.value_at("spoken", i)
        if not heard or heard >= msg.count or value not in msg.by_number or not (value == expected or answers):
            return None
        alike = alike or not msg.at("number", i)
        letter = msg.letter(heard)
        following = heard + 1
        if not letter and msg.at("spoken", heard):
            letter = chr(64 + msg.value_at("spoken", heard))
            following = msg.at("spoken", heard)
            alike = True
        slot = msg.by_number[value]
        if letter not in slot.letters or letter == slot.other:
            return None
        answers[value] = ItemReading(key=letter)
        expected = value + 1
        i = following
    if len(answers) < 2 or not alike:
        return None
    return Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=answers),))
