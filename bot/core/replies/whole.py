"""Messages that address no question by number: read as a whole, or not at all.

    whole := positional | bare | digits | question | put-off | hand-over | refusal | agreement | nothing
    positional := one letter per open question (`-` skips, `?` is unsure), on one line or several
    bare := lead* (letter | option phrase | label) note?      only when exactly one question is open
    digits := numbers alone: which question, or which option, is asked back

Nothing here takes a recommendation: agreement that names nothing becomes a proposal (RP-3), and a digit, a bare
letter with several questions open or a word such as "BAD" is asked about with its readings as proposals (RP-8).
"""

from __future__ import annotations

from bot.core.replies.message import Message
from bot.core.replies.offered import numbered_words, own_words, words_for
from bot.core.replies.reading import ItemReading, Proposal, Reading
from bot.core.replies.unnumbered import bare, by_line, letters_as_word, numbers_alone, positional
from bot.core.replies.value import asks
from bot.core.replies.wording import CANCEL

ACCEPT = Proposal(kind="accept_all", label="accept recommendations")
STOP_OR_CANCEL = (Proposal(kind="force_quit", label="Draft with what you have"), CANCEL)


def read_whole(msg: Message) -> Reading:
    """The meaning of a message in which no statement was found."""
    first = msg.skip_decoration(0, msg.count)
    if first >= msg.count:
        return _agreement(msg) or handed_over(msg) or Reading(kind="unparsed")
    if carries_on(msg):
        return Reading(kind="unparsed")
    for reader in (
        positional, by_line, letters_as_word, bare, numbers_alone, postponed, handed_over, _question, _refusal,
        _agreement, own_words, words_for, numbered_words,
    ):  # fmt: skip
        reading = reader(msg)
        if reading is not None:
            return reading
    return Reading(kind="unparsed")


def carries_on(msg: Message) -> bool:
    """ "Continue", "next": asks for nothing but to go on, and answers nothing (RD-6)."""
    if msg.next(("carry_on",)) >= msg.count:
        return False
    i = 0
    while i < msg.count and not msg.at("carry_on", i):
        mark = i + 1 if msg.tokens[i].kind in ("mark", "line", "para", "mention") else 0
        stop = msg.any_at(("polite", "filler", "note", "and"), i) or mark
        if not stop:
            return False
        i = stop
    stop = msg.at("carry_on", i)
    return bool(stop) and _rest_is(msg, stop, ("carry_on", "polite", "filler", "and", "lead"))


def _question(msg: Message) -> Reading | None:
    if "?" not in msg.clean.norm and msg.next(("question", "explain", "asks_recommended")) >= msg.count:
        return None
    asked = False
    for start, end in msg.lines:
        asked = asked or asks(msg, start, end)
    if not asked:
        for start, end in msg.clauses:
            stop = msg.skip_decoration(start, end)
            edge = end < msg.count and msg.is_mark(end, "?")
            if edge or msg.any_at(("explain", "asks_recommended"), stop, end):
                asked = True
    if not asked:
        last = msg.clauses[-1:]
        asked = (
            any(
                end - start <= 3 and msg.at("question", start, end) and not msg.any_at(("hedge", "agree"), 0)
                for start, end in last
            )
            and msg.count > 1
        )
    if not asked:
        return None
    return Reading(kind="question_back", asked_about=about(msg))


def about(msg: Message) -> tuple[int, ...]:
    """The numbers of the round that a question names."""
    numbers: list[int] = []
    for i, token in enumerate(msg.tokens):
        value = token.value if token.kind == "num" else msg.value_at("ordinal", i)
        if value in msg.by_number and value not in numbers:
            numbers.append(value)
    if not numbers and len(msg.open) == 1:
        return (msg.open[0].number,)
    return tuple(numbers)


def postponed(msg: Message) -> Reading | None:
    """ "Ask me tomorrow", "not now": at the head of a clause, and not as a question (CH-6)."""
    whole_asks: bool | None = None
    begins = msg.next(("put_off", "postpone"))
    for start, end in msg.clauses:
        if begins < start:
            begins = msg.next(("put_off", "postpone"), start)
        if begins >= end:
            continue
        i = start
        while i < end and (stop := msg.any_at(("polite", "agree", "filler", "note", "lead", "disagree"), i, end)):
            if msg.any_at(("put_off", "postpone"), i, end):
                break
            i = stop
        stop = msg.any_at(("put_off", "postpone"), i, end)
        if not stop:
            continue
        if whole_asks is None:
            whole_asks = asks(msg, 0, msg.count)
        if whole_asks:
            return None
        told = msg.next(("time",), start)
        time = (told, msg.at("time", told)) if told < msg.count else None
        if msg.at("postpone", i, end) == stop and time is None:
            continue
        while time and msg.at("time", time[1]):
            time = (time[0], msg.at("time", time[1]))
        return Reading(kind="put_off", until=msg.words(*time) if time else msg.words(i, stop))
    return None


