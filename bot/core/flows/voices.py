"""Voices behind which there is nobody in particular: a channel, or an administrator who hides behind the group.

No decision of theirs could be proved (RD-12, CA-2), so they never answer; where they try to, they are told why.
"""

from __future__ import annotations

from bot.core import view
from bot.core.events import MessageReceived
from bot.core.flows import replying
from bot.core.turn import Turn

READ_ONLY = (
    "I can't ask in a channel: whoever posts here shows no name, so nobody could answer.",
    "Write to me in a private chat, or add me to the group where you talk about it.",
)


def heard(turn: Turn, event: MessageReceived) -> None:
    """Answered only where it speaks to the bot, or reads as an answer to what is open."""
    direct = event.addressed or turn.about is not None
    if turn.state.place.read_only:
        _in_a_channel(turn, direct)
        return
    session = turn.state.current
    asked = session.round if session is not None and session.stage.kind == "asking" else None
    if not direct and (asked is None or not replying.read(turn, asked, event.text, event.decoded).shaped):
        turn.ignore("sent by a channel, or anonymously")
        return
    turn.audit("access.answer_refused", session, event.person, asked, reason="nobody in particular")
    turn.outcome, turn.reason = "refused", "nobody in particular"
    who = view.isolate(event.person.name, event.person.id)
    turn.tell(
        f"You write as “{who}”, so I can't tell whose decision it is; nothing is recorded.",
        "Please write under your own name.",
        session=session,
        round_=asked,
    )


def _in_a_channel(turn: Turn, direct: bool) -> None:
    if not direct or turn.state.told_read_only is not None:
        turn.ignore("a channel can not be asked")
        return
    turn.set(told_read_only=turn.at)
    turn.tell(*READ_ONLY)
    turn.outcome, turn.reason = "refused", "a channel can not be asked"
