"""What happens becomes events: which ones, in which form, and whether the app is told."""

from __future__ import annotations

from typing import Any

from tests.fakes.slack.model import Channel, Installation, Json, Message, Team, UserGroup
from tests.fakes.slack.outgoing import Delivery
from tests.fakes.slack.table import EVENTS
from tests.fakes.slack.world import World


class News(World):
    """The app hears of a place when its bot is in it, of a kind when it has subscribed to it and has the scope."""

    mention_first = False  # app_mention and message for the same words come in either order
    mention_only = False  # some Enterprise Grid sites send only app_mention (P57)

    def tell(self, team: Team, kind: str, event: Json, *, ext: bool = False) -> Delivery | None:
        app = team.app
        if (
            app is None
            or kind not in self.app.events
            or (app.dead and kind not in {"app_uninstalled", "tokens_revoked"})
        ):
            return None
        needed = EVENTS[kind]
        if needed and needed not in app.scopes:
            return None
        return self.outgoing.add(Delivery("events_api", self.envelope(app, event, ext)))

    def envelope(self, app: Installation, event: Json, ext: bool = False) -> Json:
        team = app.team
        authorization = {
            "enterprise_id": team.enterprise,
            "team_id": None if app.org_wide else team.id,
            "user_id": app.bot.id,
            "is_bot": True,
            "is_enterprise_install": app.org_wide,
        }
        return {
            "token": self.app.verification,
            "team_id": team.id,
            "context_team_id": team.id,
            "context_enterprise_id": team.enterprise,
            "api_app_id": self.app.id,
            "event": {"event_ts": self.ts()} | event,
            "type": "event_callback",
            "event_id": f"Ev{self.number():07d}",
            "event_time": int(self.clock.now().timestamp()),
            "authorizations": [authorization],
            "is_ext_shared_channel": ext,
            "event_context": f"4-fake-{self.number()}",
        } | ({"enterprise_id": team.enterprise} if team.enterprise else {})

    def hears(self, channel: Channel) -> bool:
        return channel.team.app is not None and channel.team.app.bot.id in channel.members and not channel.deleted

    def message_event(self, channel: Channel, event: Json) -> Delivery | None:
        if not self.hears(channel) or (channel.kind == "im" and not self.app.messages_tab):
            return None
        kind = {"channel": "channels", "group": "groups"}.get(channel.kind, channel.kind)
        body = {"type": "message", "channel": channel.id, "channel_type": channel.kind} | event
        return self.tell(channel.team, f"message.{kind}", body, ext=bool(channel.shared_with))

    # -- messages ------------------------------------------------------------------------------------------------

    def posted(self, message: Message) -> None:
        """Everybody's words, our own bot's as well."""
        event = message.json(root=False) | {"event_ts": message.ts}
        author = self.users.get(message.user or "")
        if message.channel.shared_with and author is not None:
            event |= {"user_team": author.team.id, "source_team": author.team.id, "team": author.team.id}
        if message.subtype == "thread_broadcast" and (root := self.message(message.channel, message.root)):
            event["root"] = root.json()
        mention = self._mention(message, event)
        if mention is not None and self.mention_first:
            self._tell_mention(message.channel, mention)
        if mention is None or not self.mention_only:
            self.message_event(message.channel, event)
        if mention is not None and not self.mention_first:
            self._tell_mention(message.channel, mention)

    def changed(self, message: Message, before: Json, *, root: bool = False) -> None:
        """`message_changed`: edits, chat.update, unfurls. A mention in an edit fires app_mention again (b19)."""
        now = message.json(root=root)
        event = {
            "subtype": "message_changed",
            "hidden": True,
            "message": now,
            "previous_message": before,
            "ts": self.ts(),
        }
        self.message_event(message.channel, event | {"event_ts": event["ts"]})
        edited = message.edited is not None and before.get("edited") != message.edited
        mention = self._mention(message, now | {"event_ts": self.ts()}) if edited else None
        if mention is not None:
            self._tell_mention(message.channel, mention)

    def removed(self, message: Message, before: Json) -> None:
        """A root with replies stays as a tombstone: that is a message_changed (b25)."""
        at = self.ts()
        event: Json = {"hidden": True, "previous_message": before, "ts": at, "event_ts": at}
        if message.subtype == "tombstone":
            self.message_event(message.channel, event | {"subtype": "message_changed", "message": message.json()})
        else:
            self.message_event(message.channel, event | {"subtype": "message_deleted", "deleted_ts": message.ts})

    def unfurl(self, message: Message, url: str, title: str = "A page") -> None:
        """Slack adds a preview: message_changed without `edited`, nobody did anything (P68)."""
        before = message.json(root=False)
        message.attachments.append({"id": 1, "from_url": url, "original_url": url, "title": title, "fallback": title})
        self.changed(message, before)

    def touch(self, message: Message) -> None:
        """message_changed with nothing changed, as metadata-only edits and 'also send to channel' bring (b01)."""
        self.changed(message, message.json(root=False))

    def _mention(self, message: Message, event: Json) -> Json | None:
        app = message.channel.team.app
        if app is None or message.user == app.bot.id or message.channel.kind == "im":
            return None
        if f"<@{app.bot.id}>" not in message.text and f"<@{app.bot.id}|" not in message.text:
            return None
        left_out = {"channel_type", "subtype", "root"}
        return {k: v for k, v in event.items() if k not in left_out} | {"type": "app_mention"}

    def _tell_mention(self, channel: Channel, event: Json) -> None:
        if self.hears(channel):
            self.tell(channel.team, "app_mention", event | {"channel": channel.id}, ext=bool(channel.shared_with))

    # -- places and people ---------------------------------------------------------------------------------------

    def reaction(self, message: Message, name: str, user: str, added: bool) -> None:
        if self.hears(message.channel):
            item = {"type": "message", "channel": message.channel.id, "ts": message.ts}
            kind = "reaction_added" if added else "reaction_removed"
            event = {"type": kind, "user": user, "reaction": name, "item": item, "item_user": message.user}
            self.tell(message.channel.team, kind, event)

    def member(self, channel: Channel, user: str, joined: bool, inviter: str | None = None) -> None:
        letter = "C" if channel.kind == "channel" else "G"
        kind = "member_joined_channel" if joined else "member_left_channel"
        event: Json = {"type": kind, "user": user, "channel": channel.id, "channel_type": letter}
        event |= {"team": channel.team.id} | ({"inviter": inviter} if inviter else {})
        if self.hears(channel) or (channel.team.app and user == channel.team.app.bot.id):
            self.tell(channel.team, kind, event)
        if joined and self.hears(channel):
            words = f"<@{user}> has joined the channel"
            self.message_event(channel, {"subtype": "channel_join", "user": user, "text": words, "ts": self.ts()})

    def archive(self, channel: Channel, by: Any) -> None:
        channel.archived = True
        self._place_news(channel, "archive", {"channel": channel.id, "user": by.id})

    def unarchive(self, channel: Channel, by: Any) -> None:
        channel.archived = False
        self._place_news(channel, "unarchive", {"channel": channel.id, "user": by.id})

    def rename(self, channel: Channel, name: str) -> None:
        channel.name = name
        self._place_news(channel, "rename", {"channel": {"id": channel.id, "name": name, "created": channel.created}})

    def delete_channel(self, channel: Channel, by: Any) -> None:
        self._place_news(channel, "deleted", {"channel": channel.id, "actor_id": by.id})
        channel.deleted = True

    def _place_news(self, channel: Channel, what: str, event: Json) -> None:
        kind = f"{'channel' if channel.kind == 'channel' else 'group'}_{what}"
        if self.hears(channel):
            self.tell(channel.team, kind, {"type": kind} | event)

    def uninstall(self, team: Team | None = None) -> None:
        """The app is removed from a workspace: every call says account_inactive from now on."""
        app = (team or self.team).app
        assert app is not None
        app.dead = "account_inactive"
        self.tell(
            app.team, "tokens_revoked", {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [app.bot.id]}}
        )
        self.tell(app.team, "app_uninstalled", {"type": "app_uninstalled"})

    def revoke(self, team: Team | None = None, *, error: str = "token_revoked") -> None:
        app = (team or self.team).app
        assert app is not None
        app.dead = error
        self.tell(
            app.team, "tokens_revoked", {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [app.bot.id]}}
        )

    def change_group(self, group: UserGroup, *people: Any, disabled: bool = False, team: Team | None = None) -> None:
        home = team or self.team
        group.members, group.disabled = [person.id for person in people], disabled
        self.tell(home, "subteam_updated", {"type": "subteam_updated", "subteam": group.json(home.id, True)})

    def user_changed(self, person: Any) -> None:
        for team in self.teams.values():
            if team is person.team or any(person.id in channel.members for channel in team.channels.values()):
                self.tell(team, "user_change", {"type": "user_change", "user": person.json(team)})
