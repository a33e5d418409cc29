"""How a session looks: the round card, the closing. Values in, `Message` out; no decisions.

Order inside a question is fixed: topic, why, options, recommendation and its reason (RD-8). One sign carries one
meaning: ✅ recommended, ✔ answered, ⚠ a problem; letters and words say the same without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.core.effects import Block, Button, Message, Span
from bot.core.effects import BlockKind as Kind
from bot.core.model import Answer, Question
from bot.core.state import Ended, Item, Round, Session


def text(*parts: str | Span, gap: bool = False, kind: Kind = "text", question: int | None = None) -> Block:
    """One block of plain and styled parts."""
    spans = tuple([{"text": part} if isinstance(part, str) else part for part in parts])
    return Block.made_of({"kind": kind, "spans": spans, "gap": gap, "question": question})


def bold(words: str) -> Span:
    return Span(text=words, style="bold")


def says(*lines: str, buttons: tuple[tuple[Button, ...], ...] = ()) -> Message:
    """A short message of plain lines."""
    return Message(blocks=tuple([text(line) for line in lines if line]), buttons=buttons)


def plain(message: Message) -> str:
    """The message as text, complete without its buttons (CH-1)."""
    lines: list[str] = []
    for block in message.blocks:
        if block.gap and lines:
            lines.append("")
        lines.append("".join(span.text for span in block.spans))
    return "\n".join(lines)


# -- answers in words --------------------------------------------------------------------------------------------


def isolate(name: str, person: str = "") -> str:
    """A person's name that can not turn or hide the rest of the line; a blank one gives way to the id."""
    if name.isascii() and name.isprintable():
        shown = name
    else:
        shown = "".join(
            c for c in name if c.isprintable() and not "\u202a" <= c <= "\u202e" and not "\u2066" <= c <= "\u2069"
        )
    return shown.strip(" \u2800\u3164\u200b") or person.partition(":")[2] or "someone"


def label_of(question: Question, key: str) -> str:
    option = question.option(key)
    return "" if option is None else option.label


def answer_words(question: Question, answer: Answer) -> str:
    """An answer with selection, words and note, all three (RP-5): `B, last 10 years — note: "…"`."""
    if answer.chosen is None:
        words = f"“{answer.text}”" if answer.text is not None else "confirmed"
    elif (option := question.option(answer.chosen)) is not None and option.other:
        words = f"other: “{answer.text}”"
    else:
        words = f"{answer.chosen}, {option.label if option is not None else ''}"
    if answer.via == "accept_recommendations_bulk":
        words += " (recommended)"
    return words if answer.note is None else f"{words} — note: “{answer.note}”"


ENDS = {
    "skipped": "left open on purpose",
    "declined": "declined",
    "expired": "expired",
    "cancelled": "cancelled",
    "force_quit": "left open; written down as an assumption",
    "deferred": "put off",
    "withdrawn": "withdrawn unanswered; the tier does not ask it",
}


def item_line(item: Item) -> str:
    """A question that has ended, on one line."""
    head = f"{item.number} · {item.question.topic}"
    if item.status == "resolved" and item.answer is not None:
        who = isolate(item.answer.by_name, item.answer.by)
        return f"✔ {head}: {answer_words(item.question, item.answer)} — {who}"
    return f"– {head}: {ENDS.get(item.status, item.status)}"


# -- the round card ----------------------------------------------------------------------------------------------


Asked = tuple[tuple[int, Question], ...]  # open questions with their numbers: what everybody is shown alike of them


def _asked(round_: Round) -> Asked:
    return tuple([(item.number, item.question) for item in round_.items if item.status == "open"])


def _recommended(asked: Asked) -> int:
    """How many of these questions have a recommendation."""
    return len([question for _, question in asked if question.recommended is not None])


def _example(asked: Asked) -> str:
    """A reply that answers these questions, built from them (RD-8)."""
    parts: list[str] = []
    for index, (number, question) in enumerate(asked[:3]):
        if question.form != "choice":
            parts.append(f"{number}: your words")
            continue
        letters = [o.key for o in question.options if not o.other]
        if index == 2 and question.other is not None:
            parts.append(f"{number}: other (your words)")
        else:
            parts.append(f"{number}: {letters[index % 2 if len(letters) > 1 else 0]}")
    return ", ".join(parts)


CHANGE = "Change an answer"
UNDO = "Undo"
LONGEST_LABEL = 60  # characters; a longer message is never a typed button
OWN_WORDS = {
    "open": "Answer in your own words",
    "validate": "Write “yes”, or what is right instead",
}


def _how_to_answer(asked: Asked, bulk: bool) -> str:
    accept = bulk and _recommended(asked)
    if len(asked) != 1:
        line = f"Answer in one line, e.g. {_example(asked)}"
    elif (form := asked[0][1].form) == "choice":
        line = f"Answer with a letter, or “other:” and your words, e.g. {_example(asked)}"
    else:
        line = OWN_WORDS[form]
    return f"{line} — or: accept recommendations" if accept else line


