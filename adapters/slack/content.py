"""What a message holds beside its words: files, and other people's words. Pure; nothing is downloaded.

A file object may have next to no fields: hidden by the plan's limit, deleted, or of another organisation (b08).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.contract import clean
from adapters.slack.text import undo
from bot.core.model import Material

SPOKEN = {"slack_audio": "a voice clip", "slack_video": "a video clip"}
HIDDEN = "a file that Slack does not show"


@dataclass(frozen=True, slots=True)
class Content:
    """`unreadable` says in words what came instead of text; `quoted` is whose words came along, and which."""

    materials: tuple[Material, ...] = ()
    unreadable: str | None = None
    quoted: str | None = None
    source: str | None = None


def content_of(message: Mapping[str, Any], text: str, names: Mapping[str, str], team: str) -> Content:
    files = [file for file in _list(message.get("files")) if isinstance(file, Mapping)]
    materials = tuple(_file(file, text or None, team) for file in files)
    shares = [one for one in _list(message.get("attachments")) if isinstance(one, Mapping) and _shared(one)]
    quoted = "\n".join(filter(None, (undo(str(share.get("text") or ""), names) for share in shares)))
    links = tuple(
        Material(kind="link", name=clean(str(share["from_url"]))) for share in shares if share.get("from_url")
    )
    source = (
        next((clean(str(s["author_name"])) for s in shares if s.get("author_name")), "somebody") if shares else None
    )
    return Content((*materials, *links), None if text else _unreadable(files), quoted or None, source)


def told_by_an_app(message: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The words of a message without text, as alerts come: in attachments, or in blocks."""
    said: list[str] = []
    for one in _list(message.get("attachments")):
        if isinstance(one, Mapping):
            words = [one.get(key) for key in ("pretext", "title", "text")]
            said += [str(w) for w in words if w] or [str(one.get("fallback") or "")]
    for block in _list(message.get("blocks")):
        text = block.get("text") if isinstance(block, Mapping) else None
        if isinstance(text, Mapping):
            said.append(str(text.get("text") or ""))
    return "\n".join(filter(None, (undo(line, names).strip() for line in said)))


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _shared(attachment: Mapping[str, Any]) -> bool:
    """A message that was shared by a person. Other attachments are previews that Slack makes of links."""
    return bool(attachment.get("is_share")) or bool(attachment.get("is_msg_unfurl") and attachment.get("author_id"))


def _file(file: Mapping[str, Any], caption: str | None, team: str) -> Material:
    """Name and media type are the sender's claims."""
    name = clean(str(file.get("name") or file.get("title") or "")) or HIDDEN
    size = file.get("size")
    return Material(
        kind="file",
        name=name,
        media=clean(str(file.get("mimetype") or "")) or None,
        size=size if isinstance(size, int) else None,
        caption=caption,
        handle=f"{team}:{file['id']}" if file.get("id") else None,
    )


def _unreadable(files: Sequence[Mapping[str, Any]]) -> str | None:
    """Only where nothing in the message can be read: a file with a name is material, and says what it is."""
    said = list(_kinds(files))
    return said[0] if said and all(said) else None


def _kinds(files: Sequence[Mapping[str, Any]]) -> Iterator[str | None]:
    for file in files:
        spoken = SPOKEN.get(str(file.get("subtype") or ""))
        yield spoken or (None if file.get("name") or file.get("title") else HIDDEN)
