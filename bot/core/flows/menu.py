"""The menu: which workflow is wanted (RT-8), and whatever is said to it (RT-9)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import view
from bot.core.capture import quote
from bot.core.effects import Block, Button, Message
from bot.core.events import MessageReceived
from bot.core.flows import intake
from bot.core.flows.starting import start
from bot.core.model import Material, MessageRef
from bot.core.own_words import marked, only_marked, unquoted
from bot.core.replies import read_reply
from bot.core.replies.reading import Slot
from bot.core.routing import Pack, Position, Verdict, examples, menu_for, read_menu_answer, route
from bot.core.state import Request, Routing, Session
from bot.core.turn import Turn

# -- how it looks --------------------------------------------------------------------------------------------------


def _message(turn: Turn, session: Session, verdict: Verdict, lead: Sequence[str] = ()) -> Message:
    shown = menu_for(verdict, turn.book.packs[session.pack])
    head = f"{shown.summary} {shown.question}".strip()
    blocks: list[Block] = [view.text(line) for line in (*lead, shown.remark) if line]
    blocks.append(view.text(head, gap=bool(blocks)))
    for index, line in enumerate(shown.lines):
        blocks.append(view.text(line.text, gap=index == 0, kind="option"))
    blocks.append(view.text(shown.closing, gap=True, kind="hint"))
    row = tuple(
        Button(
            token=f"m:{session.id}:{line.key}",
            label="Something else" if line.workflow is None else line.key,
            long="" if line.workflow is None else f"{line.key} · {line.title}",
        )
        for line in shown.lines
    )
    return Message(blocks=tuple(blocks), buttons=(row,))


def offered(turn: Turn, options: tuple[str, ...]) -> Routing:
    """A menu with these options, not seen by anybody yet."""
    return Routing(options=options, after=turn.state.newest, shown_at=turn.at)


def draw(turn: Turn, session: Session, verdict: Verdict, lead: Sequence[str] = (), *, redraw: bool = False) -> None:
    message = _message(turn, session, verdict, lead)
    if redraw:
        turn.redraw(session.id, message, session)
    else:
        turn.say(message, card=session.id, session=session)


def _as_it_stands(turn: Turn, session: Session) -> Verdict:
    """The verdict on the request as it stands, with the options that are on the table."""
    verdict = route(session.request.text, session.request.materials, turn.book.packs[session.pack])
    options = session.stage.options if isinstance(session.stage, Routing) else verdict.options
    return verdict.model_copy(update={"outcome": "clarify", "options": options})


def again(turn: Turn, session: Session, *, anew: bool = False) -> None:
    draw(turn, session, _as_it_stands(turn, session), redraw=not anew)


def _close_menu(turn: Turn, session: Session, picked: str) -> None:
    """The menu's card loses its buttons once a workflow is known."""
    message = _message(turn, session, _as_it_stands(turn, session))
    closed = Message(blocks=(message.blocks[0], view.text(f"✔ {picked}")))
    turn.redraw(session.id, closed, session)


def of_another_pack(turn: Turn, verdict: Verdict) -> tuple[str, ...]:
    """Where a command that is unknown here is known (RT-10): the pack is a setting of the place."""
    for name, pack in sorted(turn.book.packs.items()):
        typed = (verdict.unknown_command or "").lstrip("/!／").partition("@")[0]
        workflow = pack.workflow_by_command(typed) if typed and name != turn.pack.name else None
        if workflow is not None:
            return (f"{workflow.call} is a command of the pack {name}: /settings pack {name}, then send it again.",)
    return ()


def about_commands(turn: Turn, text: str) -> tuple[str, ...]:
    """What the commands named in a question do; the question is answered, nothing is started (RT-2)."""
    lines = []
    for word in text.replace(",", " ").replace("?", " ").split():
        workflow = turn.pack.workflow_by_command(word) if word[:1] in "/!" else None
        if workflow is not None:
            lines.append(f"{workflow.call}: {workflow.title} — {workflow.comes_out}")
    return tuple(dict.fromkeys(lines)) or ("A command starts its workflow when a message begins with it.",)


# -- what is said to it --------------------------------------------------------------------------------------------


