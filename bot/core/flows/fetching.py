"""Files that a playbook wants to have checked: ordered, and what came of it.

The order is a timer, so it is as durable as everything else: whoever fetches finds it there, the result clears it,
and its ringing means that nothing came.
"""

from __future__ import annotations

from datetime import timedelta

from bot.core import files
from bot.core.events import FileFetched
from bot.core.state import Session
from bot.core.turn import Turn

ORDER = "fetch:"  # how the timers' names begin: fetch:<session>:<position among the materials>
PATIENCE = timedelta(minutes=5)


def order(turn: Turn, session: Session) -> None:
    """Have each file fetched that the playbook asks for and that has not been looked at."""
    playbook = turn.book.playbooks.get(session.workflow or "")
    if playbook is None or not playbook.fetch:
        return
    for place, material in enumerate(session.request.materials):
        waits = material.handle is not None and material.digest is None and material.problem is None
        if waits and files.claimed(material) in playbook.fetch:
            turn.timer(f"{ORDER}{session.id}:{place}", turn.at + PATIENCE)


def fetched(turn: Turn, event: FileFetched) -> None:
    """Kept with the material: its fingerprint and size, or why it can not be used, which is said."""
    turn.clear_timer(f"{ORDER}{event.session}:{event.place}")
    session = turn.state.session(event.session)
    materials = () if session is None else session.request.materials
    if session is None or not 0 <= event.place < len(materials) or materials[event.place].handle != event.handle:
        turn.ignore("no longer a material of an intake here")
        return
    material = materials[event.place].model_copy(
        update={"digest": event.digest, "size": event.size or materials[event.place].size, "problem": event.problem}
    )
    kept = (*materials[: event.place], material, *materials[event.place + 1 :])
    session = session.model_copy(update={"request": session.request.model_copy(update={"materials": kept})})
    turn.set(sessions=tuple(session if s.id == session.id else s for s in turn.state.sessions))  # nobody has acted
    turn.audit("session.file_checked", session, name=material.name, digest=event.digest, problem=event.problem)
    if event.problem is not None and session.stage.kind != "ended":
        turn.tell(
            f"I could not use {material.name}: {event.problem}.",
            "Send it again if it matters; the questions go on without it.",
            session=session,
            round_=session.round,
        )


def late(turn: Turn, name: str) -> None:
    """The order's time is over and nothing has come."""
    session_id, _, place = name.partition(":")
    session = turn.state.session(session_id)
    materials = () if session is None else session.request.materials
    if not place.isdigit() or int(place) >= len(materials) or (handle := materials[int(place)].handle) is None:
        turn.ignore("no longer a material of an intake here")
        return
    problem = "it did not arrive in time"
    fetched(turn, FileFetched(session=session_id, place=int(place), handle=handle, problem=problem))
