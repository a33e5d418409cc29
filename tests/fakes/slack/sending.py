"""chat.*: messages that the app posts, changes and deletes, and what it says through a response_url."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from tests.fakes.slack.access import Access
from tests.fakes.slack.blocks import MAX_ALL_TEXT, Check, numbered
from tests.fakes.slack.errors import Refusal, invalid
from tests.fakes.slack.model import Channel, Installation, Json, Message, kept
from tests.fakes.slack.text import BROADCASTS, Ping, pings, sloppy

TRUNCATED_AT = 40_000  # chat.postMessage: "we truncate messages containing more than 40,000 characters"
MAX_UPDATE = 4_000  # chat.update: msg_too_long, "at most 4,000 characters"
MAX_MARKDOWN_TEXT = 12_000  # "markdown_text: limit this field to 12,000 characters"
RESPONSE_USES, RESPONSE_LIFE = 5, timedelta(minutes=30)  # "up to 5 times within 30 minutes of receiving the payload"
_RESPONSE = """
text blocks response_type replace_original delete_original unfurl_links unfurl_media thread_ts metadata
"""
_RESPONSE_FIELDS = frozenset(_RESPONSE.split())
_LINK = re.compile(r"https?://[^\s<>|]+")
_TS = re.compile(r"\d{10}\.\d{6}")


class Sending(Access):
    def chat_post_message(self, app: Installation, p: Json) -> Json:
        channel = self.destination(app, p["channel"])
        content = self._content(app, p)
        if len(content["text"]) > TRUNCATED_AT:
            content["text"], cut = content["text"][:TRUNCATED_AT], True
        else:
            cut = False
        message = self._post(app, channel, content, p)
        if cut:
            self.truncated.append(message)
        return {"channel": channel.id, "ts": message.ts, "message": message.json(root=False)}

    def chat_post_ephemeral(self, app: Installation, p: Json) -> Json:
        channel = self.destination(app, p["channel"])
        if p["user"] not in channel.members:
            raise Refusal("user_not_in_channel")
        content = self._content(app, p)
        return {"message_ts": self.whisper(app, channel, p["user"], content, p.get("thread_ts")).ts}

    def chat_update(self, app: Installation, p: Json) -> Json:
        """With `text` alone the blocks go; with blocks there is no "(edited)"."""
        channel = self.place(app, p["channel"])
        if channel.archived:
            raise Refusal("is_inactive")
        message = self.message(channel, p["ts"])
        if message is None or message.only_to:
            raise Refusal("message_not_found")  # an ephemeral message is never found
        if message.bot.get("bot_id") != app.bot_id:
            raise Refusal("cant_update_message")
        if "file_ids" in p:
            self.complain("chat.update: file_ids is not modelled")
        content = self._content(app, p)
        if len(content["text"]) > MAX_UPDATE:
            raise Refusal("msg_too_long")
        self.rewrite(message, content, p)
        return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": message.json(root=False)}

    def chat_delete(self, app: Installation, p: Json) -> Json:
        channel = self.place(app, p["channel"])
        message = self.message(channel, p["ts"])
        if message is None or message.only_to:
            raise Refusal("message_not_found")
        if message.bot.get("bot_id") != app.bot_id:
            raise Refusal("cant_delete_message")
        self.take_away(message)
        return {"channel": channel.id, "ts": p["ts"]}

    def chat_get_permalink(self, app: Installation, p: Json) -> Json:
        channel = self.place(app, p["channel"])
        message = self.message(channel, p["message_ts"])
        if message is None:
            raise Refusal("message_not_found")
        return {"channel": channel.id, "permalink": message.link}

    # -- content -------------------------------------------------------------------------------------------------

    def _content(self, app: Installation, p: Json) -> Json:
        text, blocks, markdown = p.get("text", ""), p.get("blocks"), p.get("markdown_text")
        if markdown is not None and ("text" in p or blocks):
            raise Refusal("markdown_text_conflict")
        if len(markdown or "") > MAX_MARKDOWN_TEXT:
            raise Refusal("msg_too_long")
        if p.get("attachments"):
            self.complain("attachments are not modelled: use blocks")
        if p.get("as_user"):
            raise Refusal("as_user_not_supported")
        if {"username", "icon_emoji", "icon_url"} & p.keys():
            self.need(app, "chat:write.customize")
        if not text.strip() and not blocks and not markdown:
            raise Refusal("no_text")
        check = self.check_blocks(blocks) if blocks is not None else Check("message")
        mrkdwn = p.get("mrkdwn", True) is not False
        called = (pings(text) if mrkdwn else []) + check.pings
        if p.get("link_names") or p.get("parse") == "full":
            called += [(word, "") for word in re.findall(r"(?<!\w)@(\w+)", text) if word in BROADCASTS]
        wrong = (sloppy(text) if mrkdwn else []) + check.sloppy
        face = {"username": p["username"]} if "username" in p else {}
        return {
            "text": text or markdown or "",
            "blocks": numbered(blocks or [], lambda: f"{self.number():05x}"),
            "called": list(dict.fromkeys(called)),
            "sloppy": wrong,
            "said": check.said,
            "silent": bool(blocks) and not text.strip(),
            "face": face,
        }

    def check_blocks(self, blocks: Any) -> Check:
        check = Check("message")
        check.blocks(blocks)
        self.complaints += check.unknown
        if check.errors:
            raise invalid("invalid_blocks", check.errors)
        if check.chars > MAX_ALL_TEXT:
            raise Refusal("msg_blocks_too_long")
        return check

    def _metadata(self, p: Json) -> Json | None:
        given = p.get("metadata")
        if given is None:
            return None
        fine = isinstance(given, dict) and set(given) == {"event_type", "event_payload"}
        if not fine or not isinstance(given["event_payload"], dict) or not isinstance(given["event_type"], str):
            raise Refusal("invalid_metadata_format")
        return dict(given)

    # -- deeds ---------------------------------------------------------------------------------------------------

    def _post(self, app: Installation, channel: Channel, content: Json, p: Json) -> Message:
        thread, stray = self.thread_of(channel, p.get("thread_ts"))
        bot = {"bot_id": app.bot_id, "app_id": self.app.id, "bot_profile": self.profile(app)} | content["face"]
        message = Message(channel, self.ts(), app.bot.id, content["text"], app.team.id, content["blocks"], bot=bot)
        message.thread_ts, message.metadata = thread, self._metadata(p)
        if p.get("reply_broadcast") and thread:
            message.subtype = "thread_broadcast"
        self.put(message)
        if stray:
            self.strays.append(message)
        self._note(message, content, rings=True)
        self.posted(message)
        links = _LINK.findall(" ".join([content["text"], *content["said"]]))
        if links and not (p.get("unfurl_links") is False and p.get("unfurl_media") is False):
            self.unfurled.append(message)  # "with blocks both must be false to suppress"
            self.unfurl(message, links[0])
        return message

    def whisper(self, app: Installation, channel: Channel, user: str, content: Json, thread: str | None) -> Message:
        """Ephemeral: seen by one person until the client reloads; no event, not to be fetched or updated."""
        bot = {"bot_id": app.bot_id, "app_id": self.app.id}
        message = Message(channel, self.ts(), app.bot.id, content["text"], app.team.id, content["blocks"], bot=bot)
        message.thread_ts, message.only_to = self.thread_of(channel, thread)[0], user
        channel.messages[message.ts] = message
        if message.thread_ts and not any(not r.gone for r in channel.messages[message.thread_ts].replies):
            message.gone = True  # "only shown if there is already an active thread"
            self.unseen.append(message)
        self._note(message, content, rings=False)
        return message

    def rewrite(self, message: Message, content: Json, p: Json) -> None:
        before = message.json(root=False)
        message.text, message.blocks = content["text"], content["blocks"]
        message.edited = None if message.blocks else {"user": message.user, "ts": self.ts()}
        message.metadata = self._metadata(p) if "metadata" in p else message.metadata
        if p.get("reply_broadcast") and message.thread_ts:
            message.subtype = "thread_broadcast"
        message.chosen = {user: kept(message.blocks, state) for user, state in message.chosen.items()}
        self._note(message, content, rings=False)
        if not message.only_to:
            self.changed(message, before)

    def take_away(self, message: Message) -> None:
        before = message.json(root=False)
        if message.only_to is None and any(not reply.gone for reply in message.replies):
            message.subtype, message.text, message.user = "tombstone", "This message was deleted.", "USLACKBOT"
            message.blocks, message.files, message.bot, message.reactions = [], [], {}, {}
            message.more = {"hidden": True}
        else:
            message.gone = True
        if message.only_to is None:
            self.removed(message, before)

    def put(self, message: Message) -> Message:
        message.channel.messages[message.ts] = message
        if message.thread_ts is not None:
            message.channel.messages[message.thread_ts].replies.append(message)
        return message

    def thread_of(self, channel: Channel, given: str | None) -> tuple[str | None, bool]:
        """The thread, and whether there is none of that name: then the message lands in the channel (b25)."""
        if given is None:
            return None, False
        if not _TS.fullmatch(given):
            raise Refusal("invalid_thread_ts")
        root = self.message(channel, given)
        if root is None or root.subtype == "tombstone" or root.only_to:
            return None, True
        if root.thread_ts is not None and root.thread_ts != given:
            self.complain(f"thread_ts {given} is a reply: give the ts of its parent, {root.thread_ts}")
            return root.thread_ts, False
        return given, False

    def profile(self, app: Installation) -> Json:
        name = {"name": self.app.name, "app_id": self.app.id, "team_id": app.team.id}
        return {"id": app.bot_id, "deleted": False, "updated": 1, "icons": {}} | name

    def _note(self, message: Message, content: Json, *, rings: bool) -> None:
        called = [Ping(kind, target, message) for kind, target in content["called"]]
        self.mentions += called
        if rings:
            self.pings += called
        if content["sloppy"]:
            self.sloppy.append((message, content["sloppy"]))
        if content["silent"]:
            self.silent.append(message)

    # -- response_url --------------------------------------------------------------------------------------------

    def respond(self, link: Any, p: Json) -> None:
        """docs.slack.dev/interactivity/handling-user-interaction: replace, delete, or say something new."""
        link.uses += 1
        if self.clock.now() - link.at > RESPONSE_LIFE:
            raise Refusal("expired_url", status=404)
        if link.uses > RESPONSE_USES:
            raise Refusal("used_url", status=404)
        for name in p.keys() - _RESPONSE_FIELDS:
            self.complain(f"response_url: no field {name!r}")
        original: Message | None = link.message
        app = link.channel.team.app
        if p.get("delete_original"):
            if original is None or original.bot.get("bot_id") != app.bot_id:
                raise Refusal("no_original", status=404)
            self.take_away(original)
            return
        content = self._content(app, {k: v for k, v in p.items() if k in {"text", "blocks"}})
        if p.get("replace_original"):
            if original is None or original.gone or original.bot.get("bot_id") != app.bot_id:
                raise Refusal("no_original", status=404)
            self.rewrite(original, content, {})
        elif p.get("response_type", "ephemeral") == "in_channel":
            self._post(app, link.channel, content, {"thread_ts": p["thread_ts"]} if "thread_ts" in p else {})
        else:
            self.whisper(app, link.channel, link.person.id, content, p.get("thread_ts"))
