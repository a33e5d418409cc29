"""How unclear a phase is: signals, their points, and what follows from the sum (SC-1, SC-2). Deterministic.

Signals come from three sides: fields that the phase rests on and that hold nothing usable; words in the request and
in recorded answers; and agents or a model, as data. Each carries its evidence. What the open round asks about does
not count, nor what has been asked about before, nor a minor one that was passed over once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from bot.core.contradictions import KIND, contradictions
from bot.core.model import Model
from bot.core.moments.words import TimeWords
from bot.core.own_words import coded, own_words
from bot.core.playbook import Entry, Playbook
from bot.core.replies.phrases import PhraseBook
from bot.core.scope import BOUNDARY, INPUTS, OUT, boundary, count_in, inputs
from bot.core.slots import answered, held, in_play, rounds_of, spec_of
from bot.core.spec import ESCALATE_AT, PAUSE_AT, PHASES, SIGNALS_BANK, Signal, brief
from bot.core.state import Session
from bot.core.words import all_of, first_of, fold

# Every kind of signal, with its level in the protocol. A pack's `spec/signals` playbook may set other stakes.
LEVELS: Final[Mapping[str, Literal["critical", "minor"]]] = {
    "missing_field": "critical",
    "diverging": "critical",
    "hard_to_reverse": "critical",
    "contradiction": "critical",
    "verify_load_bearing": "critical",
    "compliance_judgement": "critical",
    "single_untrusted_source": "critical",
    "vague_quantifier": "minor",
    "generic_role": "minor",
    "boundary_unstated": "minor",
    "parity_unstated": "minor",
    "design_system_gap": "minor",
    "scope_vs_time": "minor",
}
Signs = Mapping[str, tuple[str, ...]]  # words by kind of sign, of every language
ROLE, PLATFORMS = "meta.primary_role", "meta.platforms"


class Score(Model):
    """The signals that count, their sum and what follows: go on, pause and ask, or escalate (SC-1)."""

    signals: tuple[Signal, ...] = ()

    @property
    def points(self) -> int:
        return sum(signal.points for signal in self.signals)

    @property
    def action(self) -> Literal["go", "pause", "escalate"]:
        if self.points >= ESCALATE_AT:
            return "escalate"
        return "pause" if self.points >= PAUSE_AT else "go"


def score(session: Session, playbooks: Mapping[str, Playbook], phrases: PhraseBook, times: TimeWords) -> Score:
    """The present phase's score. What a question on the table asks about does not count (RD-7)."""
    spec = spec_of(session)
    bank = playbooks.get(f"spec/phase-{spec.phase}")
    kinds = playbooks.get(SIGNALS_BANK)
    levels = dict(LEVELS)
    if kinds is not None:
        levels |= {e.question.id: e.question.stakes for e in kinds.entries if e.question.id in levels}
    entries = in_play(bank, spec.working_tier) if bank is not None else ()
    found: dict[str, Signal] = {}
    differing = _contradictions(session, playbooks, phrases, times)
    for signal in (*_detected(session, entries, phrases.signs), *differing, *spec.signals):
        found.setdefault(signal.id, signal.model_copy(update={"level": levels[signal.kind]}))
    table = session.round.open_items if session.stage.kind == "asking" and session.round is not None else ()
    open_round = {i.question.id for i in table} | {i.question.field for i in table}
    noted = {note.signal.id for note in spec.ambiguity_notes}
    asked = {i.question.id for r in rounds_of(session, spec.phase, whole=True) for i in r.items}
    settled = {i.question.id for r in session.rounds for i in r.items if i.question.id.startswith(f"{KIND}:")}
    carried = {point.text for point in spec.open_points}
    kept = tuple(
        s
        for s in found.values()
        if s.id not in noted
        and (s.said not in carried or s.field in INPUTS)
        and not {s.id, s.question, s.field} & (open_round - {""})
        and s.id not in asked | settled  # which of two places holds is asked once, in whichever phase
    )
    return Score(signals=kept)


# -- what is found in the state ----------------------------------------------------------------------------------


def _detected(session: Session, entries: Sequence[Entry], signs: Signs) -> Iterator[Signal]:
    for detector in DETECTORS:
        yield from detector(session, entries, signs)


