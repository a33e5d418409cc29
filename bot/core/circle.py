"""Who may answer the questions of one session (RD-12), as values; docs/glossary.md has the words."""

from __future__ import annotations

from bot.core.model import Model, Person, PersonId
from bot.core.policies import Answerers


def entry(name: str, surface: str) -> str:
    """A person or group as kept: `@Ana` → `x:ana`, `S123` → `x:S123`, `x:S123` as it is."""
    name = name.strip().rstrip(",;")
    if name.startswith("@"):
        return f"{surface}:{name.lstrip('@').casefold()}"
    return name if ":" in name else f"{surface}:{name}"


class Circle(Model):
    """What decides who may answer. `answerers` None = the program's default for the platform.

    `named`: people named in the request or asked by the requester, as `entry` keeps them. `taken_part`: people who
    have written here before the present message. `listed`: people and groups of `/settings listed`.
    """

    shared: bool
    requester: Person
    named: tuple[str, ...] = ()
    taken_part: tuple[PersonId, ...] = ()
    answerers: Answerers | None = None
    listed: tuple[str, ...] = ()
    outsiders: bool = False

    def asked(self, person: Person, surface: str) -> bool:
        """Whether the questions are this person's: they requested, or were named."""
        return person.id == self.requester.id or known_as(person, surface, self.named)

    def refusal(self, person: Person, surface: str, policy: Answerers) -> str | None:
        """None when this person may answer; else the reason, to be completed for them."""
        if person.kind != "person":
            return "Bots and channels can not answer; a person has to."
        if person.outside and not self.outsiders:
            return "People from outside can not answer here unless the settings of this place allow it."
        if self.asked(person, surface):
            return None
        if not self.shared:  # "in private the person"; the terminal and JSON lines can have others there
            return None if self.answerers == "anyone" else _NOT_YOURS["requester"]
        if policy == "anyone":
            return None
        if policy == "participants" and (person.member or person.id in self.taken_part):
            return None
        if policy == "listed" and known_as(person, surface, self.listed):
            return None
        return _NOT_YOURS[policy]


_NOT_YOURS = {
    "requester": "",
    "participants": "Here the people who take part in the conversation answer, and you have not taken part yet. ",
    "listed": "Here only the people listed in the settings answer. ",
}


def known_as(person: Person, surface: str, entries: tuple[str, ...]) -> bool:
    """Whether one of the entries is this person: by id, by handle, or by a group that they are in."""
    handle = person.handle
    if handle is None and person.id.startswith(f"{surface}:"):  # a platform without handles: the id is the name
        handle = person.id.partition(":")[2]
    mine = {person.id, *person.groups, *([f"{surface}:{handle.casefold()}"] if handle else [])}
    return not mine.isdisjoint(entries)
