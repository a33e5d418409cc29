"""How a message begins: a mention, the escape hatch, a command (RT-6, RT-11). And commands within it."""

from __future__ import annotations

import re
from typing import NamedTuple

from bot.core.patterns import regex
from bot.core.routing.menu import TOKEN
from bot.core.routing.pack import GENERAL_COMMANDS, Pack, command_form, edits
from bot.core.routing.text import UNSEEN, Span, fold, words

_MENTION = regex(r"<@([A-Za-z0-9]{1,40})(?:\|[^>\n]{0,60})?>[,:]?|@([A-Za-z0-9_]{2,64})[,:]?(?![\w{.])")
# Phone keyboards turn two hyphens into a dash; people put either into a command.
_WORD = r"[A-Za-z][A-Za-z0-9]{0,30}(?:[-_—–‐‑−―][A-Za-z0-9]{1,30}){0,6}"
_COMMAND = regex(rf"([/!／！])({_WORD})(?:@([A-Za-z0-9_]{{2,64}}))?(?![\w/\\])")
_BARE = regex(rf"({_WORD})(?![\w/\\@.])")
_WITHIN = regex(rf"(?<![\w/\\:.<])[/!／！]({_WORD})(?:@[A-Za-z0-9_]{{2,64}})?(?![\w/\\])")
_AGENT = regex(r"(?<![A-Za-z0-9_])[A-Za-z]{1,30}(?:_[A-Za-z]{1,30}){0,4}_agent(?![A-Za-z0-9_])", re.IGNORECASE)
_IDENTITY = regex(r"(?<![\w/.-])[a-z][a-z-]{1,40}/[a-z0-9][a-z0-9-]{1,40}(?![\w/-])", re.IGNORECASE)
_TOKEN = regex(re.escape(TOKEN), re.IGNORECASE | re.ASCII)
_ASKING = 8  # words; a longer question after a command is what the command is about
_OPENERS, _CLOSERS = "[({<`'\"“«【［〔（「*_", "])}>`'\"”»】］〕）」*_:"


class Command(NamedTuple):
    """A command at the start. Exactly one of workflow, general, unknown is told; `asked`: a question about it."""

    typed: str
    workflow: str | None = None
    general: str | None = None
    unknown: bool = False
    asked: bool = False


class Opening(NamedTuple):
    """`body` is the message after a mention of the bot and, if `token`, after the escape hatch."""

    body: str
    token: bool = False
    near_miss: str | None = None
    command: Command | None = None
    elsewhere: str | None = None  # the other bot that a command names


def open_message(text: str, pack: Pack, bot_name: str | None, *, bare: bool = False) -> Opening:
    """`bare`: the text has been stripped of the escape hatch; a second one is ordinary text."""
    start = _blank(text, 0)
    mentioned = False
    if not bare and (hit := _MENTION.match(text, start)) and _is_bot(hit.group(1) or hit.group(2), bot_name):
        start, mentioned = _blank(text, hit.end()), True
    body = text[start:]
    if not bare and _TOKEN.match(body):
        return Opening(body[_blank(body, len(TOKEN)) :].rstrip(), token=True)
    command, elsewhere = _command(body, pack, bot_name, mentioned=mentioned)
    near = None if bare else _near_miss(body)
    return Opening(body, near_miss=near, command=command, elsewhere=elsewhere)


def _blank(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] in UNSEEN):
        at += 1
    return at


def _is_bot(name: str, bot_name: str | None) -> bool:
    return bot_name is None or name.casefold() == bot_name.lstrip("@").casefold()


def _command(body: str, pack: Pack, bot_name: str | None, *, mentioned: bool) -> tuple[Command | None, str | None]:
    hit = _COMMAND.match(body)
    if hit is None:
        return _bare_command(body, pack, mentioned=mentioned), None
    sign, word, other = hit.group(1), hit.group(2), hit.group(3)
    if other and not _is_bot(other, bot_name):
        return None, other
    rest = body[hit.end() :]
    if command_form(word) == "askfirst":  # CH-3: `/askfirst <word>` where the platform keeps words for itself
        return _bare_command(rest.lstrip(), pack, mentioned=True), None
    known = _known(hit.group(0), word, pack, rest) or _joined(word, rest, pack)
    if known:
        return known, None
    near = any(edits(command_form(word), c) <= 2 for w in pack.workflows for c in w.commands)
    if sign in "/／" or near or command_form(word).startswith("ars-"):
        return Command(hit.group(0), unknown=True), None
    return None, None  # "!important": an exclamation


