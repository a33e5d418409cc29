"""Somebody will answer later (CH-6): kept with its proof, said back with the moment, and never taken as an answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Any

from bot.core import view
from bot.core.capture import found_at
from bot.core.events import ButtonPressed, MessageReceived
from bot.core.flows import hours, replying
from bot.core.flows.words import pleasantry, puts_off
from bot.core.model import MessageRef, Person
from bot.core.moments.expression import MISTAKEN, Expression, Wrong, either_day
from bot.core.moments.resolve import Moment, on_the_wall, resolve
from bot.core.moments.wish import Wish, bare_moment, find, may_be_moment, moment_in, only_asks, only_moment
from bot.core.moments.zones import in_words, span_in_words
from bot.core.patterns import regex
from bot.core.replies.message import Moments
from bot.core.replies.reading import Reading, Slot
from bot.core.state import PutOff, Reminded, Round, Session
from bot.core.turn import Turn

EXAMPLE = "ask me tomorrow at 9"
MOST_NAMED = 3  # paused intakes
LATER = 32  # characters; "not now, maybe later please" is shorter, and most first messages are longer


# -- what a message wishes -----------------------------------------------------------------------------------------


def wish_in(turn: Turn, text: str) -> Wish | None:
    """What a message asks for in so many words. A rest that is nothing but politeness is none."""
    wish = find(text, turn.book.times)
    if wish is None or not wish.rest or _ends_in_letter(wish.rest) or not pleasantry(wish.rest, turn.book.phrases):
        return wish
    return replace(wish, rest="")


def _ends_in_letter(rest: str) -> bool:
    """ "A", "ok, A", "a please": a small word of some language, and an answer all the same. Not "thanks a lot"."""
    words = [word.strip(".,;:!()") for word in rest.split()]
    return any(len(word) == 1 and word.isalpha() and word.isascii() for word in (words[0], words[-1]))


_BREAK = regex(r"[:,;.\n，、：；。]|\s[-–—]\s")
_BREAKS = 4  # looked at; a time has one or two itself: "tomorrow, 9:30: 1 A"


def wish_before(turn: Turn, round_: Round, text: str) -> Wish | None:
    """A bare moment in front of answers: "tomorrow at 9: 1 A". The answers are the rest. Where words are asked for,
    "3 December, 10 am" is one answer (RP-11)."""
    marks = list(islice(_BREAK.finditer(text), _BREAKS))
    if not marks or not may_be_moment(text[: marks[-1].start()], turn.book.times):
        return None
    for mark in marks:
        said, rest = only_moment(text[: mark.start()], turn.book.times), text[mark.end() :].strip()
        if said is None:
            continue
        reading = replying.read(turn, round_, rest, decoded=True)
        chosen = reading.shaped or all(item.key != "other" for item in reading.answers.values())
        if chosen and not reading.errors and (reading.answers or reading.accepted):
            wish = Wish(text[: mark.start()].strip(), said, rest)
            worded = not reading.shaped and any(item.text for item in reading.answers.values())
            return None if worded and _one_answer(turn, round_, text) else wish
    return None


def _one_answer(turn: Turn, round_: Round, text: str) -> bool:
    """Whether a moment and the words behind it belong together: as a longer moment, or as what is asked for."""
    if only_moment(text, turn.book.times) is not None:
        return True
    return any(item.text for item in replying.read(turn, round_, text, decoded=True).answers.values())


def wish_behind(turn: Turn, round_: Round, text: str, reading: Reading) -> Wish | None:
    """What a message wishes that does not ask for it in so many words: "tomorrow at 9", "1: B, 2: later"."""
    times = turn.book.times
    if reading.kind == "put_off":
        return Wish(text.strip(), moment_in(text, times))
    if reading.kind == "unparsed" and all(i.question.form == "choice" for i in round_.open_items):
        said = only_moment(text, times)
        return None if said is None else Wish(text.strip(), said)
    if reading.kind not in ("answers", "accept_all", "accept_all_except"):
        return None
    if any(e.code == "deferred" for e in reading.errors):
        return Wish(text.strip(), moment_in(text, times, [item.number for item in round_.items]))
    for note in (reading.note, *(item.note for item in reading.answers.values())):
        said = None if note is None else only_moment(note, times)
        if note is not None and said is not None:
            return Wish(note, said)  # the note is kept as well: it may be meant as one
        if note is not None and puts_off(note, turn.book.phrases):
            return Wish(note, moment_in(note, times))  # "2b, later": likewise
    return None


def wished(turn: Turn, words: str) -> Wish:
    """The wish in words that are known to put something off."""
    return Wish(words, moment_in(words, turn.book.times))


def dated(turn: Turn, text: str, slot: Slot) -> Moments:
    """What a moment may mean that was said on a question, for the reader."""
    times = turn.book.times
    bare = bare_moment(text, times)
    if not bare:
        return "" if bare is None else "rather_later"
    return "answer" if times.asks_when(slot.topic) or times.asks_when(slot.text) else "either"


def unfinished(turn: Turn, session: Session, event: MessageReceived, ref: MessageRef) -> bool:
    """A wish while no round is open: at the menu, or between the phases of a specification."""
    text = event.text
    wish = wish_in(turn, text)
    if wish is None and session.stage.kind == "routing":
        said = only_moment(text, turn.book.times)
        later = said is not None or puts_off(text, turn.book.phrases)
        wish = Wish(text.strip(), said or moment_in(text, turn.book.times)) if later else None
    if wish is None or wish.rest:
        return False
    keep(turn, session, None, wish, event.person, ref)
    return True


def only_wishes(turn: Turn, text: str) -> bool:
    """Whether a message wishes to be asked later, and says nothing else."""
    wish, times = wish_in(turn, text), turn.book.times
    if wish is not None:
        return not wish.rest
    if only_asks(text, times) or only_moment(text, times) is not None:
        return True
    return len(text) <= LATER and puts_off(text, turn.book.phrases)


def about_nothing(turn: Turn) -> None:
    """A wish while nothing is open that it could be about is answered with what can be done."""
    paused = [s for s in turn.state.sessions if s.stage.kind in ("asking", "routing", "between")]
    lines = ["Nothing is open here, so there is nothing to ask you again about."]
    for session in paused[-MOST_NAMED:]:
        words = view.shortened(session.request.text, 60)
        lines.append(f"#{session.number} “{words}” is kept: /resume {session.number} goes on with it.")
    more = "Something new" if paused else "For an intake"
    turn.tell(*lines, f"{more}: say what you need. While its questions are open, I can wait: {EXAMPLE}")


# -- keeping it ----------------------------------------------------------------------------------------------------


def keep(
    turn: Turn,
    session: Session,
    round_: Round | None,
    wish: Wish,
    person: Person,
    ref: MessageRef,
    *,
    beside: bool = False,
    noted: bool = False,
) -> Session:
    """Keep the wish, and say the moment back. `beside`: the message also said something else, which has its echo;
    `noted`: and that echo shows the words as a note."""
    if wish.stops:
        return stop(turn, session, round_, person, ref)
    zone = hours.zone_of(turn, person)
    found = resolve(wish.said, turn.at, zone.rules)
    moment = found if isinstance(found, Moment) else None
    at = None if moment is None else hours.heard_from(turn, moment.at, (person,))
    before = next((p for p in session.put_off or () if p.by.id == person.id), None)
    stands = before is not None and before.at is not None and before.at > turn.at and at is None
    kept = PutOff(
        by=person,
        words=wish.words,
        ref=ref.id,
        at=at,
        local=None if moment is None else moment.local,
        zone=zone.name,
        assumed=zone.assumed,
    )
    if before is not None and stands:  # what can not be read takes nothing away
        kept = before
    others = tuple(p for p in session.put_off or () if p.by.id != person.id)
    session = turn.put(session, put_off=(*others, kept))
    told: dict[str, Any] = {} if at is None else {"at": at.isoformat(), "zone": zone.name}
    turn.audit(
        "answer.put_off",
        session,
        person,
        round_,
        until=wish.words,
        user_message_ref=found_at(ref),
        words=ref.quote,
        **told,
    )
    open_ = view.still_open(round_, turn.policy(session).bulk_accept) if round_ and round_.open_items else ""
    if moment is None or at is None:
        why = "" if not isinstance(found, str) else f": {_mistake(wish, found)}"
        lines = _without_moment(wish, why, _in_zone(turn, kept) if stands else "", beside=beside, noted=noted)
    else:
        lines = _with_moment(turn, moment, zone, person)
    if beside:
        turn.also(*lines)
    else:
        turn.tell(*lines, open_, session=session, round_=round_)
    return session


def _with_moment(turn: Turn, moment: Moment, zone: hours.Zone, person: Person) -> list[str]:
    wished = in_words(moment.at, zone.rules, zone.name, turn.at)
    at = hours.heard_from(turn, moment.at, (person,))
    lines = []
    if at != moment.at:
        quiet = hours.quiet_of(turn, None) or hours.quiet_of(turn, person)
        span = "" if quiet is None else f" ({span_in_words(quiet)})"
        lines.append(f"{wished} is in the quiet hours{span}, so I ask at their end.")
        wished = in_words(at, zone.rules, zone.name, turn.at)
    lines.append(f"All right, I ask you again on {wished}. Nothing is decided meanwhile, and nothing expires.")
    if moment.local is not None and moment.moved:
        lines.append(f"{moment.local:%H:%M} does not exist that night, because the clocks go forward.")
    if moment.local is not None and moment.twice:
        lines.append(f"{moment.local:%H:%M} comes twice that night, because the clocks go back; it is the first one.")
    if zone.assumed and moment.local is not None:
        how = "/settings my zone" if turn.shared else "/settings zone"
        lines.append(f"I don't know your time zone and took {zone.name}. If it is another: {how} Europe/Berlin")
    return lines


def _mistake(wish: Wish, found: Wrong) -> str:
    if found != "which_date":
        return MISTAKEN[found]
    one, other = either_day(wish.said)
    return f"it may be {one} or {other}"


def _in_zone(turn: Turn, kept: PutOff) -> str:
    zone = turn.book.zones.zone(kept.zone)
    return "" if kept.at is None or zone is None else in_words(kept.at, zone, kept.zone, turn.at)


def _without_moment(wish: Wish, why: str, stands: str, *, beside: bool, noted: bool) -> list[str]:
    if stands:
        shown = "" if wish.said == Expression() else f"I can't tell another moment from that{why}. "
        return [] if beside and not shown else [f"{shown}I ask you again on {stands}, as you said before."]
    if beside and not noted and wish.said == Expression():
        return []  # its own error says that the question is put off
    words = wish.words if len(wish.words) <= 60 else f"{wish.words[:59]}…"
    if beside and wish.said == Expression():  # which may not be what was meant (RP-5)
        how = f"To be asked again: {EXAMPLE}"
        return [f"“{words}” is kept as a note. What is open can wait, and nothing expires. {how}"]
    return [
        f"All right, later (“{words}”). Nothing is recorded or decided meanwhile, and nothing expires.",
        f"I can't tell a moment from that{why}, so I don't come back by myself. To be asked again: {_example(wish)}",
    ]


def _example(wish: Wish) -> str:
    return f"ask me on {either_day(wish.said)[1]} at 9" if wish.said.wrong == "which_date" else EXAMPLE


def stop(turn: Turn, session: Session, round_: Round | None, person: Person, ref: MessageRef) -> Session:
    """No reminders of this intake any more, and no wish of this person's."""
    left = tuple(p for p in session.put_off or () if p.by.id != person.id)
    name = "" if round_ is None else round_.id
    before = session.reminded or Reminded(round=name, last=turn.at)
    muted = before.model_copy(update={"round": name, "last": turn.at, "muted": True})
    session = turn.put(session, put_off=left or None, reminded=muted)
    turn.audit("reminder.stopped", session, person, round_, user_message_ref=found_at(ref), words=ref.quote)
    if not isinstance(turn.envelope.event, ButtonPressed):  # a tap has its notice
        words = "No more reminders of this one. It stays open, and nothing expires; /status shows it."
        turn.tell(words, session=session, round_=round_)
    return session


