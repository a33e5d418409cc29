"""The app's manifest, to be pasted into api.slack.com/apps: https://docs.slack.dev/reference/app-manifest. Pure.

It asks for what the switched-on features need, and for nothing else. Slack keeps some commands for itself (CH-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.acts import ASK_FOR, CLARIFY_THIS, OWN_COMMAND
from adapters.slack.http import PATH

OAUTH = "/slack/oauth"

# slack.com/help/articles/201259356: the names that apps are refused
_RESERVED = """
active archive away call collapse dm dnd expand feed feedback invite join kick leave me msg mute open part prefs
remind remove rename search shortcuts shrug status topic who
"""
RESERVED = frozenset(_RESERVED.split())
MOST_COMMANDS = 50
LONGEST_COMMAND = 32  # characters with the slash

SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "chat:write.public",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "usergroups:read",
    "users:read",
)
EVENTS = (
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "channel_archive",
    "channel_deleted",
    "channel_unarchive",
    "group_archive",
    "group_unarchive",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "tokens_revoked",
    "user_change",
)


@dataclass(frozen=True, slots=True)
class Features:
    """`url`: where Slack reaches us (https); None = over the socket. `commands`: (word, what it does)."""

    url: str | None = None
    commands: Sequence[tuple[str, str]] = ()
    reactions: bool = False
    installs: bool = False  # many workspaces, by OAuth


def manifest(features: Features) -> dict[str, Any]:
    events, scopes = list(EVENTS), list(SCOPES)
    if features.reactions:
        events.append("reaction_added")
        scopes.append("reactions:read")
    address = None if features.url is None else features.url.rstrip("/")
    posted = {} if address is None else {"request_url": address + PATH}
    oauth: dict[str, Any] = {"scopes": {"bot": sorted(scopes)}}
    if features.installs and address is not None:
        oauth["redirect_urls"] = [address + OAUTH]
    return {
        "_metadata": {"major_version": 1, "minor_version": 1},
        "display_information": {
            "name": "Askfirst",
            "description": "Asks before anyone acts: a few questions, answered here, kept with their proof.",
            "background_color": "#2c2d30",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,  # else nobody can type to it (b46)
            },
            "bot_user": {"display_name": "askfirst", "always_online": True},
            "shortcuts": [
                {
                    "name": "Clarify this",
                    "type": "message",
                    "callback_id": CLARIFY_THIS,
                    "description": "Ask what has to be known before anyone acts on this message",
                },
                {
                    "name": "Ask for an intake",
                    "type": "global",
                    "callback_id": ASK_FOR,
                    "description": "Say what you need, and where to ask",
                },
            ],
            "slash_commands": _commands(features.commands, address),
        },
        "oauth_config": oauth,
        "settings": {
            "event_subscriptions": {**posted, "bot_events": sorted(events)},
            "interactivity": {"is_enabled": True, **posted},
            "org_deploy_enabled": False,
            "socket_mode_enabled": address is None,
            "token_rotation_enabled": features.installs,
        },
    }


def _commands(commands: Sequence[tuple[str, str]], address: str | None) -> list[dict[str, Any]]:
    own = (OWN_COMMAND.removeprefix("/"), "status, help, new, cancel, resume, export, settings")
    listed: list[dict[str, Any]] = []
    for word, what in (own, *commands):
        if word in RESERVED or len(word) + 1 > LONGEST_COMMAND or len(listed) == MOST_COMMANDS:
            continue
        made: dict[str, Any] = {"command": f"/{word}", "description": what or word, "should_escape": True}
        made["usage_hint"] = "status" if word == own[0] else "what you need"
        if address is not None:
            made["url"] = address + PATH
        listed.append(made)
    return listed
