"""Values in words.

words := recommended note? | other text? | skip | unsure | later | yes | no | none | both | question
       | "same as" number | ordinal option | digit
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.core.replies.doubt import may_wait, tells_when, unfit
from bot.core.replies.message import Message
from bot.core.replies.own import aside
from bot.core.replies.reading import Slot
from bot.core.replies.remarks import AFTER_A, against, with_note
from bot.core.replies.value import Value, asks, letter_ends, note_of, other_words, skip_leads

_LONGEST_NAME: Final = 5  # words; more is an instruction and no name
_AFTER_SKIP: Final = ("polite", "for", "later", "filler", "item", "note")


def worded(msg: Message, start: int, end: int, slot: Slot, said: str, _glued: bool) -> Value | None:
    at = skip_leads(msg, start, end)
    for reader in (_by_order, _reference, _by_class):
        value = reader(msg, start, at, end, slot, said)
        if value is not None:
            return value
    return None


def _by_order(msg: Message, start: int, at: int, end: int, slot: Slot, said: str) -> Value | None:
    """Ordinals and digits as options: "the second one", "option 2", and a bare "2" (which only proposes)."""
    if at > start + 1 and msg.at("option", at - 2) == at - 1 and msg.at("number", at - 1) == at:
        at -= 1  # "option one": a number, and no noun here
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
        if i < end and msg.is_word(i) and not msg.any_at(AFTER_A, i, end):
            return None
    elif explicit and (i := msg.at("number", at, end)) and msg.skip_decoration(i, end) >= end:
        rank = msg.value_at("number", at)  # "option three"
    elif (noun := msg.at("item", at, end)) and (i := msg.at("number", noun, end)) and i >= end:
        rank = msg.value_at("number", noun)  # "number three"
    else:
        return None
    if not 1 <= rank <= len(slot.letters):
        return Value("out_of_range", letter=str(rank), said=said)
    return with_note(msg, slot.letters[rank - 1], i, end, slot, said)


def _reference(msg: Message, start: int, _at: int, end: int, _slot: Slot, said: str) -> Value | None:
    if (stop := msg.at("too", start, end)) and msg.skip_decoration(stop, end) >= end:
        return Value("tentative" if msg.is_mark(stop, "?") else "same", said=said)  # "3 too"
    stop = msg.at("same", start, end) or msg.at("same", _at, end)
    if not stop:
        return None
    i = msg.at("item", stop, end) or stop
    number = msg.tokens[i].value if i < end and msg.tokens[i].kind == "num" else msg.value_at("number", i)
    if number <= 0 and i < end and not msg.is_edge(i):
        told = any(msg.at("self", k, end) for k in range(i, min(end, i + 3)))  # "the same as what I told Kim"
        return Value("reference", said=said) if told and stop > max(start, _at) + 1 else None
    if number > 0 and msg.at("unit", i + 1, end):
        return None  # "the same as 2 weeks ago"
    if msg.is_mark(i + 1 if number > 0 else i, "?"):
        return Value("tentative", said=said)
    return Value("same", number=max(number, 0), said=said)


def _by_class(msg: Message, start: int, at: int, end: int, slot: Slot, said: str) -> Value | None:
    if (stop := msg.at("keeps", at, end)) and msg.skip_decoration(stop, end) >= end:
        return Value("empty" if slot.held is not None else "unclear", said=said)
    if (stop := msg.at("again", start, end)) and msg.skip_decoration(stop, end) >= end:
        return Value("reference", said=said)
    if _conditioned(msg, start, end, slot):
        return Value("conditional", said=said)
    if (deferred := _deferred(msg, start, at, end, said)) is not None:
        return deferred
    if may_wait(msg, start, end) and not msg.is_mark(end - 1, "?"):
        return Value("deferred", said=said, kept=said)
    if asks(msg, start, end):
        depends = tells_when(msg, start, end)
        return Value("tentative", said=said, kept=said) if depends else Value("question", said=said)
    if any(msg.at("suggestion", i, end) for i in msg.places("suggestion", start, end)):
        return Value("tentative", said=said)
    for name in ("delegate", "recommended"):
        near = range(start, min(end, start + 6)) if name == "delegate" else ()
        if any(msg.at(name, i, end) and msg.acts(i) for i in near):
            return Value("deferred", said=said)
        stop = msg.at(name, at, end) or msg.at(name, start, end) or _led_recommended(msg, at, end, name)
        if stop and not (name == "recommended" and _qualifies(msg, stop, end)):
            return _recommended(msg, stop, end, slot, said)
    stop = msg.at("as_said", start, end)
    if stop and msg.skip_decoration(stop, end) >= end:
        return _recommended(msg, stop, end, slot, said)
    stop = msg.at("pointer", start, end)
    if stop and (msg.skip_decoration(stop, end) >= end or _placed(msg, stop, end)):
        return Value("other", said=said)
    if stop := _committed(msg, start, end):
        return _recommended(msg, stop, end, slot, said)
    stop = msg.at("accept", at, end)
    if stop and (stop >= end or msg.any_at(("recommended", "polite"), stop, end)):
        return _recommended(msg, stop, end, slot, said)
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
            if aside(msg, start, end):
                return Value("other", said=said)  # 选项都不对
            return _none(msg, at if msg.at(name, at, end) else start, stop, end, said)
        if kind == "negative_only" and not msg.letter(skip_leads(msg, stop, end), end):
            continue
        if kind == "deferred" and msg.at("awaits", start, end) > stop:
            continue  # "después de cada pedido" is not "después"
        ends = stop >= end or msg.is_edge(stop)
        if kind == "skip" and not ends and not msg.any_at(_AFTER_SKIP, stop):
            continue  # "skip logic", "pass the token on": an own answer
        if kind == "multiple" and stop < end and not msg.is_edge(stop):
            continue
        return _timed(msg, start, end, Value(kind, said=said))
    stop = msg.at("other", at, end)
    if stop:
        return other_words(msg, stop, end, said)
    if (stop := msg.at("postpone", start, end)) and (
        msg.at("awaits", stop, end) or any(msg.at("time", i, end) for i in msg.places("time", start, end))
    ):
        return Value("deferred", said=said)
    for i in range(max(start, end - 10), end):  # verbs come last in Japanese and Korean
        if msg.tokens[i].kind == "char" and msg.at("unsure", i) == end:
            return Value("unsure", said=said)
    return _verdict(msg, start, end, said)


def _conditioned(msg: Message, start: int, end: int, slot: Slot) -> bool:
    """ "If legal agrees, C": a choice that is none yet. Without a letter the words are an own answer."""
    if not msg.any_at(("conditional", "limit"), start, end) or end - start > 24 or msg.is_mark(end - 1, "?"):
        return False
    capitals = (i for i in range(start + 1, end) if msg.letter(i, end) in slot.letters and not msg.tokens[i].lower)
    return any(letter_ends(msg, i, end) for i in capitals)


def _deferred(msg: Message, start: int, at: int, end: int, said: str) -> Value | None:
    """ "will decide tomorrow", "still waiting to hear …, will answer later", "ask me again on the 3rd"."""

    def heads(i: int) -> bool:
        return i in (start, at) or (i > start and msg.is_separator(i - 1) and msg.is_word(i))

    if any(heads(i) and msg.letter(i, end) and letter_ends(msg, i, end) for i in msg.letters_in(start, end)):
        return None
    tail = range(max(start + 1, end - 11), end)
    put_off = Value("deferred", said=said)
    if msg.has("theirs") and any(msg.at("theirs", i) == end for i in tail):
        unsure = any(msg.at("unsure", i) == end for i in (start, *tail))
        left = any(msg.at("delegate", i) == end for i in (start, at))
        if not unsure and not left:
            return replace(put_off, kept=said)  # "the treasurer decides": may be the answer, or whom to ask
    if (stop := msg.at("consult", at, end) or msg.at("consult", start, end)) and _ends_in_name(msg, stop, end):
        return put_off
    names = ("later", "put_off", "postpone")
    for i in (i for name in names for i in msg.places(name, start, end) if heads(i)):
        stop = msg.any_at(("later", "put_off"), i, end)
        whole = stop >= end or msg.is_edge(stop) or bool(msg.any_at(("time", "for", "note", "polite"), stop))
        if stop > i + 1 and (whole or msg.acts(stop) or stop - i > 2):
            return _timed(msg, start, end, put_off)
        asked = msg.at("postpone", i, end)
        if asked > i + 1 and (asked >= end or msg.any_at(("for", "time"), asked)):
            return put_off
    return None


def _timed(msg: Message, start: int, end: int, value: Value) -> Value:
    """ "After lunch" may say when the thing asked about happens."""
    timed = value.kind == "deferred" and msg.at("awaits", start, end) and msg.at("time", start, end) == end
    return replace(value, kept=value.said) if timed else value


def _ends_in_name(msg: Message, i: int, end: int) -> bool:
    """ "Ask Tom", "ask the legal team first": whom to ask, and nothing to ask them for."""
    if msg.at("scene", i, end):
        return False  # "ask at checkout"
    i = msg.any_at(("article", "for"), i, end) or i
    last = min(end, i + _LONGEST_NAME)
    name = i
    while i < last and msg.tokens[i].kind in ("word", "char", "mention") and not msg.any_at(
        ("for", "to", "conditional", "limit", "note", "and", "scene"), i, end
    ):  # fmt: skip
        i += 1
    if msg.at("scene", i, end):
        return False  # "ask the customer at checkout"
    i = msg.skip_marks(i, end, ".!,")
    return i > name and (i >= end or msg.is_edge(i - 1) or bool(msg.any_at(("later", "time", "note", "polite"), i)))


def _led_recommended(msg: Message, at: int, end: int, name: str, passed: set[int] | None = None) -> int:
    """ "lets go with ur recommended": function words between lead and name. `passed`: from there none was found."""
    i = at
    passed = set() if passed is None else passed
    if msg.next((name,), at) >= end:
        return 0
    while i < end and i not in passed:
        passed.add(i)
        stop = msg.any_at(("filler", "accept", "agree", "article", "lead"), i, end)
        if not stop or msg.letter(i, end):
            return 0
        i = msg.skip_marks(stop, end, ",")
        if msg.at(name, i, end):
            return msg.at(name, i, end)
    return 0


def _committed(msg: Message, start: int, end: int) -> int:
    """ "I missed it earlier, lets go with ur recommended": the choice after an excuse."""
    passed: set[int] = set()
    for i in msg.places("commit", start, end):
        stop = msg.at("commit", i, end)
        if stop:
            named = msg.at("recommended", stop, end) or _led_recommended(msg, stop, end, "recommended", passed)
            if named:
                return named
    return 0


def _placed(msg: Message, i: int, end: int) -> bool:
    """ "See my mail from Monday": a few words that only say where."""
    told = msg.any_at(("for", "filler", "note", "time"), i, end)
    return bool(told) and end - i <= _LONGEST_NAME and not any(msg.is_edge(k) for k in range(i, end))


def _qualifies(msg: Message, i: int, end: int) -> bool:
    """ "Recommended retail price", "by default hidden": the word belongs to what follows, an own answer."""
    return i < end and msg.tokens[i].kind == "word" and not msg.letter(i) and not msg.found[i]


def _recommended(msg: Message, stop: int, end: int, slot: Slot, said: str) -> Value:
    """The recommended option, and what was said beside it."""
    if (turned := against(msg, "", stop, end, slot, said)) is not None:
        return turned
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
    note = note_of(msg, stop, end) if stop < end else None
    return Value("recommended", note=note, said=said, complete=note is None)


def _otherwise(msg: Message, start: int, end: int) -> str | None:
    """ "…, otherwise as proposed": the recommendation with a change. The whole is the note."""
    for i in range(max(start + 1, end - 8), end):
        stop = msg.at("rest", i, end)
        if stop and msg.at("recommended", msg.skip_marks(stop, end, ","), end):
            return msg.words(start, end)
    return None


def _none(msg: Message, first: int, stop: int, end: int, said: str) -> Value:
    """ "None of these, we use X". What is said of the options is no text ("none of them convinces me"), and a noun
    belongs to its "no" ("aucune limite"). Other words right behind are kept, and asked about."""
    if msg.letter(stop, end) and not msg.tokens[stop].lower:
        return Value("negative_only", said=said)  # "neither A nor B"
    edge = next((i for i in range(stop, end) if msg.is_edge(i) or msg.is_mark(i, "-(:")), end)
    turn = next((i for i in msg.places("contrast", stop, edge)), edge)
    spoken = msg.skip_decoration(stop, turn) < turn
    if spoken and not unfit(msg, first, turn) and not aside(msg, stop, turn):
        told = bool(msg.any_at(("speaker", "self", "lead", "imperative"), stop, turn))
        if told and stop - first > 1:
            return Value("other", text=msg.words(stop, end), said=said)  # "none of those we just email people"
        return Value("other", said=said, kept=said)
    rest = msg.skip_marks(msg.at("contrast", turn, end) or turn, end)
    text = msg.words(rest, end) if rest < end and msg.skip_decoration(rest, end) < end else ""
    return Value("other", text=None if not text or aside(msg, rest, end) else text, said=said)


def _says_yes(msg: Message, start: int, end: int) -> bool:
    """Whether nothing but words of a yes is there; looked at once for all the questions that it is said of."""
    if (start, end) not in msg.yes:
        i = start
        while i < end and (stop := msg.any_at(("agree", "filler", "all", "polite", "item"), i, end)):
            i = stop
        msg.yes[start, end] = i >= end
    return msg.yes[start, end]


def _verdict(msg: Message, start: int, end: int, said: str) -> Value | None:
    """Yes and no on one question name no option; a yes before an instruction is an own answer."""
    if any(msg.at("agree", k, end) for k in msg.places("agree", start, end)) and _says_yes(msg, start, end):
        return Value("ambiguous_agreement", said=said)
    stop = msg.any_at(("agree", "accept"), start, end)
    if stop:
        after = stop
        while after < end and (more := msg.at("agree", after, end)):
            after = more
        if after < end and (msg.at("imperative", after, end) or msg.at("imperative", start, end) == stop):
            return None
        grown = after + 2 < end and msg.tokens[after].kind == "char" and msg.glued(after)
        if grown and stop == msg.at("agree", start, end) and not (msg.found[after] or msg.found[after + 1]):
            return None  # 「確認ボタンを大きく」: the word is part of a longer one
        if after < end and msg.tokens[after].kind == "word" and not msg.any_at(
            ("note", "and", "polite", "filler", "lead", "for", "all", "hedge"), after, end
        ) and msg.at("accept", start, end) == stop:  # fmt: skip
            return None  # "approve only the small ones": an own answer that begins with such a verb
        return Value("ambiguous_agreement", said=said)
    stop = msg.at("disagree", start, end)
    if stop and (stop >= end or msg.is_edge(stop) or msg.is_mark(stop, "-()") or msg.at("polite", stop, end)):
        return Value("unclear", said=said)
    return None