def shown(turn: Turn, session: Session) -> list[str]:
    """Who is asked again when, for `/status`."""
    lines = []
    for kept in session.put_off or ():
        if at := _in_zone(turn, kept):
            who = view.isolate(kept.by.name, kept.by.id) if turn.shared else "you"
            lines.append(f"I ask {who} again on {at}.")
    return lines


# -- another zone ----------------------------------------------------------------------------------------------------


def zone_told(turn: Turn) -> list[str]:
    """Wishes whose zone was only assumed mean the same hour in the zone that is known now; what is said of them."""
    lines = []
    for session in turn.state.sessions:
        changed = []
        for wish in session.put_off or ():
            zone = hours.zone_of(turn, wish.by)
            if not wish.assumed or zone.assumed:
                changed.append(wish)
                continue
            local = wish.local
            at = wish.at if local is None else on_the_wall(local, zone.rules).at
            if local is not None and at is not None and at <= turn.at and wish.at is not None and wish.at > turn.at:
                local += timedelta(days=1)  # where it is that day already, "tomorrow" is the day after
                at = on_the_wall(local, zone.rules).at
            at = None if at is None else hours.heard_from(turn, at, (wish.by,))
            changed.append(wish.model_copy(update={"zone": zone.name, "assumed": False, "local": local, "at": at}))
            if at is not None and wish.at is not None:
                shown = in_words(at, zone.rules, zone.name, turn.at)
                who = f"{view.isolate(wish.by.name, wish.by.id)}: " if turn.shared else ""
                lines.append(f"{who}“{wish.words}” is now {shown}.")
        if session.put_off and tuple(changed) != session.put_off:
            kept = session.model_copy(update={"put_off": tuple(changed)})
            turn.set(sessions=tuple(kept if s.id == kept.id else s for s in turn.state.sessions))
    return lines
