"""Statements are gathered: which words go to which question, and what is said of the round as a whole.

Words that no statement claims are kept as the general remark; a
letter or a number among them holds an acceptance back.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bot.core.replies.exceptions import restricted
from bot.core.replies.message import Message
from bot.core.replies.reading import ItemError, Slot
from bot.core.replies.remarks import AFTER_A, against, negated, with_note
from bot.core.replies.statement import Statement
from bot.core.replies.typed import read_typed
from bot.core.replies.value import Value, asks, letter_ends
from bot.core.replies.values import read_value, without_courtesy

_FORCED = {
    "either": "tentative",
    "skip": "skip",
    "leave": "skip",
    "unsure": "unsure",
    "later": "deferred",
    "withdraw": "unclear",
    "reject": "needs_answer",
    "explain": "question",
    "recommended": "recommended",
    "slip": "unclear",
    "discuss": "deferred",
    "both": "multiple",
    "conditional": "conditional",
    "same": "same",
    "negate": "refused",
    "agree": "ambiguous_agreement",
    "negative": "negative_only",
}  # what the verb of a statement settles
_NEVER_WORDS = tuple("BCDEFGH")  # capitals that are no word of their own


@dataclass(slots=True)
class Sums:
    """What has been gathered from the statements so far."""

    values: dict[int, Value] = field(default_factory=dict)
    errors: list[ItemError] = field(default_factory=list)
    subs: dict[int, list[tuple[str, Value]]] = field(default_factory=dict)
    unknown: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    asides: list[tuple[int, str]] = field(default_factory=list)  # questions about what is not answered elsewhere
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
    cluttered: bool = False  # a letter or number among those words: part of an answer that could not be placed
    lettered: bool = False  # it is a letter
    named: set[int] = field(default_factory=set)  # questions whose numbers are among them


def take(msg: Message, sums: Sums, statement: Statement, following: Statement | None) -> None:
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
        end = statement.end
        head = statement.value_end if statement.value_end >= 0 else statement.start + 1
        sums.same = (
            read_value(msg, statement.start, max(head, statement.start + 1), slot, glued=True),
            statement.start,
        )
        tail = statement.tail if statement.tail >= 0 else head
        end = _without_joint(msg, tail, end)
        if any(msg.at("recommended", i, statement.end) for i in msg.places("recommended", tail, statement.end)):
            sums.accepted = True
        elif end > tail and msg.skip_decoration(tail, end) < end:
            sums.loose = True
            sums.doubted = sums.doubted or any(msg.limits(i) for i in range(tail, end))
            sums.notes.append(msg.words(tail, end))
    elif kind == "except":
        sums.excepting = True
        if following is None or (
            following.kind == "words" and msg.skip_decoration(following.first, msg.count) >= msg.count
        ):
            sums.unplaced = True
    elif kind == "correct":
        sums.corrected = True


def _take_accept(msg: Message, sums: Sums, statement: Statement) -> None:
    if statement.negated:
        sums.negated = True
        sums.loose = True
    elif statement.condition or statement.asked:
        sums.doubted = True
    elif statement.partial:
        led = max(msg.next(("accept", "all", "lead"), statement.first), msg.next(("recommended",), statement.first))
        sums.doubted = sums.doubted or led < statement.end
        sums.loose = True
    else:
        sums.accepted = True
        sums.delegated = statement.delegated
        return
    sums.notes.append(msg.words(statement.first, max(statement.end, statement.first)))


def _take_rest(msg: Message, sums: Sums, statement: Statement) -> None:
    slot = Slot(number=0, letters=tuple(chr(65 + i) for i in range(26)), recommended="A")
    if statement.forced == "skip":
        sums.rest = Value("skip")
        return
    if statement.forced not in ("", "recommended", "agree"):
        sums.notes.append(msg.words(statement.first, statement.end))  # "explain the rest", "not sure about the rest"
        return
    end = statement.value_end if statement.value_end >= 0 else max(_core_end(msg, statement), statement.start + 1)
    value = read_value(msg, statement.start, end, slot, glued=True)
    named = msg.any_at(("recommended", "as_said"), statement.start) == end  # Portuguese "o padrão": "o" is "or"
    named = named or statement.forced == "recommended"
    left = not named and bool(msg.at("delegate", statement.start))  # "you decide the rest"
    if named or (value.kind in ("recommended", "ambiguous_agreement") and msg.any_at(
        ("accept", "recommended", "delegate"), statement.start
    )):  # fmt: skip
        value = Value("recommended")
    sums.rest = value if value.kind in ("letter", "recommended", "skip", "ambiguous_agreement") else None
    sums.delegated = sums.delegated or (left and value.kind == "recommended")
    tail = statement.tail if statement.tail >= 0 else end
    if msg.is_mark(tail, "?"):  # "1b, rest as recommended?"
        kind = "" if sums.rest is None else sums.rest.kind
        sums.doubted = sums.doubted or kind == "recommended"
        if kind in ("letter", "skip"):
            sums.rest = None
            sums.notes.append(msg.words(statement.first, tail + 1))
            return
    last = _without_joint(msg, tail, statement.end)
    if msg.skip_decoration(tail, last) < last:
        sums.notes.append(msg.words(tail, last))
        bulk = sums.rest is not None and sums.rest.kind == "recommended"
        sums.unplaced = sums.unplaced or (bulk and restricted(msg, tail, last))


def _without_joint(msg: Message, start: int, end: int) -> int:
    """Without a "but" before the next statement."""
    while end > start:
        joint = next(
            (k for k in range(max(start, end - 3), end) if msg.any_at(("note", "limit", "and"), k) == end), end
        )
        if joint == end and not msg.is_edge(end - 1):
            break
        end = min(joint, end - 1)
    return end


def _core_end(msg: Message, statement: Statement) -> int:
    stop = msg.any_at(("recommended", "as_said", "delegate", "skip", "agree", "accept"), statement.start)
    return stop or statement.start + 1


def _take_words(msg: Message, sums: Sums, statement: Statement) -> None:
    start, end = statement.first, statement.end
    i = msg.skip_decoration(start, end)
    while i < end and (stop := msg.any_at(("filler", "pointer"), i, end)):
        i = msg.skip_decoration(stop, end)
    if i >= end:
        sums.agreed = sums.agreed or any(msg.at("agree", k, end) for k in msg.places("agree", start, end))
        return
    if sums.excepting and not sums.values and not sums.unknown:
        sums.unplaced = True
    agreed = i
    while agreed < end and (
        (stop := msg.any_at(("agree", "polite", "filler", "lead", "all"), agreed, end))
        or (msg.tokens[agreed].kind == "mark" and (stop := agreed + 1))
    ):
        sums.agreed = sums.agreed or bool(msg.agrees(agreed, end))
        agreed = stop
    if agreed >= end:
        return
    for k in range(i, end):
        token = msg.tokens[k]
        if not token.letter and token.kind != "num":
            continue
        clear = not msg.tokens[k].lower and (letter := msg.letter(k, end)) and letter in msg.offered
        clear = clear or (k == i and msg.letter(k, end) in _NEVER_WORDS and not msg.tokens[k].lower)
        heads = (k == i or msg.is_edge(k - 1)) and bool(msg.any_at(AFTER_A, k + 1, end))
        if clear and (heads or letter_ends(msg, k, end)):
            sums.cluttered = sums.lettered = True
        if token.kind == "num" and token.value in msg.by_number and not msg.at("unit", k + 1):
            sums.cluttered = True
            sums.named.add(token.value)
    letter = msg.letter(i, end)
    if letter and msg.is_mark(i + 1, ".") and _may_be_name(msg, i + 2) and any(msg.is_break(k) for k in range(i)):
        letter = ""  # "A. Schmidt" below the answers
    reads_on = i + 1 < end and msg.tokens[i + 1].kind == "word"
    wordlike = letter in ("I", "E", "O", "Y", "U") and msg.tokens[i].lower
    if letter and not letter.startswith("~") and not reads_on and not wordlike:
        sums.unplaced = True
    sums.loose = True
    sums.notes.append(msg.words(start, end))


def _may_be_name(msg: Message, i: int) -> bool:
    if i >= msg.count:
        return False
    token = msg.tokens[i]
    return token.end - token.start > 1 and msg.clean.norm[token.start].isupper()


def _take_item(msg: Message, sums: Sums, item: Statement, following: Statement | None) -> None:
    if item.forced == "aside":
        sums.asides.append((item.numbers[0], msg.words(item.first, item.end)))
        sums.notes.append(msg.words(item.first, item.end))
        return
    sums.corrected = sums.corrected or item.changed
    start, end = item.start, item.end
    if item.value_end < 0 and not item.forced:
        end = _own_end(msg, sums, item, following)
    spread = _spread(msg, item, start, end)
    several = len(item.numbers) > 1 and item.value_end < 0 and spread is None and msg.letter(start, end)
    crowded = bool(several and msg.letter(start + 1, end) in msg.offered) and not msg.tokens[start + 1].lower
    read: dict[tuple[object, ...], Value] = {}  # by what the reading of a value depends on
    for n, number in enumerate(item.numbers):
        slot = msg.by_number.get(number)
        if slot is None:
            sums.unknown.append(number)
            continue
        if spread:
            value = spread[n]
        elif len(item.numbers) == 1:
            value = _item_value(msg, item, start, end, slot)
        else:
            alike = (slot.form, slot.letters, slot.other, slot.recommended, slot.labels, slot.held)
            known = read.get(alike)
            value = read[alike] = _item_value(msg, item, start, end, slot) if known is None else known
        if crowded and value.kind == "letter":
            value = Value("unclear", said=value.said)  # "1-4 B A C": letters for some of the numbers
        if item.hedged and value.kind == "letter":
            value = replace(value, kind="tentative")
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


def _own_end(msg: Message, sums: Sums, item: Statement, following: Statement | None) -> int:
    """Where the item's own words end: lines after a finished last answer are a general remark."""
    if following is not None and following.kind != "words":
        return item.end
    slot = msg.by_number.get(item.numbers[0]) if item.numbers else None
    i = msg.break_in(item.start + 1, item.end)
    if i < item.end and slot is not None and any(msg.is_word(k) for k in range(item.start, i)):
        value = read_value(msg, item.start, i, slot, glued=item.glued)
        if value.kind in ("letter", "recommended", "skip"):
            if msg.skip_decoration(i, item.end) < item.end:
                sums.notes.append(msg.words(i, item.end))
                sums.loose = True
            return i
    return item.end


