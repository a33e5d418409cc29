"""A tap. The token names what was pressed; whether it still counts is decided here, from the state (RD-14)."""

from __future__ import annotations

from bot.core import view
from bot.core.capture import iso
from bot.core.effects import Reply
from bot.core.events import ButtonPressed
from bot.core.flows import (
    commands,
    confirming,
    forms,
    handover,
    intake,
    menu,
    opening,
    putting_off,
    recording,
    settings,
    spec_words,
    undoing,
)
from bot.core.model import Person
from bot.core.replies.reading import ItemReading
from bot.core.state import Asking, Item, Pending, Round, Routing, Session
from bot.core.turn import Turn

OPEN = "/status shows what is open."


def press(turn: Turn, event: ButtonPressed) -> None:
    """Carry out a tap, or say honestly why it does nothing."""
    kind, _, rest = event.token.partition(":")
    match kind:
        case "a":
            _answer(turn, rest, event)
        case "r":
            _accept_all(turn, rest, event)
        case "m":
            _menu(turn, rest, event)
        case "p":
            _pending(turn, rest, event)
        case "c":
            _change(turn, rest)
        case "u":
            _undo(turn, rest, event)
        case "f":
            _form(turn, rest, event)
        case "x":
            session = turn.state.session(rest)
            if session is None:
                _gone(turn, rest)
            else:
                handover.show_record(turn, session)
        case "g":
            settings.pressed(turn, rest, event.person)
        case "w":
            _waking(turn, rest, event)
        case "s":
            spec_words.pressed(turn, rest, event.person, event.ref)
        case "e":
            session = turn.state.session(rest)
            if session is None:
                _gone(turn, rest)
            elif session.routed_by != "phase":
                turn.outcome, turn.reason = "refused", "unknown button"
                turn.notice("This button does not fit here; /new starts something else.")
            elif not intake.turns_away(turn, session, event.person):
                opening.something_else(turn, session, event.person, event.ref)
        case _:
            turn.outcome, turn.reason = "refused", "unknown button"
            turn.notice(f"This button is not one of mine, or from a much older version. {OPEN}")


def _waking(turn: Turn, rest: str, event: ButtonPressed) -> None:
    """What a reminder offers: the questions again, or no more of them."""
    name, _, what = rest.partition(":")
    session = turn.state.session(name)
    if session is None or session.stage.kind not in ("asking", "routing", "between"):
        _gone(turn, name) if session is None else _late(turn, session, session.round)
    elif session.id != turn.state.active:
        turn.outcome, turn.reason = "refused", "late tap"
        turn.notice(f"That one is paused. /resume {session.number} goes on with it.")
    elif what == "show":
        turn.notice("Here they are.", typed=False)
        commands.again(turn, session)
    elif not intake.turns_away(turn, session, event.person):
        turn.notice("No more reminders of this one.", typed=False)
        putting_off.stop(turn, session, session.round, event.person, event.ref)


def _gone(turn: Turn, session: str) -> None:
    """The session is not in the state any more: say what became of it."""
    turn.outcome, turn.reason = "refused", "late tap"
    old = next((a for a in turn.state.ancient if a.id == session), None)
    if old is None:
        turn.notice(f"This card is not known here. {OPEN}")
    else:
        turn.notice(
            f"That intake (#{old.number}) ended on {old.at:%d %B %Y}: {old.how}. Its answers stay in the record."
        )


def _find(turn: Turn, name: str) -> tuple[Session, Round] | None:
    session = turn.state.session(name.partition(".")[0])
    round_ = next((r for r in session.rounds if r.id == name), None) if session else None
    return None if session is None or round_ is None else (session, round_)


def _late(turn: Turn, session: Session, round_: Round | None, item: Item | None = None) -> None:
    """A tap on a round that is over (RD-14): who answered, when, and the way to change it."""
    turn.outcome, turn.reason = "refused", "late tap"
    if item is not None and item.answer is not None:
        who, when = view.isolate(item.answer.by_name, item.answer.by), iso(item.answer.at)[:16].replace("T", " ")
        words = view.answer_words(item.question, item.answer)
        turn.notice(
            f"{item.number} was answered by {who} on {when} UTC: {words}. To change it: change {item.number} to …"
        )
    else:
        turn.notice(view.over(session, round_, "the tap records nothing"))


