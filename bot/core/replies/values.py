"""What was said on one question, once it is known which words belong to it.

    value := letter note? | letters | ordinal | label note? | recommended note? | other text? | skip | unsure
           | later | question | agreement | refusal | "same as" number | "not" letter | digit | free text

A letter is a choice only as a whole token and, for a letter that is also a word ("a simple list"), only when
nothing reads on from it. Anything else said on a numbered question is an own answer; it is never matched loosely
to an option.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.core.replies.message import WORDLIKE, Message
from bot.core.replies.reading import Slot
from bot.core.replies.tokens import tokenize

_LEADS: Final = ("lead", "option", "article")
_MOST_LEADS: Final = 6  # "well I think I would go with option"; more is prose
_JOINTS: Final = "+/&,-"
_AFTER_A: Final = (
    "note", "polite", "for", "recommended", "correct", "agree", "except", "and", "or", "later", "ordinal",
    "hedge", "verdict", "rest", "copula", "everywhere",
)  # fmt: skip


@dataclass(slots=True, frozen=True)
class Value:
    """One reading. `kind` is "letter", "other", "recommended", "skip", "same", "digit", "empty", "agree", or the
    code of an error; `letter` is an option letter (for tentative ones the letter leaned to)."""

    kind: str
    letter: str = ""
    text: str | None = None
    note: str | None = None
    number: int = 0  # of a digit, or the question referred to (0 = the one before)
    said: str = ""
    complete: bool = True  # nothing but the value was said


def read_value(msg: Message, start: int, end: int, slot: Slot, *, glued: bool = False) -> Value:
    """Read the tokens [start, end) as what was said on `slot`. `glued`: the first is glued to the number."""
    opened = any(msg.is_quote(i) for i in range(start, min(end, start + 200) - 1))
    while end > start and (msg.is_break(end - 1) or msg.is_mark(end - 1, ",;/|、。}{") or (
        msg.is_quote(end - 1) and not opened
    ) or (msg.is_mark(end - 1, "-") and msg.tokens[end - 1].spaced)):  # fmt: skip
        end -= 1
    while start < end and (msg.is_break(start) or msg.is_mark(start, ":=.-,|>\"“„«‘'「『{}")):
        if msg.is_mark(start, "‘'\"“„«「『") and not msg.letter(start + 1, end):
            break
        start += 1
    if end - start > 3 and msg.is_mark(start, "(") and msg.is_mark(end - 1, ")") and not any(
        msg.is_mark(i, "()") for i in range(start + 1, end - 1)
    ):  # fmt: skip
        start, end = start + 1, end - 1
    if start >= end:
        return Value("empty")
    said = msg.words(start, end)
    if msg.is_mark(start, "?") and end == start + 1:
        return Value("unsure", said=said)
    label = _by_label(msg, start, end, slot)
    if label is not None:
        return label
    if msg.is_mark(start, "([") and (msg.letter(start + 1, end) and msg.is_mark(start + 2, ")]")):
        return _after_letter(msg, start + 1, start + 3, end, slot, said, glued=True)
    for reader in (_correction, _lettered, _phrase):
        value = reader(msg, start, end, slot, said, glued)
        if value is not None:
            return value
    return _free_text(msg, start, end, said)


def skip_leads(msg: Message, i: int, end: int) -> int:
    """Past words that add nothing before a value: "I take option …"."""
    for _ in range(_MOST_LEADS):
        stop = msg.any_at(_LEADS, i, end) if i < end else 0
        if not stop:
            break
        if stop == i + 1 and msg.letter(i, end) and not msg.any_at(_LEADS, stop, end) and not msg.letter(stop, end):
            break
        i = msg.skip_marks(stop, end, ",:\"“‘'")
    return i


def letter_ends(msg: Message, i: int, end: int) -> bool:
    """Whether the option letter at `i` is followed by an edge, a bracket, a dash or another item's number."""
    if i + 1 >= end or msg.is_edge(i + 1):
        return True
    following = msg.tokens[i + 1]
    return following.kind in ("mark", "num", "char")


# -- letters -------------------------------------------------------------------------------------------------


