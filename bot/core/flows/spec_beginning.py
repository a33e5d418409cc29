"""How a specification begins: its name, what it is about, the parent whose decisions it takes over (SP-2, RD-5)."""

from __future__ import annotations

import re
from typing import Final

from bot.core import view
from bot.core.capture import quote, reference
from bot.core.flows import handover, injection, spec
from bot.core.flows.phases import keep
from bot.core.flows.words import carries_on, pleasantry, yes_or_no
from bot.core.model import MessageRef, Person
from bot.core.patterns import regex
from bot.core.replies import read_reply
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.reading import Slot
from bot.core.slots import held, spec_of
from bot.core.spec import FIRST, Decision, Run, Spec, brief
from bot.core.state import Session
from bot.core.turn import Turn

LONGEST_NAME = 60
_ABOUT = regex(r"\s*[:;,.—–]\s|\s+[-—–]\s|[”\"'’»]")  # between the parent's name and what it is about
UNNAMED = "unnamed"
ASK = "What shall be specified? One message: a name, and what it is about, e.g. Refunds: let shop staff give refunds"

_PARENT = regex(r"\s+(?:based on|addendum to|parent)[ :]+(.+)$", re.IGNORECASE)
_PREPOSITION = regex(
    r"^(?:\w+ )?(?:for|about|on|of|to|für|über|zu|pour|sur|de|du|sobre|para|про|для|о|об)(?:\s+|:\s*)", re.IGNORECASE
)
FEWEST_WORDS = 5  # of a request that named no workflow; fewer greet, and do not say what it is about
_OPEN: Final = Slot(number=1, form="open", topic="What it is about")
_CHOICE: Final = Slot(number=1, letters=("A", "B"), recommended="A", labels=("one", "two"))


def begin(turn: Turn, session: Session, ref: MessageRef) -> Session:
    """`/spec NAME: what it is about` goes to its first round; with nothing said, what it is about is asked first."""
    session = keep(turn, session, Spec(name=UNNAMED), policy="spec", workflow=spec.WORKFLOW)
    if _title(turn, session) is None:
        run = Run(phase=FIRST, started_at=turn.at)
        session = keep(turn, session, spec_of(session).with_run(run))
        return ask(turn, session)
    return _named(turn, session, session.requester, ref)


def ask(turn: Turn, session: Session) -> Session:
    return spec.show(turn, session, "name", lambda _: view.says(ASK))


def said(turn: Turn, session: Session, text: str, person: Person, ref: MessageRef) -> None:
    """What somebody says to `ask`: what it is about, unless the words are about answering or about nothing."""
    words = brief(text)
    book = turn.book.phrases
    reading = read_reply(words, (_OPEN,), book, decoded=True)
    if reading.kind == "cancel":
        handover.end(turn, session, "cancelled", person, ref.quote)
        turn.tell("Cancelled; nothing was begun.", session=session)
    elif reading.kind == "put_off":
        turn.tell("All right, later. It waits here, and nothing expires.", session=session)
    elif len(words) < 2 or not is_request(words, book):
        turn.outcome, turn.reason = "refused", "it is not said what it is about"
        turn.tell("That does not say what it is about.", ASK, session=session)
    else:
        request = session.request.model_copy(update={"text": words, "ref": ref})
        _named(turn, turn.put(session, request=request), person, ref)


def cancels(words: str, book: PhraseBook) -> bool:
    return read_reply(words, (_OPEN,), book, decoded=True).kind == "cancel"


def is_request(words: str, book: PhraseBook) -> bool:
    """Whether words say what it is about: not "cancel", "later", thanks, or an answer meant for a round."""
    reading = read_reply(words, (_OPEN,), book, decoded=True)
    return reading.kind == "answers" and not _says_nothing(words, book)


def from_files(turn: Turn, session: Session, person: Person, ref: MessageRef) -> bool:
    """A file that was sent instead of words gives its name. False where it has none."""
    if _title(turn, session) is None:
        return False
    _named(turn, session, person, ref)
    return True


def _says_nothing(words: str, book: PhraseBook) -> bool:
    if yes_or_no(words, book) or pleasantry(words, book) or carries_on(words, book):
        return True
    answer = read_reply(words, (_CHOICE,), book, decoded=True)  # "accept recommendations", "1: A": of a round
    return answer.kind in ("accept_all", "accept_all_except") or answer.shaped


