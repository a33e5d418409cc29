"""Messages that address no question by number: read as a whole, or not at all.

    whole := positional | bare | digits | question | put-off | hand-over | refusal | agreement | nothing
    positional := one letter per open question (`-` skips, `?` is unsure), on one line or several
    bare := lead* (letter | option phrase | label) note?      only when exactly one question is open
    digits := numbers alone: which question, or which option, is asked back

Nothing here takes a recommendation: agreement that names nothing becomes a proposal (RP-3), and a digit, a bare
letter with several questions open or a word such as "BAD" is asked about with its readings as proposals (RP-8).
"""

from __future__ import annotations

from bot.core.replies import wording
from bot.core.replies.message import Message
from bot.core.replies.reading import ItemError, ItemReading, Proposal, Reading, Slot
from bot.core.replies.values import Value, asks, read_value, skip_leads

_BEFORE_LETTER = ("lead", "option", "article", "agree", "polite", "filler", "correct", "accept")
ACCEPT = Proposal(kind="accept_all", label="accept recommendations")
STOP_OR_CANCEL = (
    Proposal(kind="force_quit", label="Draft with what you have"),
    Proposal(kind="cancel", label="Cancel the request"),
)


def read_whole(msg: Message) -> Reading:
    """The meaning of a message in which no statement was found."""
    first = msg.skip_decoration(0, msg.count)
    if first >= msg.count:
        return _agreement(msg) or _handed_over(msg) or Reading(kind="unparsed")
    for reader in (
        _positional, by_line, _letters_as_word, _bare, _numbers_alone, _postponed, _handed_over, _question, _refusal,
        _agreement, _own_words,
    ):  # fmt: skip
        reading = reader(msg)
        if reading is not None:
            return reading
    return Reading(kind="unparsed")


# -- letters without numbers ---------------------------------------------------------------------------------


def _positional(msg: Message) -> Reading | None:
    entries: list[tuple[str, int]] = []
    separated = 0
    for start, end in lines(msg):
        i = msg.skip_decoration(start, end) if not _placeholder(msg, start) else start
        if msg.at("negate", i):
            continue
        while i < end and not msg.letter(i) and (stop := msg.any_at((*_BEFORE_LETTER, "item"), i, end)):
            i = msg.skip_marks(stop, end, ":")
        row: list[tuple[str, int]] = []
        while i < end:
            if msg.letter(i, end):
                row.append((msg.letter(i), i))
            elif _placeholder(msg, i):
                row.append((msg.tokens[i].fold, i))
            elif stop := (msg.at("polite", i, end) or msg.at("and", i, end)):
                i = stop
                continue
            elif msg.tokens[i].kind != "mark" or msg.is_mark(i, "+=&~>*#"):
                return None
            i += 1
        entries.extend(row)
        separated += bool(row)
    letters = [e for e in entries if e[0] not in "-?"]
    if len(entries) < 2 or not letters:
        return None
    if all(a == "A" for a, _ in letters) and len(letters) == 1:
        return None
    slots = msg.open
    if len(slots) == 1:
        slot = slots[0]
        if len({a for a, _ in letters}) == 1:
            return _answer(slot, Value("letter", letters[0][0]) if letters[0][0] in slot.letters else Value("unclear"))
        if any(a in "-?" for a, _ in entries):
            return None
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


def _letters_as_word(msg: Message) -> Reading | None:
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


def lines(msg: Message) -> list[tuple[int, int]]:
    """Token ranges of the lines that say something."""
    out: list[tuple[int, int]] = []
    start = 0
    for i in range(msg.count + 1):
        if i == msg.count or msg.is_break(i):
            if i > start:
                out.append((start, i))
            start = i + 1
    return out


def by_line(msg: Message) -> Reading | None:
    """As many lines as open questions, most of them plainly a letter or "recommended"."""
    rows = lines(msg)
    if len(rows) < 3 or len(rows) != len(msg.open):
        return None
    values = []
    for slot, (start, end) in zip(msg.open, rows, strict=True):
        at = start
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


def _put(slot: Slot, value: Value, answers: dict[int, ItemReading], errors: list[ItemError]) -> None:
    item = wording.item(slot, value)
    if item is not None:
        answers[slot.number] = item
    if item is None or (item.key == "other" and item.text is None):
        if value.kind != "empty":
            errors.append(wording.error(slot, str(slot.number), value))


def _answer(slot: Slot, value: Value) -> Reading:
    answers: dict[int, ItemReading] = {}
    errors: list[ItemError] = []
    _put(slot, value, answers, errors)
    return Reading(kind="answers", answers=answers, errors=tuple(errors))


