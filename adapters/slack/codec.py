"""Events API payloads to events. Pure: the same act gives the same event, whichever way and however often it comes.

One message can be delivered several times: with several event ids (P56), as `message` and as `app_mention` (P57),
over the socket, by HTTP and from history. Its key is workspace, channel and `ts`, for an edit the edit's `ts` too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from adapters.contract import UNSTAMPED, clean
from adapters.slack.content import content_of
from adapters.slack.places import PLATFORM, Known, conversation_of, link_to, name_of, order_of, person_id
from adapters.slack.text import groups_mentioned, mentioned, undo, without_mention
from bot.core.events import Envelope, Event, Ignored, MessageDeleted, MessageEdited, MessageReceived
from bot.core.model import MessageRef, Person, Place

Payload = Mapping[str, Any]

KEPT = (
    None,
    "file_share",
    "thread_broadcast",
    "me_message",
)  # what people say; a reply sent to the channel too is one
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def team_of(body: Payload) -> str | None:
    """The workspace of an event: the installation's, which is not always the sender's (docs: Slack Connect)."""
    for one in _list(body, "authorizations"):
        if isinstance(one, Mapping) and one.get("team_id"):
            return str(one["team_id"])
    team = body.get("team_id") or _of(body, "event").get("team")
    return str(team) if team else None


def enterprise_of(body: Payload) -> str | None:
    """The organisation of an event: the installation's. In a shared channel the event's own `enterprise_id` may be
    the other organisation's (github.com/slackapi/bolt-js/issues/935)."""
    for one in _list(body, "authorizations"):
        if isinstance(one, Mapping):
            return str(one.get("enterprise_id") or "") or None
    return str(body.get("enterprise_id") or "") or None


def channel_of(body: Payload) -> str | None:
    event = _of(body, "event")
    channel = event.get("channel") or _of(event, "item").get("channel")
    return str(channel) if isinstance(channel, str) else None


def people_in(body: Payload) -> tuple[str, ...]:
    """Ids of everybody whose profile the codec needs: who acted, and whom the words name."""
    event = _of(body, "event")
    message = _of(event, "message") or event
    texts = [
        message.get("text"),
        *(a.get("text") for a in _list(message, "attachments") if isinstance(a, Mapping)),
    ]
    named = [user for text in texts for user in mentioned(str(text or ""))]
    users = [event.get("user"), message.get("user"), *named]
    return tuple(dict.fromkeys(user for user in users if isinstance(user, str) and user))


def mentioned_in(body: Payload) -> tuple[str, ...]:
    """Ids of everybody whom the words of a message, or of the message that an act points at, name."""
    message = _of(body, "message") or body
    return mentioned(str(message.get("text") or ""))


def names_us(message: Payload, known: Known) -> bool:
    return known.me.user in mentioned(str(message.get("text") or ""))


def event_from_payload(body: Payload, known: Known) -> Envelope | Ignored:
    """The event of an `event_callback`, or why there is none."""
    try:
        return _event(body, known)
    except Exception as error:  # noqa: BLE001 - a field that is not what it is documented to be
        return Ignored(reason=f"unreadable event: {type(error).__name__}")


def _event(body: Payload, known: Known) -> Envelope | Ignored:
    event = _of(body, "event")
    kind, subtype = event.get("type"), event.get("subtype")
    if not isinstance(event.get("channel"), str) or kind not in ("message", "app_mention"):
        return Ignored(reason=f"no kind that is listened to: {kind}")
    if kind == "message" and subtype == "message_changed":
        return _changed(event, known)
    if kind == "message" and subtype == "message_deleted":
        return _deleted(event, known)
    if subtype not in KEPT:
        return Ignored(reason=f"nothing that people say: {subtype}")
    if event.get("edited"):  # an edit, told once more as a mention (b19)
        return _edited(event, event, known)
    return _said(event, known)


# -- messages ----------------------------------------------------------------------------------------------------