def _lettered(msg: Message, start: int, end: int, slot: Slot, said: str, glued: bool) -> Value | None:
    at = skip_leads(msg, start, end)
    hedged = msg.at("hedge", at, end)
    if hedged:
        after = skip_leads(msg, hedged, end)
        if msg.letter(after, end) and letter_ends(msg, after, end):
            return Value("tentative", letter=msg.letter(after), said=said)
        return None
    negated = msg.at("negate", at, end) or msg.at("negative", at, end)
    if negated:
        after = skip_leads(msg, negated, end)
        if msg.letter(after, end):
            return _after_negation(msg, after, end, slot, said)
        return None
    if msg.is_mark(at, "([\"“‘'") and msg.letter(at + 1, end):
        at += 1
        glued = True
    if not msg.letter(at, end):
        return _letter_word(msg, at, end, slot, said, glued)
    return _after_letter(msg, at, at + 1, end, slot, said, glued=glued or at > start)


def _after_letter(
    msg: Message, at: int, after: int, end: int, slot: Slot, said: str, *, glued: bool
) -> Value | None:
    letter = msg.letter(at) or msg.tokens[at].letter
    token = msg.tokens[at]
    while after < end and msg.is_mark(after, "\"”’'»)]}」』"):
        after += 1
    plain_word = after < end and msg.tokens[after].kind == "word" and not msg.any_at(_AFTER_A, after, end)
    if letter.startswith("~"):
        return Value("unclear", letter=letter[1:], said=said) if not plain_word else None
    known = letter in slot.letters
    if plain_word and after == at + 1 and not msg.letter(after, end):
        if token.lower and token.fold in WORDLIKE and not (glued and known):
            return None
        if letter == "A" and not glued:
            return Value("unclear", letter="A", said=said)
        if not known:
            return None
        if glued and not msg.tokens[after].spaced:
            return Value("unclear", said=said)
    if not known:
        if after < end and not (msg.is_edge(after) or msg.is_mark(after, "()[]:-=")):
            return None
        return Value("out_of_range", letter=letter, said=said)
    several = _several(msg, at, after, end, said)
    if several is not None:
        return several
    return _with_note(msg, letter, at, after, end, slot, said)


def _several(msg: Message, at: int, after: int, end: int, said: str) -> Value | None:
    """More letters right after the first: two options, a change of mind, or sub-answers."""
    letters = [msg.letter(at)]
    i = _past_bracket(msg, after, end)
    joint = ""
    while i < end:
        step = i
        if msg.is_mark(step, _JOINTS) or msg.is_mark(step, "、") or msg.is_mark(step, ">") or (
            msg.tokens[step].kind == "mark" and msg.tokens[step].fold == "->"
        ):  # fmt: skip
            joint = joint or msg.tokens[step].fold
            step += 1
        elif msg.any_at(("and", "or"), step, end):
            joint = joint or ("or" if msg.at("or", step, end) else "and")
            step = msg.any_at(("and", "or"), step, end)
        while step < end and msg.is_mark(step, "(") and msg.letter(step + 1, end) and msg.is_mark(step + 2, ")"):
            step += 1
        letter = msg.letter(step, end)
        if not letter or not _stands_alone(msg, step, end):
            break
        letters.append(letter.lstrip("~"))
        i = _past_bracket(msg, step + 1, end)
    if len(letters) == 1:
        if joint == "->" or (joint == "-" and _dashed_letters(msg, after, end)):
            return Value("tentative" if joint == "->" else "unclear", said=said)
        return None
    if joint == "->":
        return Value("tentative", letter=letters[-1], said=said)
    if joint == "or":
        return Value("tentative", said=said)
    if joint == "-":
        return Value("unclear", said=said)
    if len(set(letters)) == 1:
        return None
    if msg.at("copula", i, end) and not msg.at("verdict", i, end):
        return Value("tentative", said=said)
    return Value("multiple", letter="".join(letters), said=said)


def _past_bracket(msg: Message, i: int, end: int) -> int:
    """Past a bracketed remark that is followed by one more letter ("A (…) + E (…)")."""
    if not msg.is_mark(i, "("):
        return i
    close = next((k for k in range(i + 1, min(end, i + 80)) if msg.is_mark(k, ")")), 0)
    if close and msg.is_mark(close + 1, "+&") and msg.letter(close + 2, end):
        return close + 1
    return i


def _stands_alone(msg: Message, i: int, end: int) -> bool:
    """A further letter counts only if no plain word reads on from it ("B, a nice one")."""
    if msg.is_mark(i + 1, "-") and i + 2 < end and msg.tokens[i + 2].kind == "num" and msg.glued(i + 2):
        return False
    if i + 1 >= end or msg.tokens[i + 1].kind != "word" or msg.letter(i + 1, end):
        return True
    if msg.tokens[i].lower and msg.tokens[i].fold in WORDLIKE:
        return False
    if msg.letter(i) != "A":
        return True
    return bool(msg.any_at((*_AFTER_A, "both"), i + 1, end))