def _answer(turn: Turn, rest: str, event: ButtonPressed) -> None:
    """`<round>:<number>:<option key>`; `+` confirms a statement."""
    name, _, tail = rest.partition(":")
    number, _, key = tail.partition(":")
    found = _find(turn, name)
    if found is None:
        _gone(turn, name.partition(".")[0])
        return
    session, round_ = found
    item = next((i for i in round_.items if str(i.number) == number), None)
    if item is None or not _fits(item, key):
        turn.outcome, turn.reason = "refused", "unknown button"
        how = "/resume shows what is asked." if item is None else f"Please write it, e.g. {item.number}: your answer"
        turn.notice(f"This button does not fit the questions any more. {how}")
        return
    if not intake.on_the_table(session, round_):
        _late(turn, session, round_, item)
        return
    if intake.turns_away(turn, session, event.person):
        return
    if _second_half(turn, round_, item, event.person):
        turn.outcome, turn.reason = "refused", "second half of a double click"
        turn.notice(f"That was quick: please look at question {item.number} first. Nothing recorded.")
        return
    round_ = round_.model_copy(update={"tapped": (event.person.id, item.number, turn.at)})
    option = item.question.option(key)
    if option is not None and option.other:
        session = turn.put_round(session, round_)
        _describe(turn, session, round_, item, event.person)
        return
    reading = ItemReading(key="confirm" if key == "+" else key)
    session, round_, done = recording.record(
        turn, session, round_, {item.number: reading}, (), event.person, event.ref
    )
    if session.round is not round_:  # nothing was recorded
        session = turn.put_round(session, round_)
    turn.notice(" ".join(done.lines) or "Passed on to the requester.")
    intake.echo(turn, session, round_, done, None, tapped=True)


def _second_half(turn: Turn, round_: Round, item: Item, person: Person) -> bool:
    """A tap on another question at once after the last one: the card has just moved on under the finger."""
    if round_.tapped is None:
        return False
    who, number, when = round_.tapped
    pause = turn.book.tap_pause.get(turn.surface, turn.book.tap_pause["*"])
    return who == person.id and number != item.number and turn.at - when < pause


def _fits(item: Item, key: str) -> bool:
    return item.question.option(key) is not None or (key == "+" and item.question.form == "validate")


def _describe(turn: Turn, session: Session, round_: Round, item: Item, person: Person) -> None:
    """Other was pressed: the person owes the words; nothing is recorded until they come."""
    if not isinstance(session.stage, Asking):
        turn.notice(f"To put it in your own words: change {item.number} to other (your words)")
        return
    stage = Asking(describing={**session.stage.describing, person.id: item.number})
    session = turn.put(session, stage=stage)
    if isinstance(turn.envelope.event, ButtonPressed):  # the label can be typed, too, and then opens no form
        words = item.model_copy(update={"answer": None})
        form = forms.form_of(round_, person, (words,))
        chosen = form.fields[0].model_copy(
            update={"chosen": item.question.other.key if item.question.other else None}
        )
        form = form.model_copy(update={"fields": (chosen,)})
        turn.reply = Reply(text="Please describe it in a message.", form=form)
    where = "a reply to this message" if turn.shared else "your next message"  # loose words are talk there (CH-2)
    turn.say(
        view.says(f"{item.number} · {item.question.topic}: please describe it in {where}."),
        words_from=person,
        session=session,
        round_=round_,
    )


def _accept_all(turn: Turn, rest: str, event: ButtonPressed) -> None:
    """`<round>:<revision>`: bound to the revision that was seen (RD-15); takes unanswered questions only (RP-4)."""
    name, _, revision = rest.rpartition(":")
    found = _find(turn, name)
    if found is None:
        _gone(turn, name.partition(".")[0])
        return
    session, round_ = found
    if session.stage.kind != "asking" or not intake.on_the_table(session, round_):
        _late(turn, session, round_)
        return
    if intake.turns_away(turn, session, event.person):
        return
    if revision != str(round_.revision):
        turn.outcome, turn.reason = "refused", "the round has changed"
        turn.notice("The questions have changed since this card; here they are again. Nothing recorded.")
        intake.show_card(turn, session, round_, anew=True)
        return
    if not turn.policy(session).bulk_accept:
        turn.outcome, turn.reason = "refused", "no bulk accept"
        turn.notice("These questions need your own words; there is nothing to accept in bulk.")
        return
    numbers = tuple(i.number for i in round_.open_items if i.question.recommended)
    session, round_, done = recording.record(turn, session, round_, {}, numbers, event.person, event.ref)
    turn.notice(f"Accepted: {len(done.resolved)}." if done.resolved else "Nothing was open to accept.")
    intake.echo(turn, session, round_, done, None, tapped=True)


