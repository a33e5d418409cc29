"""A core of a few words, for testing what is around the core. It knows every effect and no protocol."""

from __future__ import annotations

from datetime import timedelta

from bot.core.effects import (
    Block,
    Button,
    Clarification,
    ClearTimer,
    Effect,
    File,
    Message,
    Record,
    Redraw,
    Reply,
    Say,
    SetTimer,
    Span,
)
from bot.core.events import (
    ButtonPressed,
    DeliveryFailed,
    Envelope,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    MessageReceived,
    TimerDue,
)
from bot.core.state import Ancient, Conversation
from bot.core.step import Step


def words(text: str, *buttons: str, files: tuple[File, ...] = ()) -> Message:
    rows = tuple((Button(token=f"toy:{label[0]}", label=label),) for label in buttons)
    blocks = tuple(Block(spans=(Span(text=line),)) for line in text.split("\n"))
    return Message(blocks=blocks, buttons=rows, files=files)


def toy(state: Conversation | None, envelope: Envelope) -> Step:
    """`state.counted` counts messages; `state.ancient` keeps the texts, so that a fold can be compared."""
    before = state or Conversation(place=envelope.place)
    match envelope.event:
        case MessageReceived() as event:
            return _message(before, envelope, event)
        case MessageEdited(person=person, text=text):
            return Step(before, (Say(message=words(f"{person.name} now says: {text}")),))
        case ButtonPressed(person=person, label=label, token=token):
            about = envelope.about or "nothing"
            said = Say(message=words(f"{person.name} pressed {label} on {about}"))
            redraw = Redraw(card="card", message=words(f"{person.name} took {label}", "B later"))
            effects: tuple[Effect, ...] = (said, redraw) if token.startswith("toy:") else ()
            reply = Reply(text=f"noted, {person.name}" if effects else "that button is no longer in use")
            return Step(before, effects, records=_record(envelope, label), reply=reply)
        case MessageDeleted(message=message):
            return Step(before, (Say(message=words(f"{message} is gone")),))
        case MessagePosted(message=message):
            return Step(before.model_copy(update={"active": message}))
        case DeliveryFailed(reason=reason):
            return Step(before.model_copy(update={"active": f"undelivered: {reason}"}))
        case TimerDue(name=name):
            return Step(before, (Say(message=words(f"{name} rang")),))


def _message(before: Conversation, envelope: Envelope, event: MessageReceived) -> Step:
    number = before.counted + 1
    kept = Ancient(id=event.ref.id, number=number, workflow=event.text or None, how="said", at=envelope.at)
    state = before.model_copy(update={"counted": number, "ancient": (*before.ancient, kept)})
    name, word = event.person.name, event.text.split("\n")[0].split(" ")[0]
    match word:
        case "card":
            return Step(state, (Say(message=words("pick one", "A first", "B second"), card="card", session="s"),))
        case "redraw":
            return Step(state, (Redraw(card="card", message=words(event.text, "C third")),))
        case "two":
            return Step(state, (Say(message=words("one")), Say(message=words("two"))))
        case "grace":
            return Step(state, (SetTimer(name="grace:s", at=envelope.at + timedelta(seconds=5)),))
        case "calm":
            return Step(state, (ClearTimer(name="grace:s"),))
        case "secret":
            return Step(state, (Say(message=words(f"for {name} only"), only_to=event.person.id),))
        case "file":
            sent = File(name="result.json", media="application/json", content="{}")
            return Step(state, (Say(message=words("here it is", files=(sent,))),))
        case "chatter":
            return Step(state, outcome="ignored", reason="not meant for the bot")
        case "long":
            blocks = tuple(
                Block(kind="option", question=n // 6, gap=n % 6 == 0, spans=(Span(text=f"{n} " + "é😀 " * 40),))
                for n in range(200)
            )
            buttons = ((Button(token="toy:A", label="A"),),)
            return Step(state, (Say(message=Message(blocks=blocks, buttons=buttons), card="long"),))
        case "break":
            raise ZeroDivisionError(event.text)
    heard = f"{number}. {name}: {event.text}" + "".join(f" [{m.kind} {m.name}]" for m in event.materials)
    if envelope.about:
        heard += f" (about {envelope.about})"
    return Step(state, (Say(message=words(heard)),))


def _record(envelope: Envelope, chosen: str) -> tuple[Record, ...]:
    event = envelope.event
    assert isinstance(event, ButtonPressed)
    return (
        Clarification(
            id="clar-2026-03-02-001",
            session="s",
            protocol="playbook",
            phase=None,
            round=1,
            trigger="intake",
            question="toy",
            topic="Toy",
            why_it_matters="",
            options=(),
            recommendation_rationale=None,
            chosen=chosen[0],
            chosen_text=None,
            chosen_via="user_response",
            user_message_ref=event.ref.id,
            user_note=None,
            answered_by=event.person.id,
            surface=envelope.place.platform,
            revision=1,
        ),
    )
