"""A playbook: the questions that a workflow's intake may ask. The packs' YAML files are read into these."""

from __future__ import annotations

from functools import cached_property

from bot.core.files import FileKind
from bot.core.model import Model, Question


class Known(Model):
    """Words in the request that already answer a question, so that it is not asked (RD-5).

    `words` are phrases, matched on whole words with case and width folded; `option` is the key that they mean, or
    None when the words themselves are the value. Only plain statements belong here: a wrong match loses a question.
    `bot.core.stated` reads them and tells what a phrase may hold.
    """

    words: tuple[str, ...]
    option: str | None = None


class Default(Model):
    """A recommendation that comes from the tier: the option's key and the reason."""

    option: str
    because: str


class Entry(Model):
    """One candidate question. It is dropped, with the reason kept, unless `field` and `artefact` are named (RD-5).

    `known_from_phases` settles it when a file or link of such a phase came with the request, `known_from_files`
    when any document did whose name does not speak of another phase. `known_from_paste`
    settles it when a text was pasted into the request and one of these words introduces it.
    """

    question: Question
    known: tuple[Known, ...] = ()
    known_from_phases: tuple[int, ...] = ()
    known_from_files: bool = False
    known_from_paste: tuple[str, ...] = ()
    tiers: tuple[int, ...] = ()  # tiers at which it is in play; empty = all (SP-1)
    by_tier: dict[int, Default] = {}  # the recommendation where it depends on the tier
    inherits: str | None = None  # a field whose decision is recommended here, where an option holds the same value
    depends: tuple[str, ...] = ()  # fields of the locked scope: a change of one makes an answer doubtful (SC-3)
    against: dict[str, tuple[str, ...]] = {}  # by option key: `field=value` that it contradicts (SC-2)

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """All words by which the question may be known."""
        return tuple(line for known in self.known for line in known.words)

    @cached_property
    def option_phrases(self) -> tuple[str, ...]:
        """Those of them that name an option."""
        return tuple(line for known in self.known if known.option for line in known.words)


class Playbook(Model):
    """`purpose` is one sentence: what the answers decide and what is blocked until they are given (RD-8)."""

    workflow: str
    title: str
    purpose: str
    policy: str = "playbook"
    fetch: tuple[FileKind, ...] = ()  # kinds of files that are downloaded and checked
    entries: tuple[Entry, ...]