def _dashed_letters(msg: Message, i: int, end: int) -> bool:
    return bool(msg.letter(i + 1, end)) and msg.is_mark(i + 2, "-(")


def _with_note(msg: Message, letter: str, at: int, after: int, end: int, slot: Slot, said: str) -> Value:
    """A known letter and whatever follows it."""
    if after < end and msg.is_mark(after, "?") and after + 1 >= end:
        return Value("tentative", letter=letter, said=said)
    rest = after
    while rest < end and (msg.is_mark(rest, ",.:;-=+!、。|*") or msg.is_break(rest)):
        rest += 1
    if letter == slot.other:
        return _other(msg, rest, end, said)
    if rest >= end:
        return Value("letter", letter, said=said)
    label = _by_label(msg, rest, end, slot) if slot.labels else None
    if label is not None and label.kind == "letter":
        if label.letter != letter:
            return Value("conflict", said=said)
        return Value("letter", letter, note=label.note, said=said)
    if msg.at("hedge", rest, end):
        return Value("tentative", letter=letter, said=said)
    copula = msg.at("copula", rest, end) if rest == after else 0
    if copula and not msg.at("verdict", rest, end) and not msg.any_at(("agree", "recommended"), copula, end):
        return Value("tentative", letter=letter, said=said)
    inner = rest + 1 if msg.is_mark(rest, "(") else rest
    named = msg.at("recommended", inner, end)
    if named and (named >= end or msg.is_mark(named, ")") or msg.is_edge(named)):
        if slot.recommended and slot.recommended != letter:
            return Value("conflict", letter=letter, said=said)
        rest = msg.skip_marks(named, end, "),.") if named < end else end
        if rest >= end:
            return Value("letter", letter, said=said)
    if any(msg.at("discuss", i, end) for i in range(rest, end)):
        return Value("tentative", letter=letter, said=said)
    note = _note(msg, rest, end)
    return Value("letter", letter, note=note, said=said, complete=note is None)


def _note(msg: Message, start: int, end: int) -> str | None:
    """A remark, without brackets around it; None if it is only courtesy or an edit mark of the client."""
    if msg.skip_decoration(start, end) >= end:
        return None
    return unwrap(msg.words(start, end)) or None


def unwrap(text: str) -> str:
    if len(text) > 1 and text[0] in "(（[" and text[-1] in ")）]" and text.count(text[0]) == 1:
        return text[1:-1].strip()
    if len(text) > 1 and text[0] in "(（" and text.count("(") + text.count("（") == 1 and not text.count(")"):
        return text[1:].strip()
    return text


def _letter_word(msg: Message, at: int, end: int, slot: Slot, said: str, glued: bool) -> Value | None:
    """`AAC`, `AB`, `Aa`: several letters written as one word."""
    if at >= end or msg.tokens[at].kind != "word":
        return None
    token = msg.tokens[at]
    word = msg.clean.norm[token.start : token.end]
    if not 2 <= len(word) <= 6 or not word.isascii() or not all(c in slot.letters for c in word.upper()):
        if glued and len(word) > 1 and word[0].islower() and word[1].isupper() and word[0].upper() in slot.letters:
            return Value("unclear", said=said)  # "10bYes": the blank after b, or a word?
        return None
    alone = at + 1 >= end or msg.is_edge(at + 1) or msg.is_mark(at + 1, "(")
    if not alone:
        return None
    if word.isupper() or (glued and word.islower() and not set(word) & set("aeiou") - {"a"} and len(word) == 2):
        return Value("multiple" if len(set(word)) > 1 else "letter", letter=word.upper()[0], said=said)
    if glued and not word.islower():
        return Value("unclear", said=said)
    return None


def _after_negation(msg: Message, at: int, end: int, slot: Slot, said: str) -> Value:
    """ "not A, but C" chooses C; "not A" only says what it is not."""
    for i in range(at + 1, end):
        letter = msg.letter(i, end)
        if letter and letter in slot.letters and letter_ends(msg, i, end) and letter != msg.letter(at):
            before = msg.tokens[i - 1]
            contrast = before.fold in (",", ";") or bool(msg.any_at(("note", "correct", "lead"), i - 1))
            if contrast or before.fold in ("а", "sondern", "sino", "mais", "mas", "ma"):
                return _with_note(msg, letter, i, i + 1, end, slot, said)
    return Value("negative_only", said=said)


