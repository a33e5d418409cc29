"""What the platform keeps: workspaces, installations, places, messages, files, views."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tests.fakes.slack.people import Person

Json = dict[str, Any]
Kind = Literal["channel", "group", "im", "mpim"]
PLURAL = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
# elements that have a state; buttons and overflow menus have none
STATE = {
    "radio_buttons": "selected_option",
    "static_select": "selected_option",
    "checkboxes": "selected_options",
    "multi_static_select": "selected_options",
    "plain_text_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "number_input": "value",
    "users_select": "selected_user",
    "multi_users_select": "selected_users",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
}
INITIAL = {
    kind: name.replace("selected", "initial") if name != "value" else "initial_value" for kind, name in STATE.items()
}
LISTS = frozenset({"selected_options", "selected_users"})


@dataclass(eq=False)
class Team:
    id: str
    name: str
    domain: str
    enterprise: str | None = None  # Enterprise Grid
    channels: dict[str, Channel] = field(default_factory=dict)
    groups: dict[str, UserGroup] = field(default_factory=dict)
    app: Installation | None = None

    def json(self) -> Json:
        return {"id": self.id, "domain": self.domain} | (
            {"enterprise_id": self.enterprise} if self.enterprise else {}
        )


@dataclass(eq=False)
class Installation:
    """Our app in one workspace. `dead` is the error that its tokens give from then on."""

    team: Team
    bot: Person
    bot_id: str
    scopes: set[str]
    token: str
    refresh: str | None = None
    expires: datetime | None = None
    dead: str | None = None
    org_wide: bool = False


class Bucket:
    """So many at once, filled again at so many a second."""

    def __init__(self, most: float, per_second: float, now: datetime) -> None:
        self.most, self.per_second, self.left, self.at = most, per_second, most, now

    def take(self, now: datetime) -> float:
        """The seconds to wait; 0 when there was one to take."""
        self.left = min(self.most, self.left + (now - self.at).total_seconds() * self.per_second)
        self.at = now
        if self.left >= 1:
            self.left -= 1
            return 0.0
        return (1 - self.left) / self.per_second


@dataclass(eq=False)
class UserGroup:
    id: str
    handle: str
    name: str
    members: list[str]
    disabled: bool = False

    def json(self, team: str, users: bool) -> Json:
        made: Json = {"id": self.id, "team_id": team, "is_usergroup": True, "name": self.name, "handle": self.handle}
        made |= {"date_delete": 1 if self.disabled else 0, "user_count": len(self.members)}
        return made | ({"users": list(self.members)} if users else {})


@dataclass(eq=False)
class File:
    id: str
    name: str
    content: bytes
    mimetype: str
    user: str
    created: int
    more: Json = field(default_factory=dict)  # mode, subtype, file_access …
    done: bool = True  # False: got an upload address only
    origin: str = ""

    def json(self) -> Json:
        if (
            {"file_access", "mode"} & set(self.more)
            and self.more.get("mode") != "hosted"
            and not self.more.get("subtype")
        ):
            return {"id": self.id} | self.more  # a stub: hidden_by_limit, check_file_info, tombstone
        path = f"{self.origin}/files-pri/{self.id}"
        made = {
            "id": self.id,
            "created": self.created,
            "timestamp": self.created,
            "name": self.name,
            "title": self.name,
        }
        made |= {
            "mimetype": self.mimetype,
            "filetype": self.name.rpartition(".")[2],
            "user": self.user,
            "mode": "hosted",
        }
        made |= {"size": len(self.content), "is_external": False, "is_public": False, "file_access": "visible"}
        made |= {"url_private": f"{path}/{self.name}", "url_private_download": f"{path}/download/{self.name}"}
        return made | self.more


@dataclass(eq=False)
class Channel:
    id: str
    team: Team
    name: str
    kind: Kind
    members: list[str] = field(default_factory=list)
    archived: bool = False
    deleted: bool = False
    shared_with: list[str] = field(default_factory=list)  # other teams: Slack Connect
    messages: dict[str, Message] = field(default_factory=dict)
    user: str | None = None  # the person of a DM
    created: int = 0

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name or self.id}>"

    @property
    def plural(self) -> str:
        return PLURAL[self.kind]

    def json(self, me: str) -> Json:
        made: Json = {
            "id": self.id,
            "created": self.created,
            "is_archived": self.archived,
            "context_team_id": self.team.id,
        }
        made |= {"is_im": self.kind == "im", "is_mpim": self.kind == "mpim", "is_org_shared": False}
        made |= {"is_ext_shared": bool(self.shared_with), "is_shared": bool(self.shared_with)}
        if self.kind == "im":
            return made | {"user": self.user, "is_user_deleted": False}
        made |= {"name": self.name, "name_normalized": self.name, "is_member": me in self.members}
        # a group DM has a C… id and says is_channel and is_private (field case b31)
        made |= {"is_channel": self.kind in {"channel", "mpim"}, "is_group": self.kind == "group"}
        made |= {"is_private": self.kind != "channel", "creator": self.members[0] if self.members else ""}
        return made | {"topic": {"value": ""}, "purpose": {"value": ""}, "num_members": len(self.members)}


@dataclass(eq=False)
class Message:
    channel: Channel
    ts: str
    user: str | None
    text: str
    team: str
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    thread_ts: str | None = None
    subtype: str | None = None
    files: list[File] = field(default_factory=list)
    bot: Json = field(default_factory=dict)  # bot_id, app_id, bot_profile, username
    edited: Json | None = None
    metadata: Json | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict)
    replies: list[Message] = field(default_factory=list)
    gone: bool = False
    only_to: str | None = None  # ephemeral
    more: Json = field(default_factory=dict)
    chosen: dict[str, dict[str, Json]] = field(default_factory=dict)  # per person: block_id → action_id → state

    def __repr__(self) -> str:
        return f"<message {self.ts} {self.text[:40]!r}>"

    @property
    def root(self) -> str:
        """What a reply to it names as thread_ts."""
        return self.thread_ts or self.ts

    @property
    def link(self) -> str:
        place = self.channel
        link = f"https://{place.team.domain}.slack.com/archives/{place.id}/p{self.ts.replace('.', '')}"
        return f"{link}?thread_ts={self.thread_ts}&cid={place.id}" if self.thread_ts else link

    def json(self, *, root: bool = True) -> Json:
        made: Json = {"type": "message", "text": self.text, "ts": self.ts, "team": self.team}
        made |= {"user": self.user} if self.user else {}
        made |= {"subtype": self.subtype} if self.subtype else {}
        made |= deepcopy(self.bot)
        made |= {"blocks": deepcopy(self.blocks)} if self.blocks else {}
        made |= {"attachments": deepcopy(self.attachments)} if self.attachments else {}
        made |= {"files": [file.json() for file in self.files], "upload": False} if self.files else {}
        made |= {"edited": dict(self.edited)} if self.edited else {}
        made |= {"metadata": deepcopy(self.metadata)} if self.metadata else {}
        replies = [reply for reply in self.replies if not reply.gone]
        if self.thread_ts or replies:
            made["thread_ts"] = self.root
        if self.thread_ts and (parent := self.channel.messages.get(self.thread_ts)) is not None and parent.user:
            made["parent_user_id"] = parent.user
        if replies and root:
            users = list(dict.fromkeys(reply.user or "" for reply in replies))
            made |= {"reply_count": len(replies), "reply_users": users, "reply_users_count": len(users)}
            made |= {"latest_reply": replies[-1].ts, "is_locked": False}
        if self.reactions:
            made["reactions"] = [{"name": n, "users": list(u), "count": len(u)} for n, u in self.reactions.items()]
        return made | deepcopy(self.more)


@dataclass(eq=False)
class View:
    id: str
    person: Person
    team: Team
    body: Json  # as the app gave it, with block ids
    hash: str
    bot_id: str
    app_id: str
    previous: View | None = None
    root: View | None = None
    open: bool = True
    errors: dict[str, str] = field(default_factory=dict)  # what the person sees under the fields
    trouble: str = ""  # "We had some trouble connecting. Try again?"
    chosen: dict[str, Json] = field(default_factory=dict)  # block_id → action_id → state

    def json(self) -> Json:
        body = self.body
        made: Json = {
            "id": self.id,
            "team_id": self.team.id,
            "type": body["type"],
            "blocks": deepcopy(body["blocks"]),
        }
        made |= {"private_metadata": body.get("private_metadata", ""), "callback_id": body.get("callback_id", "")}
        made |= {"external_id": body.get("external_id", ""), "state": {"values": self.values()}, "hash": self.hash}
        made |= {key: deepcopy(body.get(key)) for key in ("title", "submit", "close")}
        made |= {key: body.get(key, False) for key in ("clear_on_close", "notify_on_close")}
        made |= {
            "previous_view_id": self.previous.id if self.previous else None,
            "root_view_id": (self.root or self).id,
        }
        return made | {"app_id": self.app_id, "app_installed_team_id": self.team.id, "bot_id": self.bot_id}

    def values(self) -> Json:
        return state_of(self.body["blocks"], self.chosen)


def elements_of(blocks: list[Json]) -> list[tuple[Json, Json]]:
    """Every interactive element with its block."""
    found: list[tuple[Json, Json]] = []
    for block in blocks:
        inside = [block.get("accessory"), block.get("element"), *(block.get("elements") or [])]
        if block["type"] in {"section", "actions", "input"}:
            found += [(block, e) for e in inside if isinstance(e, dict) and "action_id" in e]
    return found


def state_of(blocks: list[Json], chosen: dict[str, Json]) -> Json:
    """`state.values`: what is chosen now, else the initial value, else nothing."""
    values: Json = {}
    for block, element in elements_of(blocks):
        kind = element["type"]
        if kind not in STATE:
            continue
        key = STATE[kind]
        initial = element.get(INITIAL[kind], [] if key in LISTS else None)
        held = chosen.get(block["block_id"], {}).get(element["action_id"])
        value = held[key] if held is not None and held["type"] == kind else initial
        values.setdefault(block["block_id"], {})[element["action_id"]] = {"type": kind, key: deepcopy(value)}
    return values


def kept(blocks: list[Json], chosen: dict[str, Json]) -> dict[str, Json]:
    """What a client keeps of its inputs when blocks change: those of the same block_id, action_id and type, whatever
    `initial_…` says now. That is why a card that starts afresh needs fresh block ids."""
    held: dict[str, Json] = {}
    for block, element in elements_of(blocks):
        value = chosen.get(block["block_id"], {}).get(element["action_id"])
        if value is not None and value["type"] == element["type"]:
            held.setdefault(block["block_id"], {})[element["action_id"]] = value
    return held
