"""Where things are: workspaces, channels, threads and direct messages as conversations; `ts` as names and order.

A thread of a channel is a conversation, `slack:<team>:<channel>/<root ts>`; a direct message is one as a whole,
`slack:<team>:<channel>`, whichever thread of it people write in. The workspace is in every name: two workspaces of an
organisation may have the same channel id (b34 of the field cases).

A session that begins without a message in the channel (a slash command, a global shortcut, an agent) has no thread
yet. Its conversation is `slack:<team>:<channel>/~<name>`: the first card, posted into the channel, becomes the root.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

PLATFORM = "slack"
ROOTLESS = "~"
TS = re.compile(r"\d{1,12}\.\d{6}")


@dataclass(frozen=True, slots=True)
class Me:
    """Who the app is in one workspace."""

    team: str  # of the installation; the enterprise's id where the app is installed for a whole organisation
    user: str  # the bot's user id, which mentions name
    bot: str = ""  # its bot id, which messages carry
    app: str = ""
    name: str = "askfirst"
    enterprise: str | None = None
    url: str = ""  # of the workspace, for links


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a person. `handle` is unique in a workspace and has no blanks; names have."""

    name: str
    handle: str
    bot: bool = False
    outside: bool = False  # a guest, or from another organisation
    gone: bool = False  # deactivated
    groups: tuple[str, ...] = ()  # user groups
    zone: str | None = None  # time zone, as in `Europe/Lisbon`


@dataclass(frozen=True, slots=True)
class Known:
    """What the codec has to be told beside the payload: who we are, who people are, which places are shared."""

    me: Me
    people: Mapping[str, Profile] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)  # handles of user groups, by id
    direct: Mapping[str, bool] = field(default_factory=dict)  # channel -> it is a direct message with the bot
    apps: frozenset[str] = frozenset()  # apps that may speak for the person whose token they use
    reactions: frozenset[str] = frozenset()  # emoji that ask for an intake
    every: frozenset[str] = frozenset()  # channels in which every message does


class Address(NamedTuple):
    team: str
    channel: str
    root: str | None  # ts of the thread, `~name` while there is none, None for a direct message


def conversation_of(team: str, channel: str, root: str | None = None) -> str:
    place = f"{PLATFORM}:{team}:{channel}"
    return place if root is None else f"{place}/{root}"


def address_of(conversation: str) -> Address:
    place, _, root = conversation.removeprefix(f"{PLATFORM}:").partition("/")
    team, _, channel = place.partition(":")
    return Address(team, channel, root or None)


def person_id(user: str) -> str:
    return f"{PLATFORM}:{user}"


def user_of(person: str) -> str:
    return person.removeprefix(f"{PLATFORM}:")


def name_of(ts: str, thread: str | None = None) -> str:
    """A message's id within its conversation. In a direct message it tells the thread too: answers go there."""
    return ts if thread is None or thread == ts else f"{thread}/{ts}"


def message_at(name: str) -> tuple[str | None, str | None]:
    """The thread and the `ts` of a message; no `ts` where the name is that of an act (a tap, a command)."""
    thread, _, ts = name.rpartition("/")
    return (thread or None, ts) if TS.fullmatch(ts) else (None, None)


def link_to(url: str, channel: str, ts: str, thread: str | None) -> str | None:
    """The address of a message, as chat.getPermalink gives it: docs.slack.dev/reference/methods/chat.getPermalink.

    Made here, since the call would cost one more for each message. `url` is the workspace's, as auth.test tells it.
    """
    if not url.startswith("https://") or not TS.fullmatch(ts):
        return None
    place = f"{url.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"
    return place if thread is None or thread == ts else f"{place}?thread_ts={thread}&cid={channel}"


def order_of(ts: str) -> int:
    """Microseconds as a whole number: a float would lose the last digits."""
    seconds, _, micros = ts.partition(".")
    return int(seconds) * 1_000_000 + int((micros + "000000")[:6])