def _signal(kind: str, name: str, said: str, evidence: str, **more: Any) -> Signal:
    return Signal(id=f"{kind}:{name}", kind=kind, level=LEVELS[kind], said=said, evidence=evidence, **more)


def _texts(session: Session) -> Iterator[tuple[str, str, str]]:
    """The person's own words: where they stand, in short; whole name; the words. The request counts in phase 1."""
    spec = spec_of(session)
    if spec.phase == 1:
        yield "request", "Your request", own_words(brief(session.request.text)).own
    unusable = inputs(session).missing if spec.phase == 1 else {}
    for question, (item, _) in answered(session, spec.phase).items():
        if item.answer is None or item.question.stakes != "critical" or item.question.field in unusable:
            continue
        words = own_words(" ".join(filter(None, (item.answer.text, item.answer.note)))).own
        if words.strip():
            yield question, item.question.topic, words


def _missing(session: Session, entries: Sequence[Entry], _signs: Signs) -> Iterator[Signal]:
    """A field that the phase rests on holds nothing, or nothing that can be used (critical 1, SC-3)."""
    spec, fields = spec_of(session), held(session)
    faults = dict(inputs(session).missing) if spec.phase == 1 and not spec.lock.locked else {}
    asked = {i.question.id for r in rounds_of(session, spec.phase) for i in r.items}
    waiting = {d.question for d in session.dropped if d.later and d.phase == spec.phase}
    for entry in entries:
        question = entry.question
        if question.stakes != "critical" or question.id in waiting:
            continue
        fault = faults.pop(question.field, None)
        empty = question.field not in fields or not fields[question.field].value.strip()
        if fault is None and not (empty and question.id in asked):
            continue
        said = f"{question.topic}: {fault or 'nothing is held'}"
        words = fields[question.field].words if question.field in fields else f"{question.field} is empty"
        name = f"{question.field}={fold(words)[:40]}"
        yield _signal("missing_field", name, said, words, field=question.field, question=question.id)


def _vague(session: Session, _entries: Sequence[Entry], signs: Signs) -> Iterator[Signal]:
    """Words for an amount without a number, where the amount matters (minor 1)."""
    for name, where, words in _texts(session):
        found = all_of(words, signs["vague"])
        if found and count_in(words) is None:
            listed = ", ".join(f"“{w}”" for w in found)
            said = f"{where}: {listed} {'is no number' if len(found) == 1 else 'are no numbers'}"
            fill = {"words": found[0], "where": where}
            yield _signal("vague_quantifier", name, said, words.strip()[:200], question="vague_quantifier", fill=fill)


def _generic(session: Session, _entries: Sequence[Entry], signs: Signs) -> Iterator[Signal]:
    """Somebody is named only as "users" (minor 2)."""
    fields = held(session)
    spec = spec_of(session)
    role = fields.get(ROLE)
    if role is None or role.phase not in (spec.phase, None):
        return
    words = fold(coded(role.value)).strip(" .!")
    if words.removeprefix("the ").removeprefix("all ") in signs["generic_role"]:
        said = f"“{role.value}” says neither who they are nor what they may do"
        yield _signal("generic_role", "role", said, role.words, question="generic_role", fill={"words": role.value})


def _boundary(session: Session, _entries: Sequence[Entry], _signs: Signs) -> Iterator[Signal]:
    """What is in is said, what is out is not (minor 3)."""
    fields = held(session)
    spec = spec_of(session)
    if spec.phase != 1 or BOUNDARY not in fields:
        return
    within, outside = boundary(fields[BOUNDARY].value)
    if within and not outside and OUT not in fields:
        said = "What is in is said, what is out is not"
        yield _signal("boundary_unstated", "out", said, fields[BOUNDARY].words, question="boundary_unstated")


def _parity(session: Session, _entries: Sequence[Entry], signs: Signs) -> Iterator[Signal]:
    """One kind of screen is spoken of and nothing says what holds for the other (minor 4)."""
    if PLATFORMS in held(session):
        return
    for name, where, words in _texts(session):
        small, large = first_of(words, signs["small_screen"]), first_of(words, signs["large_screen"])
        if bool(small) != bool(large):
            said = f"{where}: “{small or large}” is named, and nothing says what holds for other screens"
            fill = {"words": small or large or ""}
            yield _signal("parity_unstated", name, said, words.strip()[:200], question="parity_unstated", fill=fill)
            return


