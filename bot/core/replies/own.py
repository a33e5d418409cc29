"""Whether free words on a question are an answer of the person's own, or something said about answering it.

    own answer := anything else; it says what the thing asked about is to be
    aside      := opener* (speaking | about the question | to the bot | a signature)
    speaking   := speaker (adverb | modal)* (deliberates | does not know | does not follow | has told already)
    about      := subject? adverb* (verdict | not mine to answer | said elsewhere)   up to the end

An own answer is about the subject; an aside is about the person, the question or the conversation. The words that
tell them apart are the phrase classes of the same names; in Japanese, Korean and Chinese they stand at the end.
When in doubt the words are taken: an aside is only what these classes name from end to end of a short stretch.
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.doubt import unfit
from bot.core.replies.message import Message
from bot.core.replies.value import asks

_LONGEST: Final = 16  # tokens; more is an account of something, and kept
_MOST_BETWEEN: Final = 6  # "we really still have to first"
_NAME: Final = 4  # "the head of finance"
_SPEAKS: Final = (("unknowing", "unsure"), ("baffled", "question"), ("told", "reference"))
_SAID: Final = (
    ("to_bot", "unclear"), ("not_mine", "deferred"), ("elsewhere", "reference"), ("judged", "unclear"), *_SPEAKS,
)  # fmt: skip
_LAST: Final = (
    ("unknowing", "unsure"), ("baffled", "question"), ("not_mine", "deferred"), ("ponder", "deferred"),
    ("told", "reference"), ("elsewhere", "reference"), ("to_bot", "unclear"), ("judged", "unclear"),
)  # fmt: skip
_TURNS: Final = ("note", "limit", "contrast", "opener")
_BEGIN: Final = ("speaker", "judged", "unknowing", "elsewhere", "to_bot", "closing")
_WHOLE: Final = ("judged", "elsewhere", "to_bot")  # nothing but the question stands before them
_WEIGHT: Final = ("question", "deferred", "reference", "unsure", "unclear")  # of several clauses
_DEFERS: Final = ("ponder", "not_mine", "theirs", "later", "consult")  # without one of them nothing is put off
_LEFT: Final = frozenset(("theirs", "not_mine"))
_NAMING: Final = ("elsewhere", "not_mine")
_FOLLOWS: Final = (
    "adverb",
    "subject",
    "matter",
    "filler",
    "time",
    "past",
    "pointer",
    "pause",
    "polite",
    "article",
    "for",
    "opener",
)


def aside(msg: Message, start: int, end: int) -> str:
    """The code of the error, if the words [start, end) are no own answer; "" if they are one.

    Every clause must be an aside: "I don't mind, make it weekly" is an own answer.
    """
    known = msg.asides.get((start, end))
    if known is None:
        known = msg.asides[start, end] = _code(msg, start, end)
    return known


def _code(msg: Message, start: int, end: int) -> str:
    code = _clause(msg, start, end)
    parts = [] if code else _clauses(msg, start, end)
    if len(parts) < 2:
        return code
    found: list[str] = []
    for low, high in parts:
        code = _clause(msg, low, high) or ("question" if asks(msg, low, high) else "")
        if not code:
            return ""
        found.append(code)
    return min(found, key=_WEIGHT.index)


def postpones(msg: Message, start: int, end: int) -> bool:
    """Whether what is said behind an option's letter takes the choice back: "B, but I need to ask my boss first"."""
    if not any(msg.has(name) for name in _DEFERS):
        return False
    i = msg.skip_marks(start, end)
    parted = i > start
    turned = False
    while i < end and (stop := msg.any_at(_TURNS, i, end)) and not msg.letter(i, end):
        i, turned = msg.skip_marks(stop, end, ","), True
    if i >= end or (msg.is_mark(start, "(") and not turned) or msg.numbers_in(i, end):
        return False  # "…, but ask Tom about 2": on another question
    if parted and not turned and not msg.any_at(("speaker", "modal"), i, end):
        return False  # a new sentence, about the whole message
    if any(msg.tokens[k].kind == "char" and msg.at("later", k) == end for k in range(max(i, end - 8), end)):
        return True
    asked = turned and msg.at("consult", i, end) and not msg.at("postpone", i, end)
    return bool(asked) or aside(msg, i, end) == "deferred"


def _clauses(msg: Message, start: int, end: int) -> list[tuple[int, int]]:
    """What stands between commas and full stops."""
    parts: list[tuple[int, int]] = []
    for i in range(start, end + 1):
        if i == end or msg.is_edge(i):
            if i > start:
                parts.append((start, i))
            start = i + 1
    return parts


def _clause(msg: Message, start: int, end: int) -> str:
    while end > start and (msg.is_mark(end - 1, ".!,…)") or msg.is_picture(end - 1)):
        end -= 1
    first = _opened(msg, start, end)
    if first >= end:
        return "unclear"
    if (stop := msg.at("closing", first, end)) and (stop >= end or msg.is_edge(stop) or _signs(msg, stop, end)):
        return "unclear"
    if end - first > _LONGEST and msg.tokens[first].kind != "char":
        return ""
    if msg.at("offered", first, end):
        return "unclear"  # "the options don't fit": about them, whatever is said
    if unfit(msg, first, end):
        return "unclear"
    code = _spoken(msg, first, end) or _told(msg, first, end) or _ends(msg, first, end)
    if code or first == start:
        return code
    return _spoken(msg, start, end) or _told(msg, start, end)