def _bare(msg: Message) -> Reading | None:
    i = msg.skip_decoration(0, msg.count)
    while i < msg.count and (stop := msg.any_at(_BEFORE_LETTER, i)):
        if msg.letter(i) and not (msg.tokens[i].lower and msg.letter(skip_leads(msg, stop, msg.count))):
            break
        if msg.at("recommended", i) or msg.at("ordinal", i):
            break
        i = msg.skip_marks(stop, msg.count, ",:\"“”‘’'!")
    if i >= msg.count:
        return None
    letter = msg.letter(i)
    if len(msg.open) == 1:
        slot = msg.open[0]
        ranked = msg.at("ordinal", i + 1) if letter else 0
        if ranked and not msg.is_edge(ranked):
            return None
        if letter and msg.tokens[i].lower and i > 0 and letter in "AEIOUY" and _reads_on(msg, i) and not (
            ranked or msg.any_at(("note", "polite", "for"), i + 1)
        ):  # fmt: skip
            return None
        if letter and not letter.startswith("~") and letter not in slot.letters:
            if _reads_on(msg, i) or msg.at("agree", i) or msg.any_at(("question", "lead"), 0):
                return None
        if letter and letter == "A" and i + 1 < msg.count and msg.tokens[i + 1].kind == "word":
            if not msg.any_at(("note", "polite", "recommended", "ordinal", "verdict", "for"), i + 1):
                return None
        option = msg.at("ordinal", i) or msg.at("last", i) or (
            msg.tokens[i].kind == "num" and i > 0 and msg.at("option", i - 1)
        )  # fmt: skip
        if not letter and not option and not msg.at("other", i) and not slot.labels:
            return None
        start = i - 1 if option and msg.tokens[i].kind == "num" else i
        if letter and asks(msg, 0, msg.count) and not (i + 2 >= msg.count):
            return None
        value = read_value(msg, start, msg.count, slot)
        if value.kind == "tentative" and value.letter:
            return _proposed(slot, value.letter)
        if value.kind in ("letter", "multiple", "out_of_range", "negative_only") or (
            value.kind == "unclear" and letter.startswith("~")
        ) or (value.kind == "other" and (msg.at("other", i) or letter)):  # fmt: skip
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
    proposals = ()
    if letter in slot.letters and letter != slot.other:
        proposals = (
            Proposal(kind="answers", answers={slot.number: ItemReading(key=letter)}, label=f"Option {letter}"),
        )
    return Reading(kind="needs_confirmation", proposals=proposals)


# -- digits and dictation ------------------------------------------------------------------------------------


def _numbers_alone(msg: Message) -> Reading | None:
    """Numbers and nothing that says what about them: "2", "1-3", "1, 2, 4 please"."""
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
            stop := msg.any_at(("item", "suffix", "and", "agree", "filler", "polite", "all", "article", "for", "to"), i)
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
    if not any(name in msg.found(0) for name in ("number", "spoken")):
        return None
    while i < msg.count:
        if msg.is_edge(i):
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


# -- words ---------------------------------------------------------------------------------------------------


def clauses(msg: Message) -> list[tuple[int, int]]:
    """Token ranges between separators and line breaks."""
    out: list[tuple[int, int]] = []
    start = 0
    for i in range(msg.count + 1):
        if i == msg.count or msg.is_edge(i) or (msg.is_mark(i, "-") and msg.tokens[i].spaced):
            if i > start:
                out.append((start, i))
            start = i + 1
    return out


def _question(msg: Message) -> Reading | None:
    asked = False
    for start, end in lines(msg):
        asked = asked or asks(msg, start, end)
    if not asked:
        for start, end in clauses(msg):
            stop = msg.skip_decoration(start, end)
            edge = end < msg.count and msg.is_mark(end, "?")
            if edge or msg.any_at(("explain", "asks_recommended"), stop, end):
                asked = True
    if not asked:
        last = clauses(msg)[-1:]
        asked = any(
            end - start <= 3 and msg.at("question", start, end) and not msg.any_at(("hedge", "agree"), 0)
            for start, end in last
        ) and msg.count > 1
    if not asked:
        return None
    return Reading(kind="question_back", asked_about=about(msg))


def about(msg: Message) -> tuple[int, ...]:
    """The numbers of the round that a question names."""
    numbers: list[int] = []
    for i, token in enumerate(msg.tokens):
        value = token.value if token.kind == "num" else msg.value_at("ordinal", i)
        if value in msg.by_number and value not in numbers:
            numbers.append(value)
    if not numbers and len(msg.open) == 1:
        return (msg.open[0].number,)
    return tuple(numbers)


def _postponed(msg: Message) -> Reading | None:
    """ "Ask me tomorrow", "not now": at the head of a clause, and not as a question (CH-6)."""
    for start, end in clauses(msg):
        i = start
        while i < end and (stop := msg.any_at(("polite", "agree", "filler", "note", "lead", "disagree"), i, end)):
            if msg.any_at(("put_off", "postpone"), i, end):
                break
            i = stop
        stop = msg.any_at(("put_off", "postpone"), i, end)
        if not stop or asks(msg, 0, msg.count):
            continue
        time = next(((k, msg.at("time", k)) for k in range(start, msg.count) if msg.at("time", k)), None)
        if msg.at("postpone", i, end) == stop and time is None:
            continue
        while time and msg.at("time", time[1]):
            time = (time[0], msg.at("time", time[1]))
        return Reading(kind="put_off", until=msg.words(*time) if time else msg.words(i, stop))
    return None


