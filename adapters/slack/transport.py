"""Sends through the Web API. Everything that it may refuse has one of the contract's four names."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from adapters.interrupted import Interrupted
from adapters.slack.directory import Directory
from adapters.slack.errors import Cure, code_of, cure_of, named
from adapters.slack.modal import View
from adapters.slack.places import PLATFORM, Address, address_of, link_to, message_at, name_of, order_of, user_of
from adapters.slack.reach import LEFT
from adapters.slack.render import Part, Rendered, brief, render
from adapters.slack.roots import Roots
from adapters.slack.workspaces import Workspace, Workspaces
from bot.core.effects import File, Message, Redraw, Reply, Say
from bot.core.events import ButtonPressed, Envelope, FormSubmitted, MessageReceived
from bot.ports import CardGone, Clock, RateLimited, Sent, TryLater, Undeliverable

PAUSE = 1.05  # seconds between the parts of one message: see adapters/slack/pace.py
IN_TIME = timedelta(seconds=1)  # a pause that Slack asks for, after which a trigger still lives
EXPIRED = "Slack gave me too little time to open that; please press it once more. Typing works as well."

log = structlog.get_logger(__name__)


class SlackTransport:
    """Sends one message at a time a place; the outbox sees to order and pace."""

    platform = PLATFORM

    def __init__(
        self,
        workspaces: Workspaces,
        directory: Directory,
        roots: Roots,
        clock: Clock,
        fresh: Callable[[], str] = lambda: secrets.token_hex(4),
    ) -> None:
        self._workspaces = workspaces
        self._directory = directory
        self._roots = roots
        self._clock = clock
        self._fresh = fresh
        self._interrupted: Interrupted[str] = Interrupted()

    # -- the three calls of the port -----------------------------------------------------------------------------

    async def post(self, conversation: str, say: Say) -> Sent:
        address, workspace = await self._there(conversation)
        link = None if say.see is None else await self._link(workspace, conversation, say.see)
        rendered = render(say.message, conversation, self._fresh(), link)
        where = await self._where(conversation, address, say.reply_to)
        direct = await self._directory.direct(workspace, address.channel) if address.root is None else False
        if say.only_to is not None and not direct:
            if self._loose(address, say.reply_to, where.thread) or await self._roots.dead(conversation):
                where = replace(where, thread=None)
            return await self._privately(workspace, where, user_of(say.only_to), rendered)
        if direct:
            await self._still_there(workspace, address)
        elif await self._roots.dead(conversation):
            return await self._instead(workspace, address, say, rendered)
        begun = self._interrupted.sent_of(conversation, say, len(rendered.parts) + bool(rendered.files))
        try:
            await self._whole(workspace, conversation, where, rendered, begun)
        except _Strayed:
            self._interrupted.forget(begun)
            await self._roots.bury(conversation)
            return await self._instead(workspace, address, say, rendered)
        except Undeliverable:
            self._interrupted.forget(begun)
            raise
        self._interrupted.forget(begun)
        ts = begun[max(0, len(rendered.parts) - 1)] if begun else ""
        return Sent(name_of(ts, where.thread if direct else None), order_of(ts)) if ts else Sent("")

    async def redraw(self, conversation: str, message: str, redraw: Redraw) -> Sent:
        address, workspace = await self._there(conversation)
        _, ts = message_at(message)
        if ts is None:
            raise CardGone("it was shown to one person only")
        rendered = render(redraw.message, conversation, self._fresh())
        if len(rendered.parts) != 1:  # one message can not become two; as new ones it can
            await self._disarm(workspace, address, ts, redraw.message)
            raise CardGone("it has grown beyond one message")
        part = replace(rendered.parts[0], text=brief(redraw.message))
        await self._update(workspace, address.channel, ts, part)
        return Sent(message, order_of(ts))

    async def reply(self, envelope: Envelope, reply: Reply) -> None:
        """Answer an act: words for the eyes of one person. Forms are opened by the intake, which has the trigger."""
        event = envelope.event
        if reply.text and isinstance(event, ButtonPressed | FormSubmitted | MessageReceived):
            await self.notice(envelope.place.conversation, user_of(event.person.id), reply.text)

    # -- what only Slack has ---------------------------------------------------------------------------------------

    async def notice(self, conversation: str, user: str, words: str) -> None:
        """Never raises: the act is stored; a failing notice must not undo that."""
        try:
            address, workspace = await self._there(conversation)
            thread = None if await self._roots.dead(conversation) else await self._roots.root_of(conversation)
            await workspace.client.chat_postEphemeral(
                channel=address.channel, user=user, text=_escaped(words), thread_ts=thread
            )
        except Exception as error:  # noqa: BLE001 - there is nothing to do about it
            log.info("notice_not_shown", error=code_of(error) or type(error).__name__)

    async def open_form(self, workspace: Workspace, trigger: str, view: View) -> str | None:
        """Open a modal; the code of the refusal, if any. A trigger lives three seconds and works once (P60)."""
        for last in (False, True):
            try:
                await workspace.client.views_open(trigger_id=trigger, view=view)
            except Exception as error:  # noqa: BLE001 - the caller says so to the person
                log.info("form_not_opened", error=code_of(error) or type(error).__name__)
                failure = named(error)
                if last or not isinstance(failure, RateLimited) or failure.retry_after > IN_TIME:
                    return code_of(error) or "not_reached"
                await self._clock.sleep(failure.retry_after.total_seconds())
            else:
                break
        return None

    async def respond(self, url: str, words: str) -> None:
        """To whoever pressed, where nothing else is known of the place. Never raises."""
        try:
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
                await session.post(
                    url, json={"response_type": "ephemeral", "replace_original": False, "text": _escaped(words)}
                )
        except Exception as error:  # noqa: BLE001
            log.info("notice_not_shown", error=type(error).__name__)

    # -- sending -------------------------------------------------------------------------------------------------

    async def _there(self, conversation: str) -> tuple[Address, Workspace]:
        address = address_of(conversation)
        workspace = await self._workspaces.of(address.team)
        if workspace is None:
            raise Undeliverable("the app is not installed in this workspace any more", place=True)
        return address, workspace

    async def _link(self, workspace: Workspace, conversation: str, message: str) -> str | None:
        _, ts = message_at(message)
        root = await self._roots.root_of(conversation)
        return ts and link_to(workspace.me.url, address_of(conversation).channel, ts, root)

    async def _where(self, conversation: str, address: Address, reply_to: str | None) -> _Where:
        if address.root is not None:
            return _Where(address.channel, await self._roots.root_of(conversation))
        thread, ts = message_at(reply_to) if reply_to else (None, None)
        if thread is None and ts is not None:
            thread = self._roots.thread_of(address.channel, ts)
        return _Where(address.channel, thread)

    def _loose(self, address: Address, reply_to: str | None, thread: str | None) -> bool:
        """Whether private words belong beside the thread, not into it: Slack shows none in a thread that nobody has
        answered in, as where a shortcut or an emoji has pointed at a message; and what was said in the channel is
        answered there."""
        if reply_to is None or reply_to == thread or message_at(reply_to)[1] is None:
            return True
        return self._roots.thread_of(address.channel, reply_to) == reply_to

    async def _still_there(self, workspace: Workspace, address: Address) -> None:
        """A message to somebody who has left is taken by Slack and read by nobody (b40)."""
        try:
            owner = await self._directory.owner(workspace, address.channel)
            gone = owner is not None and (await self._directory.person(workspace, owner)).gone
        except Exception as error:  # noqa: BLE001
            failure = named(error)
            if isinstance(failure, RateLimited | TryLater):
                raise failure from None
            return
        if gone:
            raise Undeliverable(LEFT, place=True)

    async def _privately(self, workspace: Workspace, where: _Where, user: str, rendered: Rendered) -> Sent:
        """For one person's eyes in the same place; never to all instead (RD-12). It can not be changed later.

        Where nothing can be shown any more, in their own direct message: that a place is lost has to be told (CH-7).
        """
        for number, part in enumerate(rendered.parts):
            try:
                await self._call(
                    workspace.client.chat_postEphemeral,
                    {"channel": where.channel, "user": user, "thread_ts": where.thread},
                    part,
                )
            except Undeliverable as error:
                log.info("not_shown_privately", reason=str(error))
                if error.place:
                    await self._at_home(workspace, where.channel, user, rendered.parts[number:])
                return Sent("")
        return Sent("")

    async def _at_home(self, workspace: Workspace, channel: str, user: str, parts: Sequence[Part]) -> None:
        """In the person's own direct message, with its channel. Buttons would not know their place."""
        try:
            home = await self._directory.home(workspace, user)
            for part in parts if home is not None else ():
                about = {"type": "context", "elements": [{"type": "mrkdwn", "text": f"<#{channel}>"}]}
                blocks = (about, *(block for block in part.blocks if block["type"] != "actions"))
                await self._call(
                    workspace.client.chat_postMessage,
                    {"channel": home, "unfurl_links": False, "unfurl_media": False},
                    Part(f"<#{channel}>: {part.text}", blocks),
                )
        except Exception as error:  # noqa: BLE001 - there is no third way
            log.info("not_shown_privately", reason=code_of(error) or type(error).__name__)

    async def _instead(self, workspace: Workspace, address: Address, say: Say, rendered: Rendered) -> Sent:
        """The thread has lost its first message: an answer to somebody is shown to them alone, the rest to nobody."""
        _, ts = message_at(say.reply_to) if say.reply_to else (None, None)
        who = None if ts is None else await self._roots.who_said(address.team, address.channel, ts)
        if who is None or say.card is not None:
            raise Undeliverable("the message that the thread began with was deleted", place=True)
        return await self._privately(workspace, _Where(address.channel), user_of(who), rendered)

    async def _whole(
        self, workspace: Workspace, conversation: str, where: _Where, rendered: Rendered, sent: list[str]
    ) -> None:
        """Every part, then the files. `sent` are what an earlier, interrupted try has sent."""
        if not rendered.parts and not rendered.files:
            raise Undeliverable("the message is empty")
        direct = address_of(conversation).root is None
        for part in rendered.parts[len(sent) :]:
            if sent:
                await self._clock.sleep(PAUSE)
            in_thread = where.thread is not None and not direct
            answer = await self._call(
                workspace.client.chat_postMessage,
                {
                    "channel": where.channel,
                    "thread_ts": where.thread,
                    "unfurl_links": False,
                    "unfurl_media": False,
                },
                part,
                in_thread=in_thread,
            )
            ts = str(answer["ts"])
            if in_thread and _astray(answer):
                await self._call_back(workspace, where.channel, ts)
                raise _Strayed
            sent.append(ts)
            if where.thread is None and not direct:
                await self._roots.plant(conversation, ts)
                where = replace(where, thread=ts)
        if rendered.files and len(sent) == len(rendered.parts):
            await self._files(workspace, where, rendered.files)
            sent.append(sent[-1] if sent else "")

    async def _call_back(self, workspace: Workspace, channel: str, ts: str) -> None:
        """What was meant for a thread stands in the channel: it is taken back (b25)."""
        try:
            await workspace.client.chat_delete(channel=channel, ts=ts)
        except Exception as error:  # noqa: BLE001
            log.warning("misplaced_message_left", error=code_of(error) or type(error).__name__)

    async def _files(self, workspace: Workspace, where: _Where, files: tuple[File, ...]) -> None:
        uploads = [{"content": file.content, "filename": file.name, "title": file.name} for file in files]
        try:
            await workspace.client.files_upload_v2(
                file_uploads=uploads, channel=where.channel, thread_ts=where.thread
            )
        except Exception as error:  # noqa: BLE001
            failure = named(error)
            if isinstance(failure, RateLimited | TryLater):
                raise failure from None
            log.warning("files_not_sent", error=code_of(error) or type(error).__name__)
            words = f"The file could not be attached here: {failure}. `askfirst export` has the same."
            await self._call(
                workspace.client.chat_postMessage,
                {"channel": where.channel, "thread_ts": where.thread},
                Part(_escaped(words)),
            )

    async def _update(self, workspace: Workspace, channel: str, ts: str, part: Part) -> None:
        await self._call(workspace.client.chat_update, {"channel": channel, "ts": ts}, part, editing=True)

    async def _disarm(self, workspace: Workspace, address: Address, ts: str, message: Message) -> None:
        """Take the buttons off a card that is about to be posted anew."""
        bare = Message(blocks=message.blocks[:1])
        part = render(bare, "", self._fresh()).parts[0]
        try:
            await self._update(workspace, address.channel, ts, part)
        except Exception as error:  # noqa: BLE001
            log.info("buttons_left", error=type(error).__name__)

    async def _call(
        self,
        call: Callable[..., Any],
        where: Mapping[str, Any],
        part: Part,
        *,
        editing: bool = False,
        in_thread: bool = False,
    ) -> Any:
        """The call; after a refusal of its form, without what was refused (CH-4). `in_thread`: there or nowhere."""
        given: dict[str, Any] = {k: v for k, v in where.items() if v is not None}
        given |= {"text": part.text, "blocks": list(part.blocks)}  # never an update without blocks: it drops them
        tried: set[Cure] = set()
        while True:
            try:
                return await call(**given)
            except Exception as error:  # noqa: BLE001 - named below
                cure = cure_of(error)
                if not isinstance(error, SlackApiError) or cure is None or cure in tried:
                    raise named(error, editing=editing) from None
                if cure == "no_thread" and in_thread:
                    raise _Strayed from None
                log.warning("sent_in_another_form", cure=cure, error=code_of(error))
                tried.add(cure)
                if cure == "plain":
                    given["blocks"] = []
                else:
                    given.pop("thread_ts", None)


class _Strayed(Exception):
    """What was meant for a thread would stand, or stood, in the channel."""


def _astray(answer: Any) -> bool:
    """Whether a message that was posted into a thread came back without one."""
    message = answer.get("message")
    return isinstance(message, Mapping) and not message.get("thread_ts")


@dataclass(frozen=True, slots=True)
class _Where:
    channel: str
    thread: str | None = None


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
