"""The first message of a session: routed to its workflow, or met with the menu (RT-1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.core import view
from bot.core.capture import found_at, quote
from bot.core.circle import entry
from bot.core.events import MessageReceived
from bot.core.flows import menu
from bot.core.flows.starting import start
from bot.core.model import Material, MessageRef, Person
from bot.core.replies.tokens import tokenize
from bot.core.routing import Verdict, Workflow, route
from bot.core.state import Asking, Ended, Request, Routing, Session
from bot.core.turn import Turn


def first_message(
    turn: Turn,
    person: Person,
    text: str,
    materials: Sequence[Material],
    ref: MessageRef,
    declared: str | None = None,
) -> Session | None:
    """Route a first message: to its workflow, or the menu (RT-1). A declared workflow is explicit intent (RT-16)."""
    verdict = turn.routed(text, materials)
    workflow = None if declared is None else declared_as(turn, declared)
    if workflow is not None:
        found = {"outcome": "proceed", "by": None, "workflow": workflow.id, "options": (), "trigger": "declared"}
        verdict = verdict.model_copy(update=found)
    if verdict.outcome == "continue":
        turn.ignore("meant for another bot" if verdict.other_bot else "no request")
        return None
    session = _open(turn, person, text, verdict, ref)
    if verdict.outcome == "proceed" and verdict.workflow is not None:
        return start(turn, session, verdict, ref)
    session = turn.put(session, stage=menu.offered(turn, verdict.options))
    lead = menu.about_commands(turn, text) if verdict.question else menu.of_another_pack(turn, verdict)
    menu.draw(turn, session, verdict, lead)
    turn.audit(
        "route.menu_shown",
        session,
        person,
        options=list(verdict.options),
        by=verdict.by,
        phases=list(verdict.phases),
        near_miss=verdict.near_miss,
        user_message_ref=found_at(ref),
    )
    return session


def declared_as(turn: Turn, declared: str) -> Workflow | None:
    """The workflow that a program names, by its id or its command."""
    return turn.pack.workflow(declared) or turn.pack.workflow_by_command(declared)


def unknown_workflow(turn: Turn, person: Person, declared: str) -> None:
    """A program is told what it could have named, as a person is of a command (RT-10)."""
    nearest = turn.pack.nearest(declared)
    others = [name for name, pack in sorted(turn.book.packs.items()) if pack.workflow(declared) is not None]
    turn.refuse(
        person,
        f"no workflow {declared} in the pack {turn.pack.name}; the nearest: {', '.join(nearest)}",
        f"There is no workflow {quote(declared)} here, so nothing was started.",
        f"It is one of the pack {others[0]}: /settings pack {others[0]}, then send it again."
        if others
        else f"The nearest: {', '.join(nearest)}.",
    )


def _open(turn: Turn, person: Person, text: str, verdict: Verdict, ref: MessageRef) -> Session:
    number = turn.next_number()
    request = Request(
        text=verdict.text,
        original=text,
        materials=verdict.materials,
        ref=ref,
        direct_mode=verdict.direct_mode,
    )
    session = Session(
        id=turn.fresh_id(),
        number=number,
        requester=person,
        request=request,
        pack=turn.pack.name,
        participants=_named(turn, verdict.text),
        stage=Routing(options=()),
        started_at=turn.at,
        touched_at=turn.at,
    )
    turn.set(active=session.id, counted=number)
    named: dict[str, Any] = {"named": list(session.participants)} if session.participants else {}
    turn.audit("session.opened", session, person, user_message_ref=found_at(ref), words=ref.quote, **named)
    return turn.put(session)


def _named(turn: Turn, text: str) -> tuple[str, ...]:
    """The people whom a request in a shared place names: they may answer its questions too (RD-12)."""
    if not turn.shared:
        return ()
    event = turn.envelope.event
    ids = event.named if isinstance(event, MessageReceived) else ()
    names = (t.fold.lstrip("@") for t in tokenize(text) if t.kind == "mention")
    nobody = (*EVERYBODY, (turn.bot_name or "").casefold())
    return tuple(dict.fromkeys((*ids, *(entry(f"@{name}", turn.surface) for name in names if name not in nobody))))


EVERYBODY = ("all", "channel", "everyone", "here")  # mentions that name nobody in particular


def something_else(turn: Turn, session: Session, person: Person, ref: MessageRef) -> None:
    """A route taken by a phase's default is taken back: the menu for what was received (RT-3)."""
    round_ = session.round
    handed = isinstance(session.stage, Ended) and session.stage.how == "completed" and not session.rounds
    if session.routed_by != "phase" or not (handed or isinstance(session.stage, Asking)):
        turn.notice("That is past changing here; /new starts something else.")
        return
    if round_ is not None:
        items = tuple(i.model_copy(update={"status": "cancelled"}) if i.status == "open" else i for i in round_.items)
        round_ = round_.model_copy(update={"items": items, "closed_at": turn.at})
        session = turn.put_round(session, round_)
        turn.redraw(round_.card, view.round_card(session, round_, bulk=False), session, round_)
    turn.audit("route.reopened", session, person, workflow=session.workflow, user_message_ref=found_at(ref))
    turn.drop_pending(session=session.id)
    if not handed:
        session = turn.put(session, stage=Ended(how="replaced", at=turn.at))
        turn.audit("session.replaced", session, person, reason="something else")
    pack = turn.book.packs[session.pack]
    routed = route(session.request.text, session.request.materials, pack)
    fresh = _open(turn, person, session.request.original, routed, session.request.ref)
    options = tuple(w.id for w in pack.workflows if w.default_for_phase in routed.phases) or routed.options
    whole = (pack.menus.whole,) if pack.menus.whole and pack.menus.whole not in options else ()
    verdict = routed.model_copy(update={"outcome": "clarify", "options": (*whole, *options)[:3], "menu": "materials"})
    fresh = turn.put(fresh, stage=menu.offered(turn, verdict.options))
    menu.draw(turn, fresh, verdict)
