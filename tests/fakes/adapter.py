"""The adapter of the fake platform: codec, transport and the two kinds of ingress, kept as small as they can be."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from adapters.contract import UNSTAMPED, clean
from adapters.limits import plain, split
from bot.core.effects import Button, Message, Redraw, Reply, Say
from bot.core.events import (
    ButtonPressed,
    Envelope,
    Event,
    Ignored,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
)
from bot.core.model import Material, MessageRef, Person, Place
from bot.ports import CardGone, Clock, RateLimited, Sent, TryLater, Undeliverable
from bot.runner import Runner
from tests.fakes.platform import BOT, Buttons, ConnectionLost, FakePlatform, PlatformError, Update

PLATFORM = "fake"

# -- codec -------------------------------------------------------------------------------------------------------


def event_from_update(update: Update) -> Envelope | Ignored:
    try:
        return _envelope(update)
    except (KeyError, TypeError, ValueError) as error:
        return Ignored(reason=f"unreadable update: {type(error).__name__}")


def _envelope(update: Update) -> Envelope | Ignored:
    room, kind = update["room"], update["kind"]
    if update.get("from", {}).get("name") == BOT:
        return Ignored(reason="our own message")
    if kind == "edited" and update["text"] == update["old_text"]:
        return Ignored(reason="the text is the same")
    made = _event(kind, update)
    if made is None:
        return Ignored(reason=f"nothing that people say: {kind}")
    act, event = made
    thread = update.get("thread")
    conversation = f"{PLATFORM}:{room}" if thread is None else f"{PLATFORM}:{room}/{thread}"
    place = Place(conversation=conversation, platform=PLATFORM, shared=update["group"])
    return Envelope(event_id=f"{PLATFORM}:{room}:{act}", place=place, at=UNSTAMPED, event=event)


def _event(kind: str, update: Update) -> tuple[str, Event] | None:
    if kind == "message":
        text = clean(update["text"])
        mention = f"@{BOT}"
        bare = text.removeprefix(mention).lstrip() if text.startswith(mention) else text
        return f"{update['id']}", MessageReceived(
            person=_person(update),
            text=bare,
            ref=MessageRef(id=str(update["id"]), quote=text),
            materials=tuple(
                Material(kind="file", name=name, caption=text or None) for name in update.get("files", [])
            ),
            reply_to=str(update["reply_to"]) if "reply_to" in update else None,
            addressed=mention in text,
            decoded=True,
            forwarded=update.get("forwarded_from"),
            album=update.get("album"),
            order=update["id"],
        )
    if kind == "edited":
        message, text = str(update["id"]), clean(update["text"])
        ref = MessageRef(id=message, quote=text)
        edited = MessageEdited(
            person=_person(update), message=message, text=text, ref=ref, decoded=True, order=update["id"]
        )
        return f"{message}:edit:{update['version']}", edited
    if kind == "deleted":
        return f"{update['id']}:deleted", MessageDeleted(message=str(update["id"]))
    if kind == "pressed":
        ref = MessageRef(id=update["press"], quote=update["label"], card=str(update["message"]))
        event = ButtonPressed(person=_person(update), token=update["token"], label=update["label"], ref=ref)
        return f"press:{update['press']}", event
    return None


def _person(update: Update) -> Person:
    sender = update["from"]
    return Person(id=f"{PLATFORM}:{sender['name']}", name=sender["name"], kind=sender["kind"])


def _buttons(message: Message) -> Buttons:
    return tuple(tuple((button.token, button.label) for button in row) for row in message.buttons)


# -- transport ---------------------------------------------------------------------------------------------------


class FakeTransport:
    platform = PLATFORM

    def __init__(self, server: FakePlatform) -> None:
        self._server = server

    async def post(self, conversation: str, say: Say) -> Sent:
        room, thread = _place(conversation)
        only_to = None if say.only_to is None else say.only_to.removeprefix(f"{PLATFORM}:")
        message = 0
        for part in split(say.message, self._server.text_limit):
            with _named():
                message = await self._server.send(
                    room,
                    plain(part),
                    thread=thread,
                    buttons=_buttons(part),
                    files=tuple((file.name, file.content) for file in part.files),
                    only_to=only_to,
                )
        return Sent(str(message), message)

    async def redraw(self, conversation: str, message: str, redraw: Redraw) -> Sent:
        parts = split(redraw.message, self._server.text_limit)
        if len(parts) > 1:  # one message can not become two; as a new one it can
            raise CardGone("it has grown beyond one message")
        room, _ = _place(conversation)
        with _named():
            await self._server.change(room, int(message), plain(parts[0]), _buttons(parts[0]))
        return Sent(message, int(message))

    async def reply(self, envelope: Envelope, reply: Reply) -> None:
        event = envelope.event
        if not isinstance(event, ButtonPressed):
            return
        try:
            await self._server.answer(event.ref.id, event.person.name, reply.text)
        except (ConnectionLost, PlatformError):
            return  # the press is stored; there is nobody to tell about a notice that did not arrive


class _named:  # noqa: N801 - reads as a word: `with _named():`
    """The platform's failures by their names in the contract. "Not modified" is a success."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, ConnectionLost):
            raise TryLater("no answer") from error
        if isinstance(error, PlatformError):
            if error.why == "message is not modified":
                return True
            if error.retry_after is not None:
                raise RateLimited(timedelta(seconds=error.retry_after)) from error
            if error.code >= 500:
                raise TryLater(error.why) from error
            if error.why == "message to edit not found":
                raise CardGone(error.why) from error
            raise Undeliverable(error.why) from error
        return False


def _place(conversation: str) -> tuple[str, int | None]:
    room, _, thread = conversation.removeprefix(f"{PLATFORM}:").partition("/")
    return room, int(thread) if thread else None


def button(server: FakePlatform, room: str, message: int, label: str) -> Button:
    """What a client sends for a label on a message, as it is drawn now."""
    rows = server.rooms[room].posts[message].buttons
    return next(Button(token=token, label=name) for row in rows for token, name in row if name == label)


# -- ingress -----------------------------------------------------------------------------------------------------


class Polling:
    """Offset style (Telegram's getUpdates). The offset moves after the commit, one update at a time."""

    def __init__(self, server: FakePlatform, runner: Runner, transport: FakeTransport, clock: Clock) -> None:
        self._server, self._runner, self._transport, self._clock = server, runner, transport, clock
        self.offset = 1
        self.ignored: list[str] = []

    async def look(self) -> None:
        """Everything there is. A failure ends the look; the next one begins at the update that failed."""
        for update in await self._server.updates_from(self.offset):
            made = event_from_update(update)
            if isinstance(made, Ignored):
                self.ignored.append(made.reason)
            else:
                await self._runner.receive(made, self._transport)
            self.offset = update["update"] + 1

    async def run(self) -> None:
        while True:
            try:
                await self.look()
            except Exception:  # noqa: BLE001 - the loop survives and comes back to the same update
                await self._clock.sleep(1)
            await self._clock.sleep(0.1)


class Hook:
    """Webhook style (Telegram's webhooks, Slack's events): the status is the acknowledgement."""

    def __init__(self, runner: Runner, transport: FakeTransport) -> None:
        self._runner, self._transport = runner, transport

    async def deliver(self, update: Update) -> int:
        made = event_from_update(update)
        if isinstance(made, Ignored):
            return 200
        try:
            await self._runner.receive(made, self._transport)
        except asyncio.CancelledError:
            raise
        except Exception:  # noqa: BLE001 - not acknowledged: the platform delivers again
            return 500
        return 200
