"""The router: escape hatch → explicit → cross-phase → ambiguous (RT-1). Pure, and the same every time."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.model import Material
from bot.core.routing.materials import Handed, handed_in, phases_of
from bot.core.routing.menu import MOST_OPTIONS, asks_about_a_line, read_menu_answer
from bot.core.routing.opening import Command, Opening, commands_within, open_message
from bot.core.routing.pack import Pack
from bot.core.routing.triggers import Found, Named, Reading, read
from bot.core.routing.verdict import By, Position, Verdict


def route(
    text: str,
    materials: Sequence[Material],
    pack: Pack,
    *,
    position: Position = "first",
    menu: Sequence[str] = (),
    bot_name: str | None = None,
) -> Verdict:
    """Where this message belongs. `menu`: the workflow ids on offer, (a) first, when one is open."""
    opening = open_message(text, pack, bot_name)
    if opening.elsewhere:
        return Verdict(outcome="continue", text=text, materials=tuple(materials), other_bot=opening.elsewhere)
    if opening.token:
        following = open_message(opening.body, pack, bot_name, bare=True)
        verdict = _judge(opening.body, materials, pack, following, direct=True)
        return _leave(verdict, "direct-mode") if position == "in_workflow" else verdict
    if position == "in_workflow":
        return _within(text, materials, pack, opening)
    if position == "menu_open":
        return _answer(text, materials, pack, opening, menu)
    return _judge(text, materials, pack, opening)


def _leave(verdict: Verdict, by: By) -> Verdict:
    """RT-7: asked once. `workflow` is where the message would go, if that is clear."""
    return verdict.model_copy(update={"outcome": "confirm_leave", "by": by, "options": (), "menu": None})


def _within(text: str, materials: Sequence[Material], pack: Pack, opening: Opening) -> Verdict:
    """RT-10: the message belongs to the workflow, unless it is a command."""
    command = opening.command
    if command and command.workflow:
        return _leave(_started(text, materials, command), "command")
    if command and command.unknown:
        return _unknown(text, tuple(materials), pack, command)
    general = command.general if command else None
    return Verdict(outcome="continue", text=text, materials=tuple(materials), general=general)


def _answer(text: str, materials: Sequence[Material], pack: Pack, opening: Opening, menu: Sequence[str]) -> Verdict:
    """RT-9: an answer to the menu. What is no answer is routed as a description; the menu stays open meanwhile."""
    given = tuple(materials)
    stays = tuple(menu)[:MOST_OPTIONS] or _stage(pack)
    if opening.command is None:
        answer = read_menu_answer(opening.body, menu, pack)
        if answer.kind == "picked":
            return Verdict(outcome="proceed", by="menu", workflow=answer.workflow, text=text, materials=given)
        if answer.kind == "else":
            return Verdict(outcome="clarify", text=text, materials=given, menu="else")
        if answer.kind == "beyond":
            return Verdict(outcome="clarify", text=text, materials=given, options=stays, menu="open")
        if answer.kind == "question" and not _may_be_new(text, materials, menu, pack):
            return Verdict(outcome="clarify", text=text, materials=given, options=stays, menu="open", question=True)
    verdict = _judge(text, materials, pack, opening, answering=True)
    if verdict.by == "phase" and materials and not _may_be_new(text, materials, menu, pack):
        update = {"outcome": "clarify", "by": None, "workflow": None, "options": stays, "menu": "open"}
        return verdict.model_copy(update=update)
    nothing_new = not verdict.phases and not materials and verdict.menu in ("stage", "one_paper")
    if verdict.outcome == "clarify" and verdict.unknown_command is None and nothing_new:
        asks = verdict.question or asks_about_a_line(text)
        return verdict.model_copy(update={"options": stays, "menu": "open", "by": None, "question": asks})
    return verdict


def _may_be_new(text: str, materials: Sequence[Material], menu: Sequence[str], pack: Pack) -> bool:
    """Only new files re-route (RT-9), and with them come those that the menu was drawn for.

    New they are when nothing was typed, or when the menu on offer is one for no materials of a known phase.
    """
    if all(m.kind == "named" for m in materials):
        return False
    return not text.strip() or tuple(menu) in (_stage(pack), pack.menus.one_paper[:MOST_OPTIONS])


def _judge(
    text: str,
    materials: Sequence[Material],
    pack: Pack,
    opening: Opening,
    *,
    direct: bool = False,
    answering: bool = False,
) -> Verdict:
    handed = handed_in(text, materials, pack)
    kept = tuple(item.material for item in handed.items)
    if opening.command:
        verdict = _commanded(text, kept, pack, opening.command)
        if verdict:
            return verdict.model_copy(update={"direct_mode": direct})
    named = [Named(v, s) for v, s in commands_within(text, pack) if opening.command is None or s.start > 0]
    reading = read(text, pack.lexicon, handed.objects, named, answering=answering, words=handed.words)
    artefacts = [*reading.artefacts, *_told(reading, pack)]
    seen = _with_words(kept, artefacts)
    kept_words = [a for m in materials if m.kind == "named" for a in read(m.name, pack.lexicon).artefacts]
    phases = phases_of(handed.items, [*artefacts, *kept_words], pack)
    common = Verdict(
        outcome="clarify",
        direct_mode=direct,
        text=text,
        phases=phases,
        materials=seen,
        near_miss=opening.near_miss,
        agent_named=next((n.value for n in reading.named if n.value.startswith("agent/")), None),
        question=reading.question and (answering or reading.about_workflow),
    )
    wanted = _wanted(reading, pack, direct=direct)
    if len(wanted) == 1:
        return common.model_copy(
            update={
                "outcome": "proceed",
                "by": _by(wanted[0], reading),
                "workflow": wanted[0].value,
                "trigger": wanted[0].words,
                "near_miss": None,
            }
        )
    if wanted:
        options = tuple(w.value for w in wanted[:MOST_OPTIONS])
        return common.model_copy(update={"options": options, "menu": "just_these"})
    return _by_materials(common, handed, reading, pack)


def _told(reading: Reading, pack: Pack) -> list[Found]:
    rules, span = pack.phases, reading.told
    if span is None or rules.told_phase is None:
        return []
    return [Found(str(rules.told_phase), span.start, span.end, rules.told_name)]


def _commanded(text: str, materials: tuple[Material, ...], pack: Pack, command: Command) -> Verdict | None:
    if command.general:
        return Verdict(outcome="continue", text=text, materials=materials, general=command.general)
    if command.asked:
        return Verdict(
            outcome="clarify",
            text=text,
            materials=materials,
            options=_first_options((command.workflow or "",), pack),
            menu="stage",
            question=True,
        )
    if command.workflow:
        return _started(text, materials, command)
    return _unknown(text, materials, pack, command) if command.unknown else None


def _started(text: str, materials: Sequence[Material], command: Command) -> Verdict:
    return Verdict(
        outcome="proceed",
        by="command",
        workflow=command.workflow,
        text=text,
        materials=tuple(materials),
        trigger=command.typed,
    )


def _unknown(text: str, materials: tuple[Material, ...], pack: Pack, command: Command) -> Verdict:
    nearest = tuple(w.id for w in pack.nearest_commands(command.typed, MOST_OPTIONS))
    return Verdict(
        outcome="clarify",
        text=text,
        materials=materials,
        options=nearest,
        unknown_command=command.typed,
        menu="unknown_command",
    )


def _wanted(reading: Reading, pack: Pack, *, direct: bool) -> list[Found]:
    """The different workflows asked for, in the order of the message."""
    agents = [n for n in reading.named if n.value.startswith("agent/")]
    if direct and agents:
        return _different(agents)
    named = [n for n in reading.named if not n.value.startswith("agent/")]
    found = _different(sorted([*named, *reading.requests], key=lambda f: f.start))
    covered = {c for f in found for c in _covers(f.value, pack)}
    return [f for f in found if f.value not in covered] or found[:1]


def _covers(identity: str, pack: Pack) -> tuple[str, ...]:
    workflow = pack.workflow(identity)
    return workflow.covers if workflow else ()


def _different(found: Sequence[Found]) -> list[Found]:
    return list({f.value: f for f in reversed(found)}.values())[::-1]


def _by(found: Found, reading: Reading) -> By:
    if found.value.startswith("agent/"):
        return "agent"
    return "command" if found in reading.named and found.words.startswith(("/", "!", "／", "！")) else "trigger"


def _by_materials(common: Verdict, handed: Handed, reading: Reading, pack: Pack) -> Verdict:
    phases = common.phases
    if len(phases) > 1:
        by: By | None = "cross-phase"
        return common.model_copy(update={"by": by, "options": options_for(phases, pack), "menu": "materials"})
    if len(phases) == 1:
        default = pack.default_for(phases[0])
        free = not (reading.unserved or reading.question)
        if default and free and default.id not in reading.ruled_out:
            update = {"outcome": "proceed", "by": "phase", "workflow": default.id, "near_miss": None}
            return common.model_copy(update=update)
        options = tuple(o for o in options_for(phases, pack) if o not in reading.ruled_out)
        return common.model_copy(update={"options": options, "menu": "materials"})
    if any(item.paper for item in handed.items):
        return common.model_copy(update={"options": pack.menus.one_paper[:MOST_OPTIONS], "menu": "one_paper"})
    return common.model_copy(update={"by": "no-materials", "options": _stage(pack), "menu": "stage"})


def _stage(pack: Pack) -> tuple[str, ...]:
    return tuple(line.workflow for line in pack.menus.stage if line.workflow)[:MOST_OPTIONS]


def options_for(phases: Sequence[int], pack: Pack) -> tuple[str, ...]:
    """Two or three options that fit these phases, the whole pipeline among them when phases are mixed (RT-8)."""
    menus = pack.menus
    exact = next((rule.options for rule in menus.rules if set(rule.phases) == set(phases)), ())
    # The furthest phase tells most about what is wanted, so its offers come first.
    offers = [menus.offers.get(phase, ()) for phase in sorted(phases, reverse=True)]
    turns = [o[i] for i in range(MOST_OPTIONS) for o in offers if i < len(o)]
    whole = (menus.whole,) if menus.whole and len(phases) > 1 else ()
    return tuple(dict.fromkeys(exact or (*whole, *turns)))[:MOST_OPTIONS]


def _first_options(first: Sequence[str], pack: Pack) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(f for f in first if f), *_stage(pack)]))[:MOST_OPTIONS]


def _with_words(materials: tuple[Material, ...], artefacts: Sequence[Found]) -> tuple[Material, ...]:
    named = dict.fromkeys(a.words for a in artefacts)
    return (*materials, *(Material(kind="named", name=words) for words in named))