def _correction(msg: Message, start: int, end: int, slot: Slot, said: str, glued: bool) -> Value | None:
    """ "A no wait B": the marked change inside one value."""
    if not msg.letter(skip_leads(msg, start, end), end):
        return None
    for i in range(start + 1, end):
        stop = msg.at("correct", i, end)
        if stop:
            after = skip_leads(msg, msg.skip_marks(stop, end, ",:.-"), end)
            if msg.letter(after, end) in slot.letters and msg.letter(after, end) and letter_ends(msg, after, end):
                return _with_note(msg, msg.letter(after), after, after + 1, end, slot, said)
    return None


# -- words ---------------------------------------------------------------------------------------------------


def _phrase(msg: Message, start: int, end: int, slot: Slot, said: str, glued: bool) -> Value | None:
    at = skip_leads(msg, start, end)
    for reader in (_by_order, _reference, _by_class):
        value = reader(msg, start, at, end, slot, said)
        if value is not None:
            return value
    return None


def _by_order(msg: Message, start: int, at: int, end: int, slot: Slot, said: str) -> Value | None:
    """Ordinals and digits as options: "the second one", "option 2", and a bare "2" (which only proposes)."""
    explicit = any(msg.at("option", i) for i in range(start, at))
    i = msg.at("ordinal", at, end)
    rank = msg.value_at("ordinal", at)
    if not i and msg.at("last", at, end):
        i, rank = msg.at("last", at, end), len(slot.letters)
    if i:
        noun = msg.at("option", i, end)
        i = noun or i
        if i < end and not noun and not (msg.is_edge(i) or msg.is_mark(i, ":-()") or msg.at("note", i, end)):
            return None
    elif at < end and msg.tokens[at].kind == "num":
        rank = msg.tokens[at].value
        i = msg.at("suffix", at + 1, end) or at + 1
        if not explicit:
            if i < end and not (msg.is_edge(i) or msg.is_mark(i, "()")):
                return None
            if rank > 9:
                return None
            return Value("digit", number=rank, said=said, complete=i >= end)
        if i < end and msg.is_word(i) and not msg.any_at(_AFTER_A, i, end):
            return None
    else:
        return None
    if not 1 <= rank <= len(slot.letters):
        return Value("out_of_range", letter=str(rank), said=said)
    return _with_note(msg, slot.letters[rank - 1], at, i, end, slot, said)


def _reference(msg: Message, start: int, at: int, end: int, slot: Slot, said: str) -> Value | None:
    stop = msg.at("same", start, end)
    if not stop:
        return None
    i = msg.at("item", stop, end) or stop
    number = msg.tokens[i].value if i < end and msg.tokens[i].kind == "num" else msg.value_at("number", i)
    if number <= 0 and i < end and not msg.is_edge(i):
        return None
    return Value("same", number=max(number, 0), said=said)


def _by_class(msg: Message, start: int, at: int, end: int, slot: Slot, said: str) -> Value | None:
    if asks(msg, start, end):
        return Value("question", said=said)
    if any(msg.at("suggestion", i, end) for i in range(start, end)):
        return Value("tentative", said=said)
    for name, code in (("delegate", "recommended"), ("recommended", "recommended")):
        stop = msg.at(name, at, end) or msg.at(name, start, end) or _led_recommended(msg, at, end, name)
        if stop:
            return _recommended(msg, stop, end, said)
    if (stop := _committed(msg, start, end)):
        return _recommended(msg, stop, end, said)
    stop = msg.at("accept", at, end)
    if stop and (stop >= end or msg.any_at(("recommended", "polite"), stop, end)):
        return _recommended(msg, stop, end, said)
    if (tail := _otherwise(msg, start, end)) is not None:
        return Value("recommended", note=tail, said=said)
    for name, kind in (
        ("unsure", "unsure"), ("skip", "skip"), ("later", "deferred"), ("put_off", "deferred"), ("none", "none"),
        ("both", "multiple"), ("negative", "negative_only"),
    ):  # fmt: skip
        stop = msg.at(name, at, end) or msg.at(name, start, end)
        if not stop:
            continue
        if kind == "none":
            return _none(msg, stop, end, said)
        if kind == "negative_only" and not msg.letter(skip_leads(msg, stop, end), end):
            continue
        if kind == "skip" and stop < end and not (msg.is_edge(stop) or msg.any_at(("polite", "for", "later"), stop)):
            if not msg.any_at(("filler", "item", "note"), stop, end):
                continue
        if kind == "multiple" and stop < end and not msg.is_edge(stop):
            continue
        return Value(kind, said=said)
    stop = msg.at("other", at, end)
    if stop:
        return _other(msg, stop, end, said)
    if (stop := msg.at("postpone", start, end)) and any(msg.at("time", i, end) for i in range(start, end)):
        return Value("deferred", said=said)
    for i in range(max(start, end - 10), end):  # verbs come last in Japanese and Korean
        if msg.tokens[i].kind == "char" and msg.at("unsure", i) == end:
            return Value("unsure", said=said)
    return _verdict(msg, start, end, said)


