"""What people see, as plain lines: for transcripts and for looking at."""

from __future__ import annotations

from typing import Any

from tests.fakes.slack.model import INITIAL, STATE, Channel, Json, Message, View
from tests.fakes.slack.text import plain


def seen(world: Any, channel: Channel, thread: Message | str | None = None, who: Any = None) -> list[str]:
    """A channel without its threads, or one thread with its root first. Without `who` no ephemeral messages."""
    ts = thread.root if isinstance(thread, Message) else thread
    lines: list[str] = []
    for message in channel.messages.values():
        if message.gone or (message.only_to and (who is None or message.only_to != who.id)):
            continue
        inside = message.root == ts if ts else message.thread_ts is None or message.subtype == "thread_broadcast"
        if inside:
            lines += said(world, message, who, inside=ts is not None)
    return lines


def said(world: Any, message: Message, who: Any = None, *, inside: bool = False) -> list[str]:
    """`Ana> words`, the lines after the first set in."""
    author = world.users.get(message.user or "")
    name = message.bot.get("username") or (author.name if author else message.user or "?")
    lines = shown(world, message.channel.team, message.blocks, message.chosen.get(who.id, {}) if who else {})
    if not message.blocks or message.blocks[0]["type"] == "rich_text":
        lines = plain(message.text, world.names(message.channel.team)).split("\n")
    lines += [f"[file {file.name}]" for file in message.files]
    replies = len([reply for reply in message.replies if not reply.gone])
    lines += [f"[{replies} replies]" if replies > 1 else "[1 reply]"] if replies and not inside else []
    lines += (
        [" ".join(f":{name}: {len(users)}" for name, users in message.reactions.items())] if message.reactions else []
    )
    mark = " (only to you)" if message.only_to else ""
    edited = " (edited)" if message.edited else ""
    return [f"{name}{mark}> {lines[0] if lines else ''}{edited}", *(f"    {line}".rstrip() for line in lines[1:])]


def modal(world: Any, view: View) -> list[str]:
    body = view.body
    lines = [f"== {body['title']['text']} =="] if "title" in body else []
    lines += shown(world, view.team, body["blocks"], view.chosen, view.errors)
    lines += [f"!! {view.trouble}"] if view.trouble else []
    words = [body[name]["text"] for name in ("close", "submit") if body.get(name)]
    return lines + ([" ".join(f"[ {word} ]" for word in words)] if words else [])


def shown(world: Any, team: Any, blocks: list[Json], chosen: Json, errors: Json | None = None) -> list[str]:
    names = world.names(team)

    def words(text: Json) -> str:
        return plain(text["text"], names) if text["type"] == "mrkdwn" else text["text"]

    lines: list[str] = []
    for block in blocks:
        held = chosen.get(block.get("block_id", ""), {})
        kind = block["type"]
        if kind == "header":
            lines.append(f"# {words(block['text'])}")
        elif kind == "divider":
            lines.append("----")
        elif kind == "section":
            lines += words(block["text"]).split("\n") if "text" in block else []
            lines += [line for item in block.get("fields", []) for line in words(item).split("\n")]
            lines += _drawn([block["accessory"]], held, words) if "accessory" in block else []
        elif kind == "context":
            lines.append(
                "~ " + " ".join(words(e) if "text" in e else f"[{e['alt_text']}]" for e in block["elements"])
            )
        elif kind == "actions":
            lines += _drawn(block["elements"], held, words)
        elif kind == "input":
            optional = " (optional)" if block.get("optional") else ""
            lines += [words(block["label"]) + optional, *_drawn([block["element"]], held, words)]
            lines += [words(block["hint"])] if "hint" in block else []
            lines += [f"! {errors[block['block_id']]}"] if errors and block["block_id"] in errors else []
        elif kind == "image":
            lines.append(f"[{block['alt_text']}]")
        elif kind == "markdown":
            lines += block["text"].split("\n")
        else:
            lines.append("(rich text)")
    return lines


def _drawn(elements: list[Json], held: Json, words: Any) -> list[str]:
    """Buttons beside each other, everything else on lines of its own."""
    lines: list[str] = []
    row: list[str] = []
    for element in elements:
        kind = element["type"]
        if kind in {"button", "overflow"}:
            row.append(f"[ {words(element['text'])} ]" if kind == "button" else "[ … ]")
            continue
        if row:
            lines, row = [*lines, " ".join(row)], []
        if kind == "image":
            lines.append(f"[{element['alt_text']}]")
            continue
        value = held.get(element["action_id"], {}).get(STATE[kind], element.get(INITIAL[kind]))
        if kind in {"radio_buttons", "checkboxes"}:
            now = [v["value"] for v in (value if isinstance(value, list) else [value] if value else [])]
            on, off = ("(•)", "( )") if kind == "radio_buttons" else ("[x]", "[ ]")
            for option in element["options"]:
                more = f" — {words(option['description'])}" if "description" in option else ""
                lines.append(f"{on if option['value'] in now else off} {words(option['text'])}{more}")
        else:
            hint = words(element["placeholder"]) if "placeholder" in element else ""
            lines.append(f"[ {_value(value) or hint}{' ▾' if 'select' in kind else ''} ]")
    return [*lines, " ".join(row)] if row else lines


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    return str(value["text"]["text"]) if isinstance(value, dict) else str(value or "")