def handed_over(msg: Message) -> Reading | None:
    """ "@maria please", "ask Maria": a name and nothing else (CH-6). A bot's mention is only an address."""
    for i, token in enumerate(msg.tokens):
        if token.kind == "mention" and not token.fold.endswith("bot"):
            before = all(
                msg.tokens[k].kind == "mark" or msg.any_at(("polite", "hand_over", "filler"), k) for k in range(i)
            )
            after = _rest_is(msg, i + 1, ("polite", "hand_over", "filler", "question", "item"))
            if before and after and (msg.count > i + 1 or i > 0):
                return Reading(kind="hand_over", named=msg.words(i, i + 1))
    first = msg.skip_decoration(0, msg.count)
    stop = msg.at("hand_over", first) if first < msg.count else 0
    if not stop or stop >= msg.count:
        return None
    end = stop
    while end < min(msg.count, stop + 4) and _may_be_name(msg, end):
        end += 1
    if end == stop or not _rest_is(msg, end, ("polite", "filler", "hand_over", "suffix", "for")):
        return None
    return Reading(kind="hand_over", named=msg.words(stop, end))


def _may_be_name(msg: Message, i: int) -> bool:
    """A capitalised word (even if it is also a word of some language), or unknown characters."""
    token = msg.tokens[i]
    written = msg.clean.norm[token.start : token.end]
    if token.kind == "word" and len(written) > 1:
        return written[0].isupper() or (not written[0].islower() and not msg.found[i])
    return token.kind == "char" and not msg.any_at(("polite", "suffix", "question"), i)


def _rest_is(msg: Message, i: int, names: tuple[str, ...]) -> bool:
    while i < msg.count:
        stop = msg.any_at(names, i)
        if not stop and (msg.tokens[i].kind == "mark" or msg.is_break(i)):
            stop = i + 1
        if not stop:
            return False
        i = stop
    return True


def _refusal(msg: Message) -> Reading | None:
    first = msg.skip_decoration(0, msg.count)
    for name in ("refuse", "stop", "disagree", "again", "unsure", "skip"):
        stop = msg.at(name, first)
        if not stop:
            continue
        if name != "refuse" and not _rest_is(msg, stop, (name, "polite", "filler", "lead", "all", "agree")):
            continue
        if name in ("again", "disagree") and not _rest_is(msg, stop, (name, "polite", "filler")):
            if name == "disagree" and _rest_is(msg, stop, (name, "polite", "filler", "lead", "all", "agree")):
                return Reading(kind="needs_confirmation")  # "no, go ahead" contradicts itself
            continue
        if name in ("refuse", "stop", "disagree"):
            return Reading(kind="needs_confirmation", proposals=STOP_OR_CANCEL)
        if name == "unsure":
            return Reading(kind="needs_confirmation", proposals=(ACCEPT,))
        if name == "skip":
            skipped = {slot.number: ItemReading(key="skip") for slot in msg.open}
            return Reading(
                kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=skipped, label="Skip all"),)
            )
        return Reading(kind="needs_confirmation")
    return None


def _agreement(msg: Message) -> Reading | None:
    """Agreement that names nothing, in the first clause; what follows is a remark (RP-3)."""
    i = 0
    agreed = False
    stopped = msg.count
    while i < msg.count:
        stop = msg.agrees(i)
        if stop:
            agreed = True
        else:
            if agreed and msg.at("conditional", i):
                return Reading(kind="needs_confirmation", note=msg.words(i, msg.count))
            stop = msg.any_at(
                ("polite", "filler", "carry_on", "all", "lead", "article", "everywhere", "for", "item", "rest"), i
            )
            if not stop and msg.tokens[i].kind in ("mark", "line", "para", "mention"):
                stop = i + 1
            if not stop and msg.at("number", i):
                stop = msg.at("number", i)
            if not stop:
                stopped = i
                break
        i = stop
    if not agreed:
        return None
    rest = msg.words(stopped, msg.count) if stopped < msg.count else ""
    if rest:
        back = stopped
        while back > 0 and not msg.is_edge(back - 1) and not msg.at("and", back - 1):
            back -= 1
        first_agreed = msg.next(("agree",)) % msg.count
        if back <= first_agreed and not msg.at("note", stopped):
            return None  # the clause with the yes in it reads on: no agreement but a sentence
        if msg.next(("negate", "disagree"), first_agreed) < msg.count:
            return Reading(kind="needs_confirmation", note=rest)
    return Reading(kind="needs_confirmation", proposals=(ACCEPT,), note=rest or None)