def _contradictions(
    session: Session, playbooks: Mapping[str, Playbook], phrases: PhraseBook, times: TimeWords
) -> Iterator[Signal]:
    """Approved decisions that can not hold together, with both places (critical 4)."""
    tier = spec_of(session).working_tier
    banks = {p.number: in_play(bank, tier) for p in PHASES if (bank := playbooks.get(p.bank)) is not None}
    for one in contradictions(session, banks, phrases, times):
        said = f"{one.topic}: {one.one} does not fit {one.other}, decided before ({one.source})"
        yield _signal(KIND, one.name, said, one.evidence, question=KIND, fill=one.fill())


def _hearsay(session: Session, _entries: Sequence[Entry], signs: Signs) -> Iterator[Signal]:
    """One source that nobody vouches for is all that speaks for something (critical 7)."""
    proofs = [m for m in session.request.materials if m.kind in ("file", "link")]
    for name, where, words in _texts(session):
        source = first_of(words, signs["hearsay"])
        if source is not None and len(proofs) < 2:
            said = f"{where}: “{source}” is the only evidence"
            fill = {"words": source}
            yield _signal(
                "single_untrusted_source", name, said, words.strip()[:200],
                question="single_untrusted_source", fill=fill,
            )  # fmt: skip


def _hurry(session: Session, _entries: Sequence[Entry], signs: Signs) -> Iterator[Signal]:
    """A date is near and the scope is wide, and nobody has said which gives way (minor 6)."""
    fields = held(session)
    wide = BOUNDARY in fields and fields[BOUNDARY].value == "area"
    for name, where, words in _texts(session):
        hurry, everything = first_of(words, signs["hurry"]), first_of(words, signs["wide"])
        if hurry is not None and (everything is not None or wide):
            said = f"{where}: “{hurry}” and a wide scope; nothing says which gives way"
            fill = {"words": hurry}
            yield _signal("scope_vs_time", name, said, words.strip()[:200], question="scope_vs_time", fill=fill)
            return


def _design_gap(session: Session, _entries: Sequence[Entry], signs: Signs) -> Iterator[Signal]:
    """The design system seems to lack something (minor 5)."""
    for name, where, words in _texts(session):
        gap = first_of(words, signs["design_gap"])
        if gap is not None:
            said = f"{where}: “{gap}”"
            fill = {"words": gap}
            evidence = words.strip()[:200]
            yield _signal("design_system_gap", name, said, evidence, question="design_system_gap", fill=fill)


Detector = Callable[[Session, Sequence[Entry], Signs], Iterator[Signal]]
DETECTORS: Final[tuple[Detector, ...]] = (
    _missing,
    _hearsay,
    _vague,
    _generic,
    _boundary,
    _parity,
    _design_gap,
    _hurry,
)


# -- signals that come as data -----------------------------------------------------------------------------------


class BadSignal(ValueError):
    """A signal that can not be taken in. The message says which key, and what would do."""


def of_agent(data: object, source: str) -> Signal:
    """Read `{"kind", "said", "evidence", "field"?}`; the kind is one of `LEVELS`. Raises BadSignal."""
    if not isinstance(data, Mapping):
        raise BadSignal('a signal is an object: {"kind": …, "said": …, "evidence": …}')
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in LEVELS:
        raise BadSignal(f"kind: {kind!r} is none of {', '.join(LEVELS)}")
    texts: dict[str, str] = {}
    for key in ("said", "evidence", "field"):
        value = data.get(key, "")
        if not isinstance(value, str) or (key != "field" and not value.strip()):
            raise BadSignal(f"{key}: give it as a text" + (" that is not empty" if key != "field" else ""))
        texts[key] = value.strip()[:400]
    name = fold(texts["field"] or texts["said"])[:60]
    fill = {"words": texts["said"], "where": texts["field"], "one": texts["said"], "other": texts["evidence"]}
    return _signal(
        kind, f"{source}:{name}", texts["said"], texts["evidence"],
        source=source, field=texts["field"], question=kind, fill=fill,
    )  # fmt: skip