def _said(message: Payload, known: Known) -> Envelope | Ignored:
    why = not_said(message, known)
    if why is not None:
        return Ignored(reason=why)
    channel, ts = str(message["channel"]), str(message["ts"])
    raw = str(message.get("text") or "")
    rest, addressed = without_mention(raw, known.me.user)
    names = handles(known)
    text, whole = undo(rest, names).strip(), undo(raw, names)
    content = content_of(message, text, names, known.me.team)
    root = None if _direct(channel, known) else str(message.get("thread_ts") or ts)
    bare_share = content.source is not None and not text
    event = MessageReceived(
        person=sender(message, known),
        text=(content.quoted or "") if bare_share else text,
        ref=MessageRef(
            id=message_name(channel, message, known),
            quote=(whole or content.quoted or content.unreadable or ", ".join(m.name for m in content.materials)),
            link=message_link(channel, message, known),
        ),
        materials=content.materials,
        reply_to=_reply_to(message) if root is None else None,
        addressed=addressed and not bare_share,
        decoded=True,
        forwarded=content.source if bare_share else None,
        quoted=None if bare_share else content.quoted,
        order=order_of(ts),
        unreadable=content.unreadable,
        in_thread=root is not None and root != ts,
        summons=channel in known.every and root == ts and not addressed,
        named=tuple(person_id(n) for n in (*mentioned(raw), *groups_mentioned(raw)) if n != known.me.user),
        absent=_absent(raw, known),
    )
    return enveloped(said_id(known.me.team, channel, ts), channel, root, event, known, ts)


def _absent(raw: str, known: Known) -> dict[str, Literal["left", "outside", "bot"]]:
    found: dict[str, Literal["left", "outside", "bot"]] = {}
    for user in mentioned(raw):
        profile = known.people.get(user)
        if profile is not None and user != known.me.user and (profile.gone or profile.bot or profile.outside):
            found[person_id(user)] = "left" if profile.gone else "bot" if profile.bot else "outside"
    return found


def _changed(event: Payload, known: Known) -> Envelope | Ignored:
    """An edit by a person. Link previews, pins and our own redraws come as `message_changed` too (P68)."""
    message, before = _of(event, "message"), _of(event, "previous_message")
    if message.get("subtype") == "tombstone":  # the root of a thread that goes on was deleted
        gone = {"channel": event["channel"], "deleted_ts": message.get("ts"), "previous_message": before}
        return _deleted(gone, known)
    if message.get("subtype") not in KEPT:
        return Ignored(reason=f"nothing that people say: {message.get('subtype')}")
    if not message.get("edited"):
        return Ignored(reason="changed by nobody: a link's preview, or a reply sent to the channel too")
    if before and before.get("text") == message.get("text"):
        return Ignored(reason="an edit that changes no word")
    return _edited(event, message, known)


def _edited(event: Payload, message: Payload, known: Known) -> Envelope | Ignored:
    why = not_said(message, known)
    if why is not None:
        return Ignored(reason=why)
    channel, ts = str(event["channel"]), str(message["ts"])
    moment = str(_of(message, "edited").get("ts") or event.get("event_ts") or event.get("ts"))
    names = handles(known)
    raw = str(message.get("text") or "")
    rest, _ = without_mention(raw, known.me.user)
    name = message_name(channel, message, known)
    edit = MessageEdited(
        person=sender(message, known),
        message=name,
        text=undo(rest, names).strip(),
        ref=MessageRef(id=name, quote=undo(raw, names), link=message_link(channel, message, known)),
        decoded=True,
        order=order_of(ts),
    )
    root = None if _direct(channel, known) else str(message.get("thread_ts") or ts)
    return enveloped(f"{act_id(known.me.team, channel, ts)}:edit:{moment}", channel, root, edit, known, moment)


def as_said(message: Payload, channel: str, known: Known, event_id: str) -> Envelope | Ignored:
    """An edited message as one that is said only now: the edit was the first to name the bot (b19)."""
    made = _said({**message, "channel": channel}, known)
    return made if isinstance(made, Ignored) else made.model_copy(update={"event_id": event_id})


def _deleted(event: Payload, known: Known) -> Envelope | Ignored:
    before = _of(event, "previous_message")
    if _ours(before, known):
        return Ignored(reason="a card of ours was deleted; it is posted anew when it changes")
    channel, ts = str(event["channel"]), str(event["deleted_ts"])
    root = None if _direct(channel, known) else str(before.get("thread_ts") or ts)
    name = message_name(channel, {"ts": ts, "thread_ts": before.get("thread_ts")}, known)
    event_id = f"{act_id(known.me.team, channel, ts)}:deleted"
    return enveloped(event_id, channel, root, MessageDeleted(message=name), known, None)


