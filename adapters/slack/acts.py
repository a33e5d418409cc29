"""Interactivity to events: taps, forms, shortcuts, slash commands, reactions. Pure.

None of these is delivered a second time by Slack, but a proxy may do so: each has an id of its own act (CA-2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adapters.contract import clean
from adapters.slack.codec import Payload, act_id, enveloped, handles, message_link, message_name, person_of
from adapters.slack.content import content_of, told_by_an_app
from adapters.slack.filled import fields_of, pinned_by
from adapters.slack.modal import ROUND_FORM
from adapters.slack.places import PLATFORM, ROOTLESS, Known, address_of
from adapters.slack.render import conversation_in
from adapters.slack.text import undo, without_mention
from bot.core.events import ButtonPressed, Envelope, FormSubmitted, Ignored, MessageReceived
from bot.core.flows import spec_commands
from bot.core.flows.words import WITH_WORDS
from bot.core.model import MessageRef
from bot.core.routing.pack import GENERAL_COMMANDS

CLARIFY_THIS = "clarify_this"  # callback id of the message shortcut
ASK_FOR = "ask_for"  # of the global one
OWN_COMMAND = "/askfirst"
WORDLESS = "it points at a message without words"


def team_in(body: Payload) -> str | None:
    """The workspace of an act. What a card or form of ours says of itself goes first: `team` may be missing, with an
    installation for a whole organisation (b34), and is the sender's own where somebody of another organisation
    sends a form in a shared channel (slack-bolt's extract_team_id). `user.team_id` says nothing of the place."""
    view, where = body.get("view"), card_in(body)
    installed = view.get("app_installed_team_id") if isinstance(view, Mapping) else None
    if where is not None or installed:
        return str(installed) if where is None else address_of(where).team
    team = body.get("team")
    found = team.get("id") if isinstance(team, Mapping) else body.get("team_id")
    return str(found) if found else None


def enterprise_in(body: Payload) -> str | None:
    """The organisation that an act names; of a form in a shared channel it is the sender's, as the team is."""
    for part, name in ((body.get("enterprise"), "id"), (body, "enterprise_id"), (body.get("team"), "enterprise_id")):
        if isinstance(part, Mapping) and part.get(name):
            return str(part[name])
    return None


def card_in(body: Payload) -> str | None:
    """The conversation that a card or form says it belongs to, where they are ours."""
    return conversation_in(_action(body).get("block_id")) or pinned_by(body.get("view"))


def user_in(body: Payload) -> str | None:
    user = body.get("user")
    found = user.get("id") if isinstance(user, Mapping) else body.get("user_id")
    return str(found) if found else None


def channel_in(body: Payload) -> str | None:
    channel = body.get("channel")
    found = channel.get("id") if isinstance(channel, Mapping) else body.get("channel_id")
    if not found:
        found = _part(body, "container").get("channel_id")
    if not found:
        where = card_in(body)
        found = None if where is None else address_of(where).channel
    return str(found) if found else None


def is_link(body: Payload) -> bool:
    """A button that opens an address is told too; nothing follows from it."""
    return body.get("type") == "block_actions" and bool(_action(body).get("url"))


def event_from_act(body: Payload, known: Known) -> Envelope | Ignored:
    """The event of an act, or why there is none."""
    try:
        return _event(body, known)
    except Exception as error:  # noqa: BLE001 - a field that is not what it is documented to be
        return Ignored(reason=f"unreadable act: {type(error).__name__}")


def _event(body: Payload, known: Known) -> Envelope | Ignored:
    match body.get("type"):
        case "block_actions":
            return _pressed(body, known)
        case "message_action":
            return _shortcut(body, known)
        case "view_submission":
            return _form(body, known)
        case None if body.get("command"):
            return _command(body, known)
    return Ignored(reason=f"no act that is listened to: {body.get('type')}")


# -- taps --------------------------------------------------------------------------------------------------------


def _pressed(body: Payload, known: Known) -> Envelope | Ignored:
    action, container = _action(body), _part(body, "container")
    user, token = str(user_in(body)), action.get("value")
    channel = channel_in(body)
    if not isinstance(token, str) or not token or channel is None:
        return Ignored(reason="a press without a token of ours")
    message = _part(body, "message")
    ts = str(container.get("message_ts") or message.get("ts") or "")
    thread = container.get("thread_ts") or message.get("thread_ts")
    where = conversation_in(action.get("block_id"))
    root = None if known.direct.get(channel) else str(thread or ts)
    if where is not None and address_of(where).channel == channel:
        root = address_of(where).root
    shown = {"ts": ts, "thread_ts": thread}
    act = ":".join((PLATFORM, known.me.team, user, ts, str(action.get("action_id")), str(action.get("action_ts"))))
    label = undo(str(_part(action, "text").get("text") or "")).strip() or token
    pressed = ButtonPressed(
        person=person_of(user, known, _name(body)),
        token=clean(token),
        label=label,
        ref=MessageRef(
            id=act.removeprefix(f"{PLATFORM}:"),
            quote=label,
            link=message_link(channel, shown, known),
            card=message_name(channel, shown, known) if ts else None,
        ),
    )
    at = str(action.get("action_ts") or "")
    return enveloped(f"{act}:press", channel, root, pressed, known, at if "." in at else None)


# -- forms -------------------------------------------------------------------------------------------------------


def _form(body: Payload, known: Known) -> Envelope | Ignored:
    view = _part(body, "view")
    where = pinned_by(view)
    if view.get("callback_id") != ROUND_FORM or where is None:
        return Ignored(reason=f"a form that is not a round's: {view.get('callback_id')}")
    sent = fields_of(view)
    user = str(user_in(body))
    # The hash stays the same when a form with mistakes is sent once more.
    act = f"{known.me.team}:{user}:{view.get('id')}:{body.get('trigger_id') or view.get('hash')}"
    address = address_of(where)
    form = FormSubmitted(
        person=person_of(user, known, _name(body)),
        round=sent.round,
        revision=sent.revision,
        fields=sent.fields,
        ref=MessageRef(id=act, quote=sent.quote, link=sent.link, card=sent.card),
    )
    return enveloped(f"{PLATFORM}:{act}:form", address.channel, address.root, form, known, None)


# -- ways in -----------------------------------------------------------------------------------------------------


def _shortcut(body: Payload, known: Known) -> Envelope | Ignored:
    """ "Clarify this" on a message, whosever it is: an intake of these words, for whoever pressed."""
    if body.get("callback_id") != CLARIFY_THIS:
        return Ignored(reason=f"no shortcut of ours: {body.get('callback_id')}")
    channel = channel_in(body)
    if channel is None:
        return Ignored(reason="a shortcut without a channel")
    event_id = f"{PLATFORM}:{known.me.team}:{body.get('action_ts') or body.get('trigger_id')}:shortcut"
    return summons(_part(body, "message"), channel, str(user_in(body)), "Clarify this", event_id, known, _name(body))


def summons(
    message: Payload, channel: str, user: str, how: str, event_id: str, known: Known, name: str | None = None
) -> Envelope | Ignored:
    """A message that somebody points at. Its words are a request, never an answer (AU-3)."""
    ts = str(message.get("ts") or "")
    if not ts:
        return Ignored(reason="it points at no message")
    raw, _ = without_mention(str(message.get("text") or ""), known.me.user)
    text = undo(raw, handles(known)).strip()
    content = content_of(message, text, handles(known), known.me.team)
    text = text or content.quoted or told_by_an_app(message, handles(known))
    if not text and not content.materials:
        return Ignored(reason=WORDLESS)
    direct = known.direct.get(channel, False)
    event = MessageReceived(
        person=person_of(user, known, name),
        text=text,
        ref=MessageRef(
            id=event_id.removeprefix(f"{PLATFORM}:"),
            quote=f"{how}: {text}" if text else how,
            link=message_link(channel, message, known),
            card=message_name(channel, message, known),
        ),
        materials=content.materials,
        addressed=True,
        decoded=True,
        summons=True,
        in_thread=not direct and bool(message.get("thread_ts")),
    )
    root = None if direct else str(message.get("thread_ts") or ts)
    return enveloped(event_id, channel, root, event, known, None)


def _command(body: Payload, known: Known) -> Envelope | Ignored:
    """A slash command. Slack knows none in threads, so there is no thread to tell (CH-3)."""
    command, channel = str(body["command"]), channel_in(body)
    if channel is None:
        return Ignored(reason="a command without a place")
    words = undo(str(body.get("text") or ""), handles(known)).strip()
    own = command == OWN_COMMAND
    about = own and _is_about(words)
    if about:
        text = f"/{words or 'help'}"
    elif own:  # any other words begin something, as they do after a mention
        text = re.sub(r"(?i)^new\s+", "", words)
    else:
        text = f"{command} {words}".strip()
    act = f"{known.me.team}:{body.get('trigger_id')}"
    direct = known.direct.get(channel, False)
    event = MessageReceived(
        person=person_of(str(user_in(body)), known, str(body.get("user_name") or "") or None),
        text=text,
        ref=MessageRef(id=act, quote=f"{command} {words}".strip()),
        addressed=True,
        decoded=True,
        summons=not about,
        private=about and not direct,
    )
    root = None if direct else f"{ROOTLESS}{body.get('trigger_id')}"
    return enveloped(f"{PLATFORM}:{act}:command", channel, root, event, known, None)


def _is_about(words: str) -> bool:
    """Whether the words behind our own command are about what is there (CH-3 SP-2), as `status` is."""
    word, _, rest = words.casefold().partition(" ")
    general = word in (WITH_WORDS if rest.strip() else GENERAL_COMMANDS)
    return not word or spec_commands.reads_as_one(words) or (general and not (word == "new" and rest.strip()))


def reaction_wanted(body: Payload, known: Known) -> tuple[str, str, str, str] | None:
    """Channel and `ts` of the message, who, and the emoji, where a reaction asks for an intake."""
    event = _part(body, "event")
    item = _part(event, "item")
    emoji = str(event.get("reaction") or "").partition("::")[0]  # skin tones follow
    if event.get("type") != "reaction_added" or item.get("type") != "message" or emoji not in known.reactions:
        return None
    where = item.get("channel"), item.get("ts"), event.get("user")
    if not all(isinstance(one, str) and one for one in where) or event.get("user") == known.me.user:
        return None
    return str(where[0]), str(where[1]), str(where[2]), emoji


def reaction_id(body: Payload, known: Known) -> str:
    event = _part(body, "event")
    item = _part(event, "item")
    ending = f"{event.get('reaction')}:{event.get('user')}:{event.get('event_ts')}"
    return f"{act_id(known.me.team, str(item.get('channel')), str(item.get('ts')))}:reaction:{ending}"


def place_asked(body: Payload) -> str | None:
    """Where the form of the global shortcut wants to be answered: the channel chosen in it, or the person's DM."""
    view = _part(body, "view")
    values = _part(_part(view, "state"), "values")
    found = _part(_part(values, "where"), "where").get("selected_conversation") or view.get("private_metadata")
    return str(found) if found else None


def request_from_form(body: Payload, known: Known) -> Envelope | Ignored:
    """The words of the global shortcut's form, in the channel that was chosen in it, or in the person's own DM."""
    view = _part(body, "view")
    values = _part(_part(view, "state"), "values")
    text = str(_part(_part(values, "words"), "words").get("value") or "").strip()
    channel = place_asked(body)
    if not text or not channel:
        return Ignored(reason="a request without words or place")
    act = f"{known.me.team}:{user_in(body)}:{view.get('id')}"
    event = MessageReceived(
        person=person_of(str(user_in(body)), known, _name(body)),
        text=clean(text),
        ref=MessageRef(id=act, quote=clean(text)),
        addressed=True,
        decoded=True,
        summons=True,
    )
    root = None if known.direct.get(str(channel)) else f"{ROOTLESS}{view.get('id')}"
    return enveloped(f"{PLATFORM}:{act}:request", str(channel), root, event, known, None)


# -- small things ------------------------------------------------------------------------------------------------


def _name(body: Payload) -> str | None:
    user = _part(body, "user")
    name = user.get("name") or user.get("username")
    return str(name) if name else None


def _action(body: Payload) -> Mapping[str, Any]:
    actions = body.get("actions")
    first = actions[0] if isinstance(actions, list) and actions else {}
    return first if isinstance(first, Mapping) else {}


def _part(value: Payload, key: str) -> Payload:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}
