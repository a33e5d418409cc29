"""What is said behind an option's letter: a note, a doubt, or a verdict that takes the choice back.

    remark := note | "?" | verdict against it ("so" LETTER)? | "but" LETTER verdict
    negated := "not" LETTER ("but" LETTER)?

When in doubt nothing is chosen: the item is asked about with the option that was leaned to.
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.labels import by_label
from bot.core.replies.message import Message
from bot.core.replies.own import postpones
from bot.core.replies.reading import Slot
from bot.core.replies.value import Value, asks, letter_ends, note_of, other_words, skip_leads

AFTER_A: Final = (
    "note", "polite", "for", "recommended", "correct", "agree", "except", "and", "or", "later", "ordinal",
    "hedge", "verdict", "rest", "copula", "everywhere",
)  # fmt: skip

_MOST_FRAMED: Final = 5  # "is a bit", "ist mir"; more words stand between a letter and no verdict on it
_AT_TIMES: Final = ("later", "put_off", "time", "pause")


def against(msg: Message, letter: str, i: int, end: int, slot: Slot, said: str) -> Value | None:
    """ "A is too expensive": the letter is turned down. "…, so B" chooses another one; else none is chosen."""
    if msg.next(("against", "disagree", "retract_after"), i) >= end:
        return None
    for k in msg.places("contrast", i, end):
        if any(msg.at("retract_after", b, end) for b in range(k + 1, min(end, k + _MOST_FRAMED))):
            return Value("negative_only", said=said)  # "… but that was wrong"
    i = msg.skip_marks(i, end, ",:-(\"”’'»)]")
    stop = 0
    for _ in range(_MOST_FRAMED):
        refused = msg.at("disagree", i, end)
        stop = msg.at("against", i, end) or (refused if refused and msg.is_edge(refused) else 0)
        framed = msg.any_at(("copula", "lead", "filler", "article"), i, end)
        if stop or not framed or msg.letter(i, end):
            break
        i = framed
    if not stop or msg.is_mark(stop, "?"):
        return None
    if asks(msg, i, end) and (msg.is_mark(end - 1, "?") or msg.tokens[end - 1].kind == "char"):
        return Value("question", said=said)
    if (rather := _preferred(msg, letter, stop, end, slot)) > 0:
        return with_note(msg, msg.letter(rather), rather + 1, end, slot, said)
    return Value("negative_only", said=said)


def _preferred(msg: Message, letter: str, start: int, end: int, slot: Slot) -> int:
    """Where another option is named as the choice: "so B", "，选B", "のでB"."""
    for i in msg.letters_in(start, end):
        other = msg.letter(i, end)
        if not other or other == letter or other not in slot.letters or not letter_ends(msg, i, end):
            continue
        said = msg.tokens[i - 1]
        if said.kind == "char" or msg.is_edge(i - 1) or any(
            msg.any_at(("lead", "contrast", "correct"), k) == i for k in range(max(start, i - 5), i)
        ):  # fmt: skip
            return i
    return 0


def _outdone(msg: Message, letter: str, start: int, end: int, slot: Slot) -> str:
    """ "A would be nice but B is realistic": the other option, which has the last word."""
    if not msg.has("contrast"):
        return ""
    for i in msg.places("contrast", start, end):
        at = skip_leads(msg, msg.at("contrast", i, end) or end, end)
        other = msg.letter(at, end)
        if other and other != letter and other in slot.letters and (
            letter_ends(msg, at, end) or msg.any_at(("copula", "verdict", "hedge"), at + 1, end)
        ):  # fmt: skip
            return other
    return ""


def with_note(msg: Message, letter: str, after: int, end: int, slot: Slot, said: str) -> Value:
    """A known letter and whatever follows it."""
    if msg.doubts(after, end):
        return Value("tentative", letter=letter, said=said)
    if (kind := _wondered(msg, after, end)) is not None:
        return Value(kind, letter=letter, said=said)
    if letter != slot.other and (turned := against(msg, letter, after, end, slot, said)) is not None:
        return turned
    if letter != slot.other and (other := _outdone(msg, letter, after, end, slot)):
        return Value("tentative", letter=other, said=said)
    rest = after
    while rest < end and (msg.is_mark(rest, ",.:;-=+!、。|*") or msg.is_break(rest)):
        rest += 1
    if letter == slot.other:
        asked = msg.is_mark(end - 1, "?") and asks(msg, rest, end)  # "the last one: what is it for?"
        return Value("question", said=said) if asked else other_words(msg, rest, end, said)
    if rest >= end:
        return Value("letter", letter, said=said)
    label = by_label(msg, rest, end, slot) if slot.labels else None
    if label is not None and label.kind == "letter":
        if label.letter != letter:
            return Value("conflict", said=said)
        return Value("letter", letter, note=label.note, said=said)
    inner = rest + 1 if msg.is_mark(rest, "(") else rest
    if msg.any_at(("hedge", "or"), inner, end) or _unsure_after(msg, rest, end):
        return Value("tentative", letter=letter, said=said)
    copula = msg.at("copula", rest, end) if rest == after else 0
    if copula and not msg.at("verdict", rest, end) and not msg.any_at(("agree", "recommended"), copula, end):
        return Value("tentative", letter=letter, said=said)
    if _moves_on(msg, letter, rest, end, slot):
        return Value("tentative", letter=letter, said=said)
    named = msg.at("recommended", inner, end)
    if named and (named >= end or msg.is_mark(named, ")") or msg.is_edge(named)):
        if slot.recommended and slot.recommended != letter:
            return Value("conflict", letter=letter, said=said)
        rest = msg.skip_marks(named, end, "),.") if named < end else end
        if rest >= end:
            return Value("letter", letter, said=said)
    if msg.has("discuss") and any(msg.at("discuss", i, end) for i in msg.places("discuss", rest, end)):
        return Value("tentative", letter=letter, said=said)
    if postpones(msg, after, end):
        return Value("tentative", letter=letter, said=said)
    note = note_of(msg, rest, end)
    return Value("letter", letter, note=note, said=said, complete=note is None)


def _wondered(msg: Message, i: int, end: int) -> str | None:
    """ "B differs from A how?", 3のDってどういう意味？: one sentence with the letter, and it asks. In "B will that
    work?" a question of its own follows."""
    if not msg.asking:
        return None
    edge = i
    while edge < end and not (msg.is_edge(edge) or msg.is_mark(edge, "-(:") or msg.tokens[edge].kind == "mention"):
        edge += 1
    if edge == i or not msg.is_mark(edge, "?") or edge >= end or msg.any_at(("question", "explain"), i):
        return None
    asks = msg.places("question", i, edge) or msg.places("explain", i, edge) or msg.letters_in(i, edge)
    return "question" if asks else "tentative"


