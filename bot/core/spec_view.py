"""How a specification looks in chat: its scope, its settled points, its ways out, where it stands. No decisions."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import view
from bot.core.effects import Button, Message
from bot.core.score import Score
from bot.core.slots import rounds_of, spec_of
from bot.core.spec import LAST, PHASES, SCOPE_FIELDS, Lock, OpenPoint, Phase, phase, tier_words
from bot.core.state import Between, Session

YES, CHANGE = "Yes, as it is", "Change something"
WAYS = ("Do", "Revise the request", "Go on with open points")  # the first one names a phase: "Do discovery again"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def name_of(number: int, *, first: bool = False) -> str:
    """ "phase 3, PRD"; `first`: it begins a sentence."""
    return f"{'P' if first else 'p'}hase {number}, {phase(number).name}"


def of_seven(number: int) -> str:
    return f"phase {number} of {LAST}, {phase(number).name}"


def mark(session: Session) -> str:
    """What a button of a specification is bound to: phase, run, and changes of the scope so far (RD-15)."""
    spec, stage = spec_of(session), session.stage
    described = ""
    if isinstance(stage, Between) and stage.waits == "rationale":  # another change may be described meanwhile
        described = f".{(stage.card or '').removeprefix(session.id)}"
    return f"{spec.phase}.{spec.present.run}.{len(spec.lock.changes)}{described}"


def choices(session: Session) -> tuple[tuple[str, str], ...]:
    """(choice, label) of what can be pressed or typed now, where no round is open."""
    stage = session.stage
    if not isinstance(stage, Between):
        return ()
    match stage.waits:
        case "settled":
            return (("y", "Yes, all of it"),)
        case "reconfirm":
            return (("y", YES), ("n", CHANGE))
        case "rationale":
            why = stage.changes[0].rationale if stage.changes else ""
            return ((("y", "Yes, record it"),) if why else ()) + (("n", "No, leave the scope"),)
        case "rerun":
            return (*((f"r{n}", f"Do {phase(n).name} again") for n in stage.doubtful), ("n", "Go on"))
        case "escalation":
            return ways_out(session)
        case _:
            return ()


def ways_out(session: Session) -> tuple[tuple[str, str], ...]:
    """RD-7: an earlier phase again, a revised input, or go on with named open points."""
    spec = spec_of(session)
    earlier = (("1", f"{WAYS[0]} {phase(spec.phase - 1).name} again"),) if spec.phase > 1 else ()
    numbered = (*earlier, ("2", WAYS[1]), ("3", WAYS[2]))
    return tuple((str(n), label) for n, (_, label) in enumerate(numbered, start=1))


def buttons(session: Session) -> tuple[tuple[Button, ...], ...]:
    stage = session.stage
    if not isinstance(stage, Between):
        return ()
    row = tuple(
        Button(token=f"s:{session.id}:{stage.waits}:{mark(session)}:{choice}", label=label)
        for choice, label in choices(session)
    )
    return (row,) if row else ()


def lines(heading: str, *more: str, rows: tuple[tuple[Button, ...], ...] = ()) -> Message:
    blocks = (view.text(view.bold(heading), kind="heading"), *(view.text(line) for line in more if line))
    return Message(blocks=blocks, buttons=rows)


# -- the scope -----------------------------------------------------------------------------------------------------


def scope_lines(lock: Lock) -> tuple[str, ...]:
    return (
        f"Tier: {tier_words(lock.complexity_tier)}",
        f"Surfaces: {lock.surface_count} · Comparators: {lock.comparator_count}",
        f"In scope: {'; '.join(lock.in_scope) or 'not said'}",
        f"Out of scope: {'; '.join(lock.out_of_scope) or 'nothing is ruled out'}",
    )


def reconfirm(session: Session) -> Message:
    """Phase 3 opens with the scope, not with a round (SC-3)."""
    lock = spec_of(session).lock
    return lines(
        "[Phase 3] Is this still the scope?",
        "The requirements rest on it; nothing is asked or written before you confirm it.",
        f"“{view.isolate(lock.scope_summary)}”" if lock.scope_summary else "",
        *scope_lines(lock),
        "Write y, or what changes and why, e.g. surfaces: 4 because the admin page joins",
        rows=buttons(session),
    )


def described_change(session: Session) -> Message:
    """A change that is not recorded yet: it lacks its reason, or its words could mean another one."""
    stage = session.stage
    changes = stage.changes if isinstance(stage, Between) else ()
    why = changes[0].rationale if changes else ""
    return lines(
        "A change of the scope; nothing is recorded yet",
        *(f"{SCOPE_FIELDS[c.field]}: {c.was} → {c.to}." for c in changes),
        f"Why: “{view.shortened(why)}”" if why else "",
        "Is that what you mean? Write y or no." if why else "Why? One sentence; it goes into the record. Or: no",
        rows=buttons(session),
    )


def change_lines(lock: Lock, since: int) -> list[str]:
    return [f"{SCOPE_FIELDS[c.field]}: was {c.was}, is now {c.to}." for c in lock.changes[since:]]


# -- a round without questions ---------------------------------------------------------------------------------------


def settled_points(session: Session) -> list[tuple[int, str]]:
    """What the present phase takes as settled, numbered, each with its source (RD-5)."""
    number = spec_of(session).phase
    rows = [s for s in session.settled if s.phase == number]
    return [(n, f"{n} · {s.topic}: {s.value} — from {s.source}") for n, s in enumerate(rows, start=1)]


def settled_card(session: Session, heading: str) -> Message:
    points = settled_points(session)
    nothing = "Nothing that this phase would ask is open." if points else "This phase has nothing to ask."
    return lines(
        heading,
        f"{nothing} It goes on when you agree to what it takes as settled." if points else f"{nothing} Write y.",
        *(line for _, line in points),
        "Write y, or the number of what is not right." if points else "",
        rows=buttons(session),
    )


def over(session: Session, ended: str) -> Message:
    """A card that nothing waits on any more, as it stood with `session`: what it was about, and how it ended."""
    stage, lock = session.stage, spec_of(session).lock
    waits = stage.waits if isinstance(stage, Between) else "go"
    about = WAITS.get(waits, ("the next step", ""))[0]
    shown = scope_lines(lock) if waits == "reconfirm" else ()
    listed = [line for _, line in settled_points(session)] if waits == "settled" else ()
    return lines(f"[Phase {spec_of(session).phase}] Asked: {about}", ended, *shown, *listed)


# -- ambiguity -----------------------------------------------------------------------------------------------------


def score_lines(found: Score) -> list[str]:
    """The score with its signals, each with its points and evidence (SC-1, RD-8)."""
    listed = [f"• {s.said} (+{s.points}; {view.shortened(s.evidence)})" for s in found.signals]
    return [f"Ambiguity score: {found.points}", *listed]


def escalation(session: Session, why: str, found: Score, waiting: Sequence[str]) -> Message:
    spec = spec_of(session)
    options = [f"{n}) {words}" for n, words in _explained(session)]
    return lines(
        f"[Phase {spec.phase}] This phase looks mis-scoped",
        why,
        *(score_lines(found) if found.signals else ()),
        f"Not asked yet: {', '.join(waiting)}" if waiting else "",
        *options,
        f"Write a number (1–{len(options)}), with why behind a colon if you like; or press.",
        rows=buttons(session),
    )


def _explained(session: Session) -> list[tuple[str, str]]:
    spec = spec_of(session)
    earlier = (
        f"Do {phase(spec.phase - 1).name} again: it asks only what is new or has changed" if spec.phase > 1 else ""
    )
    words = filter(
        None,
        (
            earlier,
            "Revise the request: send the new words; this phase then starts over with them",
            "Go on: what is not asked yet is carried as open points, with your words",
        ),
    )
    return [(str(n), line) for n, line in enumerate(words, start=1)]


# -- where it stands -------------------------------------------------------------------------------------------------


def phase_words(session: Session, number: int) -> str:
    """A phase in a word or two, for lists."""
    spec = spec_of(session)
    run = spec.run(number)
    if run is None:
        return "not begun"
    if run.status == "completed":
        return "done"
    rounds = rounds_of(session, number)
    if not rounds:
        return "begun"
    items = [i for r in rounds for i in r.items]
    if not items:
        waits = "" if rounds[-1].closed_at else ", waits for your “y”"
        return f"round {rounds[-1].nth} of 3, nothing to ask{waits}"
    count = sum(1 for i in items if i.status == "resolved")
    return f"round {rounds[-1].nth} of 3, {count} of {len(items)} answered"


WAITS = {  # while no round is open: what a person is asked for, and how to say it
    "name": ("what it is about", "Write a name and what it is about, e.g. Refunds: let shop staff give refunds"),
    "settled": ("your “y” to what the phase takes as settled", "Write y, or the number of what is not right."),
    "reconfirm": ("whether this is still the scope", "Write y, or what changes and why. /show scope shows it."),
    "rationale": (
        "a change of the scope that you have described",
        "Write why, or y where the reason is there already; or: no, to leave the scope as it is.",
    ),
    "rerun": ("whether a phase is done again", "Name the phase, or write: go on"),
    "escalation": ("which way it goes on", "Write the number of a way and why. /continue shows them again."),
    "input": ("the revised request", "Send it as one message; or: no, to choose another way."),
}


ASKED = {  # what buttons are pressed for while no round is open
    "settled": "What the phase takes as settled",
    "reconfirm": "Whether this is still the scope",
    "rerun": "Whether a phase is done again",
    "escalation": "Which way it goes on",
}


def overtaken(session: Session, waits: str, seen: str) -> tuple[str, ...]:
    """Of a question that is not asked any more: what was decided, and where it stands. `seen`: its `mark` then."""
    spec = spec_of(session)
    if session.stage.kind == "ended":
        return (f"The specification “{spec.name}” (#{session.number}) is over. /show shows what it decided.",)
    how = _decided(session, waits, [int(n) for n in seen.split(".") if n.isdecimal()])
    is_over = f"is decided: {how}." if how else "is not asked any more."
    now = f"{of_seven(spec.phase)}, {phase_words(session, spec.phase)}"
    return (f"{ASKED.get(waits, 'That')} {is_over}", f"Now: {now}. /resume shows it.")


def _decided(session: Session, waits: str, seen: Sequence[int]) -> str:
    """In a word or two, as far as the specification itself tells."""
    spec, stage = session.spec, session.stage
    if spec is None or len(seen) != 3 or (run := spec.run(seen[0])) is None:
        return ""
    number, nth, changes = seen
    match waits:
        case "settled" if run.run == nth and run.confirmed:
            return "yes, all of it"
        case "settled" if run.run == nth and run.doubted:
            return "some of it is asked instead"
        case "reconfirm" if len(spec.lock.changes) > changes:
            return " ".join(change_lines(spec.lock, changes)).rstrip(".")
        case "reconfirm" if spec.lock.reconfirmed_at is not None:
            return "yes, as it is"
        case "escalation" if run.run == nth and run.carried:
            return WAYS[2]
        case "escalation" if isinstance(stage, Between) and stage.waits == "input":
            return WAYS[1]
        case "escalation" if run.run > nth:
            return f"{phase(number).name} has begun anew"
        case "escalation" if spec.phase == number - 1:
            return f"{WAYS[0]} {phase(spec.phase).name} again"
        case _:
            return ""


def status(session: Session, bulk: bool, ahead: str, may: bool) -> list[str]:
    """Five lines: where it stands, the scope, what is open, why it matters, how to go on. `may`: the gate is open."""
    spec = spec_of(session)
    round_ = session.round
    tier = "no tier yet" if spec.tier is None else f"tier {tier_words(spec.tier)}"
    stands = f"{of_seven(spec.phase)}, {phase_words(session, spec.phase)}"
    head = f"Spec “{spec.name}” (#{session.number}), {tier}: {stands}."
    scope = "Scope: not locked yet."
    if spec.lock.locked_at is not None:
        lock = spec.lock
        again = ", confirmed again" if lock.reconfirmed_at else ""
        scope = (
            f"Scope locked {spec.lock.locked_at:%d %B}{again}: {plural(lock.surface_count, 'surface')}, "
            f"{plural(lock.comparator_count, 'comparator')}."
        )
    points = [p.id for p in spec.open_points if p.status == "open"]
    listed = f"Open points carried: {', '.join(points)} (/point)." if points else ""
    if listed and not (isinstance(session.stage, Between) and session.stage.waits == "go"):
        scope = f"{scope} {listed}"
    if session.stage.kind == "asking" and round_ is not None and round_.open_items:
        first = round_.open_items[0].question
        still = view.still_open(round_, bulk)
        names, _, how = still.partition(". ")
        return [head, scope, f"{names}.", f"Why it matters: {first.why}", how or still]
    made = phase(spec.phase)
    if isinstance(session.stage, Between) and session.stage.waits in WAITS:
        waits, how = WAITS[session.stage.waits]
        return [head, scope, f"Open: {waits}.", f"Why it matters: {made.waits} for it.", how]
    carried = listed or "No question is open."
    why = f"Why it matters: nothing goes on by itself; {f'the {made.artefact} may be made' if may else made.waits}."
    return [head, scope, carried, why, ahead]


def overview(session: Session) -> list[str]:
    """The seven phases, and what is decided (for /show)."""
    rows = [f"{p.number} {p.name}: {phase_words(session, p.number)}" for p in PHASES]
    return [*rows, *(point_line(p) for p in spec_of(session).open_points)]


def point_line(point: OpenPoint) -> str:
    """`V-001 (phase 2): “many” is no number — open`, with the words that settled it."""
    done = f"✔ settled: “{view.shortened(point.resolution.words)}”" if point.resolution else "open"
    return f"{point.id} (phase {point.due}): {point.text} — {done}"


def point_lines(point: OpenPoint) -> list[str]:
    """One point with everything that people did with it."""
    done = {"resolved": "settled", "reopened": "opened again"}
    acts = [f"{done.get(a.kind, f'to phase {a.to}')}: “{a.words}” — {a.by}" for a in point.acts]
    return [point_line(point), f"carried: “{point.words}” — {point.raised_by}", *acts]


def phase_decisions(session: Session, shown: Phase) -> list[str]:
    """What one phase has decided and takes as settled."""
    items = [i for r in rounds_of(session, shown.number, whole=True) for i in r.items]
    decided = [view.item_line(item) for item in items]
    known = [f"Settled: {s.topic}: {s.value} ({s.source})" for s in session.settled if s.phase == shown.number]
    later = [f"Left for later: {d.topic}" for d in session.dropped if d.later and d.phase == shown.number]
    points = [point_line(p) for p in spec_of(session).open_points if p.due == shown.number]
    return [*decided, *known, *later, *points] or ["Nothing is decided there yet."]