def _led_recommended(msg: Message, at: int, end: int, name: str) -> int:
    """ "lets go with ur recommended": function words between lead and name."""
    i = at
    while i < end:
        stop = msg.any_at(("filler", "accept", "agree", "article", "lead"), i, end)
        if not stop or msg.letter(i, end):
            return 0
        i = msg.skip_marks(stop, end, ",")
        if msg.at(name, i, end):
            return msg.at(name, i, end)
    return 0


def _committed(msg: Message, start: int, end: int) -> int:
    """ "I missed it earlier, lets go with ur recommended": the choice after an excuse."""
    for i in range(start, end):
        stop = msg.at("commit", i, end)
        if stop:
            named = msg.at("recommended", stop, end) or _led_recommended(msg, stop, end, "recommended")
            if named:
                return named
    return 0


def _recommended(msg: Message, stop: int, end: int, said: str) -> Value:
    """The recommended option, and what was said beside it."""
    while stop < end:
        if msg.is_mark(stop, ",.:;-=)!、。") or msg.is_break(stop):
            stop += 1
            continue
        more = msg.any_at(("filler", "recommended", "accept", "polite", "option"), stop, end)
        if not more or msg.at("note", stop, end):
            break
        stop = more
    if stop < end and msg.is_mark(end - 1, "?") and stop == end - 1:
        return Value("tentative", said=said)
    if msg.at("conditional", stop, end):
        return Value("conditional", said=said)
    note = _note(msg, stop, end) if stop < end else None
    return Value("recommended", note=note, said=said, complete=note is None)


def _otherwise(msg: Message, start: int, end: int) -> str | None:
    """ "…, otherwise as proposed": the recommendation with a change. The whole is the note."""
    for i in range(max(start + 1, end - 8), end):
        stop = msg.at("rest", i, end)
        if stop and msg.at("recommended", msg.skip_marks(stop, end, ","), end):
            return msg.words(start, end)
    return None


def _none(msg: Message, stop: int, end: int, said: str) -> Value:
    rest = msg.skip_marks(stop, end)
    text = msg.words(rest, end) if rest < end and msg.skip_decoration(rest, end) < end else ""
    return Value("other", text=text or None, said=said) if text else Value("other", said=said)


def _other(msg: Message, start: int, end: int, said: str) -> Value:
    """Other and its words. The option's own label, a placeholder or a pointer to elsewhere are no words."""
    i = start
    while i < end:
        stop = msg.any_at(("other", "placeholder"), i, end)
        if stop:
            i = stop
        elif msg.is_mark(i, ":-=,.;)]、>") or msg.is_break(i) or msg.is_mark(i, "->"):
            i += 1
        elif msg.is_mark(i, "([") and msg.at("placeholder", i + 1, end):
            i += 1
        else:
            break
    if i >= end or msg.skip_decoration(i, end) >= end:
        return Value("other", said=said)
    if msg.at("pointer", i, end):
        return Value("other", said=said)
    return Value("other", text=unwrap(msg.words(i, end)) or None, said=said)


def _verdict(msg: Message, start: int, end: int, said: str) -> Value | None:
    """Yes and no on one question name no option; a yes before an instruction is an own answer."""
    i = start
    while i < end and (stop := msg.any_at(("agree", "filler", "all", "polite", "item"), i, end)):
        i = stop
    if i >= end and any(msg.at("agree", k, end) for k in range(start, end)):
        return Value("ambiguous_agreement", said=said)
    stop = msg.any_at(("agree", "accept"), start, end)
    if stop:
        after = stop
        while after < end and (more := msg.at("agree", after, end)):
            after = more
        if after < end and msg.at("imperative", after, end):
            return None
        if after < end and msg.tokens[after].kind == "word" and not msg.any_at(
            ("note", "and", "polite", "filler", "lead", "for", "all", "hedge"), after, end
        ) and msg.at("accept", start, end) == stop:  # fmt: skip
            return None  # "approve only the small ones": an own answer that begins with such a verb
        return Value("ambiguous_agreement", said=said)
    stop = msg.at("disagree", start, end)
    if stop and (stop >= end or msg.is_edge(stop) or msg.is_mark(stop, "-()") or msg.at("polite", stop, end)):
        return Value("unclear", said=said)
    return None