def _head(title: str, purpose: str) -> tuple[Block, Block]:
    return text(bold(title), kind="heading"), text(purpose)


def _question(question: Question, number: int) -> tuple[Block, ...]:
    def block(kind: Kind, *parts: str | Span, gap: bool = False) -> Block:
        return text(*parts, gap=gap, kind=kind, question=number)

    blocks = [block("topic", bold(f"{number} · {question.topic}"), gap=True)]
    if question.text:
        blocks.append(block("text", question.text))
    blocks.append(block("text", question.why))
    for option in question.options:
        line = option.label if not option.tradeoff else f"{option.label} — {option.tradeoff}"
        mark = "  ✅ Recommended" if option.recommended else ""
        blocks.append(block("option", bold(option.key), f"  {line}{mark}"))
    if question.recommended is not None and question.rationale:
        blocks.append(block("text", f"Why {question.recommended.key}: {question.rationale}"))
    return tuple(blocks)


def _hints(asked: Asked, count: int, bulk: bool) -> tuple[Block, ...]:
    """How to answer what is still open of `count` questions, and which of it the buttons are for."""
    how = text(_how_to_answer(asked, bulk), gap=True, kind="hint")
    if count == 1:
        return (how,)
    number, first = asked[0]
    return how, text(f"Buttons: {number} · {first.topic} ({number} of {count})", kind="hint")


def _letters(question: Question) -> tuple[tuple[str, str, str], ...]:
    """Of each option its key, the label of its button, and the long label."""
    found = []
    for option in question.options:
        mark = " ✅" if option.recommended else ""
        names = ("Other…", "") if option.other else (f"{option.key}{mark}", f"{option.key} · {option.label}{mark}")
        found.append((option.key, *names))
    return tuple(found)


class _Parts(NamedTuple):
    """What the parts of a card are made by."""

    head: Callable[[str, str], tuple[Block, Block]]
    question: Callable[[Question, int], tuple[Block, ...]]
    hints: Callable[[Asked, int, bool], tuple[Block, ...]]
    letters: Callable[[Question], tuple[tuple[str, str, str], ...]]


_ANEW = _Parts(_head, _question, _hints, _letters)
# What everybody is shown of the same questions is made once: a card is drawn again at every answer.
_KEPT = _Parts(
    lru_cache(maxsize=512)(_head),
    lru_cache(maxsize=2048)(_question),
    lru_cache(maxsize=256)(_hints),  # each holds several questions
    lru_cache(maxsize=2048)(_letters),
)


def _parts(round_: Round) -> _Parts:
    return _KEPT if round_.stock else _ANEW


Choice = tuple[str, str, str]  # a button before it is drawn: its token, its label, its long label


def round_choices(round_: Round, bulk: bool) -> list[list[Choice]]:
    """Buttons serve one question at a time, the first open one (RD-8). Nothing is pre-selected (RD-9)."""
    return _choices(round_, _asked(round_), bulk)


def _choices(round_: Round, asked: Asked, bulk: bool) -> list[list[Choice]]:
    rows: list[list[Choice]] = []
    number, question = asked[0]
    if question.form == "choice":
        token = f"a:{round_.id}:{number}:"
        rows.append([(f"{token}{key}", label, long) for key, label, long in _parts(round_).letters(question)])
    elif question.form == "validate":
        rows.append([(f"a:{round_.id}:{number}:+", "Yes, that is right", "")])
    count = _recommended(asked)
    if bulk and count:
        counted = {1: "Accept the recommendation", 2: "Accept both recommendations"}
        label = counted.get(count, f"Accept all {count} recommendations")
        rows.append([(f"r:{round_.id}:{round_.revision}", label, "")])
    return rows


def _buttons(round_: Round, asked: Asked, bulk: bool) -> tuple[tuple[Button, ...], ...]:
    rows = _choices(round_, asked, bulk)
    return tuple([tuple([Button(token=token, label=label, long=long) for token, label, long in row]) for row in rows])


def settled_words(session: Session, phase: int | None = None) -> str:
    """What is known already: `Years to cover (last 5 years); Form of the result (a table)`. Of one phase, if any."""
    return "; ".join(f"{s.topic} ({s.value})" for s in session.settled if s.phase == phase)


def shortened(words: str, most: int = 80) -> str:
    line = " ".join(words.split())
    return line if len(line) <= most else line[: most - 1] + "…"


TRIGGERS = {"intake": "Intake", "ambiguity": "Ambiguity pause", "loopback": "Loopback"}


