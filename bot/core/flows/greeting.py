"""The bot was added to a place of several people: one short message, once."""

from __future__ import annotations

from bot.core.events import BotAdded
from bot.core.turn import Turn


def added(turn: Turn, event: BotAdded) -> None:
    """What I do, how to ask, what I see here. A place that is not let in is told how to be, and no more (CH-5)."""
    if turn.state.counted:
        turn.ignore("nobody here needs a greeting")  # back again, or the group has become another kind of group
        return
    place = turn.envelope.place.conversation
    if not turn.book.access.admits(event.person.id, place, turn.surface):
        turn.audit("access.refused", None, event.person, conversation=place)
        turn.tell(
            "I don't know this group yet. Ask the operator to let it in.",
            f"""They run: ASKFIRST_ACCESS__ALLOW='["{place}"]' askfirst serve""",
        )
        return
    name = f"@{turn.bot_name}" if turn.bot_name else "my name"
    example = turn.pack.workflows[0].call if turn.pack.workflows and turn.pack.workflows[0].commands else "/help"
    sees = (
        "I leave your talk alone."
        if event.hears_all
        else "I see only mentions, commands and replies to me here, so answer by replying to my message."
    )
    turn.tell(
        f"Hello. I ask the few questions that matter before anyone acts. To begin, write {name} and what you need, "
        f"or a command such as {example}.",
        f"{sees} /help says more.",
    )
