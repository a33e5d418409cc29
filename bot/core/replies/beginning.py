"""Which numbers begin an item, by what stands before them, what binds them and what follows.

Anywhere after a line break, a separator or a finished value a number may begin one; in running text only the next
number in order, bound to a value, or one with a noun.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from bot.core.replies.exceptions import excepting
from bot.core.replies.items import (
    changed_at,
    core_at,
    label_ends,
    named_option,
    reads_on,
    refers,
    settled,
    sub_item,
    supplied,
    told_of,
    turned,
)
from bot.core.replies.labels import by_label, label_end, only_label
from bot.core.replies.message import Message
from bot.core.replies.numbering import BEGINS_NUMBER, Numbers, bind_at, numbers_at
from bot.core.replies.retract import told_after
from bot.core.replies.statement import Place, Statement
from bot.core.replies.value import skip_leads

_GIVEN: Final = frozenset(("missed", "change"))
_EXCEPTED: Final = ("letter", "ordinal", "recommended", "skip", "later", "unsure", "put_off")
_NAMED: Final = ("letter", "other", "recommended")


@dataclass(slots=True)
class Said:
    """The statements so far, and what of them decides where the next item may begin."""

    out: list[Statement] = field(default_factory=list)
    items: int = 0
    item_before: Statement | None = None
    last: int = 0  # the number of the last item
    seen: set[int] = field(default_factory=set)
    weak_style: bool = False  # the last item had nothing that binds its number
    unbound: bool = False  # some item had not
    listed: int = 0  # up to here a list of numbers has been tried

    def note(self, item: Statement, msg: Message) -> None:
        self.items += 1
        self.item_before = item
        self.seen.update(item.numbers)
        if item.numbers and not item.sub:
            self.last = item.numbers[-1] if item.numbers[-1] in msg.by_number else self.last
        self.weak_style = not item.bound
        self.unbound = self.unbound or not item.bound


def item_at(msg: Message, said: Said, i: int, place: Place) -> Statement | None:
    """The item that begins at `i`, if one does."""
    found = msg.found[i]
    token = msg.tokens[i]
    if found:
        given = place != "mid" and not _GIVEN.isdisjoint(found)
        if given and (later := supplied(msg, i) or changed_at(msg, i)) is not None:
            return later
        if token.kind != "num" and not msg.roman and token.fold not in "a([" and BEGINS_NUMBER.isdisjoint(found):
            return None
        put = msg.any_at(("skip", "unsure", "later"), i)
        if put and put > msg.any_at(("item", "for", "article", "number"), i) > 0:
            return None  # "no answer for 2"
    elif token.kind != "num" and not msg.roman and token.fold not in "a([":
        return None
    if place != "done" and token.kind == "num" and msg.glued(i) and msg.tokens[i - 1].letter in msg.offered:
        return None  # "B1": the letter came first
    if place == "mid" and i < said.listed and _is_passed(msg, said, i):
        return None
    running = place == "mid" or (place == "done" and bool(msg.at("for", i)))
    numbers = numbers_at(msg, i, alone=i < said.listed, inside=running)
    if numbers is not None and place != "mid" and (aside := told_after(msg, i, numbers)) is not None:
        return aside
    if numbers is None or (place != "line" and refers(msg, said.out, i, numbers, place)):
        return None
    item = _item(msg, said, i, numbers, place)
    if item is None:
        said.listed = max(said.listed, numbers.end)
    return item


def _item(msg: Message, said: Said, first: int, numbers: Numbers, place: Place) -> Statement | None:
    """Whether these numbers begin an item here, by what binds them and what follows."""
    if place == "mid" and not (_may_follow(msg, said, numbers) or excepting(said.out)):
        return None
    spoken = numbers.end < msg.count and msg.tokens[numbers.end].kind == "word"
    if spoken and (named := msg.at("item", numbers.end)) and core_at(msg, named, loose=True) == "letter":
        numbers.end, numbers.noun = named, True  # "на 2 вопрос ответ C"
    start, bind = bind_at(msg, numbers.end)
    known = numbers.values[0] in msg.by_number
    bound = bool(bind) or numbers.noun or numbers.bracket
    glued = start == numbers.end and msg.glued(start)
    if not bind and glued and (sub := sub_item(msg, numbers, start)) is not None:
        sub.first = first
        return sub
    narrowed = msg.any_at(("limit", "pause"), start) if not bind else 0
    if narrowed and msg.is_mark(narrowed, ":="):
        start, bind = bind_at(msg, narrowed)  # "2 only: C", "1 for now: B"
        bound = True
    core = core_at(msg, start, loose=not (bound or glued))
    at = skip_leads(msg, start, msg.count) if numbers.word and core in ("", "question") else msg.count
    if at < msg.count and msg.letter(at) and msg.any_at(("number", "ordinal"), at + 1):
        core = "letter"  # "second one A third B"
    if numbers.word and not bound and core == "letter" and reads_on(msg, start):
        return None  # Russian "раз в неделю": the letter is a preposition
    following = numbers.values[0] == said.last + 1
    excepts = excepting(said.out)
    if (
        place == "mid"
        and said.items
        and len(numbers.values) == 1
        and not (following or excepts or core in _NAMED or msg.at("becomes", start))
    ):
        return None
    item = Statement("item", first, start, start, numbers.values, glued=glued, bound=bound, ranged=numbers.ranged)
    plain = core == "letter" and known and bind and bind not in (",", ";") and not msg.found[start]
    if plain and not excepts and place != "mid":
        return item  # "1: B"
    if not bind and len(numbers.values) > 1 and (every := msg.at("all", start)) and msg.letter(every):
        start = item.start = item.end = every  # "1, 2, 3 all B"
        core = core_at(msg, start, loose=True)
    if (stop := msg.at("becomes", start)) and msg.at("correct", start) == stop:
        start = item.start = item.end = stop
        item.changed, bound, core = True, True, core_at(msg, start, loose=False)
    if excepts and (others := turned(msg, said.out, first, numbers)) is not None:
        return others
    if excepts and place in ("sep", "conn", "line"):
        named = msg.at("which", msg.skip_marks(numbers.end, msg.count, ",-:;"))
        if named and core_at(msg, named, loose=False) in _EXCEPTED:
            item.start = item.end = named
            item.bound = True
            return item
        if core == "empty" or (bind in (",", ";") and core in ("unsure", "later", "put_off", "skip")):
            return item
    if excepts and msg.is_mark(start, "("):
        item.bound = True
        return item
    led = bool(msg.at("for", first)) and place not in (("mid", "done") if bind in (",", ";") else ("mid",))
    if led and known and not core and named_option(msg, start):
        core, bound, item.bound = "ordinal", True, True
    if bind in (",", ";") and not core and not numbers.noun:
        return None
    opened = following and said.items > 0 and core in ("unsure", "later")  # "1, B; 2, no idea"
    if bind in (",", ";") and core not in ("letter", "recommended", "skip") and not (numbers.noun or led or opened):
        return None
    listed = said.items > 0 and bool(bind) and core in ("unsure", "skip", "later", "recommended")
    if numbers.word and not numbers.noun and core != "letter" and not (listed and known and place != "mid"):
        if not (led and known and place in ("line", "sep", "conn") and told_of(msg, numbers.end)):
            return None
        bound = item.bound = True
    if place == "mid":
        if said.items == 0:
            item.buried = not numbers.noun
            return item if core == "letter" and (known or numbers.noun) else None
        strung = glued and msg.tokens[first].spaced and msg.tokens[start].kind == "char"
        if strung and known and following and core in ("", "later") and not msg.at("unit", start):
            item.weak = True
            return item
        if not known or not (following or (numbers.noun and core in _NAMED)):
            return None
        if core in ("letter", "recommended", "skip"):
            return item if bound or said.unbound else None  # "1: Wing 2B, 2: A"
        told = core != "empty" and (numbers.noun or (bind == ":" and msg.glued(first)))
        if (told or _label_alone(msg, numbers, start)) and label_ends(msg, said.item_before, first):
            return item  # "number one weekly number two staff only", "1 weekly 2 staff only"
        return item if (bind in (":", ".", ")") and core != "empty" and not msg.glued(first)) or (
            bind == "." and msg.glued(first) and msg.tokens[first - 1].kind == "char"
        ) else None  # fmt: skip
    if bound:
        if core == "empty":
            return item if bind or (numbers.noun and _answers_follow(msg, start)) else None
        if not known and not core and (said.items == 0 or bind not in (":", ")", ".")):
            return None
        hyphened = bind == "-" and not core and msg.glued(start) and msg.tokens[start].kind == "word"
        if hyphened and (msg.tokens[start].lower or not said.items):
            return None  # "2-factor"
        backwards = numbers.values[0] <= said.last and not numbers.noun
        anew = led or (bind == ":" and not msg.glued(first))
        fresh = anew and known and numbers.values[0] not in said.seen
        if place != "line" and not core and backwards and not fresh:
            return None
        return item
    if core == "letter":
        return item if known or glued or said.items else None
    if core == "empty" or not known:
        return None
    if core and core != "smiley":
        if place == "done" and not following and not glued:
            return None
        return item
    if core == "smiley":
        return item
    if msg.at("unit", start) or numbers.ranged:
        return item if numbers.ranged and core else None
    slot = msg.by_number[numbers.values[0]] if msg.labelled else None
    label = by_label(msg, start, msg.count, slot) or only_label(msg, start, msg.count, slot) if slot else None
    if label is not None and label.kind == "letter":
        return item  # "3 website (with a link by mail)"
    if said.items and (stop := msg.at("too", start)) and msg.is_edge(stop):
        return item  # "1 B, 3 too"
    item.weak = True
    if place == "line":
        return item
    if said.items and (said.weak_style or glued) and numbers.values[0] > said.last:
        return item if place != "done" or following or glued else None
    fresh = place == "sep" and numbers.values[0] not in said.seen
    if fresh and said.out and settled(msg, said.out[-1], first, said.weak_style):
        return item
    return None


def _is_passed(msg: Message, said: Said, i: int) -> bool:
    """Whether the number here was tried with its noun, to no avail, and is not the next in order."""
    token = msg.tokens[i]
    if token.kind != "num" or not said.items or token.value == said.last + 1 or excepting(said.out):
        return False
    return i + 1 >= msg.count or not (msg.tokens[i + 1].letter or msg.tokens[i + 1].kind == "word")


def _may_follow(msg: Message, said: Said, numbers: Numbers) -> bool:
    """Whether an item may begin with these numbers in running text, by what is cheap to tell: the first item
    there is a letter, a later one is the next in order, named by a noun, or has a letter glued to it."""
    if not said.items:
        return bool(msg.lettered) and msg.lettered[-1] >= numbers.end
    if numbers.noun or numbers.values[0] == said.last + 1:
        return numbers.values[0] in msg.by_number or msg.glued(numbers.end)
    following = msg.tokens[numbers.end] if numbers.end < msg.count else None
    if following is None:
        return False
    return bool(following.letter) or (following.kind == "word" and bool(msg.at("item", numbers.end)))


def _label_alone(msg: Message, numbers: Numbers, i: int) -> bool:
    """Whether the text of an option is all that is said up to the next number."""
    slot = msg.by_number.get(numbers.values[0]) if msg.labelled else None
    end = label_end(msg, i, slot) if slot is not None else 0
    return end > 0 and (
        msg.skip_decoration(end, msg.count) >= msg.count or msg.is_edge(end) or msg.number_after(end) == end
    )


def _answers_follow(msg: Message, i: int) -> bool:
    return i < msg.count and msg.is_break(i) and i + 1 < msg.count