def answered(turn: Turn, session: Session, text: str, materials: Sequence[Material], ref: MessageRef) -> Session:
    """An answer to the menu, or more of the request (RT-9)."""
    stage = session.stage
    assert isinstance(stage, Routing)
    pack = turn.book.packs[session.pack]
    text = _picked(turn, text, stage, pack) or text
    together = (*session.request.materials, *materials)
    said = read_menu_answer(text, stage.options, pack).kind
    position: Position = "first" if materials and said == "words" else "menu_open"  # new files are routed anew (RT-9)
    verdict = route(text, together, pack, position=position, menu=stage.options, bot_name=turn.bot_name)
    if verdict.unknown_command and turn.pack.name != session.pack:  # /settings pack came since: its commands count
        elsewhere = route(text, together, turn.pack, bot_name=turn.bot_name)
        if elsewhere.outcome == "proceed" and elsewhere.by == "command":
            verdict = elsewhere
            session = turn.put(session, pack=turn.pack.name)
            request = session.request.model_copy(
                update={
                    "text": verdict.text,
                    "original": text,
                    "materials": verdict.materials or together,
                    "ref": ref,
                }
            )
            _close_menu(turn, session, str(verdict.workflow).replace("/", " / "))
            return start(turn, turn.put(session, request=request), verdict, ref)
    if verdict.outcome == "continue":
        turn.ignore("meant for another bot" if verdict.other_bot else "no answer to the menu")
        return session
    request = session.request.model_copy(update={"materials": verdict.materials or together})
    if verdict.direct_mode:  # RT-7: the token replaces the request
        request = request.model_copy(update={"text": verdict.text, "original": text, "direct_mode": True, "ref": ref})
    elif _adds_words(text, stage, pack, verdict):
        request = request.model_copy(update={"text": f"{session.request.text}\n{verdict.text}".strip()})
    if verdict.outcome == "proceed" and verdict.workflow is not None:
        _close_menu(turn, session, verdict.workflow.replace("/", " / "))
        session = turn.put(session, request=request)
        return start(turn, session, verdict, ref)
    if verdict.question:
        turn.tell(*_about_menu(turn, session, text), session=session)
        return session
    if materials and verdict.options:
        return _redrawn(turn, session, request, verdict)
    if verdict.direct_mode or verdict.unknown_command or verdict.near_miss:
        lead = of_another_pack(turn, verdict)
        return _redrawn(turn, session, request, verdict, anew=True, lead=lead)
    if verdict.agent_named:  # RT-9: explained, and no other effect
        turn.tell(menu_for(verdict, pack).remark, session=session)
        return session
    if not stage.asked:
        stage = stage.model_copy(update={"asked": True})
        how = "a reply to this message" if turn.shared else "a sentence"  # loose words are talk there (CH-2)
        words = f"What do you want to hold in your hands at the end? Say it in {how}; the menu stays open too."
        turn.say(view.says(words), words_from=session.requester, session=session)
    elif not stage.spent:
        stage = stage.model_copy(update={"spent": True})
        turn.tell(
            "I can't tell a workflow from that; the menu stays open. Requests that I understand:",
            *(f"• {example}" for example in examples(pack)),
            session=session,
        )
    else:
        turn.tell("Kept with your request. The menu is still open: a letter, or a command.", session=session)
    return turn.put(session, request=request, stage=stage)


def crossed(turn: Turn, session: Session, event: MessageReceived) -> bool:
    """A loose pick that was sent before the menu was seen (RP-7). Words that name a workflow need no menu."""
    stage, text = session.stage, event.text
    assert isinstance(stage, Routing)
    before = turn.before.session(session.id)
    unseen = before is None or not isinstance(before.stage, Routing)  # shown in this very step
    if not unseen and not intake.older(turn, event.order, stage.after, stage.order, stage.shown_at):
        return False
    pack = turn.book.packs[session.pack]
    picks = read_menu_answer(text, stage.options, pack).kind in ("picked", "else", "beyond")
    if not picks and _picked(turn, text, stage, pack) is None:
        return False
    return route(text, (), pack, bot_name=turn.bot_name).outcome != "proceed"


def cancels(turn: Turn, text: str) -> bool:
    """ "cancel", "never mind": at the menu an order too, and no part of the request."""
    if only_marked(text) or unquoted(text) != text.strip():  # somebody else's words
        return False
    return read_reply(text, (Slot(number=1, letters=("A", "B")),), turn.book.phrases).kind == "cancel"


