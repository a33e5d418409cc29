"""What was said on one question, once it is known which words belong to it.

    value := label | letter | words | free text

A letter is a choice only as a whole token; anything else said on a numbered question is an own answer, and is
never matched loosely to an option.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.core.replies.doubt import bare_order, may_wait, puts_off
from bot.core.replies.labels import by_label, only_label
from bot.core.replies.letters import after_letter, corrected, lettered
from bot.core.replies.message import Message
from bot.core.replies.own import aside
from bot.core.replies.reading import Slot
from bot.core.replies.value import Value, letter_ends, note_of, skip_leads
from bot.core.replies.words import worded

_FEW_WORDS: Final = 12
_SPOKEN: Final = ("word", "num", "char", "opaque")


def read_value(msg: Message, start: int, end: int, slot: Slot, *, glued: bool = False) -> Value:
    """Read the tokens [start, end) as what was said on `slot`. `glued`: the first is glued to the number.

    Courtesy at the end ("…, thanks!") does not count, except that an own answer is kept as typed.
    """
    last = end
    while last > start + 1 and (msg.is_mark(last - 1, ",;.!/|、。") or msg.is_break(last - 1)):
        last -= 1
    if last == start + 1 and (glued or msg.is_edge(last)) and _letter_alone(msg, start, slot):
        return Value("letter", msg.tokens[start].letter, said=msg.words(start, last))
    bare = without_courtesy(msg, start, end)
    for i in msg.places("content", max(start + 2, bare - _FEW_WORDS), bare):
        if msg.is_mark(i - 1, ",.;") and msg.at("content", i, bare) == bare:  # "…, nothing to add"
            value = _read(msg, start, i - 1, slot, glued=glued)
            if value.text is None and value.kind not in ("letter", "recommended"):
                return value
    if (answered := _below_prompt(msg, start, bare)) > 0:
        return _read(msg, answered, bare, slot, glued=True)
    value = _read(msg, start, bare, slot, glued=glued)
    if bare < end and (value.text is not None or value.kind == "ambiguous_agreement"):
        spoken = bare
        while spoken < end and msg.tokens[spoken].kind == "char":
            spoken += 1  # polite endings of Japanese and Korean verbs are part of them
        if bare < spoken and (told := _read(msg, start, spoken, slot, glued=glued)).text is None:
            return told
        return _read(msg, start, end, slot, glued=glued) if value.text is not None else value
    return value


def _below_prompt(msg: Message, start: int, end: int) -> int:
    """ "1. Who can export? B": where a letter stands alone behind the card's own question; 0 if none does."""
    at = end - 1
    while at > start and (msg.is_mark(at, ".!)") or msg.is_break(at)):
        at -= 1
    asked = at - 1
    while asked > start and (msg.is_break(asked) or msg.is_mark(asked, "-(:")):
        asked -= 1
    if at - start < 3 or not msg.letter(at, end) or not msg.is_mark(asked, "?") or msg.letter(start):
        return 0
    if sum(msg.is_word(i) for i in range(start, asked)) < 2:
        return 0
    return at if not any(msg.is_mark(i, "?") for i in range(start, asked)) else 0


def _letter_alone(msg: Message, i: int, slot: Slot) -> bool:
    """Whether one letter is all that was said, and it can mean nothing but that option."""
    token = msg.tokens[i]
    plain = token.letter in slot.letters and token.letter != slot.other and msg.letter(i) == token.letter
    named = plain and (token.fold,) in slot.folded.texts
    return plain and not named and not msg.found[i] and not msg.is_mark(i + 1, "?")


def without_courtesy(msg: Message, start: int, end: int) -> int:
    """Where thanks, emoji and a full stop at the end of [start, end) begin; `end` if there are none."""
    first = max(start + 1, end - _FEW_WORDS)
    if first >= end or (msg.tokens[end - 1].kind in _SPOKEN and not msg.places("polite", first, end)):
        return end
    for i in range(first, end):
        token = msg.tokens[i]
        sign = token.kind == "mark" and (token.fold in ".!" or token.fold > "\u2190")
        if (sign or msg.at("polite", i, end)) and not msg.letter(i) and msg.skip_decoration(i, end) >= end:
            return i
    return end


def _more_than(msg: Message, at: int, end: int) -> bool:
    """Whether ">10" or ">= 10" begins here; behind "-" or "=" it is an arrow."""
    if not msg.is_mark(at, ">") or msg.is_mark(at - 1, "-="):
        return False
    number = msg.skip_marks(at + 1, end, "=")
    return number < end and msg.tokens[number].kind == "num"