def _spread(msg: Message, item: Statement, start: int, end: int) -> list[Value] | None:
    """`1-5 A B CB C B`: one letter for each number of the range."""
    if len(item.numbers) < 2 or item.value_end >= 0:
        return None
    end = without_courtesy(msg, start, end)
    while end > start and (msg.is_edge(end - 1) or msg.is_quote(end - 1)):
        end -= 1
    tokens = [i for i in range(start, end) if msg.tokens[i].kind == "word"]
    if len(tokens) != len(item.numbers) or any(
        not msg.is_mark(i, ",;:-/") and i not in tokens for i in range(start, end)
    ):
        return None
    values = []
    for number, i in zip(item.numbers, tokens, strict=True):
        slot = msg.by_number.get(number)
        if slot is None:
            return None
        values.append(read_value(msg, i, i + 1, slot, glued=True))
    return values if sum(v.kind in ("letter", "multiple") and v.letter != "" for v in values) == len(values) else None


def _item_value(msg: Message, item: Statement, start: int, end: int, slot: Slot) -> Value:
    if item.forced == "negative" and (named := msg.letters_in(start, item.tail)):
        rather = negated(msg, named[-1], end, slot, msg.words(item.first, end))
        if rather.kind == "letter":
            return rather  # "don't do A on 1, do B"
    if item.forced == "agree" and slot.form == "validate":
        return Value("confirm", said=msg.words(item.first, item.end))
    if item.forced:
        return Value(_FORCED[item.forced], number=item.like, said=msg.words(item.first, item.end))
    if slot.form != "choice":
        return read_typed(msg, start, end if item.value_end < 0 else item.value_end, slot)
    if item.value_end < 0:
        return read_value(msg, start, end, slot, glued=item.glued)
    value = read_value(msg, start, item.value_end, slot, glued=True)
    if item.tail < end and msg.skip_decoration(item.tail, end) < end:
        if msg.at("and", end - 1) == end:
            end -= 1
        if value.kind == "letter" and value.letter in slot.letters and value.letter != slot.other:
            return with_note(msg, value.letter, item.tail, end, slot, msg.words(item.first, end))
        if msg.is_mark(item.tail, "?"):
            return Value("tentative", letter=value.letter, said=msg.words(item.first, end))
        text = msg.words(item.tail, end)
        if not text:
            return value
        if value.kind == "other" or value.letter == slot.other:
            return Value("other", text=text, said=text)
        if value.kind == "recommended" and asks(msg, item.tail, end):
            return Value("question", said=text)
        turned = against(msg, "", item.tail, end, slot, text) if value.kind == "recommended" else None
        if turned is not None:
            return turned
        if value.kind in ("letter", "recommended"):
            return replace(value, note=text, complete=False)
    return value


def _merge(sums: Sums, number: int, value: Value) -> None:
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