def describes(turn: Turn, session: Session, text: str) -> bool:
    """Whether words to the menu choose none of its lines and name no workflow."""
    stage, pack = session.stage, turn.book.packs[session.pack]
    assert isinstance(stage, Routing)
    words = read_menu_answer(text, stage.options, pack).kind == "words"
    return words and route(text, (), pack, position="menu_open", menu=stage.options).outcome != "proceed"


def quotes_choice(turn: Turn, session: Session, text: str) -> bool:
    """Whether nothing but somebody else's words is said, and they would choose a line of the menu (AU-3)."""
    said = marked(text)
    return bool(said) and not describes(turn, session, said)


def _picked(turn: Turn, text: str, stage: Routing, pack: Pack) -> str | None:
    """ "the second one please" as its letter, where the menu's own reading knows only words in it."""
    if read_menu_answer(text, stage.options, pack).kind != "words":
        return None
    letters = "ABCD"[: len(stage.options) + 1]
    reading = read_reply(text, (Slot(number=1, letters=tuple(letters)),), turn.book.phrases)
    said = reading.answers.get(1)
    if reading.kind != "answers" or reading.errors or said is None or said.key not in letters or said.note:
        return None
    return said.key.lower()


def _adds_words(text: str, stage: Routing, pack: Pack, verdict: Verdict) -> bool:
    """A description belongs to the request; a letter, a command or a question about the menu does not."""
    said = read_menu_answer(text, stage.options, pack).kind
    return bool(text.strip()) and said == "words" and verdict.by != "command" and not verdict.question


def _redrawn(
    turn: Turn,
    session: Session,
    request: Request,
    verdict: Verdict,
    *,
    anew: bool = False,
    lead: Sequence[str] = (),
) -> Session:
    """Other materials or another request: the menu is drawn for what there is now, in place where it can be."""
    old = session.stage
    assert isinstance(old, Routing)
    stage = old.model_copy(update={"options": verdict.options})
    if old.options != verdict.options:  # the letters mean something else from now on
        stage = offered(turn, verdict.options).model_copy(update={"asked": old.asked, "spent": old.spent})
    session = turn.put(session, request=request, stage=stage)
    draw(turn, session, verdict, lead, redraw=not anew)
    if not anew:
        turn.tell("Added to your request; the menu above is up to date.", session=session)
    return session


def _about_menu(turn: Turn, session: Session, text: str) -> tuple[str, ...]:
    """A question about the menu is answered from the workflows on offer; it stays open (RT-9)."""
    named = about_commands(turn, text)
    if len(named) > 1 or "/" in text:
        return named
    pack = turn.book.packs[session.pack]
    stage = session.stage
    assert isinstance(stage, Routing)
    lines = []
    for key, identity in zip("abc", stage.options, strict=False):
        workflow = pack.workflow(identity)
        if workflow is not None:
            lines.append(f"({key}) {workflow.title}: {workflow.comes_out} — {workflow.call}")
    return (*lines, "Nothing starts before you choose. If none fits, say what should come out.")


def request_edited(turn: Turn, session: Session, text: str) -> Session:
    """The request was edited while the menu is open: routed anew and redrawn in place (RT-9)."""
    ref = session.request.ref.model_copy(update={"quote": quote(text)})
    files = tuple(m for m in session.request.materials if m.kind == "file")
    verdict = route(text, files, turn.book.packs[session.pack], bot_name=turn.bot_name)
    made = {"text": verdict.text, "original": text, "materials": verdict.materials, "ref": ref}
    request = session.request.model_copy(update={**made, "direct_mode": verdict.direct_mode})
    session = turn.put(session, request=request)
    if verdict.outcome == "proceed" and verdict.workflow is not None:
        _close_menu(turn, session, verdict.workflow.replace("/", " / "))
        return start(turn, session, verdict, ref)
    session = turn.put(session, stage=offered(turn, verdict.options))
    draw(turn, session, verdict, redraw=True)
    return session


def choose(turn: Turn, session: Session, key: str, ref: MessageRef) -> None:
    """A tap on the menu: the same as the letter typed."""
    answered(turn, session, key, (), ref)
