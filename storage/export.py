"""Clarifications for other programs and for people, with the names of CA-1 exactly.

`export` gives the text in pieces, so a million rows need no more memory than a few hundred. Text stays text: nothing
is trimmed, joined or made "safe" for a spreadsheet by changing it (field case b11). Whoever opens a CSV in a
spreadsheet imports its columns as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any, Literal

from storage.chain import CLARIFICATION
from storage.marks import marked
from storage.records import RecordStore, Row
from storage.values import iso

Format = Literal["json", "jsonl", "csv", "md"]

# What is the product's own business stays inside. As bot.core.capture.exported; a test compares them.
FIELDS = tuple(column for column in CLARIFICATION if column not in ("question", "platform_at"))

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")  # line ends for some readers, and terminal control
_MARKDOWN = re.compile(r"[\\`*_\[\]<>|~&#]")
# The link of a reference, before any of a person's words: as bot.core.capture.reference writes it; a test compares.
_LINK = re.compile(r'([^"<>]+)<(https://[\w./?=&%~-]+)>((?:: | on ).*)', re.ASCII | re.DOTALL)
_BREAK = re.compile("\r\n|[\n\u2028\u2029]")


def exported(row: Row) -> dict[str, Any]:
    """A stored clarification under the names of CA-1, then the product's own."""
    found = {field: row[field] for field in FIELDS}
    found["options"] = [
        {key: option[key] for key in ("key", "label", "tradeoff", "recommended")}
        for option in json.loads(row["options"])
    ]
    found["chosen_at"] = iso(row["chosen_at"])
    return found


async def export(
    store: RecordStore, form: Format, session: str | None = None, *, bom: bool = False
) -> AsyncIterator[str]:
    """The export in pieces of text, to be written without changing line ends (`newline=""`).

    `bom` puts a byte order mark before a CSV, which some spreadsheets need to read it as UTF-8.
    """
    lines = {"json": _json, "jsonl": _jsonl, "csv": _csv, "md": _markdown}[form]
    async with store.snapshot() as snapshot:
        if form == "csv":
            yield ("\ufeff" if bom else "") + _record(list(FIELDS))
        if form == "json":
            yield "["
        first = True
        async for row in snapshot.clarifications(session):
            yield lines(exported(row), first)
            first = False
        if form == "json":
            yield "]\n" if first else "\n]\n"
        if form == "md" and first:
            yield "No clarifications.\n"


# -- one clarification in each format ----------------------------------------------------------------------------


def _dumps(found: dict[str, Any], indent: int | None = None) -> str:
    """JSON on one line even for readers that break lines at U+2028, and harmless in a terminal."""
    written = json.dumps(found, ensure_ascii=False, indent=indent)
    return _UNSAFE.sub(lambda character: f"\\u{ord(character[0]):04x}", written)


def _json(found: dict[str, Any], first: bool) -> str:
    return ("\n" if first else ",\n") + _dumps(found, indent=2)


def _jsonl(found: dict[str, Any], first: bool) -> str:  # noqa: ARG001 - the formats share one shape
    return _dumps(found) + "\n"


def _csv(found: dict[str, Any], first: bool) -> str:  # noqa: ARG001
    found["options"] = json.dumps(found["options"], ensure_ascii=False)
    return _record([found[field] for field in FIELDS])


def _record(values: list[Any]) -> str:
    """One record after RFC 4180. Every text is quoted, so that an empty text and a missing value stay two things."""
    cells: list[str] = []
    for value in values:
        if value is None:
            cells.append("")
        elif isinstance(value, int):
            cells.append(str(value))
        else:
            cells.append('"' + value.replace('"', '""') + '"')
    return ",".join(cells) + "\r\n"


def _markdown(found: dict[str, Any], first: bool) -> str:
    """A heading and a table of two columns. Pipes, line breaks and markup of the text can not break it."""
    options = [
        f"{option['key']}: {option['label']}"
        + (f" ({option['tradeoff']})" if option["tradeoff"] else "")
        + (" [recommended]" if option["recommended"] else "")
        for option in found["options"]
    ]
    lines = [f"## {_cell(found['id'])}: {_cell(found['topic'])}", "", "| field | value |", "| --- | --- |"]
    for field in FIELDS:
        value = "\n".join(options) if field == "options" else found[field]
        shown = _reference(value) if field == "user_message_ref" else _cell("" if value is None else str(value))
        lines.append(f"| {field} | {shown} |")
    return ("" if first else "\n") + "\n".join(lines) + "\n"


def _reference(value: str) -> str:
    """A message reference, whose link can be followed (CA-2). Addresses in a person's words stay words."""
    found = _LINK.fullmatch(value)
    return _cell(value) if found is None else f"{_cell(found[1])}<{found[2]}>{_cell(found[3])}"


def _cell(value: str) -> str:
    """A text inside a table cell: its breaks as <br>, its markup escaped, its control characters as marks."""
    parts = (marked(part) for part in _BREAK.split(value))
    return "<br>".join(_MARKDOWN.sub(lambda found: "\\" + found[0], part) for part in parts)