def _named(turn: Turn, session: Session, person: Person, ref: MessageRef) -> Session:
    """It has a name: on record, with what its parent decided, and the first phase begins."""
    title, parent_name = _title(turn, session) or (UNNAMED, None)
    parent = _parent(turn, session, parent_name) if parent_name else None
    inherited = _decisions(parent) if parent is not None else ()
    state = spec_of(session).model_copy(
        update={"name": title, "parent": parent.id if parent else None, "inherited": inherited, "runs": ()}
    )
    session = keep(turn, session, state)
    turn.audit(
        "spec_created", session, person,
        name=title, parent=state.parent, user_message_ref=reference(ref),
    )  # fmt: skip
    if parent_name and parent is None:
        there = [f"“{spec_of(s).name}” (#{s.number})" for s in _others(turn, session)]
        known = (
            f"There are: {', '.join(there)}. /abandon and /spec … based on one of them begin anew." if there else ""
        )
        lead = f"I know no specification “{quote(parent_name)}” here, so nothing is taken over from one."
        turn.tell(lead, known, session=session)
    elif parent is not None:
        taken = f"Its parent is “{spec_of(parent).name}”: what that decided is not asked again."
        turn.tell(taken, session=session)
    session = injection.note(turn, session, person, session.request.text, session.request.materials)
    return spec.start(turn, session, FIRST, person, ref)


def _title(turn: Turn, session: Session) -> tuple[str, str | None] | None:
    """The name, and the name of the parent: `/spec Refunds v2 based on Refunds`. A file sent alone names it.

    None where nothing says what it is about: no words, "I need a spec", or a greeting that led to the menu.
    """
    request = session.request
    first = brief(request.text).split("\n", 1)[0]
    if session.routed_by in ("trigger", "menu") and not spec_of(session).runs:  # not yet asked what it is about
        first = _after_the_asking(turn, brief(request.text))
    first = first.strip(" “”\"':")
    found = _PARENT.search(f" {first}")
    if found is not None:
        first = f" {first}"[: found.start()].strip()
    title = re.split(r"[:;.,—–]\s|\s[—–-]\s", first, maxsplit=1)[0].strip(" ,;:")
    if not title:
        files = (m.name.rpartition(".")[0] or m.name for m in request.materials if m.kind == "file")
        title = " ".join(re.split(r"[\s_.-]+", next(files, ""))).strip()
    parent = found[1].strip(" .“”\"'") if found else None
    if not title and parent is None:
        return None
    return quote(title)[:LONGEST_NAME] or UNNAMED, parent


def _after_the_asking(turn: Turn, text: str) -> str:
    """ "write a PRD for refunds" is about refunds. Words without a document in them count where they are not few."""
    called = [name for language in turn.pack.languages for name in language.names.get(spec.WORKFLOW, ())]
    names = "|".join(re.escape(name) for name in sorted(called, key=len, reverse=True))
    document = re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE)
    rest = ""
    for line in text.splitlines():
        found = document.search(line) if called else None
        if found is not None and (about := _PREPOSITION.sub("", line[found.end() :].strip(" :,.;–—-"))):
            return about
        if found is None and not rest and len(line.split()) >= FEWEST_WORDS:
            rest = line
    return rest


def _parent(turn: Turn, session: Session, wanted: str) -> Session | None:
    """An earlier specification of this place, by its name or number; what it is about may follow."""
    wanted = wanted.casefold()
    named = []
    for other in _others(turn, session):
        for name in (spec_of(other).name.casefold(), str(other.number), f"#{other.number}"):
            rest = wanted[len(name) :]
            if wanted.startswith(name) and (not rest or (name and _ABOUT.match(rest))):
                named.append((len(name), other))
    return max(named, key=lambda pair: pair[0])[1] if named else None


def _others(turn: Turn, session: Session) -> list[Session]:
    """The latest first."""
    known = [s for s in turn.state.sessions if s.spec is not None and s.id != session.id]
    return [s for s in reversed(known) if spec_of(s).name != UNNAMED]


def _decisions(parent: Session) -> tuple[Decision, ...]:
    """What a parent holds, but for what each specification decides anew: its tier and its scope."""
    name = spec_of(parent).name
    return tuple(
        Decision(field=field, value=h.value, words=h.words, source=f"“{name}”, {h.source}")
        for field, h in held(parent).items()
        if not field.startswith("scope_lock.") and field != "meta.complexity_tier"
    )
