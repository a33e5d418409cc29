"""All the rules and words that a step may consult, as data handed in: the core reads no files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from bot.core.moments.words import TimeWords
from bot.core.moments.zones import Zones
from bot.core.playbook import Playbook
from bot.core.policies import Access, Answerers, Quiet
from bot.core.replies.phrases import PhraseBook
from bot.core.routing.pack import Pack


@dataclass(frozen=True, slots=True)
class Book:
    """`default_pack` maps a platform to the pack of its places without a setting; "*" is for the others."""

    packs: Mapping[str, Pack]
    playbooks: Mapping[str, Playbook]
    phrases: PhraseBook
    access: Access = field(default_factory=Access)
    default_pack: Mapping[str, str] = field(default_factory=lambda: {"*": "research", "slack": "triage"})
    default_answerers: Mapping[str, Answerers] = field(
        default_factory=lambda: {"*": "requester", "slack": "participants"}  # RD-12; a triage team answers together
    )
    alone: frozenset[str] = frozenset({"telegram", "slack"})  # platforms with nobody else in their private places
    deny_names: tuple[str, ...] = ()  # no question may hold one (RD-3)
    grace: timedelta = timedelta(seconds=5)  # RD-16
    bot_names: Mapping[str, str] = field(default_factory=lambda: {"terminal": "askfirst"})  # ours, by platform
    times: TimeWords = field(default_factory=TimeWords)  # the words of wishes about asking (CH-6)
    zones: Zones = field(default_factory=Zones)
    zone: str = "UTC"  # of people and places whose zone nobody has told
    quiet: Quiet | None = None  # where people have set no quiet hours
    reminders: int = 0  # hours between reminders where people have set nothing; 0 = none
    closing_sessions_kept: int = 3  # ended sessions kept whole in a conversation's state, for amendments

    # The second half of a double click answers the question that has moved under the finger: b50 of the field cases.
    tap_pause: Mapping[str, timedelta] = field(
        default_factory=lambda: {"*": timedelta(milliseconds=700), "terminal": timedelta(0)}
    )

    def answerers_for(self, platform: str, setting: Answerers | None) -> Answerers:
        return setting or self.default_answerers.get(platform, self.default_answerers["*"])

    def pack_for(self, platform: str, setting: str | None, named: str | None = None) -> Pack:
        """`setting`: what people have set for the place; `named`: what the operator has named for all others."""
        for name in (setting, named):
            if name is not None and name in self.packs:
                return self.packs[name]
        return self.packs[self.default_pack.get(platform, self.default_pack["*"])]
