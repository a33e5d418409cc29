"""Third stage: the message is cut into statements about the questions.

    message   := (statement | words)*        over the whole message, left to right, never back
    statement := item | rest | same | accept | "except" | force-quit | cancel | correction mark
    item      := numbers bind? value | value "for" numbers | verb numbers | "change" numbers "to" value
    numbers   := number ((sep | "and") number | "-" number)*
    number    := 1 | Q1 | #1 | (1) | question one | 第1题 | 1번 | the first
    bind      := : . ) ] - = -> | or nothing
    rest      := ("rest" | "others") value | value "for the rest"
    same      := "all" letter | letter "for all"

Where a number may begin an item depends on what stands before it (`Place`): anywhere after a line break, a
separator or a finished value, but inside running text only as the next number in order, bound to a value. Words
that belong to no statement stay with the item before them or become the general remark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from bot.core.replies.message import WORDLIKE, Message
from bot.core.replies.values import letter_ends, skip_leads

Place = Literal["line", "sep", "conn", "done", "mid"]

_OPENERS: Final = "\"“”„«‘'「『([{|<*~•#-"
_CORE: Final = (
    "recommended", "delegate", "skip", "unsure", "later", "agree", "disagree", "other", "none", "both", "same",
    "question", "explain", "hedge", "negative", "accept", "put_off",
)  # fmt: skip
_COVER: Final = (
    "accept", "recommended", "delegate", "agree", "filler", "all", "rest", "lead", "polite", "item", "article",
    "option", "for", "everywhere", "number", "unsure",
)  # fmt: skip
_ROMAN: Final = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_MOST_NUMBERS: Final = 64  # no round has more; a longer list is not one


@dataclass(slots=True)
class Statement:
    """One statement. Token ranges: the value is [start, end); `first` is where the statement itself begins.

    `forced` names a value that the verb settles ("skip 2"); `reversed` tells that the value came first and the
    numbers after it, with the remark in [tail, end).
    """

    kind: Literal["item", "rest", "same", "accept", "except", "force_quit", "cancel", "correct", "words"]
    first: int
    start: int
    end: int
    numbers: tuple[int, ...] = ()
    value_end: int = -1  # of a reversed value
    tail: int = -1
    forced: str = ""
    sub: str = ""  # the letter of a sub-id ("1a")
    glued: bool = False
    bound: bool = False
    ranged: bool = False
    weak: bool = False  # a bare number with free text: counts only in company
    buried: bool = False  # found inside running text: counts only in company
    changed: bool = False
    delegated: bool = False
    negated: bool = False
    asked: bool = False
    condition: bool = False
    partial: bool = False  # an acceptance with words in it that the grammar does not know
    after_blank: bool = False
    on_line: bool = False


@dataclass(slots=True)
class _Numbers:
    values: tuple[int, ...]
    end: int
    noun: bool = False
    bracket: bool = False
    word: bool = False
    ranged: bool = False


class Parser:
    """Cuts one message. `parse` is called once."""

    __slots__ = ("_fruitless", "_last", "_listed", "_roman", "_weak_style", "items", "msg", "out")

    def __init__(self, msg: Message) -> None:
        self.msg = msg
        self.out: list[Statement] = []
        self.items = 0
        self._last = 0
        self._weak_style = False
        self._fruitless = 0  # up to here no acceptance begins (keeps repeated words linear)
        self._listed = 0  # up to here a list of numbers has been tried
        self._roman = any(t.fold == "ii" and msg.is_mark(i + 1, ").:") for i, t in enumerate(msg.tokens))

    def parse(self) -> list[Statement]:
        msg = self.msg
        if self._letter_first():
            return self.out
        i = 0
        place: Place = "line"
        open_item: Statement | None = None
        words: Statement | None = None
        blank = False
        most = 64 + 4 * len(msg.slots)
        while i < msg.count:
            if self.items > most:
                return []  # more items than a reply can have: machine text, or a cat on the keyboard
            token = msg.tokens[i]
            if token.kind == "line" or token.kind == "para":
                place = "line"
                if token.kind == "para" and i > 0:
                    blank = True
                    if open_item is not None and self._has_value(open_item, i):
                        open_item.end, open_item = i, None
                if words is not None:
                    words.end, words = i, None
                i += 1
                continue
            if place != "mid" and token.kind == "mark" and token.fold in _OPENERS:
                if not (msg.letter(i + 1) or msg.tokens[min(i + 1, msg.count - 1)].kind == "num") and words is None:
                    words = words or self._open_words(open_item, i, blank)
                statement = self._numbers_statement(i, place, open_item) if token.fold in "([#" else None
                if statement is None:
                    i += 1
                    continue
            elif msg.is_separator(i) or (token.kind == "mark" and token.fold == "-" and token.spaced):
                place = "sep" if place != "line" else place
                i += 1
                continue
            elif place != "mid" and (joined := msg.at("and", i) or (i + 1 if token.fold in "&+" else 0)):
                place = "conn"
                i = joined
                continue
            else:
                statement = self._statement(i, place, open_item)
            if statement is None and place != "mid" and (stop := self._keeps_place(i, place, open_item)):
                if words is None and open_item is None:
                    words = self._open_words(open_item, i, blank)
                i = stop
                place = "conn"
                continue
            if statement is None:
                if words is None and open_item is None:
                    words = self._open_words(open_item, i, blank)
                i += 1
                place = "mid"
                continue
            if open_item is not None:
                open_item.end = statement.first
            if words is not None:
                words.end = statement.first
            open_item = words = None
            statement.after_blank = blank
            statement.on_line = place == "line"
            self.out.append(statement)
            i = max(statement.end, i + 1)
            if statement.kind == "item":
                self._note_item(statement)
                open_item = statement
                i, place = self._past_core(statement)
            elif statement.kind in ("rest", "same"):
                open_item = statement
                place = "done"
            else:
                place = "sep" if statement.kind in ("except", "correct") else "done"
        if open_item is not None:
            open_item.end = msg.count
        if words is not None:
            words.end = msg.count
        return self.out

    def _keeps_place(self, i: int, place: Place, open_item: Statement | None) -> int:
        """Words after which a statement may begin as after a separator: "ok", "thanks", a "but" after an
        acceptance."""
        msg = self.msg
        if open_item is not None and place != "line":
            return 0
        stop = msg.any_at(("agree", "polite", "unsure", "correct", "lead"), i)
        if not stop and self.out and self.out[-1].kind in ("accept", "except"):
            stop = msg.any_at(("note", "filler", "pointer"), i)
        return stop

    # -- bookkeeping -----------------------------------------------------------------------------------------

    def _open_words(self, open_item: Statement | None, i: int, blank: bool) -> Statement | None:
        if open_item is not None:
            return None
        words = Statement("words", i, i, i, after_blank=blank)
        self.out.append(words)
        return words

    def _note_item(self, item: Statement) -> None:
        self.items += 1
        if item.numbers and not item.sub:
            self._last = item.numbers[-1] if item.numbers[-1] in self.msg.by_number else self._last
        self._weak_style = not item.bound

    def _has_value(self, item: Statement, end: int) -> bool:
        return item.tail >= 0 or any(
            not self.msg.is_break(i) and not self.msg.is_mark(i, ":=.-,") for i in range(item.start, min(end, item.start + 6))
        )

    def _past_core(self, item: Statement) -> tuple[int, Place]:
        """Past the value's first words, so that the numbers in them are not taken for items."""
        msg = self.msg
        if item.tail >= 0:
            return item.tail, "done"
        i = item.start
        if i >= msg.count or msg.is_break(i):
            return i, "line"
        if msg.is_separator(i) and not msg.is_mark(i, "?"):
            return i, "sep"
        if msg.is_mark(i, "([") and msg.letter(i + 1) and msg.is_mark(i + 2, ")]"):
            return i + 3, "done"
        at = skip_leads(msg, i, msg.count)
        if msg.letter(at):
            return at + 1, "done"
        for position in (i, at):
            stop = msg.any_at(("skip", "recommended", "delegate", "agree", "disagree", "unsure", "later"), position)
            if stop:
                return stop, "done"
        if msg.at("ordinal", at):
            return msg.at("option", msg.at("ordinal", at)) or msg.at("ordinal", at), "done"
        if msg.tokens[i].kind == "num" and (i + 1 >= msg.count or msg.is_edge(i + 1)):
            return i + 1, "done"
        return i + 1, "mid"

    # -- statements ------------------------------------------------------------------------------------------

    def _statement(self, i: int, place: Place, open_item: Statement | None) -> Statement | None:
        msg = self.msg
        slip = self._slip(i) if place == "line" else None
        numbered = slip or self._numbers_statement(i, place, open_item)
        if numbered is not None and numbered.weak and open_item is not None and not self._has_value(open_item, i):
            return None
        if numbered is not None or place == "mid":
            if numbered is None and not self.items and (stop := msg.at("except", i)) and open_item is None:
                return Statement("except", i, i, stop)
            return numbered
        inside = open_item is not None and place != "line"
        found = self.msg.found(i)
        if found or self.msg.letter(i):
            own = inside and msg.at("otherwise", i) and not msg.letter(open_item.start if open_item else i)
            statement = (None if own else self._rest(i)) or self._reversed(i) or self._same(i)
            if statement is not None:
                return statement
        if not found:
            return None
        if "force_quit" in found:
            return Statement("force_quit", i, i, found["force_quit"][0])
        if "except" in found and (not inside or self._last == 0):
            return Statement("except", i, i, found["except"][0])
        if "correct" in found and not (inside and place == "done"):
            return Statement("correct", i, i, found["correct"][0])
        return self._accept(i, inside) or (None if inside else self._cancel(i))

    def _numbers_statement(self, i: int, place: Place, open_item: Statement | None) -> Statement | None:
        msg = self.msg
        if place != "mid" and (stop := msg.at("change", i)):
            numbers = self._numbers(skip_fill(msg, stop))
            if numbers is not None:
                start = self._bind(numbers.end)[0]
                start = msg.any_at(("becomes", "for", "to"), start) or start
                return Statement("item", i, start, start, numbers.values, changed=True, bound=True)
        numbers = self._numbers(i, alone=i < self._listed)
        if numbers is None:
            return None
        item = self._item(i, numbers, place)
        if item is None:
            self._listed = max(self._listed, numbers.end)
        return item

    def _item(self, first: int, numbers: _Numbers, place: Place) -> Statement | None:
        """Whether these numbers begin an item here, by what binds them and what follows."""
        msg = self.msg
        start, bind = self._bind(numbers.end)
        known = numbers.values[0] in msg.by_number
        bound = bool(bind) or numbers.noun or numbers.bracket
        glued = start == numbers.end and msg.glued(start)
        if not bind and glued and (sub := self._sub_item(numbers, start)) is not None:
            sub.first = first
            return sub
        core = self._core(start, loose=not (bound or glued))
        if numbers.word and not core and msg.letter(start) and msg.at("number", start + 1):
            core = "letter"
        item = Statement(
            "item", first, start, start, numbers.values, glued=glued, bound=bound, ranged=numbers.ranged
        )
        following = numbers.values[0] == self._last + 1
        if (stop := msg.at("becomes", start)) and msg.at("correct", start) == stop:
            start = item.start = item.end = stop
            item.changed, bound, core = True, True, self._core(start, loose=False)
        if self._excepting() and core == "empty" and place in ("sep", "conn", "line"):
            return item
        if self._excepting() and msg.is_mark(start, "("):
            item.bound = True
            return item
        led = bool(msg.at("for", first)) and place != "mid"
        if bind in (",", ";") and not core and not (numbers.noun or (led and core == "question")):
            return None
        if bind in (",", ";") and core not in ("letter", "recommended", "skip") and not (numbers.noun or led):
            return None
        if numbers.word and not numbers.noun and core != "letter":
            ordinal_led = msg.at("for", first) and known and place in ("line", "sep", "conn")
            if not ordinal_led:
                return None
            bound = item.bound = True
        if place == "mid":
            if self.items == 0:
                item.buried = not numbers.noun
                return item if core == "letter" and (known or numbers.noun) else None
            strung = glued and msg.tokens[first].spaced and msg.tokens[start].kind == "char"
            if strung and known and following and not core and not msg.at("unit", start):
                item.weak = True
                return item
            if not known or not (following or (numbers.noun and core in ("letter", "other", "recommended"))):
                return None
            if core in ("letter", "recommended", "skip"):
                return item
            return item if bind in (":", ".", ")") and core != "empty" and not msg.glued(first) or (
                bind == "." and msg.glued(first) and msg.tokens[first - 1].kind == "char"
            ) else None  # fmt: skip
        if bound:
            if core == "empty":
                return item if bind or numbers.noun and self._answers_follow(start) else None
            if not known and not core and (self.items == 0 or bind not in (":", ")", ".")):
                return None
            if bind == "-" and not core and msg.glued(start) and msg.tokens[start].kind == "word":
                if msg.tokens[start].lower or not self.items:
                    return None
            if place != "line" and not core and not (numbers.values[0] > self._last or numbers.noun):
                return None
            return item
        if core == "letter":
            return item if known or glued or self.items else None
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
        item.weak = True
        if place == "line":
            return item
        if self.items and (self._weak_style or glued) and numbers.values[0] > self._last:
            return item if place != "done" or following or glued else None
        return None

    def _slip(self, i: int) -> Statement | None:
        """`a5. …`: a letter before the number, at the head of a line: option A for 5, or a mistyped q5."""
        msg = self.msg
        if not msg.letter(i) or i + 2 >= msg.count or msg.tokens[i + 1].kind != "num" or not msg.glued(i + 1):
            return None
        if msg.at("item", i) or not msg.is_mark(i + 2, ".:)") or msg.tokens[i + 1].value not in msg.by_number:
            return None
        if not self.items or i + 3 >= msg.count or msg.is_edge(i + 3):
            return None
        return Statement("item", i, i, i + 3, (msg.tokens[i + 1].value,), tail=i + 3, forced="slip", bound=True)

    def _excepting(self) -> bool:
        return bool(self.out) and (
            self.out[-1].kind == "except"
            or (self.out[-1].kind == "words" and len(self.out) > 1 and self.out[-2].kind == "except")
        )

    def _answers_follow(self, i: int) -> bool:
        return i < self.msg.count and self.msg.is_break(i) and i + 1 < self.msg.count

    def _sub_item(self, numbers: _Numbers, i: int) -> Statement | None:
        """`1a: C`, `2b. a`: the numbering of another tool; its letter collides with the options."""
        msg = self.msg
        if not msg.letter(i) and not (msg.tokens[i].letter and msg.is_mark(i + 1, ".")):
            return None
        if not msg.is_mark(i + 1, ":.)=") or i + 2 >= msg.count or msg.is_break(i + 2):
            return None
        j = i + 2
        while msg.is_mark(j, ".): "):
            j += 1
        if j >= msg.count or msg.is_edge(j) or self._numbers(j) is not None:
            return None
        core = self._core(j, loose=False)
        if msg.is_mark(i + 1, ":=") or core == "letter" or (core == "recommended" and msg.is_mark(i + 1, ":")):
            return Statement("item", i, j, j, numbers.values, sub=msg.tokens[i].letter.lower(), bound=True)
        return None

    def _core(self, i: int, *, loose: bool) -> str:
        """What the value at `i` is at first sight: "letter", a word class, "empty", "smiley", or "" for words.

        `loose`: nothing binds the number to it, so a letter must be the whole of it.
        """
        msg = self.msg
        while i < msg.count and msg.is_quote(i):
            i += 1
        if i >= msg.count or msg.is_break(i):
            return "empty"
        if msg.is_separator(i):
            return "" if msg.is_mark(i, "?") else "empty"
        if msg.is_mark(i, "([") and msg.letter(i + 1) and msg.is_mark(i + 2, ")]"):
            return "letter"
        at = skip_leads(msg, i, msg.count)
        letter = msg.letter(at)
        if letter:
            offered = letter.startswith("~") or ord(letter) - 64 <= msg.widest
            ends = letter_ends(msg, at, msg.count)
            if offered and (ends or not (loose and msg.tokens[at].lower and letter in "AEOYI")):
                if not (loose and not ends and letter == "A" and not msg.letter(at + 1) and not msg.any_at(("note", "for", "and", "or"), at + 1)):
                    return "letter"
            elif ends and not loose and len(msg.tokens) > at:
                return "letter"
            elif ends and not msg.any_at(_CORE, at):
                return "letter"
        for position in (at, i):
            found = msg.found(position) if position < msg.count else {}
            for name in _CORE:
                if name in found:
                    return name
        if msg.at("ordinal", at) or msg.at("last", at):
            return "ordinal" if not loose else ""
        token = msg.tokens[i]
        if token.kind == "mark" and token.fold > "\u2190" and (i + 1 >= msg.count or msg.is_edge(i + 1)):
            return "smiley"
        return ""

    # -- numbers ---------------------------------------------------------------------------------------------

    def _numbers(self, i: int, *, tail: bool = False, alone: bool = False) -> _Numbers | None:
        """A list of numbers. `tail`: they end a statement ("skip 1, 3: B"), so one with a value of its own is not
        among them. `alone`: only the first."""
        first = self._number(i)
        if first is None:
            return None
        value, end, noun, bracket, word = first
        values = [value]
        ranged = False
        msg = self.msg
        while end < msg.count and len(values) < _MOST_NUMBERS and not alone:
            joint = msg.any_at(("and",), end) or (end + 1 if msg.is_mark(end, ",&+、") else 0)
            span = 0 if joint else (msg.at("to", end) or (end + 1 if msg.is_mark(end, "-~") else 0))
            if not joint and not span:
                break
            if joint and msg.at("and", joint):
                joint = msg.at("and", joint)
            following = self._number(joint or span)
            if following is None or (span and (following[0] <= values[-1] or following[0] - values[-1] > _MOST_NUMBERS)):
                break
            if joint and following[4] and not word:
                break
            if tail and joint and self._begins_value(following[1]):
                break
            if span:
                values.extend(range(values[-1] + 1, following[0] + 1))
                ranged = True
            else:
                values.append(following[0])
            end = following[1]
            noun = noun or following[2]
        return _Numbers(tuple(values), end, noun, bracket, word, ranged)

    def _begins_value(self, i: int) -> bool:
        msg = self.msg
        if i >= msg.count or msg.is_break(i):
            return False
        if msg.is_mark(i, ":=") or (msg.tokens[i].kind == "mark" and msg.tokens[i].fold == "->"):
            return True
        return bool(msg.letter(i)) or (msg.is_mark(i, ".)-") and bool(msg.letter(i + 1)))

    def _number(self, i: int) -> tuple[int, int, bool, bool, bool] | None:
        """A question number at `i`: value, end, and whether it has a noun, a bracket, or is a word."""
        msg = self.msg
        if i >= msg.count:
            return None
        if msg.is_mark(i, "([") and i + 2 < msg.count and msg.tokens[i + 1].kind == "num" and msg.is_mark(i + 2, ")]"):
            return msg.tokens[i + 1].value, i + 3, False, True, False
        j = i
        for _ in range(3):
            stop = msg.any_at(("for", "article"), j)
            if not stop or msg.letter(j):
                break
            j = stop
        if self._article_a(j):
            j += 1
        noun = False
        for _ in range(3):
            stop = msg.at("item", j)
            if not stop:
                break
            noun = True
            j = msg.skip_marks(stop, min(stop + 1, msg.count), ".")
        if j >= msg.count:
            return None
        token = msg.tokens[j]
        word = False
        if token.kind == "num":
            value, j = token.value, j + 1
        elif token.fold in _ROMAN and self._roman and msg.is_mark(j + 1, ").:"):
            return _ROMAN[token.fold], j + 1, noun, True, False
        elif token.kind in ("word", "char"):
            stop = msg.at("number", j)
            value = msg.value_at("number", j)
            if not stop:
                stop, value = msg.at("ordinal", j), msg.value_at("ordinal", j)
            if not stop:
                return None
            word, j = True, stop
        else:
            return None
        for _ in range(3):
            stop = msg.any_at(("suffix", "item"), j) if j < msg.count else 0
            if not stop or (msg.at("item", j) == stop and not (word or msg.glued(j))):
                break
            if msg.tokens[j].kind == "word" and not msg.glued(j) and not word:
                break
            if msg.at("item", j) == stop and stop < msg.count and msg.tokens[stop].kind == "num":
                break
            j = stop
        return value, j, noun, False, word

    def _article_a(self, i: int) -> bool:
        """ "pula a 3", "exceto a 2": the Portuguese article, not option A, after a word and before a number."""
        msg = self.msg
        if not 0 < i < msg.count - 1 or msg.tokens[i].fold != "a" or not msg.tokens[i].lower:
            return False
        before, after = msg.tokens[i - 1], msg.tokens[i + 1]
        return before.kind == "word" and not before.letter and after.kind == "num" and after.spaced

    def _bind(self, i: int) -> tuple[int, str]:
        """Past what binds a number to its value; the first sign of it, or ""."""
        msg = self.msg
        bind = ""
        j = i
        while j < msg.count and msg.tokens[j].kind == "mark" and j < i + 5:
            sign = msg.tokens[j].fold
            if sign in "\"”’'»」』" or (sign in "“‘«「『([" and bind and not msg.letter(j + 2)) and sign not in "([":
                pass
            elif sign in (":", ".", ")", "]", "-", "=", "->", "|"):
                bind = bind or sign
            elif sign in (",", ";") and not bind and msg.glued(j):
                return j + 1, sign
            else:
                break
            j += 1
        if not bind:
            stop = msg.at("suffix", j) if j < msg.count else 0
            return (stop, ":") if stop else (i, "")
        return j, bind

    # -- value first -----------------------------------------------------------------------------------------

    def _reversed(self, i: int) -> Statement | None:
        """ "B for 1", "skip 2 and 3", "not sure about 3", "second option for 3", "defaults for the rest"."""
        msg = self.msg
        found = msg.found(i)
        for name in ("withdraw", "reject", "skip", "unsure", "explain", "later"):
            if name not in found:
                continue
            j = skip_fill(msg, found[name][0])
            statement = self._numbered_tail(i, i, found[name][0], j, name)
            if statement is not None:
                return statement
        at = skip_leads(msg, i, msg.count)
        if msg.letter(at):
            stop = at + 1
            if msg.is_mark(stop, "(") and (inner := msg.at("recommended", stop + 1)) and msg.is_mark(inner, ")"):
                stop = inner + 1
        else:
            stop = msg.any_at(("recommended", "delegate", "ordinal", "last", "accept"), at)
            if not stop:
                return None
            stop = msg.at("option", stop) or stop
            for _ in range(8):
                more = msg.any_at(("recommended", "filler", "option"), stop)
                if not more or msg.at("for", stop):
                    break
                stop = more
        joint = msg.at("for", stop)
        if not joint:
            if not msg.at("accept", at):
                return None
            joint = stop
        return self._numbered_tail(i, at, stop, joint, "" if not msg.at("accept", at) else "recommended")

    def _numbered_tail(self, first: int, value: int, value_end: int, j: int, forced: str) -> Statement | None:
        msg = self.msg
        k = j
        for _ in range(8):
            more = msg.any_at(("article", "filler"), k)
            if not more or msg.any_at(("rest", "all"), k):
                break
            k = more
        stop = msg.at("rest", k)
        if stop:
            return Statement("rest", first, value, stop, value_end=value_end, tail=stop, forced=forced)
        numbers = self._numbers(j, tail=True)
        if numbers is None or (numbers.word and not numbers.noun and not msg.is_edge(numbers.end) and forced):
            return None
        if not any(n in msg.by_number for n in numbers.values) and not numbers.noun and forced:
            return None
        if msg.at("unit", numbers.end) or (numbers.end < msg.count and msg.letter(numbers.end) and forced == ""):
            return None
        return Statement(
            "item", first, value, numbers.end, numbers.values, value_end=value_end, tail=numbers.end,
            forced=forced, bound=True, ranged=numbers.ranged,
        )  # fmt: skip

    def _rest(self, i: int) -> Statement | None:
        msg = self.msg
        j = i
        for _ in range(4):
            stop = msg.any_at(("filler", "article", "lead", "for"), j)
            if not stop or msg.at("rest", j) or msg.letter(j):
                break
            j = stop
        stop = msg.at("rest", j)
        if not stop:
            return None
        k = msg.skip_marks(stop, msg.count, ":-=,")
        for _ in range(4):
            more = msg.any_at(("filler", "item", "suffix"), k)
            if not more or msg.any_at(("recommended", "delegate", "skip"), k) or msg.letter(k):
                break
            k = more
        at = skip_leads(msg, k, msg.count)
        if msg.letter(at) and (letter_ends(msg, at, msg.count) or msg.any_at(("polite", "note"), at + 1)):
            return Statement("rest", i, k, at + 1)
        for position in (k, at):
            end = msg.any_at(("recommended", "delegate", "skip", "agree", "accept"), position)
            if end:
                return Statement("rest", i, position, end)
        return None

    def _same(self, i: int) -> Statement | None:
        """ "all A", "B for all", "B everywhere"."""
        msg = self.msg
        stop = msg.at("all", i)
        if stop:
            j = stop
            for _ in range(4):
                j = msg.skip_marks(j, msg.count, ":-=")
                more = msg.any_at(("filler", "item", "lead", "article", "all", "for"), j)
                if not more or msg.letter(j):
                    break
                j = more
            at = skip_leads(msg, j, msg.count)
            if msg.letter(at) and not (msg.tokens[at].fold in WORDLIKE and not letter_ends(msg, at, msg.count)):
                if letter_ends(msg, at, msg.count) or msg.any_at(("except", "polite", "note", "recommended", "correct"), at + 1):
                    return Statement("same", i, at, at + 1)
            return None
        at = skip_leads(msg, i, msg.count)
        stop = at + 1 if msg.letter(at) else msg.at("option", msg.at("ordinal", at)) or msg.at("ordinal", at)
        if not stop or at >= msg.count:
            return None
        end = msg.at("everywhere", stop)
        if not end and (joint := msg.at("for", stop)):
            end = msg.any_at(("all", "everywhere"), joint)
        return Statement("same", i, at, end, value_end=stop, tail=end) if end else None

    def _letter_first(self) -> bool:
        """`B1 A2 C3`, only if it fits every token of the message."""
        msg = self.msg
        pairs: list[Statement] = []
        i = 0
        while i < msg.count:
            if msg.letter(i) and i + 1 < msg.count and msg.tokens[i + 1].kind == "num" and msg.glued(i + 1):
                if msg.tokens[i].letter == "Q":
                    return False
                number = msg.tokens[i + 1].value
                pairs.append(
                    Statement("item", i, i, i + 2, (number,), value_end=i + 1, tail=i + 2, bound=True)
                )
                i += 2
            elif msg.is_break(i) or msg.is_separator(i) or msg.tokens[i].kind == "mention":
                i += 1
            elif (stop := msg.any_at(("polite", "and"), i)) and not msg.letter(i):
                i = stop
            else:
                return False
        if len(pairs) < 2 and not (pairs and len(self.msg.slots) == 1):
            return False
        self.out = pairs
        self.items = len(pairs)
        return True

    # -- the whole round -------------------------------------------------------------------------------------

    def _accept(self, i: int, inside: bool) -> Statement | None:
        """Words that name the recommendations, use the verb, or leave the choice to the bot."""
        msg = self.msg
        if msg.at("asks_recommended", i) or i < self._fruitless:
            return None
        j = i
        named = taken = delegated = negated = whole = False
        end = 0
        while j < msg.count:
            found = msg.found(j)
            if "except" in found or (msg.is_break(j)) or ("conditional" in found and end):
                break
            if msg.is_separator(j) or msg.is_mark(j, "-"):
                if not end and msg.is_mark(j, ",") and not (named or taken or delegated):
                    if not msg.any_at(("agree", "unsure", "polite", "correct"), i):
                        break
                    j += 1
                    continue
                break
            if msg.is_quote(j) or msg.is_mark(j, "()[]:+"):
                j += 1
                continue
            if "negate" in found and not (named or delegated):
                negated = True
                j = found["negate"][0]
                continue
            if msg.at("and", j) and end and not msg.any_at(("agree", "accept", "recommended"), msg.at("and", j)):
                break
            stop = msg.any_at(_COVER, j) or msg.at("and", j)
            if not stop and msg.tokens[j].fold == "a" and msg.tokens[j].lower:
                stop = j + 1
            if not stop and msg.tokens[j].kind == "num" and (named or taken or whole):
                stop = j + 1
            if not stop:
                break
            longest = {name for name in found if found[name][0] == stop}
            named = named or "recommended" in longest
            delegated = delegated or "delegate" in longest
            taken = taken or "accept" in longest
            whole = whole or "all" in longest
            j = stop
            if named or taken or delegated:
                end = j
        if not (named or taken or delegated):
            self._fruitless = j
            return None
        if inside and not (taken and (named or whole)):
            return None
        j = max(j, end)
        statement = Statement("accept", i, i, j)
        statement.negated = negated
        statement.delegated = delegated and not (named or taken)
        statement.condition = bool(msg.at("conditional", j))
        statement.asked = self._asked(j)
        if j < msg.count and not (msg.is_edge(j) or msg.any_at(("except", "conditional", "note", "and"), j)):
            known = msg.tokens[j].kind == "mark" or msg.tokens[j].kind == "mention"
            statement.partial = not known and not delegated
        return statement

    def _asked(self, i: int) -> bool:
        """Whether the sentence that `i` stands in ends in a question mark."""
        msg = self.msg
        while i < msg.count and not msg.is_break(i):
            if msg.is_mark(i, "?"):
                return True
            if msg.is_mark(i, ".!。"):
                return False
            i += 1
        return False

    def _cancel(self, i: int) -> Statement | None:
        msg = self.msg
        stop = msg.any_at(("cancel", "withdraw"), i)
        if not stop:
            return None
        for _ in range(12):
            more = msg.any_at(("filler", "polite", "all", "article", "agree"), stop)
            if not more:
                break
            stop = more
        if stop < msg.count and not msg.is_edge(stop) and not msg.is_mark(stop, "-\"”)"):
            return None
        return None if self._asked(stop) else Statement("cancel", i, i, stop)


def skip_fill(msg: Message, i: int) -> int:
    """Past function words between a verb and its numbers: "skip for now question 2", "not sure about 3"."""
    for _ in range(4):
        stop = msg.any_at(("filler", "for", "article", "lead", "polite"), i)
        if not stop or msg.any_at(("item", "rest", "number", "ordinal"), i) or msg.letter(i):
            break
        i = stop
    return msg.skip_marks(i, msg.count, ":") if i < msg.count else i
