"""Third stage: the message is cut into statements about the questions.

    message   := (statement | words)*        over the whole message, left to right, never back
    statement := item | rest | same | accept | "except" | force-quit | cancel | correction mark
    item      := numbers bind? value | value "for" numbers | verb numbers | "change" numbers "to" value
    numbers   := number ((sep | "and") number | "-" number)*
    number    := 1 | Q1 | #1 | (1) | question one | 第1题 | 1번 | the first
    bind      := : . ) ] - = -> | or nothing
    rest      := ("rest" | "others") value | value "for the rest"
    same      := "all" letter | letter "for all"

Where a number may begin an item depends on what stands before it (`beginning`). Words that belong to no statement
stay with the item before them or become the general remark.
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.beginning import Said, item_at
from bot.core.replies.exceptions import except_at, left_open
from bot.core.replies.general import accept_at, cancel_at, rest_at, same_at
from bot.core.replies.items import letters_first, open_ended, slip_at
from bot.core.replies.message import Message
from bot.core.replies.numbering import begins_value, goes_on, numbers_at, skip_fill
from bot.core.replies.related import asks_others, same_again
from bot.core.replies.retract import asked_aside, hedged_first, taken_back
from bot.core.replies.reverse import value_first
from bot.core.replies.statement import Place, Statement
from bot.core.replies.value import letter_ends, skip_leads
from bot.core.replies.values import item_within

_PUT_ASIDE: Final = ("discuss", "later", "unsure", "explain")
_BEGINS_ASIDE: Final = frozenset((*_PUT_ASIDE, "take_up"))
_RELATED: Final = frozenset(("same", "too", "consult", "later", "note"))
_OPENERS: Final = "\"“”„«‘'「『([{|<*~•#-"


class Parser:
    """Cuts one message. `parse` is called once."""

    __slots__ = ("_said_before", "msg", "said")

    def __init__(self, msg: Message) -> None:
        self.msg = msg
        self.said = Said()
        self._said_before: Statement | None = None  # the last statement that is not plain words

    def parse(self) -> list[Statement]:
        msg = self.msg
        if (pairs := letters_first(msg)) is not None:
            self.said.out, self.said.items = pairs, len(pairs)
            return pairs
        i = 0
        place: Place = "line"
        open_item: Statement | None = None
        words: Statement | None = None
        blank = False
        most = 64 + 4 * len(msg.slots)
        while i < msg.count:
            if self.said.items > most:
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
            if place == "mid" and token.kind != "mark" and token.kind != "num" and goes_on(msg, i):
                if words is None and open_item is None:
                    words = self._open_words(open_item, i, blank)
                i += 1
                continue
            if place != "mid" and token.kind == "mark" and token.fold in _OPENERS:
                if not (msg.letter(i + 1) or msg.tokens[min(i + 1, msg.count - 1)].kind == "num") and words is None:
                    words = words or self._open_words(open_item, i, blank)
                statement = item_at(self.msg, self.said, i, place) if token.fold in "([#" else None
                if statement is None:
                    i += 1
                    continue
            elif msg.is_separator(i) or (token.kind == "mark" and token.fold == "-" and token.spaced):
                place = "sep" if place != "line" else place
                i += 1
                continue
            elif place != "mid" and (joined := self._joint(i)):
                place = "conn"
                i = joined
                continue
            else:
                statement = self._statement(i, place, open_item)
            if statement is None and place == "done" and open_item is not None and (stop := self._praised(i)):
                i = stop
                continue
            if statement is None and place != "mid" and (stop := self._keeps_place(i, place, open_item)):
                if words is None and open_item is None:
                    words = self._open_words(open_item, i, blank)
                courtesy = place == "line" and (token.kind == "mention" or msg.at("polite", i) == stop)
                i = stop
                place = "line" if courtesy else "conn"
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
            self.said.out.append(statement)
            self._said_before = statement
            i = max(statement.end, i + 1)
            if statement.kind == "correct":
                i = msg.skip_marks(i, msg.count, ":,.-")
            if statement.kind == "item":
                self.said.note(statement, msg)
                open_item = None if statement.forced == "reject" else statement
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
        return self.said.out

    def _keeps_place(self, i: int, place: Place, open_item: Statement | None) -> int:
        """Words after which a statement may begin as after a separator: "ok", "thanks", a "but" after an
        acceptance."""
        msg = self.msg
        if open_item is not None and place != "line":
            told = open_item.tail >= 0 or open_item.kind in ("rest", "same")
            return msg.at("note", i) if told and msg.at("limit", i) else 0
        if msg.tokens[i].kind == "mention":
            return i + 1
        if place == "line" and (refused := msg.at("disagree", i)) and msg.is_mark(refused, ":"):
            return refused + 1  # "nope: 2 A"
        stop = msg.any_at(("agree", "polite", "unsure", "correct", "lead", "item"), i)
        if not stop and (place != "mid" or self.said.out) and open_item is None and msg.at("limit", i):
            stop = msg.at("note", i)  # "…, but 3: C"
        if not stop and self.said.out and self.said.out[-1].kind in ("accept", "except"):
            stop = msg.any_at(("note", "filler", "pointer"), i)
        return stop

    def _praised(self, i: int) -> int:
        """Past a word of courtesy or an emoji after a finished value, if an item comes next: "2: C great 4: A"."""
        msg = self.msg
        stop = msg.any_at(("agree", "polite"), i) or (i + 1 if msg.tokens[i].fold > "\u2190" else 0)
        while stop and stop < msg.count and (msg.tokens[stop].fold > "\u2190" and msg.tokens[stop].kind == "mark"):
            stop += 1
        stop = msg.at("and", stop) or stop
        if not stop or msg.letter(i) or stop >= msg.count or msg.tokens[stop].kind == "word":
            return 0
        item = item_at(self.msg, self.said, stop, "done")
        if item is None or item.weak or item.numbers[0] not in msg.by_number:
            return 0
        letter = msg.letter(item.start) and letter_ends(msg, item.start, msg.count)
        alike = letter or (item.start < msg.count and msg.is_picture(item.start))  # "… ✅ 3 ❌"
        return stop if item.bound or item.glued or (self.said.weak_style and alike) else 0

    def _begins_list(self, i: int) -> bool:
        """Whether a question with its letter comes at `i`."""
        i = self.msg.skip_marks(i, self.msg.count, ":,")
        numbers = numbers_at(self.msg, i) if i < self.msg.count and self.msg.tokens[i].kind == "num" else None
        return numbers is not None and begins_value(self.msg, numbers.end)

    def _opens(self, item: Statement, i: int) -> bool:
        """Whether nothing has been said on the item yet, so that a question is its value."""
        return item.tail < 0 and not self.msg.letter(skip_leads(self.msg, item.start, i))

    def _joint(self, i: int) -> int:
        """Past "and"; the "n" of "n/a" is none."""
        joined = self.msg.at("and", i) or (i + 1 if self.msg.tokens[i].fold in "&+" else 0)
        return joined if joined and joined >= self.msg.at("skip", i) else 0

    # -- bookkeeping -----------------------------------------------------------------------------------------

    def _open_words(self, open_item: Statement | None, i: int, blank: bool) -> Statement | None:
        if open_item is not None:
            return None
        words = Statement("words", i, i, i, after_blank=blank)
        self.said.out.append(words)
        return words

    def _has_value(self, item: Statement, end: int) -> bool:
        return item.tail >= 0 or any(
            not self.msg.is_break(i) and not self.msg.is_mark(i, ":=.-,")
            for i in range(item.start, min(end, item.start + 6))
        )

    def _past_core(self, item: Statement) -> tuple[int, Place]:
        """Past the value's first words, so that the numbers in them are not taken for items."""
        msg = self.msg
        if item.tail >= 0:
            return item.tail, "done"
        i = item.start
        dash = i + 1 if msg.is_mark(i, "-") else i
        if item.bound and (dash > i or msg.is_mark(i - 1, ":).-")) and self._begun(dash, item.numbers[-1:]):
            return dash, "sep"  # "1: 2: A": nothing on 1
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
        if (stop := msg.at("other", at)) and item_within(msg, stop, min(stop + 1, msg.count)):
            return stop, "done"  # "1 other 2 A"
        if stop := msg.at("same", i):  # "2 same 3 same 4 c"; "2 same as 1, …"
            further = msg.tokens[min(stop, msg.count - 1)].kind == "num"
            own = further and (msg.at("same", stop + 1) or begins_value(msg, stop + 1))
            if further or msg.is_edge(stop):
                return (stop + 1 if further and not own else stop), "done"
        if msg.at("ordinal", at):
            return msg.at("option", msg.at("ordinal", at)) or msg.at("ordinal", at), "done"
        if msg.tokens[i].kind == "num" and (i + 1 >= msg.count or msg.is_edge(i + 1)):
            return i + 1, "done"
        return i + 1, "mid"

    def _begun(self, i: int, before: tuple[int, ...]) -> bool:
        """Whether another item begins right at the value of one."""
        msg = self.msg
        if i + 1 >= msg.count or msg.tokens[i].kind != "num" or msg.tokens[i].value not in msg.by_number:
            return False
        further = not before or msg.tokens[i].value > before[0]
        bound = msg.is_mark(i + 1, ":)") and not msg.is_edge(i + 2)
        letter = bool(msg.letter(i + 1)) and letter_ends(msg, i + 1, msg.count)  # not "1: 3D models"
        return further and msg.glued(i + 1) and (bound or letter)

    # -- statements ------------------------------------------------------------------------------------------

    def _statement(self, i: int, place: Place, open_item: Statement | None) -> Statement | None:
        msg = self.msg
        found = msg.found[i]
        if found:
            stop = i + found["correct"][0] if "correct" in found else 0
            if place != "mid" and stop > i + 1 and (open_item is None or place == "line"):
                return Statement("correct", i, i, stop)
            if self._said_before is not None and (barred := except_at(msg, i, self._said_before)) is not None:
                return barred
            retracts = "retract" in found and (open_item is None or place != "mid")
            if retracts and (aside := taken_back(msg, i)) is not None:
                return aside
            relates = place != "mid" and not _RELATED.isdisjoint(found)
            if relates and (other := same_again(msg, i, self.said.last) or asks_others(msg, i)) is not None:
                return other
            if "hedge" in found and open_item is None and (aside := hedged_first(self, i, place)) is not None:
                return aside
        if open_item is not None and place in ("sep", "conn", "done") and not self._opens(open_item, i):
            if (asked := asked_aside(msg, i)) is not None:
                return asked
            after = msg.any_at(("note", "and"), i)
            begins = 0 < after < msg.count and not _BEGINS_ASIDE.isdisjoint(msg.found[after])
            put = value_first(msg, after) if begins else None
            if put is not None and put.forced in _PUT_ASIDE and self.said.seen.isdisjoint(put.numbers):
                put.first = i  # "1 B, but let's discuss 2"
                return put
        if place == "sep" and (others := msg.at("rest", i)) and self._begins_list(others):
            listed = item_at(self.msg, self.said, self.msg.skip_marks(others, msg.count, ":,"), place)
            if listed is not None:
                listed.first = i  # "the others: 1 C, 3 A"
                return listed
        slip = slip_at(self.msg, i, self.said.items) if place == "line" else None
        numbered = slip or item_at(self.msg, self.said, i, place)
        if numbered is not None and numbered.weak and open_item is not None and not self._has_value(open_item, i):
            return None
        if numbered is not None or place == "mid":
            if numbered is None and not self.said.items and (stop := msg.at("except", i)) and open_item is None:
                return Statement("except", i, i, stop)
            return numbered
        inside = open_item is not None and place != "line"
        if found or msg.letter(i) or msg.tokens[i].fold in msg.labelled:
            if inside and open_item is not None and msg.at("otherwise", i) and open_ended(msg, open_item, i):
                return None
            within = inside and open_item is not None and open_item.tail < 0
            statement = left_open(msg, i) or rest_at(msg, i) or value_first(msg, i, within) or same_at(msg, i)
            if statement is not None:
                return statement
        if not found:
            return None
        if "force_quit" in found and not msg.at("recommended", skip_fill(msg, i + found["force_quit"][0])):
            return Statement("force_quit", i, i, i + found["force_quit"][0])
        if "except" in found and (not inside or self.said.last == 0):
            return Statement("except", i, i, i + found["except"][0])
        if "correct" in found and (not inside or self._answers_after(i + found["correct"][0])):
            return Statement("correct", i, i, i + found["correct"][0])
        return accept_at(self.msg, i, inside) or (None if inside else cancel_at(self.msg, i))

    def after_doubt(self, i: int, place: Place) -> Statement | None:
        return item_at(self.msg, self.said, i, place) or value_first(self.msg, i)

    def _answers_after(self, i: int) -> bool:
        """Whether a correction mark inside an item's line leads to another item: "…, no wait, 2: C"."""
        i = self.msg.skip_marks(i, self.msg.count, ",:.-")
        return numbers_at(self.msg, i) is not None
