"""The answers that a file tells of (CA-1, CA-2), and whether its own audit log knows them (CA-6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from bot.core.audit import HUMAN
from bot.core.gate import TIES, VIAS
from bot.core.model import Option
from bot.core.spec_file.fields import SKEW, Fields
from bot.core.spec_file.told import Told

TRIGGERS = ("intake", "ambiguity", "loopback")
MOST_ROUNDS = 999  # no session has more


def read_clarifications(fields: Fields, context: Mapping[str, Any], audit_log: object) -> tuple[Told, ...]:
    rows = fields.rows(context, "context.clarifications")
    found = {
        path: t for n, row in enumerate(rows) if (t := _told(fields, row, path := f"context.clarifications[{n}]"))
    }
    ids = [t.id for t in found.values()]
    for twice in sorted({i for i in ids if ids.count(i) > 1}):
        fields.wrong("context.clarifications", "duplicate_id", f"the id {twice} is there twice")
    _audited(fields, found, audit_log)
    return tuple(found.values())


def _told(fields: Fields, row: object, path: str) -> Told | None:
    if not isinstance(row, Mapping):
        fields.wrong(path, "wrong_type", "a clarification is an object")
        return None
    before = len(fields.mistakes)
    via = row.get("chosen_via")
    if via not in VIAS:
        said = "nothing" if via is None else repr(via)
        told = f"{said} is no way in which a person chooses; only {' or '.join(VIAS)} is"
        fields.wrong(f"{path}.chosen_via", "illegal_via", told)
    if row.get("trigger") not in TRIGGERS:
        fields.wrong(f"{path}.trigger", "no_trigger", f"the trigger is {', '.join(TRIGGERS[:-1])} or {TRIGGERS[-1]}")
    made: dict[str, Any] = {key: fields.text(row, f"{path}.{key}") for key in ("id", "topic", "why_it_matters")}
    made |= {key: fields.text(row, f"{path}.{key}", empty=True) for key in ("question", "field", "artefact")}
    made |= {
        key: fields.words(row, f"{path}.{key}") for key in ("recommendation_rationale", "user_note", "chosen_text")
    }
    made["phase"] = fields.phase(row.get("phase"), f"{path}.phase")
    made["round"] = fields.number(row.get("round"), f"{path}.round", "no_round", MOST_ROUNDS, "round")
    whole = row.get("run_round")
    made["run_round"] = (
        None if whole is None else fields.number(whole, f"{path}.run_round", "no_round", MOST_ROUNDS, "round")
    )
    made["user_message_ref"] = fields.message(row, f"{path}.user_message_ref")
    made["answered_by"] = fields.person(row, f"{path}.answered_by")
    made["options"] = options = _options(fields, row.get("options"), f"{path}.options")
    made["chosen"] = chosen = row.get("chosen")
    if chosen is not None and chosen not in {o.key for o in options}:
        fields.wrong(f"{path}.chosen", "no_option", f"{chosen!r} is none of its options")
    if chosen is None and not made["chosen_text"]:
        fields.wrong(f"{path}.chosen", "nothing_chosen", "nothing is chosen: neither an option nor words")
    other_words = chosen is None and bool(made["chosen_text"])  # of nobody's recommendation
    if via == "accept_recommendations_bulk" and (
        other_words or chosen in {o.key for o in options if not o.recommended}
    ):
        what = repr(made["chosen_text"] if chosen is None else chosen)
        told = f"{what} is not what was recommended, so it was not accepted with the recommendations"
        fields.wrong(f"{path}.chosen_via", "illegal_via", told)
    made["chosen_at"] = fields.time(row.get("claimed_at") or row.get("chosen_at"), f"{path}.chosen_at")
    if len(fields.mistakes) > before:
        return None
    made["question"] = made["question"] or made["id"]
    made |= {"trigger": row["trigger"], "chosen_via": via}
    made["stakes"] = row.get("stakes") if row.get("stakes") in ("critical", "minor") else "minor"
    return Told.model_validate(made)


def _options(fields: Fields, value: object, path: str) -> tuple[Option, ...]:
    if not isinstance(value, list | tuple):
        fields.wrong(path, "wrong_type", "this must be a list")
        return ()
    options = []
    for number, row in enumerate(value):
        if not isinstance(row, Mapping) or not all(isinstance(row.get(k), str) for k in ("key", "label")):
            fields.wrong(f"{path}[{number}]", "wrong_type", "an option has a key and a label")
            continue
        label = row["label"]
        options.append(
            Option(
                key=row["key"],
                label=label,
                tradeoff=row["tradeoff"] if isinstance(row.get("tradeoff"), str) else "",
                recommended=row.get("recommended") is True,
                other=number == len(value) - 1 and label.casefold().startswith("other"),
            )
        )
    if sum(o.recommended for o in options) > 1:
        fields.wrong(path, "two_recommended", "two options are recommended; a question has one")
    return tuple(options)


def _audited(fields: Fields, found: Mapping[str, Told], audit_log: object) -> None:
    """Each answer has its entry, which says the same, where the file holds an audit log at all."""
    if not isinstance(audit_log, list | tuple) or not audit_log:
        return
    entries: dict[str, Mapping[str, Any]] = {}
    for row in audit_log:
        details = row.get("details") if isinstance(row, Mapping) else None
        name = details.get("clarification_id") if isinstance(details, Mapping) else None
        if not isinstance(name, str):
            continue
        if row.get("event") in TIES:
            entries[name] = row
        elif row.get("event") == "answer.withdrawn":
            entries.pop(name, None)
    begun = min(
        (t for row in audit_log if isinstance(row, Mapping) and (t := _moment(row.get("timestamp")))), default=None
    )
    for path, one in found.items():
        entry = entries.get(one.id)
        if entry is None:
            told = "the audit log of the file has no entry of this answer; leave it out, it is asked again"
            fields.wrong(path, "no_audit", told)
            continue
        for key, logged in _logged(entry).items():
            if logged != (said := getattr(one, key)):
                told = f"{said!r}, but the audit log of the file says {logged!r}; export it anew"
                fields.wrong(f"{path}.{key}", "no_audit", told)
        if not _when(entry, one.chosen_at, begun):
            told = f"{one.chosen_at.isoformat()} is not when the audit log of the file has it; export it anew"
            fields.wrong(f"{path}.chosen_at", "no_audit", told)


_SAID: Final = ("chosen", "chosen_text", "chosen_via", "user_message_ref", "user_note")


def _logged(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the entry of an answer says of it. Of an imported one the actor is not the person."""
    details: Mapping[str, Any] = entry["details"]
    logged = {key: details[key] for key in _SAID if key in details}
    actor = entry.get("actor")
    if isinstance(actor, str) and actor.startswith(HUMAN):
        logged["answered_by"] = actor.removeprefix(HUMAN)
    return {**logged, "phase": entry["phase"]} if entry.get("phase") is not None else logged


def _when(entry: Mapping[str, Any], claimed: datetime, begun: datetime | None) -> bool:
    """Whether an answer can have been given then: not before the log begins, and not after its entry."""
    imported = _moment(entry["details"].get("claimed_at"))
    if imported is not None:
        return imported == claimed
    stamped = _moment(entry.get("timestamp"))
    return (begun is None or claimed >= begun - SKEW) and (stamped is None or claimed <= stamped + SKEW)


def _moment(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None