def _form(turn: Turn, rest: str, event: ButtonPressed) -> None:
    """`<round>:<revision>`: the round as a form, where the platform has forms; the card says all of it too."""
    name, _, revision = rest.rpartition(":")
    found = _find(turn, name)
    if found is None:
        _gone(turn, name.partition(".")[0])
        return
    session, round_ = found
    if session.stage.kind not in ("asking", "closing"):
        _late(turn, session, round_)
    elif intake.turns_away(turn, session, event.person):
        return
    elif revision != str(round_.revision):
        turn.outcome, turn.reason = "refused", "the round has changed"
        turn.notice("The questions have changed since this card; here they are again.")
        intake.show_card(turn, session, round_, anew=True)
    else:
        turn.reply = Reply(text="", form=forms.form_of(round_, event.person))


def _menu(turn: Turn, rest: str, event: ButtonPressed) -> None:
    name, _, key = rest.partition(":")
    session = turn.state.session(name)
    if session is None:
        _gone(turn, name)
    elif not isinstance(session.stage, Routing):
        turn.outcome, turn.reason = "refused", "late tap"
        turn.notice(f"The choice was made already: {handover.destination(session)}. /new starts something else.")
    elif not intake.turns_away(turn, session, event.person):
        menu.choose(turn, session, key, event.ref)


def _pending(turn: Turn, rest: str, event: ButtonPressed) -> None:
    name, _, choice = rest.partition(":")
    pending = next((p for p in turn.state.pending if p.id == name), None)
    if pending is None:
        turn.outcome, turn.reason = "refused", "late tap"
        turn.notice(f"That question is settled, or a newer one took its place; this tap changes nothing. {OPEN}")
    elif pending.asked_of != event.person.id:
        turn.outcome, turn.reason = "refused", "asked of somebody else"
        turn.notice(f"That was asked of {_whom(turn, pending)}; only they can answer it.")
    elif choice not in confirming.choices(pending):
        turn.outcome, turn.reason = "refused", "unknown button"
        labels = " or ".join(f"“{label}”" for _, label in pending.choices)
        turn.notice(f"This button does not fit the question any more. Please write {labels}.")
    else:
        confirming.decide(turn, pending, choice, event.person, event.ref)


def _whom(turn: Turn, pending: Pending) -> str:
    """The person that a question of our own waits for, by name where it is known here."""
    people = [s.requester for s in turn.state.sessions]
    answers = (i.answer for s in turn.state.sessions for r in s.rounds for i in r.items)
    people += [Person(id=a.by, name=a.by_name) for a in answers if a is not None]
    asked = next((p for p in people if p.id == pending.asked_of), None)
    return "somebody else" if asked is None else view.isolate(asked.name, asked.id)


def _undo(turn: Turn, name: str, event: ButtonPressed) -> None:
    found = _find(turn, name)
    if found is None:
        _gone(turn, name.partition(".")[0])
        return
    session, round_ = found
    if not intake.on_the_table(session, round_) or not round_.undo:
        turn.outcome, turn.reason = "refused", "late tap"
        turn.notice("That can't be undone any more. To change an answer write, for example: change 1 to …")
    elif event.person.id not in (round_.undo_by, session.requester.id):
        turn.outcome, turn.reason = "refused", "asked of somebody else"
        turn.notice("Only the person who said it, or the requester, can take it back.")
    else:
        turn.notice("Taken back.", typed=False)
        undoing.undo(turn, session, round_, event.person)


def _change(turn: Turn, name: str) -> None:
    """*Change an answer*: says how, with the letters of each question."""
    found = _find(turn, name)
    if found is None:
        _gone(turn, name.partition(".")[0])
        return
    session, round_ = found
    lines = ["Which one? Write for example:"]
    for item in round_.items:
        keys = [o.key for o in item.question.options]
        ways = f"{keys[0]}–{keys[-1]}" if keys else "your words"
        lines.append(f"change {item.number} to {keys[0] if keys else '…'}   ({item.question.topic}; {ways})")
    turn.tell(*lines, session=session, round_=round_)
