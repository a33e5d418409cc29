"""The reply reader: what one message means for the questions on the table (RP).

Pure: no input or output, clock, log or chance. Any text gives a `Reading`; none gives an exception. The stages
are `clean`, `tokens`, `grammar` (with `values`) and `resolve`, each over the whole message: not an answer, an
answer, or an answer that is wrong somewhere, in which case the error names the item and the way out.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.replies.grammar import Parser
from bot.core.replies.message import Dated, Message, Moments
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.quoted import as_asked, names_speaker
from bot.core.replies.reading import Reading, Slot
from bot.core.replies.resolve import resolve
from bot.core.replies.typed import read_open
from bot.core.replies.written import Written, written

__all__ = ["PhraseBook", "read_reply", "resolve_held"]


def read_reply(
    text: str | Written,
    slots: Sequence[Slot],
    book: PhraseBook,
    *,
    decoded: bool = False,
    attached: bool = False,
    dated: Dated | None = None,
) -> Reading:
    """Read one message as a reply to the questions in `slots`.

    `decoded`: an adapter has already decoded entities and platform tokens, so `&lt;` is what was typed.
    `attached`: a file came with it, so that "see the drawing" points to something and is a description.
    `dated`: tells moments from other words; without it none is known.
    """
    said = text if isinstance(text, Written) else written(text, book, decoded=decoded)
    msg = Message(said, slots, book, attached=attached, dated=dated or _undated)
    if not msg.count or not slots:
        return Reading(kind="unparsed")
    statements = Parser(msg).parse()
    if len(msg.open) == 1 and msg.open[0].form != "choice":
        ended = any(s.kind in ("force_quit", "cancel") and not s.forced for s in statements)
        numbered = any(s.kind == "item" and not s.weak and not s.buried for s in statements)
        reading = None if ended else read_open(msg, msg.open[0], numbered)
        if reading is not None:
            return reading
    if msg.clean.paste == "all":
        return Reading(kind="unparsed")
    reading = resolve(msg, statements)
    return as_asked(reading) if msg.clean.paste == "unsure" or names_speaker(msg, reading) else reading


def _undated(_words: str, _slot: Slot) -> Moments:
    return ""


def resolve_held(reading: Reading, slots: Sequence[Slot]) -> tuple[dict[int, str | None], tuple[int, ...]]:
    """What is held for each question once `reading` counts, and which questions are open.

    Held values are an option letter, "other", "skip" or "text"; None is open. An Other without its words settles
    nothing. After a force-quit or a cancel nothing is asked, so nothing counts as open.
    """
    held: dict[int, str | None] = {slot.number: slot.held for slot in slots}
    for slot in slots:
        if slot.number in reading.accepted and slot.recommended is not None:
            held[slot.number] = slot.recommended
        item = reading.answers.get(slot.number)
        if item is None or (item.key == "other" and item.text is None):
            continue
        held[slot.number] = "text" if item.key in ("answer", "confirm", "correct") else item.key
    if reading.kind in ("force_quit", "cancel"):
        return held, ()
    return held, tuple(number for number, value in held.items() if value is None)
