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
from bot.core.replies.value import Value, article_a, asks, letter_ends, note_of, other_words, skip_leads

_JOINTS: Final = "+/&,-"
_MOST_FRAMED: Final = 5  # "is a bit", "ist mir"; more words stand between a letter and no verdict on it
_AT_TIMES: Final = ("later", "put_off", "time", "pause")
AFTER_A: Final = (
    "note", "polite", "for", "recommended", "correct", "agree", "except", "and", "or", "later", "ordinal",
    "hedge", "verdict", "rest", "copula", "everywhere",
)  # fmt: skip

AFTER_TWO: Final = (*AFTER_A, "both", "filler", "item", "option", "all", "skip", "unsure")


def lettered(msg: Message, start: int, end: int, slot: Slot, said: str, glued: bool) -> Value | None:
    at = skip_leads(msg, start, end)
    if stop := msg.at("both", at, end):
        at = stop if msg.letter(stop, end) and letter_ends(msg, stop, end) else at  # "1 and 2 both A"
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
    named = any(msg.at("option", i) == at and not msg.at("number", i) for i in range(start, at))
    return after_letter(msg, at, at + 1, end, slot, said, glued=named or (glued and at == start))


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
    if token.lower and after == end - 1 and msg.tokens[after].kind == "num" and msg.tokens[after].spaced and token.spaced:
        return Value("unclear", said=said)  # "2 a 3": two numbers and what joins them
    several = _several(msg, at, after, end, said)
    if several is not None:
        return replace(several, kind="question") if asks(msg, at, end) else several
    return with_note(msg, letter, after, end, slot, said)


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
    if asks(msg, i, end):
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
    if letter != slot.other and (turned := against(msg, letter, after, end, slot, said)) is not None:
        return turned
    if letter != slot.other and (other := _outdone(msg, letter, after, end, slot)):
        return Value("tentative", letter=other, said=said)
    rest = after
    while rest < end and (msg.is_mark(rest, ",.:;-=+!、。|*") or msg.is_break(rest)):
        rest += 1
    if letter == slot.other:
        return other_words(msg, rest, end, said)
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
    if any(msg.at("discuss", i, end) for i in msg.places("discuss", rest, end)):
        return Value("tentative", letter=letter, said=said)
    note = note_of(msg, rest, end)
    return Value("letter", letter, note=note, said=said, complete=note is None)


def _moves_on(msg: Message, letter: str, i: int, end: int, slot: Slot) -> bool:
    """ "A, later B", "A first and then C": another option at another time; one of them is meant to be built."""
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


def corrected(msg: Message, start: int, end: int, slot: Slot, said: str, _glued: bool) -> Value | None:
    """ "A no wait B": the marked change inside one value."""
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