def _moves_on(msg: Message, letter: str, i: int, end: int, slot: Slot) -> bool:
    """ "A, later B", "A first and then C": another option at another time; one of them is meant to be built."""
    if msg.next(_AT_TIMES, i) >= end:
        return False
    timed = 0
    for _ in range(4):
        stop = msg.any_at(_AT_TIMES, i, end)
        timed = timed or stop
        stop = stop or msg.any_at(("and", "note", "filler", "for"), i, end)
        if not stop or msg.letter(i, end):
            break
        i = msg.skip_marks(stop, end, ",")
    at = skip_leads(msg, i, end)
    other = msg.letter(at, end)
    if not (timed and other in slot.letters and other and other != letter):
        return False
    return letter_ends(msg, at, end) or bool(msg.any_at(_AT_TIMES, at + 1, end))


def _unsure_after(msg: Message, i: int, end: int) -> bool:
    """ "B. Not sure though", "B but I am not certain"."""
    for _ in range(4):
        if msg.any_at(("unsure", "hedge"), i, end):
            return True
        stop = msg.any_at(("note", "limit", "lead", "article"), i, end)
        if not stop:
            return False
        i = msg.skip_marks(stop, end)
    return False


def negated(msg: Message, at: int, end: int, slot: Slot, said: str, stop: int = 0) -> Value:
    """ "not A, but C" chooses C; "not A" only says what it is not. `stop`: the negation came after the letter."""
    if stop:
        after = skip_leads(msg, msg.skip_marks(stop, end, ",、"), end)
        letter = msg.letter(after, end)
        if letter and letter in slot.letters and letter_ends(msg, after, end) and not msg.at("not_after", after + 1):
            return with_note(msg, letter, after + 1, end, slot, said)
        return Value("negative_only", said=said)
    for i in msg.letters_in(at + 1, end):
        letter = msg.letter(i, end)
        if letter and letter in slot.letters and letter_ends(msg, i, end) and letter != msg.letter(at):
            before = msg.tokens[i - 1]
            if msg.any_at(("negate", "negative"), i - 1, i):
                continue  # "not B, not C"
            contrast = before.fold in (",", ";") or bool(msg.any_at(("note", "correct", "lead"), i - 1))
            contrast = contrast or (before.fold == "e" and msg.is_mark(i - 2, ","))  # Portuguese "não é B, é C"
            if contrast or before.fold in ("а", "sondern", "sino", "mais", "mas", "ma"):
                return with_note(msg, letter, i + 1, end, slot, said)
    return Value("negative_only", said=said)
