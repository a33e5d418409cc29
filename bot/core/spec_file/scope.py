"""The locked scope that a file tells of, and its changes (SC-3). Whether the answers agree, the import judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.core.spec import FEWEST_COMPARATORS, SCOPE_FIELDS, TIERS
from bot.core.spec_file.fields import Fields
from bot.core.spec_file.told import ToldChange, ToldLock


def read_lock(fields: Fields, data: Mapping[str, Any]) -> ToldLock | None:
    if data.get("locked") is not True:
        return None
    before = len(fields.mistakes)
    tier = data.get("complexity_tier")
    if not isinstance(tier, int) or isinstance(tier, bool) or tier not in TIERS:
        told = f"{tier!r} is no tier; tiers are {', '.join(map(str, TIERS))}"
        fields.wrong("scope_lock.complexity_tier", "no_tier", told)
    for key in ("surface_count", "comparator_count"):
        value = data.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            told = f"{value!r} is no number of at least 1; a locked scope has it"
            fields.wrong(f"scope_lock.{key}", "scope_incomplete", told)
    compared = data.get("comparator_count")
    fewest = FEWEST_COMPARATORS.get(tier, 0) if isinstance(tier, int) else 0
    if isinstance(compared, int) and compared < fewest:
        told = f"tier {tier} compares at least {fewest}"
        fields.wrong("scope_lock.comparator_count", "scope_contradicts", told)
    lists = {key: fields.texts(data, f"scope_lock.{key}") for key in ("in_scope", "out_of_scope")}
    changes = _changes(fields, data)
    claimed = {
        key: fields.time(data[key], f"scope_lock.{key}").isoformat()
        for key in ("locked_at", "reconfirmed_at")
        if data.get(key) is not None
    }
    proof: dict[str, str | None] = {"reconfirmed_by": None, "reconfirmed_ref": None}
    if data.get("reconfirmed_at_phase_3") is True and data.get("reconfirmed_ref") is not None:
        proof["reconfirmed_by"] = fields.person(data, "scope_lock.reconfirmed_by")
        proof["reconfirmed_ref"] = fields.message(data, "scope_lock.reconfirmed_ref")
    if len(fields.mistakes) > before:
        return None
    return ToldLock(
        complexity_tier=data["complexity_tier"],
        scope_summary=str(data.get("scope_summary", ""))[:300],
        surface_count=data["surface_count"],
        comparator_count=data["comparator_count"],
        changes=changes,
        claimed=claimed,
        **lists,
        **proof,
    )


def _changes(fields: Fields, data: Mapping[str, Any]) -> tuple[ToldChange, ...]:
    """A change is a person's deliberate act: without its reason, its person and its message there was none."""
    kept = []
    for number, row in enumerate(fields.rows(data, "scope_lock.changes")):
        path = f"scope_lock.changes[{number}]"
        if not isinstance(row, Mapping) or row.get("field") not in SCOPE_FIELDS:
            listed = ", ".join(SCOPE_FIELDS)
            fields.wrong(path, "wrong_type", f"a change is an object whose field is one of {listed}")
            continue
        rounds = row.get("after_round")
        made = ToldChange(
            at_phase=fields.phase(row.get("at_phase"), f"{path}.at_phase"),
            field=row["field"],
            was=fields.text(row, f"{path}.from"),
            to=fields.text(row, f"{path}.to"),
            rationale=fields.text(row, f"{path}.rationale"),
            by=fields.person(row, f"{path}.by"),
            user_message_ref=fields.message(row, f"{path}.user_message_ref"),
            at=fields.time(row.get("claimed_at") or row.get("at"), f"{path}.at"),
            after_round=rounds if isinstance(rounds, int) and not isinstance(rounds, bool) else None,
        )
        kept.append(made)
    return tuple(kept)