# -- who says it -------------------------------------------------------------------------------------------------


def not_said(message: Payload, known: Known) -> str | None:
    """Why a message is nothing that a person says to the bot."""
    if _ours(message, known):
        return "our own message"
    user = message.get("user")
    if not isinstance(user, str) or not user:
        return "said by nobody in particular: a bot or a workflow"
    profile = known.people.get(user)
    if profile is not None and profile.bot:
        return "another bot's message"
    return None


def _ours(message: Payload, known: Known) -> bool:
    """By our own ids: that it has a `bot_id` says nothing (b13)."""
    me = known.me
    return (
        (bool(me.user) and message.get("user") == me.user)
        or (bool(me.bot) and message.get("bot_id") == me.bot)
        or (bool(me.app) and message.get("app_id") == me.app and not message.get("user"))
    )


def sender(message: Payload, known: Known) -> Person:
    person = person_of(str(message["user"]), known)
    if not message.get("bot_id"):
        return person
    app = str(message.get("app_id") or message["bot_id"])
    name = clean(str(_of(message, "bot_profile").get("name") or app))
    kind = "person" if app in known.apps else "app"
    return person.model_copy(update={"through": f"{name} ({app})", "kind": kind})


def person_of(user: str, known: Known, name: str | None = None) -> Person:
    profile = known.people.get(user)
    if profile is None:
        return Person(id=person_id(user), name=clean(name or user), handle=user.casefold())
    return Person(
        id=person_id(user),
        name=clean(profile.name or profile.handle or user),
        kind="bot" if profile.bot else "person",
        handle=profile.handle or None,
        outside=profile.outside,
        member=not profile.outside,  # Slack lets nobody else write here
        groups=tuple(person_id(group) for group in profile.groups),
        zone=profile.zone,
    )


def handles(known: Known) -> dict[str, str]:
    """How mentions read. Our own reads as our name."""
    read = {user: profile.handle or profile.name for user, profile in known.people.items()}
    return {**known.groups, **read, known.me.user: known.me.name}


# -- small things ------------------------------------------------------------------------------------------------


def said_id(team: str, channel: str, ts: str) -> str:
    return f"{act_id(team, channel, ts)}:said"


def act_id(team: str, channel: str, ts: str) -> str:
    return f"{PLATFORM}:{team}:{channel}:{ts}"


def said_before(edit: Envelope) -> str:
    """The event id of the message that an edit changes, or that a deletion names."""
    return f"{edit.event_id.rpartition(':edit:')[0] or edit.event_id.removesuffix(':deleted')}:said"


def message_name(channel: str, message: Payload, known: Known) -> str:
    thread = message.get("thread_ts")
    return name_of(str(message["ts"]), str(thread) if thread and _direct(channel, known) else None)


def message_link(channel: str, message: Payload, known: Known) -> str | None:
    """The address of a message: in a thread it names the thread, of a direct message too."""
    thread = message.get("thread_ts")
    return link_to(known.me.url, channel, str(message["ts"]), str(thread) if thread else None)


def _reply_to(message: Payload) -> str | None:
    """What a message in a thread of a direct message answers: its root. Elsewhere the thread is the conversation."""
    thread = message.get("thread_ts")
    return str(thread) if thread and thread != message["ts"] else None


def _direct(channel: str, known: Known) -> bool:
    return known.direct.get(channel, False)


def enveloped(event_id: str, channel: str, root: str | None, event: Event, known: Known, at: str | None) -> Envelope:
    shared = not _direct(channel, known)
    return Envelope(
        event_id=event_id,
        place=Place(
            conversation=conversation_of(known.me.team, channel, root if shared else None),
            platform=PLATFORM,
            shared=shared,
        ),
        at=UNSTAMPED,
        platform_at=None if at is None else EPOCH + timedelta(microseconds=order_of(at)),
        event=event,
    )


def _of(value: Payload, key: str) -> Payload:
    """A part of a payload that should be an object; an empty one where it is not."""
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(value: Payload, key: str) -> Sequence[Any]:
    found = value.get(key)
    return found if isinstance(found, list | tuple) else ()
