"""What kind of file something is: by what its sender claims, and by how its content begins. Pure."""

from __future__ import annotations

from typing import Literal

from bot.core.model import Material

FileKind = Literal["pdf", "document", "image", "text"]
KINDS: tuple[FileKind, ...] = ("pdf", "document", "image", "text")

_BY_NAME: dict[str, FileKind] = {
    "pdf": "pdf",
    **dict.fromkeys(("docx", "odt", "xlsx", "ods", "pptx", "odp", "epub"), "document"),  # all of them are zipped
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp"), "image"),
    **dict.fromkeys(("txt", "md", "csv", "tex", "bib", "ris", "json", "yaml", "yml"), "text"),
}
_BY_START: tuple[tuple[bytes, FileKind], ...] = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "document"),
    (b"\xff\xd8\xff", "image"),
    (b"\x89PNG\r\n\x1a\n", "image"),
    (b"GIF8", "image"),
    (b"RIFF", "image"),  # WebP
)


def claimed(material: Material) -> FileKind | None:
    """By the end of its name, else by its media type: both are the sender's words."""
    known = _BY_NAME.get(material.name.rpartition(".")[2].casefold())
    if known is not None or material.media is None:
        return known
    if material.media == "application/pdf":
        return "pdf"
    return {"image": "image", "text": "text"}.get(material.media.partition("/")[0])  # type: ignore[return-value]


def found(content: bytes) -> FileKind | None:
    """By its first bytes; text is what can be read as UTF-8 and holds no NUL."""
    for start, kind in _BY_START:
        if content.startswith(start):
            return kind
    if b"\0" in content:
        return None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "text"
