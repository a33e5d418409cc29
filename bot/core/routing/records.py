"""One record of `askfirst route --jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from bot.core.model import Material
from bot.core.routing.pack import Pack
from bot.core.routing.router import route
from bot.core.routing.verdict import Position

DEFAULT_PACK = "research"


def route_record(record: object, packs: Mapping[str, Pack]) -> dict[str, Any]:
    """In: {"id", "text", "files", "position", "pack", "menu"?}. A bad record gives {"id", "error"}."""
    identity = record.get("id") if isinstance(record, dict) else None
    if not isinstance(record, dict):
        return {"id": None, "error": "a record is a JSON object with at least id and text"}
    text, files = record.get("text", ""), record.get("files", [])
    position, name = record.get("position", "first"), record.get("pack", DEFAULT_PACK)
    menu = record.get("menu")
    wrong = _wrong(text, files, position, name, menu if menu is not None else [], packs)
    if wrong:
        return {"id": identity, "error": "; ".join(wrong)}
    given = [Material(kind="file", name=file) for file in files]
    verdict = route(text, given, packs[name], position=position, menu=tuple(menu or ()))
    return {
        "id": identity,
        "outcome": verdict.outcome,
        "by": verdict.by,
        "direct_mode": verdict.direct_mode,
        "workflow": verdict.workflow,
        "text": verdict.text,
        "phases": list(verdict.phases),
        "options": list(verdict.options),
    }


def _wrong(
    text: object, files: object, position: object, name: object, menu: object, packs: Mapping[str, Pack]
) -> list[str]:
    found = []
    if not isinstance(text, str):
        found.append("text must be a string")
    if not isinstance(files, list) or not all(isinstance(f, str) for f in files):
        found.append("files must be a list of file names")
    if not isinstance(menu, list) or not all(isinstance(m, str) for m in menu):
        found.append("menu must be a list of workflow ids")
    if position not in get_args(Position):
        found.append(f"position must be one of {', '.join(get_args(Position))}")
    if not isinstance(name, str) or name not in packs:
        found.append(f"pack must be one of {', '.join(sorted(packs))}")
    return found
