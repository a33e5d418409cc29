"""What people do. Every act gives back the message, or the interaction, as the platform keeps it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.slack.acting import Acting
from tests.fakes.slack.errors import ClientRefused
from tests.fakes.slack.model import Channel, File, Json, Message, Team, View
from tests.fakes.slack.seen import seen
from tests.fakes.slack.text import rich, typed

MAX_TYPED = 12_000  # the client's composer: "messages can be up to 12,000 characters" (slack.com/help)


@dataclass(eq=False)
class Person(Acting):
    world: Any
    name: str
    team: Team
    id: str
    email: str | None = None
    guest: Literal["", "restricted", "ultra"] = ""  # multi-channel and single-channel guests
    tz: str = "Europe/Lisbon"
    is_bot: bool = False
    deleted: bool = False
    admin: bool = False
    bot_id: str = ""
    app_id: str = ""
    modals: list[View] = field(default_factory=list)  # the stack, the top one last

    def __repr__(self) -> str:
        return f"<{self.name} {self.id}>"

    @property
    def handle(self) -> str:
        return re.sub(r"[^a-z0-9._-]", "", self.name.lower().replace(" ", ".")) or self.id.lower()

    @property
    def dm(self) -> Channel:
        """The direct messages with our bot."""
        made: Channel = self.world.dm(self)
        return made

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"

    def json(self, team: Team) -> Json:
        first = self.name.partition(" ")[0]
        profile = {"real_name": self.name, "display_name": first, "team": self.team.id}
        profile |= {"email": self.email or f"{self.handle}@example.com"}
        made: Json = {"id": self.id, "team_id": self.team.id, "name": self.handle, "deleted": self.deleted}
        made |= {"is_bot": self.is_bot, "is_app_user": False, "updated": 1, "profile": profile}
        if self.deleted:
            return made
        made |= {"real_name": self.name, "tz": self.tz, "tz_offset": 0, "is_admin": self.admin, "is_owner": False}
        made |= {"is_restricted": bool(self.guest), "is_ultra_restricted": self.guest == "ultra"}
        if self.team.enterprise:  # docs.slack.dev/reference/objects/user-object
            org = {"id": self.id, "enterprise_id": self.team.enterprise, "teams": [self.team.id]}
            made["enterprise_user"] = org | {"enterprise_name": "Org", "is_admin": False, "is_owner": False}
        return made | ({"is_stranger": True} if self.team is not team else {})

    # -- words ---------------------------------------------------------------------------------------------------

    def say(
        self, text: str = "", to: Channel | None = None, *, thread: Message | str | None = None,
        broadcast: bool = False, files: Sequence[File] = (), raw: bool = False, through: Person | None = None,
        legacy: bool = False, more: Json | None = None,
    ) -> Message:  # fmt: skip
        """In the DM with the bot by default. `text` is as typed: escaped, linked, names made into mentions.

        `raw`: the text is what Slack sends already. `through`: posted by another app with this person's token (b13).
        `legacy`: an old bot, with subtype bot_message and no user. `more`: further fields of the message.
        """
        channel = self._channel(to, thread)
        if text.lstrip().startswith("/") and not raw and not self.is_bot:
            raise ClientRefused(
                f"the client takes {text.split()[0]} for a command and does not send it: use command()"
            )
        if len(text) > MAX_TYPED:
            raise ClientRefused("too long for the composer: the client offers a text snippet instead")
        words = text if raw else typed(text, self.world.tokens_of(channel.team))
        message = Message(channel, self.world.ts(), self.id, words, self.team.id, rich(words), more=dict(more or {}))
        message.thread_ts = self._thread(channel, thread)
        poster = self if self.is_bot else through
        if poster is not None:
            profile = {"id": poster.bot_id, "name": poster.name, "app_id": poster.app_id, "team_id": self.team.id}
            message.bot = {"bot_id": poster.bot_id, "app_id": poster.app_id, "bot_profile": profile}
        if legacy:
            message.user, message.subtype = None, "bot_message"
            message.bot["username"] = self.name
        elif poster is None and "client_msg_id" not in message.more:
            message.more["client_msg_id"] = f"client-{self.world.number()}"
        if files:
            message.files, message.subtype = list(files), "file_share"
        elif broadcast and message.thread_ts:
            message.subtype = "thread_broadcast"
        self.world.put(message)
        self.world.posted(message)
        for file in files:
            if self.world.hears(channel):
                event = {"type": "file_shared", "file_id": file.id, "user_id": self.id, "file": {"id": file.id}}
                self.world.tell(channel.team, "file_shared", event | {"channel_id": channel.id})
        return message

    def reply(self, message: Message, text: str, **how: Any) -> Message:
        """In the thread of a message."""
        return self.say(text, message.channel, thread=message, **how)

    def file(self, name: str, content: bytes = b"content", mimetype: str = "text/plain", **more: Any) -> File:
        """For `say(files=…)`. `more`: mode, subtype, file_access, duration_ms …"""
        made: File = self.world.file(name, content, self.id, mimetype)
        made.more = more
        return made

    def forward(self, message: Message, to: Channel, text: str = "", **how: Any) -> Message:
        """Share a message: the other's words come as an attachment (b58)."""
        author = self.world.users.get(message.user or "")
        shared = {
            "is_msg_unfurl": True,
            "is_share": True,
            "author_id": message.user,
            "channel_id": message.channel.id,
        }
        shared |= {
            "author_name": author.name if author else "",
            "ts": message.ts,
            "text": message.text,
            "from_url": message.link,
        }
        return self.say(text, to, more={"attachments": [shared | {"fallback": f"[fwd] {message.text}"}]}, **how)

    def edit(self, message: Message, text: str, *, raw: bool = False) -> Message:
        if message.user != self.id:
            raise ClientRefused("only one's own messages can be edited")
        before = message.json(root=False)
        message.text = text if raw else typed(text, self.world.tokens_of(message.channel.team))
        message.blocks = rich(message.text)
        message.edited = {"user": self.id, "ts": self.world.ts()}
        self.world.changed(message, before)
        return message

    def delete(self, message: Message) -> None:
        if message.user != self.id and not self.admin:
            raise ClientRefused("only one's own messages can be deleted, unless one is an admin")
        self.world.take_away(message)

    def react(self, message: Message, name: str) -> None:
        users = message.reactions.setdefault(name, [])
        if self.id not in users:
            users.append(self.id)
            self.world.reaction(message, name, self.id, True)

    def unreact(self, message: Message, name: str) -> None:
        message.reactions[name].remove(self.id)
        if not message.reactions[name]:
            del message.reactions[name]
        self.world.reaction(message, name, self.id, False)

    # -- coming and going ----------------------------------------------------------------------------------------

    def join(self, channel: Channel) -> None:
        channel.members.append(self.id)
        self.world.member(channel, self.id, True)

    def leave(self, channel: Channel) -> None:
        channel.members.remove(self.id)
        self.world.member(channel, self.id, False)

    def invite_bot(self, channel: Channel) -> None:
        bot = channel.team.app.bot.id  # type: ignore[union-attr]
        channel.members.append(bot)
        self.world.member(channel, bot, True, self.id)

    def remove_bot(self, channel: Channel) -> None:
        bot = channel.team.app.bot.id  # type: ignore[union-attr]
        channel.members.remove(bot)
        self.world.member(channel, bot, False)

    def arrive(self) -> None:
        """New in the workspace."""
        self.world.tell(self.team, "team_join", {"type": "team_join", "user": self.json(self.team)})

    def deactivate(self) -> None:
        """Has left the company."""
        self.deleted = True
        self.world.user_changed(self)

    def rename(self, name: str) -> None:
        self.name = name
        self.world.user_changed(self)

    def reload(self) -> None:
        """The client starts again: gone are ephemeral messages, open modals and what was chosen in messages."""
        self.modals.clear()
        for team in self.world.teams.values():
            for channel in team.channels.values():
                for message in channel.messages.values():
                    message.chosen.pop(self.id, None)
                    message.gone = message.gone or message.only_to == self.id

    def sees(self, channel: Channel | None = None, thread: Message | str | None = None) -> list[str]:
        """A place as this person sees it, ephemeral messages too, as plain lines."""
        return seen(self.world, self._channel(channel, thread), thread, self)

    # -- where ---------------------------------------------------------------------------------------------------

    def _channel(self, to: Channel | None, thread: Message | str | None = None) -> Channel:
        channel = to or (thread.channel if isinstance(thread, Message) else self.dm)
        if self.deleted:
            raise ClientRefused(f"{self.name} is deactivated")
        if channel.archived or channel.deleted:
            raise ClientRefused(f"nobody can write in {channel}: it is archived or deleted")
        if self.id not in channel.members:
            raise ClientRefused(f"{self.name} is not in {channel}")
        if channel.kind == "im" and (self.world.app.messages_read_only or not self.world.app.messages_tab):
            raise ClientRefused("Sending messages to this app has been turned off.")
        return channel

    @staticmethod
    def _thread(channel: Channel, thread: Message | str | None) -> str | None:
        if thread is None:
            return None
        ts = thread.root if isinstance(thread, Message) else thread
        root = channel.messages.get(ts)
        if root is None or root.only_to or (root.gone and not root.replies):
            raise ClientRefused(f"there is no thread {ts} in {channel}")
        return ts