def _read(msg: Message, start: int, end: int, slot: Slot, *, glued: bool) -> Value:
    within = range(start, min(end, start + 200) - 1)
    followed = start < end < msg.count and not (msg.is_break(end) or msg.is_break(end - 1))
    while end > start and (msg.is_break(end - 1) or msg.is_mark(end - 1, ",;/|、。}{") or (
        msg.is_quote(end - 1) and not any(msg.is_quote(i) for i in within)
    ) or (msg.is_mark(end - 1, "-") and msg.tokens[end - 1].spaced)):  # fmt: skip
        end -= 1
    if followed and end - start > 1 and msg.at("and", end - 1) == end and not msg.letter(end - 1):
        end -= 1
    while start < end and (msg.is_break(start) or msg.is_mark(start, ":=.-,|>\"“„«‘'「『{}")):
        if msg.is_mark(start, "‘'\"“„«「『") and not msg.letter(start + 1, end):
            break
        if _more_than(msg, start, end):
            break  # "2: >10 years" says more than "10 years"
        start += 1
    if end - start > 3 and msg.is_mark(start, "(") and msg.is_mark(end - 1, ")") and not any(
        msg.is_mark(i, "()") for i in range(start + 1, end - 1)
    ):  # fmt: skip
        start, end = start + 1, end - 1
    if start >= end:
        return Value("empty")
    if msg.is_mark(start, "("):
        close = next((i for i in range(start + 2, min(end - 1, start + _FEW_WORDS)) if msg.is_mark(i, ")")), 0)
        inner = _read(msg, start + 1, close, slot, glued=glued) if close and msg.is_edge(close + 1) else None
        if inner is not None and inner.kind == "letter":  # "(I pick B), thanks"
            return replace(inner, note=inner.note or note_of(msg, close + 1, end), complete=False)
    if _only_thanks(msg, start, end):
        return Value("empty")
    said = msg.words(start, end)
    if msg.is_mark(start, "?") and all(msg.is_mark(i, "?!") for i in range(start, end)):
        return Value("unsure", said=said)
    if (stop := msg.at("which", start, end)) and not msg.is_mark(end - 1, "?"):
        after = msg.skip_marks(stop, end, ":")
        if msg.any_at(("other", "recommended", "skip"), after, end) or msg.letter(after, end):
            start = after  # "except 2, which is other: …"
    at = skip_leads(msg, start, end)
    if at == end - 1 and msg.tokens[at].kind == "word" and msg.at("spoken", at, end) and not msg.letter(at):
        return Value("unclear", said=said)  # "be", "see": dictated letters, or words that answer nothing
    label = by_label(msg, start, end, slot) or only_label(msg, start, end, slot)
    if label is not None:
        return label
    if msg.is_mark(start, "([") and (msg.letter(start + 1, end) and msg.is_mark(start + 2, ")]")):
        value = after_letter(msg, start + 1, start + 3, end, slot, said, glued=True)
        if value is not None:
            return value
    for reader in (corrected, lettered, worded):
        value = reader(msg, start, end, slot, said, glued)
        if value is not None:
            return value
    return _free_text(msg, start, end, slot, said)


def _only_thanks(msg: Message, i: int, end: int) -> bool:
    """ "4. thanks!": nothing was said on 4."""
    while i < end and (stop := (i + 1 if msg.is_mark(i, ".!,") else msg.at("polite", i, end))):
        if msg.letter(i) or msg.any_at(("agree", "recommended", "skip"), i, end):
            return False
        i = stop
    return i >= end


def _free_text(msg: Message, start: int, end: int, slot: Slot, said: str) -> Value:
    if not any(msg.is_word(i) for i in range(start, end)):
        return Value("unclear", said=said)
    if len(said) == 1 and msg.tokens[start].kind == "word":
        return Value("unclear", said=said)  # a letter of another script, "2: ج"
    last = end - 1
    while last > start and (msg.is_mark(last, '!")”)') or msg.is_break(last)):
        last -= 1
    if msg.is_mark(last, "?") and not any(msg.is_mark(i, "?") for i in range(start, last)):
        return Value("tentative", said=said)
    if msg.at("hedge", start, end):
        return Value("tentative", said=said)
    small = {i for i in msg.letters_in(start, end) if msg.tokens[i].spaced or i == start}
    if small and all(i in small or msg.tokens[i].kind in ("num", "mark") for i in range(start, end)):
        return Value("unclear", said=said)  # Spanish "2 o 3"
    listed = sum(msg.is_mark(i + 1, ")") and bool(msg.tokens[i].letter) for i in msg.letters_in(start, end))
    if listed > 1:
        return Value("unclear", said=said)  # the card's own options, copied
    if end - start <= _FEW_WORDS and any(_names_option(msg, i, end, slot) for i in range(start, end)):
        return Value("unclear", said=said)
    if (turned := msg.any_at(("negate", "negative"), start, end)) and by_label(msg, turned, end, slot) is not None:
        return Value("negative_only", said=said)  # "not printed", of an option with that text
    if bare_order(msg, start, end):
        return Value("order", said=said, kept=said)
    if item_within(msg, start, start + 1):  # "1: 2B 3C": the first number names the round, or is a slip
        return Value("unclear", said=said)
    if code := aside(msg, start, end):
        when = code == "deferred" and msg.at("awaits", start, end) > start + 1  # "depois do pagamento"
        return Value(code, said=said, kept=said if when else None, complete=False)
    if may_wait(msg, start, end) or puts_off(msg, start, end):
        return Value("deferred", said=said, kept=said, complete=False)
    return Value("other", text=said, said=said, complete=False)


def item_within(msg: Message, start: int, end: int) -> bool:
    """Whether an item of this round begins in [start, end): a number of it, and a letter bound to that number."""
    for i in range(start, end):
        if msg.tokens[i].kind == "num" and msg.tokens[i].value in msg.by_number:
            at = i + 2 if msg.is_mark(i + 1, ":.)=-") else i + 1
            if at < msg.count and msg.letter(at) and letter_ends(msg, at, msg.count):
                return True
    return False


def _names_option(msg: Message, i: int, end: int, slot: Slot) -> bool:
    """A capital option letter inside a short phrase ("rather C"), or a small one at the end of it ("nehm ich b"): too
    close to a choice for an own answer."""
    letter = msg.letter(i, end)
    if i == end - 1 and letter and letter in slot.letters and msg.tokens[i].spaced:
        return True
    if letter not in slot.letters or not letter or msg.tokens[i].lower or msg.glued(i):
        return False
    return letter_ends(msg, i, end) and not msg.is_mark(i + 1, "/+-&")
