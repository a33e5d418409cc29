"""A pack as the core sees it: workflows, phases and their marks, menus, trigger phrases. The core reads no files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from bot.core.model import Model
from bot.core.routing.languages import Language, compile_languages
from bot.core.routing.phrases import Lexicon
from bot.core.routing.text import fold

_LONG = 5  # letters of a command in which two slips are forgiven
Kind = Literal["workflow", "agent"]
GENERAL_COMMANDS = ("help", "status", "new", "cancel", "resume", "export", "settings", "start")  # CH-3


class Workflow(Model):
    """One destination. `comes_out` is what a person holds in their hands at the end (RT-8)."""

    id: str
    kind: Kind = "workflow"
    commands: tuple[str, ...] = ()
    title: str
    comes_out: str = ""
    default_for_phase: int | None = None
    covers: tuple[str, ...] = ()  # workflows that are part of this one: asked for together, this one is meant
    example: str = ""  # a request that starts it (RT-9)

    @property
    def skill(self) -> str:
        return self.id.partition("/")[0]

    @property
    def call(self) -> str:
        """How it is named to people: its command, or its id where it has none (RT-8)."""
        return f"/{self.commands[0]}" if self.commands else self.id


class Phase(Model):
    """`received`: how materials of this phase are named in the summary of a menu, "a draft"."""

    number: int
    name: str
    received: str


class NameMark(Model):
    """Words in a file's name that tell its phase; `^` in front: only at the start of the name."""

    phase: int
    any: tuple[str, ...]
    extensions: tuple[str, ...] = ()  # only for these, where given


class Pasted(Model):
    """A document pasted as text: material, not a request (RT-3). `need` different marks make it one."""

    phase: int
    name: str
    need: int
    any: tuple[str, ...]


class PhaseRules(Model):
    """Heuristics of RT-3. A folder mark beats a name mark beats an extension."""

    phases: tuple[Phase, ...] = ()
    folder_prefix: str = "phase"
    names: tuple[NameMark, ...] = ()
    extensions: dict[str, int] = {}
    paper_extensions: tuple[str, ...] = ()  # one alone is unclear, several are `papers_phase`
    papers_phase: int | None = None
    one_paper_phases: tuple[int, ...] = ()  # what one alone may be
    hosts: dict[str, int] = {}  # links of a known kind
    text_extensions: tuple[str, ...] = ()  # further endings by which a word in the text is read as a file's name
    pasted: tuple[Pasted, ...] = ()
    told_phase: int | None = None  # of several sentences that a paper says of itself ("we review …")
    told_name: str = "a pasted abstract"

    @cached_property
    def endings(self) -> frozenset[str]:
        """The endings by which a word in the text is read as a file's name."""
        return frozenset((*self.extensions, *self.paper_extensions, *self.text_extensions))


class StageLine(Model):
    workflow: str | None = None
    title: str
    comes_out: str = ""


class MenuRule(Model):
    """Options for materials of exactly these phases."""

    phases: tuple[int, ...]
    options: tuple[str, ...]


class Menus(Model):
    """All sentences of the menus, and which options fit which materials (RT-8)."""

    stage_summary: str
    stage_question: str
    stage: tuple[StageLine, ...]
    question: str
    just_these_summary: str
    just_these_question: str
    unknown_summary: str  # {command}
    unknown_question: str
    unknown_meant: str = "There is {command}."
    one_paper_summary: str
    one_paper: tuple[str, ...] = ()
    received: str  # {list}
    rules: tuple[MenuRule, ...] = ()
    offers: dict[int, tuple[str, ...]] = {}
    whole: str | None = None  # offered whenever phases are mixed
    something_else: str
    closing: str
    direct_mode: str
    near_miss: str  # {seen}
    near_miss_place: str
    agent_named: str  # {agent}
    join: str = " and "


