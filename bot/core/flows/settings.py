"""`/settings`: what people set for a place: its pack, who may answer, and whether people from outside may (RD-12)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.capture import quote
from bot.core.circle import entry, known_as
from bot.core.elsewhere import root
from bot.core.model import Person
from bot.core.policies import Settings
from bot.core.turn import Turn

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
        turn.tell(*_shown(turn))
        return
    if person.outside:
        turn.refuse(person, "from outside", "People from outside can not change the settings of this place.")
        return
    before = turn.settings
    after = _changed(turn, before, [words[0].casefold(), *words[1:]])
    if isinstance(after, str):
        turn.outcome, turn.reason = "refused", "unknown setting"
        turn.tell(after, _usage(turn))
        return
    if after.pack == before.pack and (refusal := _may_not(turn, person)) is not None:
        turn.refuse(person, *refusal)
        return
    turn.set(settings=after)
    changed = {k: v for k, v in after.model_dump().items() if v != getattr(before, k)}
    turn.audit("access.settings_changed", None, person, setting=words[0], value=quote(" ".join(words[1:])), **changed)
    turn.tell(*_shown(turn))


def _may_not(turn: Turn, person: Person) -> tuple[str, str] | None:
    """Why this person may not say who answers: an open intake is its requester's, a list is for those on it."""
    threads = [r for r in turn.elsewhere() if root(r.conversation) == turn.envelope.place.conversation]
    requesters = [s.requester for s in turn.state.sessions if s.stage.kind != "ended"]
    if any(one.id != person.id for one in (*requesters, *(r.circle.requester for r in threads))):
        return "not the requester", "Only the requester of the open intake can change who may answer it."
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


def _usage(turn: Turn) -> str:
    return (
        f"/settings pack {'|'.join(sorted(turn.book.packs))} · /settings answers requester|participants|anyone · "
        "/settings answers listed @ana @bo · /settings listed add|remove @ana · /settings outsiders on|off"
    )


def _shown(turn: Turn) -> tuple[str, ...]:
    now = turn.settings
    answers: str = turn.book.answerers_for(turn.surface, now.answerers)
    if now.listed:
        names = " ".join(_written(one, turn.surface) for one in now.listed)
        answers = f"listed ({names})" if answers == "listed" else f"{answers}. Listed: {names}"
    outside = " People from outside may answer too." if now.outsiders else ""
    silent = f" Switched off: {' and '.join(now.off)}." if now.off else ""
    pack = turn.pack.name
    return (f"Pack: {pack}. Who may answer in a shared place: {answers}.{outside}{silent}", _usage(turn))


def _written(one: str, surface: str) -> str:
    name = one.removeprefix(f"{surface}:")
    return f"@{name}" if name.islower() else name
