"""The methods that this server knows: rate tier, scopes, whether JSON is read, parameters.

Names and types are those of slack_sdk 3.48 and docs.slack.dev/reference/methods. `name!` is required. A scope with
`{kind}` depends on the place: channels, groups, im or mpim. The real server ignores parameters that it does not know;
here they are complaints, since in a test an unknown parameter is a typing mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}  # docs.slack.dev/apis/web-api/rate-limits: tiers 1+, 20+, 50+, 100+


@dataclass(frozen=True, slots=True)
class Method:
    tier: int | None  # None: special
    scope: str
    json: bool  # reads JSON bodies; the others read forms and query strings only
    token: Literal["bot", "app", "none"]
    fields: dict[str, tuple[str, bool]]  # name: type, required


_CONTENT = (
    "text:str blocks:json attachments:json markdown_text:str parse:str link_names:bool as_user:bool mrkdwn:bool "
)
_UPLOAD = "filename!:str length!:int alt_txt:str snippet_type:str"
_UPLOADED = "files!:json channel_id:str channels:list initial_comment:str thread_ts:str"
_GROUPS = "include_count:bool include_disabled:bool include_users:bool"
_FACE = "username:str icon_emoji:str icon_url:str "
_PAGE = "cursor:str limit:int "
_READ = "channel!:str inclusive:bool latest:str oldest:str include_all_metadata:bool " + _PAGE

_LINES: dict[str, tuple[int | None, str, str, str]] = {
    # method: tier, scope, reads (json, form), parameters
    "auth.test": (None, "", "form", ""),
    "auth.revoke": (3, "", "form", "test:bool"),
    "bots.info": (3, "users:read", "form", "bot:str"),
    "chat.postMessage": (None, "chat:write", "json", "channel!:str thread_ts:str reply_broadcast:bool metadata:json "
    "unfurl_links:bool unfurl_media:bool " + _CONTENT + _FACE),
    "chat.postEphemeral": (4, "chat:write", "json", "channel!:str user!:str thread_ts:str " + _CONTENT + _FACE),
    "chat.update": (3, "chat:write", "json", "channel!:str ts!:str reply_broadcast:bool metadata:json file_ids:json "
    + _CONTENT),
    "chat.delete": (3, "chat:write", "json", "channel!:str ts!:str as_user:bool"),
    "chat.getPermalink": (None, "", "form", "channel!:str message_ts!:str"),
    "conversations.info": (3, "{kind}:read", "form", "channel!:str include_locale:bool include_num_members:bool"),
    "conversations.history": (3, "{kind}:history", "form", _READ),
    "conversations.replies": (3, "{kind}:history", "form", "ts!:str " + _READ),
    "conversations.open": (3, "im:write", "json", "channel:str users:list return_im:bool prevent_creation:bool"),
    "conversations.join": (3, "channels:join", "json", "channel!:str"),
    "conversations.members": (4, "{kind}:read", "form", "channel!:str " + _PAGE),
    "conversations.list": (2, "", "form", "exclude_archived:bool types:list " + _PAGE),
    "users.info": (4, "users:read", "form", "user!:str include_locale:bool"),
    "users.list": (2, "users:read", "form", "include_locale:bool " + _PAGE),
    "usergroups.list": (2, "usergroups:read", "form", _GROUPS),
    "usergroups.users.list": (2, "usergroups:read", "form", "usergroup!:str include_disabled:bool"),
    "views.open": (4, "", "json", "trigger_id!:str view!:json"),
    "views.push": (4, "", "json", "trigger_id!:str view!:json"),
    "views.update": (4, "", "json", "view!:json view_id:str external_id:str hash:str"),
    "views.publish": (4, "", "json", "user_id!:str view!:json hash:str"),
    "reactions.add": (3, "reactions:write", "json", "channel!:str name!:str timestamp!:str"),
    "reactions.remove": (2, "reactions:write", "json", "name!:str channel!:str timestamp!:str"),
    "reactions.get": (3, "reactions:read", "form", "channel!:str timestamp!:str full:bool"),
    "files.getUploadURLExternal": (4, "files:write", "form", _UPLOAD),
    "files.completeUploadExternal": (4, "files:write", "json", _UPLOADED),
    "files.info": (4, "files:read", "form", "file!:str count:int page:int " + _PAGE),
}  # fmt: skip


def _fields(line: str) -> dict[str, tuple[str, bool]]:
    pairs = (word.partition(":") for word in line.split())
    return {name.removesuffix("!"): (kind, name.endswith("!")) for name, _, kind in pairs}


METHODS = {
    name: Method(tier, scope, reads == "json", "bot", _fields(line))
    for name, (tier, scope, reads, line) in _LINES.items()
} | {
    "apps.connections.open": Method(1, "connections:write", False, "app", {}),
    "oauth.v2.access": Method(
        4,
        "",
        False,
        "none",
        _fields("client_id:str client_secret:str code:str redirect_uri:str grant_type:str refresh_token:str"),
    ),
}

_SCOPES = """
app_mentions:read channels:history channels:join channels:read chat:write chat:write.customize
chat:write.public commands files:read files:write groups:history groups:read im:history im:read im:write
mpim:history mpim:read mpim:write reactions:read reactions:write team:read usergroups:read users:read
users:read.email
"""
SCOPES = frozenset(_SCOPES.split())
DEFAULT_SCOPES = SCOPES - {"chat:write.public", "chat:write.customize"}

# docs.slack.dev/reference/events: the scope without which an event is never sent
EVENTS = {
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "app_uninstalled": "",
    "channel_archive": "channels:read",
    "channel_deleted": "channels:read",
    "channel_rename": "channels:read",
    "channel_unarchive": "channels:read",
    "file_shared": "files:read",
    "group_archive": "groups:read",
    "group_rename": "groups:read",
    "group_unarchive": "groups:read",
    "member_joined_channel": "channels:read",
    "member_left_channel": "channels:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    "subteam_updated": "usergroups:read",
    "team_join": "users:read",
    "tokens_revoked": "",
    "user_change": "users:read",
}

# Slack's own commands: slack.com/help/articles/201259356 and "Reserved command names" of
# docs.slack.dev/interactivity/implementing-slash-commands; an app's command of that name is never reached.
_RESERVED = """
/active /archive /away /call /collapse /dm /dnd /expand /feed /feedback /invite /join /kick /leave /me /msg
/mute /open /part /prefs /remind /remove /rename /search /shortcuts /shrug /status /topic /who
"""
RESERVED = frozenset(_RESERVED.split())