def heading(round_: Round, count: str, number: int | None = None) -> str:
    """A phase's round names phase, trigger and number (RD-8); a workflow's intake names the workflow (RD-17).

    `number`: the intake's own, where several are open and people need it to tell them apart (RP-7).
    """
    if number is not None:
        return f"#{number} · {heading(round_, count)}"
    if round_.phase is None:
        return f"{round_.title} · {count}"
    of = "" if round_.of is None else f" of {round_.of}"
    number = round_.nth or round_.number
    return f"[Phase {round_.phase}] Clarification — {TRIGGERS[round_.trigger]} · Round {number}{of}"


def round_card(
    session: Session, round_: Round, *, bulk: bool, route_note: str | None = None, numbered: bool = False
) -> Message:
    """The whole round in the text; answered questions folded to a line, buttons for the first open one."""
    count = len(round_.items)
    noun = "question" if count == 1 else "questions"
    number = session.number if numbered else None
    asked = _asked(round_)
    about = round_.purpose if asked else how_it_ended(session, round_)
    made = _parts(round_)
    title, purpose = made.head(heading(round_, f"{count} {noun}", number), about)
    blocks = [title, text(route_note), purpose] if route_note else [title, purpose]
    untouched = len(asked) == count
    if round_.signals and untouched:
        points = sum(signal.points for signal in round_.signals)
        blocks.append(text(f"Ambiguity score: {points}"))
        blocks += [text(f"• {s.said} (+{s.points}; {shortened(s.evidence)})") for s in round_.signals]
    if untouched and round_.trigger != "ambiguity" and (settled := settled_words(session, round_.phase)):
        known = "your message says it" if round_.phase is None else "it is settled"
        blocks.append(text(f"Not asked, because {known}: {settled}."))
    later = [d.topic for d in session.dropped if d.later and d.phase == round_.phase]
    if later and asked:
        blocks.append(text(f"As many as fit one round; left for later: {', '.join(later)}."))
    folded = True
    for item in round_.items:
        if item.status == "open":
            blocks += made.question(item.question, item.number)
            folded = False
        else:
            blocks.append(text(item_line(item), gap=not folded, kind="answered", question=item.number))
            folded = True
    if not asked:
        return Message(blocks=tuple(blocks))
    blocks += made.hints(asked, count, bulk)
    rows = _buttons(round_, asked, bulk)
    if route_note:
        rows = (*rows, (Button(token=f"e:{session.id}", label="Something else"),))
    return Message(blocks=tuple(blocks), buttons=rows, form=f"f:{round_.id}:{round_.revision}")


def how_it_ended(session: Session, round_: Round) -> str:
    """Of a round in which nothing is open: in place of its purpose, which is about what comes then (RD-8, CA-4)."""
    count = len(round_.items)
    answered = sum(item.status == "resolved" for item in round_.items)
    if answered == count:
        words = {1: "it is answered", 2: "both are answered"}.get(count, f"all {count} are answered")
    else:
        words = f"{answered or 'none'} of {count} {'are' if answered > 1 else 'is'} answered"
    ends = {item.status for item in round_.items}
    last = session.round is not None and session.round.id == round_.id
    if "cancelled" in ends or (last and isinstance(session.stage, Ended) and session.stage.how == "cancelled"):
        return f"Cancelled; {words}."
    if "expired" in ends:
        return f"Expired; {words}."
    if "force_quit" in ends:
        return f"Stopped early; {words}."
    return f"Closed; {words}."


# -- the same card again -------------------------------------------------------------------------------------------


def with_lead(message: Message, lead: Sequence[str]) -> Message:
    return message.model_copy(update={"blocks": (*(text(line) for line in lead), *message.blocks)})


def moved_on(card: Message) -> Message:
    """An older copy, once a newer one follows: its words without its buttons."""
    words = "The buttons are on the newer card below. A reply to this one counts too."
    kept = tuple(block for block in card.blocks if block.kind != "hint")
    return Message(blocks=(*kept, text(words, gap=True, kind="hint")))


def compact_card(round_: Round, *, bulk: bool, lead: Sequence[str] = ()) -> Message:
    """An open round in few lines, for people who have seen it before: letters and labels, the same buttons."""
    asked = _asked(round_)
    blocks = [text(line) for line in lead]
    count = f"{len(asked)} of {len(round_.items)} open"
    blocks.append(text(bold(heading(round_, count)), kind="heading", gap=bool(lead)))
    for item in round_.items:
        question = item.question
        if item.status != "open":
            blocks.append(text(item_line(item), kind="answered", question=item.number))
            continue
        blocks.append(text(bold(f"{item.number} · {question.topic}"), kind="topic", question=item.number, gap=True))
        if question.text:
            blocks.append(text(question.text, question=item.number))
        options = [f"{o.key} {o.label}" + (" ✅" if o.recommended else "") for o in question.options]
        if options:
            blocks.append(text(" · ".join(options), kind="option", question=item.number))
    blocks += _parts(round_).hints(asked, len(round_.items), bulk)
    return Message(blocks=tuple(blocks), buttons=_buttons(round_, asked, bulk))