def _opened(msg: Message, i: int, end: int) -> int:
    """Past "well", "to be honest"."""
    while i < end and not msg.letter(i, end):
        stop = msg.any_at(("opener", "polite"), i, end)
        if not stop or msg.any_at(_BEGIN, i, end) >= stop:
            break
        i = msg.skip_marks(stop, end, ",.;:-…")
    return i


def _signs(msg: Message, i: int, end: int) -> bool:
    """Whether a name of one or two words follows."""
    return end - i <= 2 and all(msg.words(k, k + 1)[:1].isupper() for k in range(i, end))


def _spoken(msg: Message, i: int, end: int) -> str:
    """What the person says of themselves: "we still have to ask finance", "I honestly couldn't say"."""
    person = msg.at("speaker", i, end)
    bound = bool(msg.at("modal", i, end))
    if not person and not bound and msg.tokens[i].kind != "char":
        return ""
    for step in range(_MOST_BETWEEN):
        for name, code in _SPEAKS:
            stop = msg.at(name, i, end)
            if stop and (name != "told" or _only(msg, stop, end)) and not _turns(msg, stop, end):
                return code
        if (stop := msg.at("ponder", i, end)) and (bound or stop >= end) and _left(msg, i, stop, end):
            return "deferred" if step or bound else ""
        stop = msg.any_at(("speaker", "adverb", "modal") if not step else ("adverb", "modal", "speaker"), i, end)
        if not stop:
            return ""
        bound = bound or bool(msg.at("modal", i, end))
        i = stop
        if i >= end:
            return ""
    return ""


def _turns(msg: Message, i: int, end: int) -> bool:
    """Whether a clause with something else follows: "I don't mind, make it weekly"."""
    return any(msg.is_edge(k) and k + 2 < end for k in range(i, end))


def _left(msg: Message, first: int, i: int, end: int) -> bool:
    """Whether nothing but whom to ask, or when, is said behind a verb of putting off."""
    if any(msg.at("scene", k, end) for k in msg.places("scene", i, end)):
        return False  # "discuss it in the weekly meeting": what is to be done, and where
    if i >= end or msg.is_edge(i) or msg.any_at(("matter", "time", "note", "conditional", "later"), i, end):
        return not _turns(msg, i, end)
    return end - i <= _NAME and (i - first > 1 or bool(msg.any_at(("article", "filler", "self"), i, end)))


def _told(msg: Message, i: int, end: int) -> str:
    """What is said of the question, of its options, or to the bot, up to the end."""
    for _ in range(_MOST_BETWEEN):
        best, code = 0, ""
        for name, found in _SAID:
            stop = msg.at(name, i, end)
            if name == "not_mine" and stop == i + 1 and stop < end:
                continue  # "call them"
            if stop > best and (_only(msg, stop, end) or (name in _NAMING and _names(msg, i, stop, end))):
                best, code = stop, found
        if code:
            return code
        stop = msg.any_at(("subject", "adverb", "speaker", "copula", "opener", "article"), i, end)
        if not stop or stop >= end:
            return ""
        i = msg.skip_marks(stop, end, ",")
    return ""


def _names(msg: Message, first: int, i: int, end: int) -> bool:
    """Whether a few words follow a phrase of several, that say which other answer, or whose it is."""
    plain = not any(msg.is_edge(k) or msg.any_at(("limit", "scene", "copula"), k) for k in range(i, end))
    return i - first > 1 and 0 < end - i <= _NAME and plain


def _only(msg: Message, i: int, end: int) -> bool:
    """Whether only words that name nothing follow, or a name at the end."""
    while i < end:
        stop = msg.any_at(_FOLLOWS, i, end) or (i + 1 if msg.is_mark(i, ",.!-") else 0)
        if not stop or (msg.letter(i, end) and not msg.at("article", i, end)):
            return False
        i = stop
    return True


def _ends(msg: Message, start: int, end: int) -> str:
    """What comes last: "that's Tom's call", and the verbs of Japanese, Korean and Chinese."""
    if any(msg.is_edge(k) for k in range(start, end)):
        return ""
    short = end - start <= _LONGEST
    for k in range(max(start, end - 14), end):
        found = msg.found[k]
        if not found:
            continue
        if msg.tokens[k].kind == "char":
            for name, code in _LAST:
                if name in found and k + found[name][0] == end and (
                    k == start or name not in _WHOLE or _named(msg, start, k)
                ):  # fmt: skip
                    return code
        elif k > start and short and not _LEFT.isdisjoint(found) and _left_to(msg, start, k, end):
            return "deferred"
    return ""


def _left_to(msg: Message, start: int, k: int, end: int) -> bool:
    """ "Maria knows this", "that's Tom's call"."""
    if (stop := msg.at("theirs", k)) and msg.at("subject", stop) == end:
        return True
    own = msg.at("not_mine", k) == end and not msg.at("article", k - 1)
    return own and bool(msg.any_at(("subject", "speaker"), start, end))


def _named(msg: Message, start: int, k: int) -> bool:
    """Whether the verdict is on the question or its options: nothing else stands before it."""
    i = start
    while i < k:
        stop = msg.any_at(("subject", "adverb", "speaker", "opener", "filler"), i, k)
        if not stop:
            return False
        i = stop
    return True
