"""Slack's markup, undone once on the way in and put in once on the way out (b17 of the field cases).

In: `&<>` come escaped, and Slack makes links of addresses, numbers and file names, and ids of mentions
(docs.slack.dev/messaging/formatting-message-text). What is read is what was typed. Out: exactly `&<>` are escaped, so
no word of a person can ping a channel or break a message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from adapters.contract import clean

MARKUP = re.compile(r"<([^<>]*)>")
GROUP = re.compile(r"<!subteam\^(S[A-Z0-9]+)(?:\|[^<>]*)?>")
USER = re.compile(r"<@([UW][A-Z0-9]*)(?:\|([^<>]*))?>")

# Where mrkdwn would read formatting, a quote or an emoji into plain words; there is no escape for these.
MARKS = re.compile(r"[*_~`]|^\s*(?:>|&gt;)|:[a-z0-9_+'-]+:", re.MULTILINE)


def undo(text: str, names: Mapping[str, str] | None = None) -> str:
    """The text as it was typed. `names` maps ids of people and groups to how mentions of them read, without the @."""
    known = names or {}

    def one(match: re.Match[str]) -> str:
        return _shown(match.group(1), known)

    plain = MARKUP.sub(one, text)
    return clean(plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def _shown(inside: str, names: Mapping[str, str]) -> str:
    target, bar, label = inside.partition("|")
    if target.startswith("@"):
        return "@" + (names.get(target[1:]) or label or target[1:])
    if target.startswith("#"):
        return "#" + (label or target[1:])
    if target.startswith("!"):
        return _special(target[1:], label, names)
    if not bar or label in ("", target):
        return target.removeprefix("mailto:").removeprefix("tel:")
    if _same(target, label):
        return label  # Slack made the link: what was typed is the label
    return f"{label} ({target})"


def _special(target: str, label: str, names: Mapping[str, str]) -> str:
    kind, _, rest = target.partition("^")
    if kind == "date":  # <!date^unix^format^link|fallback>: the fallback is the text that everybody can read
        return label or rest.partition("^")[0]
    if kind == "subteam":
        return "@" + (names.get(rest) or label.removeprefix("@") or rest)
    return "@" + (label.removeprefix("@") or kind)


def _same(target: str, label: str) -> bool:
    """Whether a link is only what Slack has made of its label: an address, a number, a name with a dot."""
    bare = re.sub(r"^(mailto:|tel:|https?://)", "", target).rstrip("/")
    return bare.casefold() == re.sub(r"^https?://", "", label).rstrip("/").casefold() or target.startswith(
        ("mailto:", "tel:")
    )


def mentioned(text: str) -> tuple[str, ...]:
    """Ids of the people mentioned, in their order."""
    return tuple(dict.fromkeys(match.group(1) for match in USER.finditer(text)))


def groups_mentioned(text: str) -> tuple[str, ...]:
    """Ids of the user groups mentioned, in their order."""
    return tuple(dict.fromkeys(GROUP.findall(text)))


def without_mention(text: str, user: str) -> tuple[str, bool]:
    """Raw text without a leading mention of the bot, and whether it is mentioned at all (RT-6)."""
    mention = re.compile(rf"<@{re.escape(user)}(?:\|[^<>]*)?>")
    found = mention.search(text)
    if found is None:
        return text, False
    if not text[: found.start()].strip():
        return re.sub(r"^[:,]?[ \t\u00a0]*", "", text[found.end() :]), True
    return text, True


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