def asks(msg: Message, start: int, end: int) -> bool:
    """Whether the stretch reads as a question: its mark at the end, or the words that begin one."""
    first = msg.skip_decoration(start, end)
    if first >= end:
        return False
    if msg.at("suggestion", end - 1) or any(msg.at("suggestion", i, end) for i in range(max(start, end - 6), end)):
        return False
    if msg.any_at(("explain", "asks_recommended"), first, end):
        return True
    begins = bool(msg.at("question", first, end)) and not msg.at("recommended", first, end)
    if begins and not msg.at("delegate", first, end):
        return True
    last = end - 1
    while last > first and (msg.is_mark(last, "!\")”)") or msg.is_break(last)):
        last -= 1
    if msg.is_mark(last, "?"):
        return not any(msg.at("hedge", i, end) for i in range(first, min(first + 3, end)))
    if msg.at("explain", last) or any(msg.at("explain", i) == end for i in range(max(first, end - 6), end)):
        return True
    return False


def _free_text(msg: Message, start: int, end: int, said: str) -> Value:
    if msg.tokens[start].kind == "mark" and end == start + 1:
        return Value("unclear", said=said)
    last = end - 1
    while last > start and (msg.is_mark(last, "!\")”)") or msg.is_break(last)):
        last -= 1
    if msg.is_mark(last, "?") and not any(msg.is_mark(i, "?") for i in range(start, last)):
        return Value("tentative", said=said)
    if msg.at("hedge", start, end):
        return Value("tentative", said=said)
    return Value("other", text=said, said=said, complete=False)


# -- labels --------------------------------------------------------------------------------------------------


def _by_label(msg: Message, start: int, end: int, slot: Slot) -> Value | None:
    """The text of an option, whole or with a remark after it; a near miss is only proposed."""
    if not slot.labels:
        return None
    said = msg.words(start, end)
    words = [t.fold for t in msg.tokens[start:end]]
    best: tuple[int, str] | None = None
    for letter, label in zip(slot.letters, slot.labels, strict=False):
        if not label or letter == slot.other:
            continue
        wanted = [t.fold for t in tokenize(label)]
        for offset in (0, 1) if len(wanted) > 2 and len(wanted[0]) < 4 else (0,):
            tail = wanted[offset:]
            if tail and words[: len(tail)] == tail and (best is None or len(tail) > best[0]):
                best = (len(tail), letter)
    if best is not None:
        after = start + best[0]
        if after >= end or msg.is_edge(after) or msg.is_mark(after, "-(") or msg.any_at(
            ("note", "polite", "recommended"), after, end
        ):  # fmt: skip
            return _with_label_note(msg, best[1], after, end, said)
        return None
    typed = "".join(words)
    for letter, label in zip(slot.letters, slot.labels, strict=False):
        wanted_text = "".join(t.fold for t in tokenize(label))
        if letter != slot.other and len(typed) >= 5 and _near(typed, wanted_text):
            return Value("tentative", letter=letter, said=said)
    return None


def _with_label_note(msg: Message, letter: str, after: int, end: int, said: str) -> Value:
    if msg.is_mark(after, "?") and after + 1 >= end:
        return Value("tentative", letter=letter, said=said)
    while after < end and (msg.is_mark(after, ",.:;-!、。") or msg.is_break(after)):
        after += 1
    note = _note(msg, after, end) if after < end else None
    return Value("letter", letter, note=note, said=said, complete=note is None)


def _near(typed: str, wanted: str) -> bool:
    """At most one slip (two in long words) between two short strings."""
    if typed == wanted or abs(len(typed) - len(wanted)) > 2 or len(wanted) > 60:
        return False
    allowed = 1 if len(wanted) < 9 else 2
    row = list(range(len(wanted) + 1))
    for i, char in enumerate(typed, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(wanted, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (char != other))
    return row[-1] <= allowed
