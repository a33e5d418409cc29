"""The open points that a file tells of, and what people did with them (RD-7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bot.core.patterns import regex
from bot.core.spec import LAST
from bot.core.spec_file.fields import Fields
from bot.core.spec_file.told import ToldAct, ToldPoint

POINT = regex(r"V-\d{3}")


def read_points(fields: Fields, context: Mapping[str, Any]) -> tuple[ToldPoint, ...]:
    kept: list[ToldPoint] = []
    for number, row in enumerate(fields.rows(context, "context.open_questions")):
        path = f"context.open_questions[{number}]"
        if not isinstance(row, Mapping):
            fields.wrong(path, "wrong_type", "an open point is an object")
            continue
        texts = {k: fields.text(row, f"{path}.{k}") for k in ("id", "text", "words")}
        if not POINT.fullmatch(texts["id"]) or any(p.id == texts["id"] for p in kept):
            told = f"{texts['id']!r} is no name of its own; points are V-001, V-002, …"
            fields.wrong(f"{path}.id", "duplicate_id", told)
            continue
        acts = _acts(fields, row, path)
        last = next((a.kind for a in reversed(acts) if a.kind != "moved"), "reopened")
        status: Literal["open", "resolved"] = "resolved" if last == "resolved" else "open"
        if row.get("status", "open") != status:
            said = "no act of a person settles it" if status == "open" else "its last act settles it"
            fields.wrong(f"{path}.status", "status_contradicts", f"it says {row.get('status')!r}, but {said}")
        kept.append(
            ToldPoint(
                **texts,
                raised_by=fields.person(row, f"{path}.raised_by"),
                user_message_ref=fields.message(row, f"{path}.user_message_ref"),
                phase=fields.phase(row.get("phase_ref"), f"{path}.phase_ref"),
                status=status,
                acts=acts,
            )
        )
    return tuple(kept)


def _acts(fields: Fields, row: Mapping[str, Any], path: str) -> tuple[ToldAct, ...]:
    """Who settled or moved it, in which message; without these nobody has."""
    kept: list[ToldAct] = []
    for number, act in enumerate(fields.rows(row, f"{path}.acts")):
        where = f"{path}.acts[{number}]"
        if not isinstance(act, Mapping) or act.get("kind") not in ("resolved", "moved", "reopened"):
            fields.wrong(where, "wrong_type", "an act is an object whose kind is resolved, moved or reopened")
            continue
        to = act.get("to")
        if (act["kind"] == "moved") != (isinstance(to, int) and 1 <= to <= LAST):
            told = f"{to!r}: a moved point, and no other, names a phase from 1 to {LAST}"
            fields.wrong(f"{where}.to", "no_phase", told)
            continue
        fields.time(act.get("at"), f"{where}.at")
        made = {
            "kind": act["kind"],
            "to": to,
            "words": fields.text(act, f"{where}.words"),
            "by": fields.person(act, f"{where}.by"),
            "user_message_ref": fields.message(act, f"{where}.user_message_ref"),
        }
        kept.append(ToldAct.model_validate(made))
    return tuple(kept)
