"""Which of a playbook's questions are asked: those that earn their slot and are not answered yet (RD-4, RD-5)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.model import Model, Question
from bot.core.playbook import Entry, Playbook
from bot.core.policies import Policy
from bot.core.state import Dropped, Request, Settled
from bot.core.stated import Statement
from bot.core.words import first_of

_DOCUMENTS = frozenset("pdf doc docx odt rtf md markdown txt tex rst qmd pages epub".split())  # noqa: SIM905
_REFERENCES = frozenset("bib ris enw nbib".split())  # noqa: SIM905
_SHOWN = 200  # characters of a pasted text that stand for it


class Built(Model):
    """A round before it is surfaced. `full` = the ceiling was reached, which whoever asked is told (RD-4)."""

    asked: tuple[Question, ...]
    settled: tuple[Settled, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    full: bool = False


def build_round(playbook: Playbook, request: Request, phases: Sequence[int], policy: Policy) -> Built:
    """Judge every candidate in the playbook's order.

    `phases` are those of the files and links that came with the request: an artefact that is only named ("my
    draft") is not here yet, and the workflow still has to ask for it (RT-2).
    """
    statement = Statement(request.text)
    candidates: list[Question] = []
    settled: list[Settled] = []
    dropped: list[Dropped] = []
    for entry in playbook.entries:
        reason = _unearned(entry.question)
        if reason is not None:
            dropped.append(_dropped(entry.question, reason))
            continue
        known = (
            _from_materials(entry, request, phases)
            or _from_paste(entry, statement)
            or _from_words(entry, statement)
            or _from_files(entry, request, phases)
        )
        if known is not None:
            settled.append(known)
        else:
            candidates.append(entry.question)
    asked, later = _within(candidates, policy.ceiling)
    for question in later:
        reason = f"A round holds {policy.ceiling} questions; this one waits for a later round."
        dropped.append(_dropped(question, reason, later=True))
    full = policy.ceiling is not None and len(candidates) >= policy.ceiling
    return Built(asked=asked, settled=tuple(settled), dropped=tuple(dropped), full=full)


def _unearned(question: Question) -> str | None:
    """Why a candidate does not earn its slot: it must name the empty field and the artefact that changes (RD-5)."""
    if not question.field.strip() and not question.artefact.strip():
        return "It names neither the field that it fills nor the document that changes with the answer."
    if not question.field.strip():
        return "It does not name the field that it fills."
    if not question.artefact.strip():
        return "It does not name the document that changes with the answer."
    return None


def _within(candidates: Sequence[Question], ceiling: int | None) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """Critical ones first up to the ceiling; both parts in the playbook's order."""
    if ceiling is None or len(candidates) <= ceiling:
        return tuple(candidates), ()
    ranked = sorted(range(len(candidates)), key=lambda n: (candidates[n].stakes != "critical", n))
    taken = frozenset(ranked[:ceiling])
    return (
        tuple(q for n, q in enumerate(candidates) if n in taken),
        tuple(q for n, q in enumerate(candidates) if n not in taken),
    )


def _from_materials(entry: Entry, request: Request, phases: Sequence[int]) -> Settled | None:
    sent = [material for material in request.materials if material.kind != "named"]
    if not sent or not set(entry.known_from_phases) & set(phases):
        return None
    value = "in the files you sent" if any(m.kind == "file" for m in sent) else "in the links you sent"
    return _settled(entry.question, value, ", ".join(m.name for m in sent))


def _from_files(entry: Entry, request: Request, phases: Sequence[int]) -> Settled | None:
    """A document with no phase. A phase tells of another use, unless a reference list beside it has that."""
    if not entry.known_from_files:
        return None
    files = [material.name for material in request.materials if material.kind == "file"]
    documents = [name for name in files if _ending(name) in _DOCUMENTS]
    others = [name for name in files if _ending(name) in _REFERENCES]
    listed = len(phases) == 1 and others and len(documents) == 1 and len(files) == len(others) + 1
    if not documents or (phases and not listed):
        return None
    return _settled(entry.question, "in the files you sent", ", ".join(documents))


def _ending(name: str) -> str:
    return name.rpartition(".")[2].strip().casefold()


def _from_paste(entry: Entry, statement: Statement) -> Settled | None:
    if not entry.known_from_paste or not statement.pasted:
        return None
    if first_of(f"{statement.introduced}\n{statement.pasted[:_SHOWN]}", entry.known_from_paste) is None:
        return None
    return _settled(entry.question, "pasted into the request", statement.pasted[:_SHOWN])


def _from_words(entry: Entry, statement: Statement) -> Settled | None:
    """Settled only when all that is said means the same, nothing is doubted, and it is not denied elsewhere."""
    if not statement.may_hold(entry.phrases):
        return None
    named = statement.find(entry.option_phrases)
    meant: dict[tuple[str | None, str], str] = {}
    denied: set[str | None] = set()
    for known in entry.known:
        if known.option and not named:
            continue
        for match in statement.find(known.words):
            if known.option is None:  # an option that was named says more than the words around it
                covered = any(m.start < match.end and match.start < m.end for m in named)
            else:  # part of a longer phrase, which may mean something else
                covered = (match.start, match.end) not in {(m.start, m.end) for m in named}
            words = statement.text[match.start : match.end]
            if covered:
                continue
            if match.reading == "doubted":
                return None
            if match.reading == "denied":
                denied.add(known.option)
            else:
                meant.setdefault((known.option, "" if known.option else " ".join(words.casefold().split())), words)
    if len(meant) != 1:
        return None
    ((key, _), words), *_ = meant.items()
    option = entry.question.option(key) if key is not None else None
    if key in denied or (key is not None and option is None):
        return None
    return _settled(entry.question, option.label if option else words, words)


def _settled(question: Question, value: str, source: str) -> Settled:
    return Settled(question=question.id, topic=question.topic, value=value, source=source)


def _dropped(question: Question, reason: str, *, later: bool = False) -> Dropped:
    return Dropped(question=question.id, topic=question.topic, reason=reason, later=later)