def _known(typed: str, word: str, pack: Pack, rest: str) -> Command | None:
    form = command_form(word)
    workflow = pack.workflow_by_command(form)
    if workflow:
        return Command(typed, workflow=workflow.id, asked=_asks(rest, pack))
    if form in GENERAL_COMMANDS or form in pack.session_commands:
        return Command(typed, general=form)
    return None


def _joined(word: str, rest: str, pack: Pack) -> Command | None:
    """`/ars lit-review`, where the platform cut the command at a hyphen."""
    following = rest.split(maxsplit=2)[:2]
    for count in range(len(following), 0, -1):
        workflow = pack.workflow_by_command("-".join([word, *following[:count]]))
        if workflow:
            return Command(" ".join([f"/{word}", *following[:count]]), workflow=workflow.id)
    return None


def _bare_command(body: str, pack: Pack, *, mentioned: bool) -> Command | None:
    """After a mention any command word; else only one with a hyphen, which nobody writes by chance."""
    hit = _BARE.match(body)
    if hit is None:
        return None
    word = hit.group(1)
    if not mentioned and not any(dash in word for dash in "-_—–"):
        return None
    known = _known(hit.group(0), word, pack, body[hit.end() :])
    # "@bot show me …": without its slash an everyday word orders something only inside such a session (CH-3)
    return None if known and known.general in pack.session_commands else known


def _asks(rest: str, pack: Pack) -> bool:
    """`/ars-full?`, `/ars-full — what does it do?`, `/ars-full what does it do exactly?`"""
    said = words(rest[:200], pack.lexicon.variants)
    if not said:
        return rest.strip().startswith(("?", "？"))
    forms = pack.lexicon.phrases_of("<!about_it>")
    asks = rest.rstrip().endswith(("?", "？")) and len(said) <= _ASKING
    anywhere = pack.lexicon.phrases_of("<!about_any>")
    return said in forms or (
        asks
        and (
            any(len(f) > 1 and said[: len(f)] == f for f in forms)
            or any(said[i : i + len(f)] == f for f in anywhere for i in range(len(said)))
        )
    )


def commands_within(text: str, pack: Pack) -> list[tuple[str, Span]]:
    """Commands, ids and agents written out anywhere in a message."""
    found: list[tuple[str, Span]] = []
    for hit in _WITHIN.finditer(text) if any(sign in text for sign in "/!／！") else ():
        workflow = pack.workflow_by_command(hit.group(1))
        if workflow:
            found.append((workflow.id, Span(hit.start(), hit.end())))
    for hit in _IDENTITY.finditer(text) if "/" in text else ():
        workflow = pack.workflow(hit.group(0).lower())
        if workflow and workflow.kind == "workflow":
            found.append((workflow.id, Span(hit.start(), hit.end())))
    for hit in _AGENT.finditer(text) if "_" in text else ():
        workflow = pack.workflow(f"agent/{hit.group(0).lower()}")
        if workflow:
            found.append((workflow.id, Span(hit.start(), hit.end())))
    return sorted(found, key=lambda f: f[1])


def _near_miss(body: str) -> str | None:
    """The token in another form at the start, or in its own form later on (RT-6)."""
    at = 0
    while at < len(body) and body[at] in _OPENERS:
        at += 1
    if at <= 4 and fold(body[at : at + 6], {}) == "direct":
        middle = at + 6
        while middle < len(body) and middle < at + 9 and not body[middle].isalnum():
            middle += 1
        if fold(body[middle : middle + 4], {}) == "mode":
            end = middle + 4
            while end < len(body) and end < middle + 8 and body[end] in _CLOSERS:
                end += 1
            if at or end > middle + 4:
                return body[:end].rstrip(":")
    later = _TOKEN.search(body, 1) if "[" in body else None
    return later.group(0) if later else None