def undo_row(round_: Round) -> tuple[tuple[Button, ...], ...]:
    return ((Button(token=f"u:{round_.id}", label=UNDO),),) if round_.undo else ()


def still_open(round_: Round, bulk: bool) -> str:
    """`Still open: 2 (Databases). A–D, or accept recommendations.`"""
    asked = _asked(round_)
    if not asked:
        return ""
    names = ", ".join([f"{number} ({question.topic})" for number, question in asked])
    accept = bulk and _recommended(asked)
    if len(asked) != 1:
        how = f"E.g. {_example(asked)}" + (" — or: accept recommendations" if accept else "")
    elif (question := asked[0][1]).form == "choice":
        how = f"{question.options[0].key}–{question.options[-1].key}"
        how += ", or accept recommendations" if accept else ""
    else:
        how = OWN_WORDS[question.form]
    return f"Still open: {names}. {how}."


def said_last(round_: Round) -> int | None:
    """The number of the question that was answered last, which "hm wait" is most likely about; None where none is."""
    answered = [(i.answer.at, i.number) for i in round_.items if i.answer is not None]
    return max(answered)[1] if answered else None


def newest_card(session: Session) -> str | None:
    """The platform id of the card on which a session's questions are open; None where none is, or it is not there."""
    return session.round.message if session.stage.kind == "asking" and session.round is not None else None


def over(session: Session | None, round_: Round | None, outcome: str = "nothing was recorded by this") -> str:
    """Of a round that is over: which one, what did not happen, and the one thing to do (RD-13)."""
    if session is None or round_ is None:
        return f"That intake is over; {outcome}. /status shows what is open."
    name = f"{round_.title} (#{session.number})"
    if session.stage.kind == "ended" and session.stage.how != "completed":
        return f"{name} was {session.stage.how}; {outcome}. /new starts something new."
    if not round_.items:
        return f"{name} is over; {outcome}. /status shows what is open."
    how = f"change {round_.items[0].number} to …"
    if session.stage.kind in ("closing", "ended"):
        return f"{name} is over; {outcome}. To change an answer: {how} in #{session.number}"
    # While its session goes on, the number would mean the round that is open.
    return f"{name} is over; {outcome}. To change an answer, reply to its card: {how}"


# -- the end -----------------------------------------------------------------------------------------------------


def _acceptors(resolved: Sequence[Item]) -> str:
    """ "you", where one person has answered all of it; else those who have accepted recommendations, by name."""
    answers = [i.answer for i in resolved if i.answer is not None]
    if len({answer.by for answer in answers}) < 2:
        return "you"
    taken = {a.by: isolate(a.by_name, a.by) for a in answers if a.via == "accept_recommendations_bulk"}
    return " and ".join(taken.values())


def closing_lines(round_: Round) -> list[str]:
    """Every question of a round that is over, with its answer or its end."""
    resolved = [i for i in round_.items if i.status == "resolved"]
    taken = len([i for i in resolved if i.answer and i.answer.via == "accept_recommendations_bulk"])
    count = f"{len(resolved)} answer" + ("" if len(resolved) == 1 else "s")
    who = _acceptors(resolved)
    if not taken:
        by_bulk = ""
    elif taken == len(resolved):
        by_bulk = f", {'the recommendation' if taken == 1 else 'all recommendations'} that {who} accepted"
    else:
        by_bulk = f", {taken} of them {'a recommendation' if taken == 1 else 'recommendations'} {who} accepted"
    stopped = any(i.status == "force_quit" for i in round_.items)
    lines = [f"Stopped asking; {count}{by_bulk}." if stopped else f"Done: {count}{by_bulk}."]
    for item in round_.items:
        if item.status == "resolved" and item.answer is not None:
            lines.append(f"{item.number} {item.question.topic}: {answer_words(item.question, item.answer)}")
        else:
            lines.append(f"{item.number} {item.question.topic}: {ENDS.get(item.status, item.status)}")
    return lines


def closing(round_: Round, where: str, seconds: int, lead: Sequence[str] = ()) -> Message:
    """The closing echo lists every answer beside its topic and carries Change (RD-16). `lead` goes before it."""
    lines = [*lead, *closing_lines(round_)]
    wait = f" in {seconds} seconds" if seconds else ""
    lines.append(f"Goes to {where}{wait}. To change one: change {round_.items[0].number} to …")
    change = (Button(token=f"c:{round_.id}", label=CHANGE),)
    return Message(blocks=tuple([text(line) for line in lines]), buttons=(change, *undo_row(round_)))
