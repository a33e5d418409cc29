"""Options named by a letter.

    letter := leads? LETTER (note | more letters)?      more letters: two options, sub-answers or a change of mind
            | "not" LETTER ("but" LETTER)? | LETTER "no wait" LETTER

A letter that is also a word ("a simple list", Spanish "y", Russian "в") is none when plain words read on from it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.core.replies.labels import by_label
from bot.core.replies.message import WORDLIKE, Message
from bot.core.replies.reading import Slot
from bot.core.replies.remarks import AFTER_A, against, negated, with_note
from bot.core.replies.value import Value, article_a, asks, letter_ends, skip_leads

_JOINTS: Final = "+/&,-"

_LEANING: Final = frozenset(("alternative", "hedge", "negate", "negative"))
AFTER_TWO: Final = (*AFTER_A, "both", "filler", "item", "option", "all", "skip", "unsure")


def lettered(msg: Message, start: int, end: int, slot: Slot, said: str, glued: bool) -> Value | None:
    at = skip_leads(msg, start, end)
    if stop := msg.at("both", at, end):
        at = stop if msg.letter(stop, end) and letter_ends(msg, stop, end) else at  # "1 and 2 both A"
    if at < end and not _LEANING.isdisjoint(msg.found[at]):
        if (stop := msg.at("alternative", at, end)) and _offers(msg, stop, end):
            return Value("tentative", said=said)
        hedged = msg.at("hedge", at, end)
        if hedged and hedged >= (msg.any_at(("negate", "negative"), at, end) or 0):
            after = skip_leads(msg, hedged, end)
            if msg.letter(after, end) and letter_ends(msg, after, end):
                return Value("tentative", letter=msg.letter(after), said=said)
            return None
        refused = msg.at("negate", at, end) or msg.at("negative", at, end)
        if refused:
            after = skip_leads(msg, refused, end)
            if msg.letter(after, end):
                return negated(msg, after, end, slot, said)
            return Value("negative_only", said=said) if _named_after(msg, after, end) else None
    if msg.is_mark(at, "([\"“‘'") and msg.letter(at + 1, end):
        at, start = at + 1, at + 1
        glued = True
    if not msg.letter(at, end):
        return _letter_word(msg, at, end, slot, said, glued)
    if _asks_on(msg, at, end):
        return Value("question", said=said)
    named = any(msg.at("option", i) == at and not msg.at("number", i) for i in range(start, at))
    return after_letter(msg, at, at + 1, end, slot, said, glued=named or (glued and at == start))


def _asks_on(msg: Message, at: int, end: int) -> bool:
    """Russian "а в чём разница": the small letter is a word, and a question follows it."""
    token = msg.tokens[at]
    if token.fold <= "\x7f" or not token.lower or at + 1 >= end or not msg.tokens[at + 1].spaced:
        return False
    return msg.any_at(("question", "explain"), at + 1, end) > at + 1


def _offers(msg: Message, i: int, end: int) -> bool:
    """Whether an option follows "either"; "either side can move it" is an own answer."""
    i = skip_leads(msg, i, end)
    return bool(msg.letter(i, end) or msg.at("ordinal", i, end)) or msg.skip_decoration(i, end) >= end


def _named_after(msg: Message, i: int, end: int) -> bool:
    """ "not the default": the recommendation, and nothing that chooses after it."""
    stop = msg.at("recommended", i, end)
    if stop and (more := msg.at("option", stop, end)):
        stop = more
    return bool(stop) and msg.skip_decoration(stop, end) >= end


def after_letter(msg: Message, at: int, after: int, end: int, slot: Slot, said: str, *, glued: bool) -> Value | None:
    letter = msg.letter(at) or msg.tokens[at].letter
    token = msg.tokens[at]
    while after < end and msg.is_mark(after, "\"”’'»)]}」』"):
        after += 1
    if stop := msg.at("not_after", after, end):
        return negated(msg, at, end, slot, said, stop)
    if slot.labels and letter in slot.letters and (named := _labelled(msg, letter, after, end, slot, said)):
        return named
    if letter in slot.letters and letter != slot.other and (
        turned := against(msg, letter, after, end, slot, said)
    ) is not None:  # fmt: skip
        return turned
    plain_word = after < end and msg.tokens[after].kind == "word" and not msg.any_at(AFTER_A, after, end)
    praise = msg.at("agree", after, end) if after < end else 0
    if praise and msg.is_word(praise) and praise < end and not msg.any_at(("note", "polite", "and"), praise, end):
        plain_word = True  # "a good idea" reads on, "A good" and "A yes please" do not
    if letter.startswith("~"):
        return Value("unclear", letter=letter[1:], said=said) if not plain_word else None
    known = letter in slot.letters
    strange = msg.capital and not token.lower and letter in "YN" and (after >= end or msg.is_mark(after, "("))
    if not known and msg.any_at(("agree", "disagree", "skip"), at, end) and not strange:
        return None
    if not glued and after == at + 1 and _grown_on(msg, after):
        return Value("unclear", said=said) if known else None
    if plain_word and after == at + 1 and not msg.letter(after, end):
        if token.lower and token.fold in WORDLIKE and not (glued and known):
            return None
        if token.fold == "a" and token.lower and at > start_of_words(msg, at) and not glued:
            return None  # "I would prefer a weekly email"
        if letter == "A" and not glued and not chosen_inside(msg, at):
            return Value("unclear", letter="A", said=said)
        if not known:
            return None
        if glued and not msg.tokens[after].spaced:
            return Value("unclear", said=said)
    if not known:
        if after < end and not (msg.is_edge(after) or msg.is_mark(after, "()[]:-=")):
            return None
        return Value("out_of_range", letter=letter, said=said)
    if (
        token.lower
        and after == end - 1
        and msg.tokens[after].kind == "num"
        and msg.tokens[after].spaced
        and token.spaced
    ):
        return Value("unclear", said=said)  # "2 a 3": two numbers and what joins them
    several = _several(msg, at, after, end, said)
    if several is not None:
        return replace(several, kind="question") if asks(msg, at, end) else several
    return with_note(msg, letter, after, end, slot, said)


def start_of_words(msg: Message, i: int) -> int:
    """Where the words that lead up to `i` begin: "I would prefer a …"."""
    begin = i
    while begin > 0 and msg.tokens[begin - 1].kind == "word" and len(msg.tokens[begin - 1].fold) > 1:
        begin -= 1
    return begin if i - begin > 1 else i


def chosen_inside(msg: Message, i: int) -> bool:
    """ "I'd go with A here": a capital in the middle of lower-case words is no article."""
    before, after = msg.tokens[i - 1] if i else None, msg.tokens[i + 1]
    if msg.tokens[i].lower or before is None or before.kind != "word":
        return False
    return not any(msg.clean.norm[t.start].isupper() for t in (before, after))


def _labelled(msg: Message, letter: str, after: int, end: int, slot: Slot, said: str) -> Value | None:
    """ "A Large", "B (Blue)": the option's text beside its letter; another option's text contradicts it."""
    while after < end and msg.is_mark(after, "([,.:;-="):
        after += 1
    close = end
    while close > after and msg.is_mark(close - 1, ")].!"):
        close -= 1
    label = by_label(msg, after, close, slot) if after < close else None
    if label is None or label.kind != "letter":
        return None
    if label.letter != letter:
        return Value("conflict", letter=letter, said=said)
    return Value("letter", letter, note=label.note, said=said)


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
        letter = "" if msg.at("hedge", step, end) else msg.letter(step, end)
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
    spoken = joint == "and" and i < end and msg.tokens[i].kind == "word" and not msg.any_at(AFTER_TWO, i, end)
    if spoken or (msg.at("copula", i, end) and not msg.at("verdict", i, end)):
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
    if msg.tokens[i].fold == "i" and (msg.tokens[i].lower or (i + 1 < end and msg.tokens[i + 1].kind == "word")):
        return False  # the pronoun
    if article_a(msg, i):
        return False
    if i + 1 >= end or msg.tokens[i + 1].kind != "word" or msg.letter(i + 1, end):
        return True
    if msg.tokens[i].lower and msg.tokens[i].fold in WORDLIKE:
        return False
    if msg.letter(i) != "A":
        return True
    return bool(msg.any_at((*AFTER_A, "both"), i + 1, end))


def _grown_on(msg: Message, i: int) -> bool:
    """A sign that makes one word of the letter and what follows: "B-tree", "A+"."""
    if not msg.glued(i):
        return False
    if msg.is_mark(i, "&") and msg.letter(i + 1) and msg.glued(i + 1):  # "C&A stores"; "C&A" alone is two options
        return i + 2 < msg.count and not msg.is_edge(i + 2) and not msg.at("and", i + 2)
    if msg.is_mark(i, "-"):
        return msg.glued(i + 1) and msg.tokens[i + 1].kind == "word" and not msg.letter(i + 1)
    if msg.is_mark(i, "*"):  # "A* search"
        return i + 1 < msg.count and msg.tokens[i + 1].kind == "word" and not msg.any_at(AFTER_A, i + 1)
    return msg.is_mark(i, "+") and not msg.glued(i + 1)


def _dashed_letters(msg: Message, i: int, end: int) -> bool:
    return bool(msg.letter(i + 1, end)) and msg.is_mark(i + 2, "-(")


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
    if len(set(word.upper())) == 1 and not word.isupper() and not word.islower():
        return Value("unclear", said=said)  # "Bb"
    if word.isupper() or (glued and word.islower() and not set(word) & set("aeiou") - {"a"} and len(word) == 2):
        return Value("multiple" if len(set(word)) > 1 else "letter", letter=word.upper()[0], said=said)
    if glued and not word.islower():
        return Value("unclear", said=said)
    return None


def corrected(msg: Message, start: int, end: int, slot: Slot, said: str, _glued: bool) -> Value | None:
    """ "A no wait B": the marked change inside one value."""
    if not (msg.has("correct") or msg.has("disagree")):
        return None
    at = skip_leads(msg, start, end)
    if not msg.letter(at, end):
        return None
    for i in sorted((*msg.places("correct", start + 1, end), *msg.places("disagree", start + 1, end))):
        stop = msg.at("correct", i, end)
        if not stop and i > at and msg.is_mark(i - 1, ",.;(-!") and (refused := msg.at("disagree", i, end)):
            stop = refused if msg.is_mark(refused, ",.:-") else 0  # "B (no, C)"; "B, no A" may say "B, not A"
        if stop:
            after = skip_leads(msg, msg.skip_marks(stop, end, ",:.-"), end)
            if msg.letter(after, end) in slot.letters and msg.letter(after, end) and letter_ends(msg, after, end):
                return with_note(msg, msg.letter(after), after + 1, end, slot, said)
    return None
