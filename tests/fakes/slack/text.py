"""mrkdwn as Slack reads it, and what people type as Slack sends it.

docs.slack.dev/messaging/formatting-message-text: only `&amp;`, `&lt;` and `&gt;` are escapes; `<@U…>`, `<#C…>`,
`<!subteam^S…>`, `<!here|channel|everyone>`, `<!date^…>` and `<url|label>` are tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

TOKEN = re.compile(r"<([^<>]*)>")
BROADCASTS = frozenset({"channel", "here", "everyone", "group"})
_BARE = re.compile(r"&(?!amp;|lt;|gt;)|[<>]")
_SCHEMES = ("http://", "https://", "mailto:", "tel:", "slack://")
_TOPS = "ai|app|be|biz|ch|co|com|de|dev|edu|eu|fr|gov|info|io|me|md|net|nl|org|pl|py|rs|sh|so|uk|us|zip"
_URL = r"(?P<url>https?://[^\s<>]+[^\s<>.,;:!?)\]'\"])"
_MAIL = r"(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
_BARE_HOST = rf"(?P<host>(?<![\w@/.-])(?:[\w-]+\.)+(?:{_TOPS})\b(?:/[^\s<>]*[^\s<>.,;:!?)])?)"
_AT = r"(?<![\w])(?P<at>@[\w.-]*\w)"
_HASH = r"(?<![\w&])(?P<hash>#[a-z0-9][\w-]*)"
_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_STYLE = re.compile(r"(?<![\w*_~])([*_~])(?=\S)([^\n]*?\S)\1(?![\w*_~])")
_TYPED = re.compile("|".join([_URL, _MAIL, _BARE_HOST, _AT, _HASH]), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ping:
    """Somebody's phone rang. `kind`: channel, here, everyone, user or group; `target` is the id of the last two."""

    kind: str
    target: str
    message: Any


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def pings(mrkdwn: str) -> list[tuple[str, str]]:
    """Who is called by these words, as (kind, target)."""
    called: list[tuple[str, str]] = []
    for token in TOKEN.findall(mrkdwn):
        body = token.partition("|")[0]
        if body.startswith("@") and len(body) > 1:
            called.append(("user", body[1:]))
        elif body.startswith("!subteam^"):
            called.append(("group", body.removeprefix("!subteam^")))
        elif body.startswith("!") and body[1:] in BROADCASTS:
            called.append(("channel" if body == "!group" else body[1:], ""))
    return called


def sloppy(mrkdwn: str) -> list[str]:
    """Characters that ought to have been escaped: bare `&`, `<` and `>`, and `<…>` that is no token."""
    found = [f"<{t}>" for t in TOKEN.findall(mrkdwn) if not _is_token(t)]
    return found + _BARE.findall(TOKEN.sub(lambda m: m[1] if _is_token(m[1]) else "", mrkdwn))


def _is_token(body: str) -> bool:
    if body.startswith("!"):
        name = body[1:].partition("|")[0]
        return name in BROADCASTS or name.startswith(("subteam^", "date^"))
    return body.startswith(("@U", "@W", "#C", "#G", *_SCHEMES))


def plain(mrkdwn: str, names: dict[str, str]) -> str:
    """As people see it, without bold, italics and struck lines. `names` gives @name, #name and @handle for ids."""

    def shown(match: re.Match[str]) -> str:
        body, _, label = match[1].partition("|")
        if body.startswith(("@", "#")):
            return names.get(body[1:]) or label or body
        if body.startswith("!subteam^"):
            return names.get(body.removeprefix("!subteam^")) or label or "@group"
        if body.startswith("!date^"):
            return label
        if body.startswith("!"):
            return f"@{body[1:]}"
        return label or body.removeprefix("mailto:")

    tokens = [shown(match) for match in TOKEN.finditer(mrkdwn)]
    parts = _CODE.split(TOKEN.sub("\0", mrkdwn))  # every other part is code, with its back-ticks
    for n in range(0, len(parts), 2):
        for _ in "*_~":  # marks within marks
            parts[n] = _STYLE.sub(r"\2", parts[n])
    pieces = "".join(parts).split("\0")
    return unescape("".join(a + b for a, b in zip(pieces, [*tokens, ""], strict=True)))


def typed(words: str, ids: dict[str, str]) -> str:
    """What Slack makes of typed words: escapes, links and mentions. `ids` gives the tokens of @names and #names."""
    made, at = [], 0
    for match in _TYPED.finditer(words):
        made.append(escape(words[at : match.start()]))
        made.append(_linked(match, ids))
        at = match.end()
    return "".join([*made, escape(words[at:])])


def _linked(match: re.Match[str], ids: dict[str, str]) -> str:
    said = match[0]
    if match["url"]:
        return f"<{escape(said)}>"
    if match["mail"]:
        return f"<mailto:{said}|{said}>"
    if match["host"]:
        return f"<http://{escape(said)}|{escape(said)}>"
    if said in {"@channel", "@here", "@everyone"}:
        return f"<!{said[1:]}>"
    return ids.get(said.lower(), escape(said))


def rich(mrkdwn: str) -> list[Json]:
    """The `blocks` of a person's message: one rich text section, its tokens as elements."""
    elements: list[Json] = []
    at = 0
    for match in TOKEN.finditer(mrkdwn):
        if match.start() > at:
            elements.append({"type": "text", "text": unescape(mrkdwn[at : match.start()])})
        elements.append(_element(match[1]))
        at = match.end()
    if at < len(mrkdwn):
        elements.append({"type": "text", "text": unescape(mrkdwn[at:])})
    return (
        [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}] if elements else []
    )


def _element(token: str) -> Json:
    body, _, label = token.partition("|")
    if body.startswith("@"):
        return {"type": "user", "user_id": body[1:]}
    if body.startswith("#"):
        return {"type": "channel", "channel_id": body[1:]}
    if body.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": body.removeprefix("!subteam^")}
    if body.startswith("!"):
        return {"type": "broadcast", "range": body[1:]}
    return {"type": "link", "url": unescape(body)} | ({"text": unescape(label)} if label else {})
