"""Methods that send no message: the bot itself, updates, presses, chats, commands, files."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.telegram.errors import Refusal, bad, flood
from tests.fakes.telegram.model import Json
from tests.fakes.telegram.sending import Sending
from tests.fakes.telegram.updates import HOOK_SET
from tests.fakes.telegram.webhook import Webhook
from tests.fakes.telegram.world import member

PORTS = frozenset({80, 88, 443, 8443})
ACTIONS = frozenset(
    [
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    ]
)
MAX_COMMANDS, MAX_DESCRIPTION, MAX_NOTICE = 100, 256, 200
MAX_DOWNLOAD = 20 << 20  # getFile: "bots can download files of up to 20MB"
OLD_QUERY = "query is too old and response timeout expired or query ID is invalid"


class Methods(Sending):
    local: bool
    webhook: Webhook
    query_window: timedelta
    commands: dict[tuple[str, str], list[Json]]
    typing: list[tuple[int, str]]

    # -- the bot and its updates ---------------------------------------------------------------------------------

    def get_me(self, p: Json) -> Json:
        known = {"can_join_groups": True, "can_read_all_group_messages": not self.privacy}
        return self.me | known | {"supports_inline_queries": False, "has_topics_enabled": self.private_topics}

    async def get_updates(self, p: Json) -> list[Any]:
        self.updates.allow(p.get("allowed_updates"))
        return await self.updates.poll(p.get("offset", 0), p.get("limit", 100), p.get("timeout", 0))

    def set_webhook(self, p: Json) -> bool:
        url, secret = p["url"], p.get("secret_token", "")
        if len(secret) > 256:
            raise bad("secret token is too long")
        if not re.fullmatch(r"[A-Za-z0-9_-]*", secret):
            raise bad("secret token contains unallowed characters")
        if url and not self.local:
            parts = urlsplit(url)
            if parts.scheme != "https" or not parts.hostname:
                raise bad("bad webhook: An HTTPS URL must be provided for webhook")
            if (parts.port or 443) not in PORTS:
                raise bad("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
        self._not_too_often(url)
        self.updates.allow(p.get("allowed_updates"))
        if p.get("drop_pending_updates"):
            self.updates.drop()
        if url:
            self.updates.interrupt(HOOK_SET)
        self.updates.hook_url, self.webhook.secret = url, secret
        self.webhook.max_connections = max(1, min(p.get("max_connections", 40), 100))
        return True

    def _not_too_often(self, url: str) -> None:
        """Client.cpp process_set_webhook_query: once a second."""
        now = self.clock.now()
        last = getattr(self, "_webhook_set", None)
        if url and last is not None and now - last < timedelta(seconds=1):
            raise flood(1)
        if url:
            self._webhook_set = now

    def delete_webhook(self, p: Json) -> bool:
        self.updates.hook_url, self.webhook.secret = "", ""
        if p.get("drop_pending_updates"):
            self.updates.drop()
        return True

    def get_webhook_info(self, p: Json) -> Json:
        pending = len(self.updates.fresh())
        made: Json = {"url": self.webhook.url, "has_custom_certificate": False, "pending_update_count": pending}
        if self.webhook.url:
            made["max_connections"] = self.webhook.max_connections
        if self.updates.allowed is not None:
            made["allowed_updates"] = sorted(self.updates.allowed)
        failed = [attempt for attempt in self.webhook.attempts if not attempt.confirmed]
        if failed:
            made["last_error_date"] = int(failed[-1].at.timestamp())
            status = failed[-1].status
            wrong = f"Wrong response from the webhook: {status}"
            made["last_error_message"] = wrong if status else "Connection failed"
        return made

    # -- presses -------------------------------------------------------------------------------------------------

    def answer_callback_query(self, p: Json) -> bool:
        """The window has no documented length; reports say 10 to 20 seconds, after a while also for the first."""
        query = self.queries.get(p["callback_query_id"])
        if query is None or query.at + self.query_window < self.clock.now():
            raise bad(OLD_QUERY)
        text = p.get("text", "")
        if len(text) > MAX_NOTICE:
            raise bad("MESSAGE_TOO_LONG")
        query.answer, query.alert = text, p.get("show_alert", False)
        self.history.notices.append((query.id, text, query.alert))
        return True

    # -- chats ---------------------------------------------------------------------------------------------------

    def get_chat(self, p: Json) -> Json:
        chat = self.chat_of(p["chat_id"])
        gifts = dict.fromkeys(
            ["unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"], False
        )
        return chat.json() | {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": gifts}

    def get_chat_member(self, p: Json) -> Json:
        chat = self.chat_of(p["chat_id"])
        user = p["user_id"]
        if user == self.me["id"]:
            return member(self.me, chat.bot)
        person = self.people.get(user)
        if person is None:
            raise bad("user not found")
        return member(person.json(), chat.members.get(user, "member" if chat.id == user else "left"))

    def leave_chat(self, p: Json) -> bool:
        chat = self.chat_of(p["chat_id"])
        if chat.kind == "private":
            raise bad("chat member status can't be changed in private chats")
        self._bot_becomes(chat, "left", self.me)
        return True

    def send_chat_action(self, p: Json) -> bool:
        chat = self.chat_of(p["chat_id"], write=True)
        self.topic_of(chat, p.get("message_thread_id"))
        if p["action"] not in ACTIONS:
            raise bad("wrong parameter action in request")
        self.typing.append((chat.id, p["action"]))
        return True

    def create_forum_topic(self, p: Json) -> Json:
        chat = self.chat_of(p["chat_id"], write=True)
        if not chat.forum:
            raise bad("the chat is not a forum")
        if not chat.admin:
            raise bad("not enough rights to create a topic")
        if not 1 <= len(p["name"]) <= 128:
            raise bad("TOPIC_TITLE_INVALID" if p["name"] else "TOPIC_TITLE_EMPTY")
        topic = self.topic(chat, p["name"], tell=True)
        return {"message_thread_id": topic.id, "name": topic.name, "icon_color": 7322096}

    # -- commands ------------------------------------------------------------------------------------------------

    def set_my_commands(self, p: Json) -> bool:
        commands = p["commands"]
        if len(commands) > MAX_COMMANDS:
            raise bad("BOT_COMMANDS_TOO_MUCH")
        for command in commands:
            if not re.fullmatch(r"/?[a-z0-9_]{1,32}", command["command"]):
                raise bad("BOT_COMMAND_INVALID")
            if not 1 <= len(command["description"].strip()) <= MAX_DESCRIPTION:
                raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        self.commands[self._scope(p)] = commands
        return True

    def get_my_commands(self, p: Json) -> list[Json]:
        return self.commands.get(self._scope(p), [])

    def delete_my_commands(self, p: Json) -> bool:
        self.commands.pop(self._scope(p), None)
        return True

    def _scope(self, p: Json) -> tuple[str, str]:
        scope, language = p.get("scope", {"type": "default"}), p.get("language_code", "")
        if language and not re.fullmatch(r"[a-z]{2}", language):
            raise bad("BOT_COMMAND_LANGUAGE_CODE_INVALID")
        kind = scope["type"]
        if kind in {"chat", "chat_administrators", "chat_member"}:
            kind = f"{kind}:{self.chat_of(scope['chat_id']).id}"
        if "user_id" in scope:
            kind = f"{kind}:{scope['user_id']}"
        return kind, language

    # -- files ---------------------------------------------------------------------------------------------------

    def get_file(self, p: Json) -> Json:
        content = self.history.files.get(p["file_id"])
        if content is None:
            raise bad("wrong file_id or the file is temporarily unavailable")
        if len(content) > MAX_DOWNLOAD:
            raise bad("file is too big")
        made = {"file_id": p["file_id"], "file_unique_id": f"u{p['file_id']}", "file_size": len(content)}
        return made | {"file_path": f"documents/{p['file_id']}"}


def snake(method: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", method).lower()


def unheard(method: str) -> Refusal:
    return Refusal(501, f"this test server has no {method}: write it in tests/fakes/telegram/methods.py")