def _handed_over(msg: Message) -> Reading | None:
    """ "@maria please", "ask Maria": a name and nothing else (CH-6). A bot's mention is only an address."""
    for i, token in enumerate(msg.tokens):
        if token.kind == "mention" and not token.fold.endswith("bot"):
            before = all(msg.tokens[k].kind == "mark" or msg.any_at(("polite", "hand_over", "filler"), k) for k in range(i))
            after = _rest_is(msg, i + 1, ("polite", "hand_over", "filler", "question", "item"))
            if before and after and (msg.count > i + 1 or i > 0):
                return Reading(kind="hand_over", named=msg.words(i, i + 1))
    first = msg.skip_decoration(0, msg.count)
    stop = msg.at("hand_over", first) if first < msg.count else 0
    if not stop or stop >= msg.count or not (msg.tokens[stop].kind in ("word", "char")) or msg.found(stop):
        return None
    end = stop + 1
    while end < msg.count and msg.tokens[end].kind == msg.tokens[stop].kind and not msg.found(end) and end < stop + 4:
        end += 1
    named = msg.words(stop, end)
    if not _rest_is(msg, end, ("polite", "filler", "hand_over", "suffix", "for")) or not (named[:1].isupper() or not named[:1].islower()):
        return None
    return Reading(kind="hand_over", named=named)


def _rest_is(msg: Message, i: int, names: tuple[str, ...]) -> bool:
    while i < msg.count:
        stop = msg.any_at(names, i)
        if not stop and (msg.tokens[i].kind == "mark" or msg.is_break(i)):
            stop = i + 1
        if not stop:
            return False
        i = stop
    return True


def _refusal(msg: Message) -> Reading | None:
    first = msg.skip_decoration(0, msg.count)
    for name in ("refuse", "stop", "disagree", "again", "unsure", "skip"):
        stop = msg.at(name, first)
        if not stop:
            continue
        if name != "refuse" and not _rest_is(msg, stop, (name, "polite", "filler", "lead", "all", "agree")):
            continue
        if name in ("again", "disagree") and not _rest_is(msg, stop, (name, "polite", "filler")):
            if name == "disagree" and _rest_is(msg, stop, (name, "polite", "filler", "lead", "all", "agree")):
                return Reading(kind="needs_confirmation")  # "no, go ahead" contradicts itself
            continue
        if name in ("refuse", "stop", "disagree"):
            return Reading(kind="needs_confirmation", proposals=STOP_OR_CANCEL)
        if name == "unsure":
            return Reading(kind="needs_confirmation", proposals=(ACCEPT,))
        if name == "skip":
            skipped = {slot.number: ItemReading(key="skip") for slot in msg.open}
            return Reading(
                kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=skipped, label="Skip all"),)
            )
        return Reading(kind="needs_confirmation")
    return None


def _agreement(msg: Message) -> Reading | None:
    """Agreement that names nothing, in the first clause; what follows is a remark (RP-3)."""
    i = 0
    agreed = False
    stopped = msg.count
    while i < msg.count:
        stop = msg.at("agree", i)
        if stop:
            agreed = True
        else:
            if agreed and msg.at("conditional", i):
                return Reading(kind="needs_confirmation", note=msg.words(i, msg.count))
            stop = msg.any_at(("polite", "filler", "all", "lead", "article", "everywhere", "for", "item", "rest"), i)
            if not stop and msg.tokens[i].kind in ("mark", "line", "para", "mention"):
                stop = i + 1
            if not stop and msg.at("number", i):
                stop = msg.at("number", i)
            if not stop:
                stopped = i
                break
        i = stop
    if not agreed:
        return None
    rest = msg.words(stopped, msg.count) if stopped < msg.count else ""
    if rest:
        back = stopped
        while back > 0 and not msg.is_edge(back - 1) and not msg.at("and", back - 1):
            back -= 1
        first_agreed = next((k for k in range(msg.count) if msg.at("agree", k)), 0)
        if back <= first_agreed and not msg.at("note", stopped):
            return None  # the clause with the yes in it reads on: no agreement but a sentence
        if any(msg.at(name, k) for name in ("negate", "disagree") for k in range(first_agreed, msg.count)):
            return Reading(kind="needs_confirmation", note=rest)
    return Reading(kind="needs_confirmation", proposals=(ACCEPT,), note=rest or None)


def _own_words(msg: Message) -> Reading | None:
    """Free text with one question open: offered as its own answer, never taken."""
    if len(msg.open) != 1 or msg.open[0].form != "choice" or msg.open[0].other is None:
        return None
    spoken = sum(token.kind in ("word", "char", "opaque") for token in msg.tokens)
    if spoken < 3 or msg.any_at(("done", "polite", "discuss"), msg.skip_decoration(0, msg.count)):
        return None
    text = msg.words(0, msg.count)
    answers = {msg.open[0].number: ItemReading(key="other", text=text)}
    return Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=answers, label="Other"),))