class Pack(Model):
    """A folder of `config/packs/`, checked. `lexicon` is compiled once and kept."""

    name: str
    title: str
    workflows: tuple[Workflow, ...]
    phases: PhaseRules = PhaseRules()
    menus: Menus
    languages: tuple[Language, ...] = ()
    session_commands: tuple[str, ...] = ()  # they mean something only inside such a session: /continue

    @cached_property
    def lexicon(self) -> Lexicon:
        return compile_languages(self.languages)

    @cached_property
    def marks(self) -> Lexicon:
        """The words in file names and of pasted documents; class `n3` is name mark 3, `p0.2` a pasted one."""
        found = Lexicon(self.lexicon.variants)
        for number, mark in enumerate(self.phases.names):
            for word in mark.any:
                name = f"^{number}" if word.startswith("^") else f"n{number}"
                found.add_word(found.identity(name), text=word.lstrip("^"))
        for number, pasted in enumerate(self.phases.pasted):
            for place, word in enumerate(pasted.any):
                found.add_word(found.identity(f"p{number}.{place}"), text=word)
        found.finish()
        return found

    def workflow(self, identity: str) -> Workflow | None:
        return next((w for w in self.workflows if w.id == identity), None)

    def workflow_by_command(self, word: str) -> Workflow | None:
        """`word` with or without `/`, in any case, with hyphens, underscores or long dashes (RT-11)."""
        wanted = command_form(word)
        return next((w for w in self.workflows if wanted in w.commands), None) if wanted else None

    def default_for(self, phase: int) -> Workflow | None:
        return next((w for w in self.workflows if w.default_for_phase == phase), None)

    def received(self, phase: int) -> str:
        return next((p.received for p in self.phases.phases if p.number == phase), "material")

    def nearest_commands(self, word: str, limit: int = 3) -> tuple[Workflow, ...]:
        """Known commands by likeness, the nearest first (RT-10)."""
        wanted = command_form(word)
        named = [w for w in self.workflows if w.commands]
        ranked = sorted(named, key=lambda w: min(_unlike(wanted, c) for c in w.commands))  # stable: pack order
        return tuple(ranked[:limit])

    def nearest(self, identity: str, limit: int = 3) -> tuple[str, ...]:
        """Ids of workflows by likeness, those with the same parts first."""
        ranked = sorted(
            (w.id for w in self.workflows), key=lambda w: _unlike(*(i.replace("/", "-") for i in (identity, w)))
        )
        return tuple(ranked[:limit])

    def mistyped(self, word: str) -> str | None:
        """The general or session command that was meant, a slip or two away: `nwe` is `new` (CH-3, RT-10)."""
        typed = command_form(word)
        allowed = 1 if len(typed) < _LONG else 2
        known = (*GENERAL_COMMANDS, *self.session_commands)
        alike = [command for command in known if abs(len(typed) - len(command)) <= allowed]
        near = [(edits(typed, command), command) for command in alike]
        slips, meant = min(near, default=(allowed + 1, ""), key=lambda one: one[0])  # the first of several
        return meant if len(typed) > 1 and slips <= allowed else None


def command_form(word: str) -> str:
    """`/ARS_Lit—Review` → `ars-lit-review`."""
    folded = fold(word, {}).strip().lstrip("/!")
    return "-".join(part for part in _split_dashes(folded) if part)


def _split_dashes(word: str) -> list[str]:
    for dash in "_—–‐‑−―":
        word = word.replace(dash, "-")
    return word.split("-")


def _unlike(typed: str, known: str) -> tuple[int, int]:
    """Edits from one word to the other, with the parts compared first: `lit-review` is in `ars-lit-review`."""
    shared = set(typed.split("-")) & set(known.split("-"))
    return (-len(shared - {"ars"}) if shared - {"ars"} else 0, edits(typed[:40], known))


def edits(left: str, right: str) -> int:
    """Slips from one word to the other: a letter more, less, other, or two neighbours swapped."""
    before: Sequence[int] = ()
    row: Sequence[int] = range(len(right) + 1)
    for i, a in enumerate(left, 1):
        line = [i]
        for j, b in enumerate(right, 1):
            least = min(row[j] + 1, line[-1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                least = min(least, before[j - 2] + 1)
            line.append(least)
        before, row = row, line
    return row[-1]
