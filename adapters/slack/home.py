"""The app's home tab: what waits for a person, what they asked, what they decided. Pure.

The same rounds, answers and buttons as in the threads; nothing can be decided here that can not be decided there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.slack.render import AT, FORM
from adapters.slack.text import MARKS, escape
from bot.core.circle import Circle
from bot.core.model import Person
from bot.core.state import Conversation, Item, Round, Session
from bot.core.view import answer_words

MOST = 10  # of each part; a home tab holds a hundred blocks
LONGEST = 2900  # characters of one section
EMPTY = "Nothing waits for you. Mention me in a channel, or write to me in *Messages*."

Link = Callable[[str, str | None], str | None]  # conversation, message -> address


@dataclass(frozen=True, slots=True)
class Waiting:
    conversation: str
    session: Session
    round: Round


@dataclass(frozen=True, slots=True)
class Decision:
    conversation: str
    session: Session
    round: Round
    item: Item
    at: datetime


def waiting_for(states: Iterable[Conversation], person: Person, surface: str) -> list[Waiting]:
    """Rounds that are this person's to answer, the newest first."""
    found = []
    for state in states:
        for session in state.sessions:
            round_ = session.round
            if session.stage.kind != "asking" or round_ is None or not round_.open_items:
                continue
            circle = Circle(shared=state.place.shared, requester=session.requester, named=session.participants)
            if circle.asked(person, surface):
                found.append(Waiting(state.place.conversation, session, round_))
    return sorted(found, key=lambda one: one.round.opened_at, reverse=True)


def asked_by(states: Iterable[Conversation], person: Person) -> list[tuple[str, Session]]:
    """Intakes that this person began, the newest first."""
    found = [(s.place.conversation, one) for s in states for one in s.sessions if one.requester.id == person.id]
    return sorted(found, key=lambda one: one[1].started_at, reverse=True)


def decided_by(states: Iterable[Conversation], person: Person) -> list[Decision]:
    """This person's answers, the newest first."""
    found = [
        Decision(state.place.conversation, session, round_, item, item.answer.at)
        for state in states
        for session in state.sessions
        for round_ in session.rounds
        for item in round_.items
        if item.answer is not None and item.status == "resolved" and item.answer.by == person.id
    ]
    return sorted(found, key=lambda one: one.at, reverse=True)


def home_view(
    waiting: Sequence[Waiting],
    asked: Sequence[tuple[str, Session]],
    decided: Sequence[Decision],
    link: Link,
    fresh: str,
) -> dict[str, Any]:
    """`fresh` makes the block ids new at each drawing."""
    blocks: list[dict[str, Any]] = [_header("Waiting for you")]
    for number, one in enumerate(waiting[:MOST]):
        left = len(one.round.open_items)
        topics = ", ".join(item.question.topic for item in one.round.open_items[:6])
        count = f"{left} of {len(one.round.items)} open: {topics}"
        blocks.append(_section((f"#{one.session.number} · {one.round.title}", True), (f"\n{count}", False)))
        buttons = [_button(f"f:{one.round.id}:{one.round.revision}", FORM, 0)]
        url = link(one.conversation, one.round.message)
        if url is not None:
            buttons.append({**_button("open", "Open the thread", 1), "url": url})
        row = {"type": "actions", "elements": buttons, "block_id": f"{fresh}.{number}{AT}{one.conversation}"[:255]}
        blocks.append(row)
    if not waiting:
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": EMPTY}})
    if asked:
        blocks += [{"type": "divider"}, _header("What you asked")]
        blocks += [_asked(*one, link) for one in asked[:MOST]]
    if decided:
        blocks += [{"type": "divider"}, _header("What you decided lately")]
        blocks += [_decided(one) for one in decided[:MOST]]
    return {"type": "home", "blocks": blocks}


def _asked(conversation: str, session: Session, link: Link) -> dict[str, Any]:
    round_ = session.round
    state: str = session.stage.how if session.stage.kind == "ended" else session.stage.kind
    if session.stage.kind == "asking" and round_ is not None:
        state = f"{len(round_.items) - len(round_.open_items)} of {len(round_.items)} answered"
    name = round_.title if round_ is not None else (session.workflow or "not routed yet").replace("/", " / ")
    section = _section((f"#{session.number} · {name}", True), (f" — {state}\n“{session.request.text[:200]}”", False))
    url = link(conversation, round_.message if round_ is not None else None)
    if url is not None:
        section["accessory"] = {**_button("open", "Open", 0), "url": url}
    return section


def _decided(one: Decision) -> dict[str, Any]:
    assert one.item.answer is not None
    words = answer_words(one.item.question, one.item.answer)
    return _section(
        (f"{one.item.question.topic}: ", True),
        (f"{words}\n#{one.session.number} · {one.round.title} · {one.at:%d %B %Y, %H:%M} UTC", False),
    )


# -- blocks --------------------------------------------------------------------------------------------------------


def _header(words: str) -> dict[str, Any]:
    return {"type": "header", "text": {"type": "plain_text", "text": words, "emoji": True}}


def _section(*parts: tuple[str, bool]) -> dict[str, Any]:
    """Words, and whether they are bold. Those of people that look like formatting are shown as they are."""
    parts = tuple((words[:LONGEST], bold) for words, bold in parts if words)
    if any(MARKS.search(words) for words, _ in parts):
        text = "".join(words for words, _ in parts)[:LONGEST]
        return {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}
    joined = "".join(f"*{escape(words.strip())}* " if bold else escape(words) for words, bold in parts)
    return {"type": "section", "text": {"type": "mrkdwn", "text": joined[:3000]}}


def _button(token: str, label: str, number: int) -> dict[str, Any]:
    return {
        "type": "button",
        "action_id": f"h{number}",
        "text": {"type": "plain_text", "text": label, "emoji": True},
        "value": token,
    }
