"""What the app can ask: places, people, groups, reactions, itself."""

from __future__ import annotations

from typing import Any

from tests.fakes.slack.errors import Refusal
from tests.fakes.slack.model import PLURAL, Channel, Installation, Json, Message
from tests.fakes.slack.sending import Sending

_TYPES = {"public_channel": "channel", "private_channel": "group", "mpim": "mpim", "im": "im"}
MAX_PAGE = 1000  # conversations.*, users.list: "under 1000"


class Looking(Sending):
    def auth_test(self, app: Installation, p: Json) -> Json:
        made = {"url": f"https://{app.team.domain}.slack.com/", "team": app.team.name, "user": app.bot.handle}
        made |= {"team_id": app.team.id, "user_id": app.bot.id, "bot_id": app.bot_id}
        return (
            made
            | {"is_enterprise_install": app.org_wide}
            | ({"enterprise_id": app.team.enterprise} if app.team.enterprise else {})
        )

    def bots_info(self, app: Installation, p: Json) -> Json:
        bot = self.bots.get(p.get("bot", app.bot_id))
        if bot is None:
            raise Refusal("bot_not_found")
        made = {"id": bot.bot_id, "deleted": bot.deleted, "name": bot.name, "updated": 1, "app_id": bot.app_id}
        return {"bot": made | {"user_id": bot.id, "icons": {}}}

    # -- places --------------------------------------------------------------------------------------------------

    def conversations_info(self, app: Installation, p: Json) -> Json:
        channel = self.place(app, p["channel"], "{kind}:read")
        made = channel.json(app.bot.id)
        if not p.get("include_num_members"):
            made.pop("num_members", None)
        if channel.kind == "im":
            made["is_user_deleted"] = self.users[channel.user or ""].deleted
        return {"channel": made}

    def conversations_list(self, app: Installation, p: Json) -> Json:
        kinds = []
        for name in p.get("types", ["public_channel"]):
            if name not in _TYPES:
                raise Refusal("invalid_types")
            kinds.append(_TYPES[name])
            self.need(app, f"{PLURAL[_TYPES[name]]}:read")
        found = [
            c
            for c in app.team.channels.values()
            if c.kind in kinds
            and not c.deleted
            and (c.kind == "channel" or app.bot.id in c.members)
            and not (p.get("exclude_archived") and c.archived)
        ]
        page, more = self._page(found, p, 100)
        return {"channels": [c.json(app.bot.id) for c in page], "response_metadata": more}

    def conversations_members(self, app: Installation, p: Json) -> Json:
        channel = self.place(app, p["channel"], "{kind}:read")
        page, more = self._page(channel.members, p, 100)
        return {"members": list(page), "response_metadata": more}

    def conversations_open(self, app: Installation, p: Json) -> Json:
        if "channel" in p:
            return {"channel": {"id": self.place(app, p["channel"]).id}, "no_op": True, "already_open": True}
        wanted = p.get("users", [])
        if not wanted:
            raise Refusal("users_list_not_supplied")
        people = [self.users.get(user) for user in wanted]
        if any(person is None for person in people):
            raise Refusal("user_not_found")
        if any(person.deleted for person in people):  # type: ignore[union-attr]
            raise Refusal("user_disabled")  # b40
        if len(people) > 1:
            self.need(app, "mpim:write")
            members = sorted([*wanted, app.bot.id])
            same = [c for c in app.team.channels.values() if c.kind == "mpim" and sorted(c.members) == members]
            channel = same[0] if same else self.group_dm(*people)  # type: ignore[arg-type]
        elif people[0] is app.bot or people[0].is_bot:  # type: ignore[union-attr]
            raise Refusal("cannot_dm_bot")
        else:
            channel = self.dm(people[0], app.team)  # type: ignore[arg-type]
        return {"channel": channel.json(app.bot.id) if p.get("return_im") else {"id": channel.id}}

    def conversations_join(self, app: Installation, p: Json) -> Json:
        channel = self.place(app, p["channel"])
        if channel.kind != "channel":
            raise Refusal("method_not_supported_for_channel_type")
        if channel.archived:
            raise Refusal("is_archived")
        more: Json = {}
        if app.bot.id in channel.members:
            more = {"warning": "already_in_channel", "response_metadata": {"warnings": ["already_in_channel"]}}
        else:
            channel.members.append(app.bot.id)
            self.member(channel, app.bot.id, True)
        return {"channel": channel.json(app.bot.id)} | more

    def conversations_history(self, app: Installation, p: Json) -> Json:
        """Newest first; replies are not in it, unless they were sent to the channel as well."""
        channel = self._readable(app, p)
        shown = [m for m in self._lasting(channel, p) if m.thread_ts is None or m.subtype == "thread_broadcast"]
        page, more = self._page(shown[::-1], p, 100)
        found = {"messages": [self._read(m, p) for m in page], "has_more": bool(more["next_cursor"]), "pin_count": 0}
        return found | ({"response_metadata": more} if more["next_cursor"] else {})

    def conversations_replies(self, app: Installation, p: Json) -> Json:
        """Oldest first, the root as the first."""
        channel = self._readable(app, p)
        root = self.message(channel, p["ts"])
        if root is None or root.only_to:
            raise Refusal("thread_not_found")
        if root.thread_ts:
            root = channel.messages[root.thread_ts]
        inside = [m for m in self._lasting(channel, p) if m.thread_ts == root.ts]
        page, more = self._page([root, *inside], p, 1000)
        found = {"messages": [self._read(m, p) for m in page], "has_more": bool(more["next_cursor"])}
        return found | ({"response_metadata": more} if more["next_cursor"] else {})

    def _readable(self, app: Installation, p: Json) -> Channel:
        channel = self.place(app, p["channel"], "{kind}:history")
        if app.bot.id not in channel.members:
            raise Refusal("not_in_channel")
        return channel

    def _lasting(self, channel: Channel, p: Json) -> list[Message]:
        oldest, latest = p.get("oldest", ""), p.get("latest", "")
        for bound in (oldest, latest):
            if bound and not bound.replace(".", "").isdigit():
                raise Refusal("invalid_ts_oldest" if bound is oldest else "invalid_ts_latest")
        inclusive = p.get("inclusive", False)

        def inside(ts: str) -> bool:
            low, high = _at(oldest or "0"), _at(latest or "9999999999")
            return low < _at(ts) < high or (inclusive and _at(ts) in (low, high))

        return [m for m in channel.messages.values() if not m.gone and m.only_to is None and inside(m.ts)]

    @staticmethod
    def _read(message: Message, p: Json) -> Json:
        made = message.json()
        if not p.get("include_all_metadata"):
            made.pop("metadata", None)
        return made

    @staticmethod
    def _page(found: list[Any], p: Json, usual: int) -> tuple[list[Any], Json]:
        limit = p.get("limit", usual)
        if not 1 <= limit <= MAX_PAGE:
            raise Refusal("invalid_limit")
        cursor = p.get("cursor", "")
        if cursor and not cursor.startswith("next:"):
            raise Refusal("invalid_cursor")
        start = int(cursor.removeprefix("next:") or 0)
        after = start + limit
        return found[start:after], {"next_cursor": f"next:{after}" if after < len(found) else ""}

    # -- people --------------------------------------------------------------------------------------------------

    def users_info(self, app: Installation, p: Json) -> Json:
        person = self.users.get(p["user"])
        if person is None or not self._known(app, person):
            raise Refusal("user_not_found")
        return {"user": self._person(app, person)}

    def users_list(self, app: Installation, p: Json) -> Json:
        page, more = self._page([u for u in self.users.values() if u.team is app.team], p, MAX_PAGE)
        return {"members": [self._person(app, u) for u in page], "response_metadata": more}

    def usergroups_list(self, app: Installation, p: Json) -> Json:
        groups = [g for g in app.team.groups.values() if p.get("include_disabled") or not g.disabled]
        return {"usergroups": [g.json(app.team.id, p.get("include_users", False)) for g in groups]}

    def usergroups_users_list(self, app: Installation, p: Json) -> Json:
        group = app.team.groups.get(p["usergroup"])
        if group is None or (group.disabled and not p.get("include_disabled")):
            raise Refusal("no_such_subteam")
        return {"users": list(group.members)}

    def _known(self, app: Installation, person: Any) -> bool:
        """People of the workspace, and those it shares a channel with."""
        return person.team is app.team or any(person.id in c.members for c in app.team.channels.values())

    def _person(self, app: Installation, person: Any) -> Json:
        made: Json = person.json(app.team)
        if "users:read.email" not in app.scopes:
            made["profile"].pop("email", None)
        return made

    # -- reactions -----------------------------------------------------------------------------------------------

    def _reacted(self, app: Installation, p: Json) -> Message:
        channel = self.place(app, p["channel"])
        message = self.message(channel, p["timestamp"])
        if message is None or message.only_to:
            raise Refusal("message_not_found")
        return message

    def reactions_add(self, app: Installation, p: Json) -> Json:
        message = self._reacted(app, p)
        if message.channel.archived:
            raise Refusal("is_archived")
        if app.bot.id not in message.channel.members:
            raise Refusal("not_in_channel")
        if not p["name"].replace("_", "").replace("-", "").replace("+", "").isalnum():
            raise Refusal("invalid_name")
        users = message.reactions.setdefault(p["name"], [])
        if app.bot.id in users:
            raise Refusal("already_reacted")
        users.append(app.bot.id)
        self.reaction(message, p["name"], app.bot.id, True)
        return {}

    def reactions_remove(self, app: Installation, p: Json) -> Json:
        message = self._reacted(app, p)
        users = message.reactions.get(p["name"], [])
        if app.bot.id not in users:
            raise Refusal("no_reaction")
        users.remove(app.bot.id)
        if not users:
            del message.reactions[p["name"]]
        self.reaction(message, p["name"], app.bot.id, False)
        return {}

    def reactions_get(self, app: Installation, p: Json) -> Json:
        message = self._reacted(app, p)
        return {"type": "message", "channel": message.channel.id, "message": message.json()}


def _at(ts: str) -> tuple[int, int]:
    whole, _, part = ts.partition(".")
    return int(whole), int(part.ljust(6, "0") or 0)
