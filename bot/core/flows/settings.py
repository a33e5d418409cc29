"""`/settings`: what people set for a place: its pack, who may answer, whether people from outside may (RD-12).

What is about times is in `flows/times` (CH-6).
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import view
from bot.core.capture import quote
from bot.core.circle import entry, known_as
from bot.core.effects import Reply
from bot.core.elsewhere import root
from bot.core.flows import putting_off, times
from bot.core.model import Person
from bot.core.policies import Settings
from bot.core.turn import Turn

NAMES = ("pack", "answer", "answers", "listed", "outsiders")
POLICIES = ("requester", "participants", "listed", "anyone")


def settings(turn: Turn, rest: str, person: Person) -> None:
    """Show the settings of this place, or change one; every change is audited and told to the place.

    They are the whole place's: what is said of them in a thread is for the place that the thread belongs to.
    """
    if turn.whole_place is not None:
        turn.belongs = turn.whole_place
        return
    words = rest.replace(",", " ").split()
    if not words:
        lines = (_shown(turn), *_usage(turn), *times.shown(turn, person), *times.usage(turn))
        turn.say(view.says(*lines, buttons=times.rows()))
        return
    if person.outside:
        turn.refuse(person, "from outside", "People from outside can not change the settings of this place.")
        return
    before = turn.settings
    words = [words[0].casefold(), *words[1:]]
    of_time = words[0] in times.WORDS
    after = times.changed(turn, before, words, person) if of_time else _changed(turn, before, words)
    if isinstance(after, str):
        turn.outcome, turn.reason = "refused", "unknown setting"
        if of_time:
            turn.notice(after)
        else:
            turn.tell(after, *_usage(turn), *(() if words[0] in NAMES else times.usage(turn)))
        return
    if not of_time and after.pack == before.pack and (refusal := _may_not(turn, person)) is not None:
        turn.refuse(person, *refusal)
        return
    turn.set(settings=after)
    if of_time and turn.shared:
        turn.timer(times.TOLD, turn.at)
    changed = {k: v for k, v in after.model_dump().items() if v != getattr(before, k)}
    turn.audit("access.settings_changed", None, person, setting=words[0], value=quote(" ".join(words[1:])), **changed)
    turn.tell(*(times.shown(turn, person) + putting_off.zone_told(turn) if of_time else [_shown(turn)]))


def pressed(turn: Turn, token: str, person: Person) -> None:
    """A button of the settings: `reminders:daily` does what `/settings reminders daily` does (CH-1)."""
    what, _, value = token.partition(":")
    turn.reply = Reply(text="Changed." if what in times.WORDS else "")
    settings(turn, f"{what} {value}", person)


def _may_not(turn: Turn, person: Person) -> tuple[str, str] | None:
    """Why this person may not say who answers: an open intake is its requester's, a list is for those on it."""
    threads = [r for r in turn.elsewhere() if root(r.conversation) == turn.envelope.place.conversation]
    requesters = [s.requester for s in turn.state.sessions if s.stage.kind != "ended"]
    others = [one for one in (*requesters, *(r.circle.requester for r in threads)) if one.id != person.id]
    if others:
        who = view.isolate(others[0].name, others[0].id)
        return (
            "not the requester",
            f"{who}'s intake is open; while it is, only {who} can change who may answer.",
        )
    set_now = turn.settings
    listed = turn.shared and turn.book.answerers_for(turn.surface, set_now.answerers) == "listed" and set_now.listed
    if listed and not known_as(person, turn.surface, set_now.listed):
        return "not listed", "Only the people listed here can change who may answer: /settings shows them."
    return None


def _changed(turn: Turn, now: Settings, words: Sequence[str]) -> Settings | str:
    """The settings after the change, or what is wrong with it."""
    names = tuple(entry(word, turn.surface) for word in words[2:])
    match words:
        case ["pack", pack] if pack in turn.book.packs:
            return now.model_copy(update={"pack": pack})
        case ["answer" | "answers", "listed", *_]:
            listed = tuple(dict.fromkeys(names)) or now.listed
            if not listed:
                return "Nobody is listed yet; name them: /settings answers listed @ana @bo."
            return now.model_copy(update={"answerers": "listed", "listed": listed})
        case ["answer" | "answers", policy] if policy in POLICIES:
            return now.model_copy(update={"answerers": policy})
        case ["listed", "add", _, *_]:
            return now.model_copy(update={"listed": tuple(dict.fromkeys((*now.listed, *names)))})
        case ["listed", "remove", _, *_]:
            unknown = [word for word, name in zip(words[2:], names, strict=True) if name not in now.listed]
            if unknown:
                return f"Not listed here: {' '.join(unknown)}; nothing is changed."
            left = tuple(one for one in now.listed if one not in names)
            if not left and now.answerers == "listed":
                return "That would leave nobody who may answer; nothing is changed. Add somebody else first."
            return now.model_copy(update={"listed": left})
        case ["outsiders", "on" | "off" as switch]:
            return now.model_copy(update={"outsiders": switch == "on"})
        case ["menus" | "echoes" as what, "on" | "off" as switch]:
            left = tuple(one for one in now.off if one != what)
            return now.model_copy(update={"off": left if switch == "on" else (*left, what)})
    return f"I don't know the setting “{quote(' '.join(words))}”; nothing is changed."


def _usage(turn: Turn) -> tuple[str, ...]:
    return (
        f"/settings pack {'|'.join(sorted(turn.book.packs))}",
        "/settings answers requester|participants|anyone",
        "/settings answers listed @ana @bo",
        "/settings listed add|remove @ana",
        "/settings outsiders on|off",
    )


def _shown(turn: Turn) -> str:
    now = turn.settings
    answers: str = turn.book.answerers_for(turn.surface, now.answerers)
    if now.listed:
        names = " ".join(_written(one, turn.surface) for one in now.listed)
        answers = f"listed ({names})" if answers == "listed" else f"{answers}. Listed: {names}"
    outside = " People from outside may answer too." if now.outsiders else ""
    silent = f" Switched off: {' and '.join(now.off)}." if now.off else ""
    pack = turn.pack.name
    return f"Pack: {pack}. Who may answer in a shared place: {answers}.{outside}{silent}"


def _written(one: str, surface: str) -> str:
    name = one.removeprefix(f"{surface}:")
    return f"@{name}" if name.islower() else name
