"""Buttons and typing are equal (CH-1): a message that is just what a button says does what the button does."""

from __future__ import annotations

from bot.core import spec_view, view
from bot.core.events import ButtonPressed
from bot.core.flows import pressing, undoing, waking
from bot.core.flows.uttered import Utterance
from bot.core.flows.words import words_of
from bot.core.model import Person
from bot.core.state import Session
from bot.core.turn import Turn


def _said(label: str) -> str:
    """A label as somebody would type it: `Accept all 3 recommendations`, `A ✅` → `a`, `Other…` → `other`."""
    return " ".join(label.replace("✅", "").strip(" .…!").casefold().split())


def _on_the_table(turn: Turn, session: Session | None, person: Person) -> list[tuple[str, str]]:
    """What the buttons that are shown now say, and their tokens; of two that say the same the later one counts."""
    found: list[tuple[str, str]] = []
    for ended in turn.state.sessions[-1:]:
        if ended.stage.kind == "ended" and ended.rounds:
            found.append((view.CHANGE, f"c:{ended.rounds[-1].id}"))
        if ended.routed_by == "phase":
            found.append(("something else", f"e:{ended.id}"))
    if session is not None:
        round_ = session.round
        if session.stage.kind == "asking" and round_ is not None and round_.open_items:
            for row in view.round_choices(round_, turn.policy(session).bulk_accept):
                found += [(said, token) for token, label, long in row for said in (label, long)]
        if session.stage.kind == "closing" and round_ is not None:
            found.append((view.CHANGE, f"c:{round_.id}"))
        if session.reminded is not None and not session.reminded.muted:
            found += [(b.label, b.token) for b in waking.buttons(session)]
        found += [(b.label, b.token) for row in spec_view.buttons(session) for b in row]
        if round_ is not None and round_.undo and undoing.presses(round_, person):
            found.append((view.UNDO, f"u:{round_.id}"))
    for pending in turn.state.pending:
        found += [(label, f"p:{pending.id}:{end}") for end, label in pending.choices]
    return found


def pressed(turn: Turn, utterance: Utterance) -> bool:
    """Do what the button of these words does. False where no button on the table says them.

    Said among others, to nobody, only the whole words of a question asked of this very person count.
    """
    text, person = utterance.text, utterance.person
    said = _said(text)
    if turn.shared and not utterance.direct and not utterance.asked:
        mine = [p for p in turn.state.pending if p.asked_of == person.id]
        if not any(_said(label) == said and " " in said for p in mine for _, label in p.choices):
            return False
    if not said or len(said) > view.LONGEST_LABEL:
        return False
    table = _on_the_table(turn, utterance.spoken_of, person)
    undo = any(label == view.UNDO for label, _ in table)
    if undo and words_of(text, turn.book.phrases, "undo") is not None:
        said = _said(view.UNDO)  # in any language
    bare = said in ("yes", "no") or (said == "other" and not text.rstrip().endswith(("…", "...")))
    if len(said) < 2 or bare:  # single letters are the reader's
        return False
    # a label that is shorter than the words can not say them
    fitting = (t for label, t in reversed(table) if len(label.casefold()) >= len(said) and _said(label) == said)
    token = next(fitting, None)
    if token is None:
        return False
    pressing.press(turn, ButtonPressed(person=person, token=token, label=text.strip(), ref=utterance.ref))
    return True
