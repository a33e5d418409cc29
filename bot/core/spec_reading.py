"""Reads an exported specification back: every mistake with its path, all at once (AU-1, CA-2).

A file is not trusted: an illegal way of choosing is refused, a time that cannot be is refused, and every other time
is kept as what the file claims, beside the store's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from bot.core.gate import VIAS
from bot.core.model import Model, Option
from bot.core.spec import FEWEST_COMPARATORS, LAST, TIERS
from bot.core.spec_record import FORM

SKEW = timedelta(minutes=5)  # by which the clocks of two machines may differ


POINT = re.compile(r"V-\d{3}")


class Mistake(Model):
    """`path` in the file, and what is wrong and what to do."""

    path: str
    message: str


class Told(Model):
    """One clarification as the file tells it."""

    id: str
    phase: int
    round: int
    trigger: Literal["intake", "ambiguity", "loopback"]
    question: str
    topic: str
    why_it_matters: str
    options: tuple[Option, ...]
    recommendation_rationale: str | None
    chosen: str | None
    chosen_text: str | None
    chosen_via: Literal["user_response", "accept_recommendations_bulk"]
    chosen_at: datetime
    user_message_ref: str
    user_note: str | None
    answered_by: str
    field: str
    artefact: str
    stakes: Literal["critical", "minor"]


class ToldLock(Model):
    complexity_tier: int
    scope_summary: str
    in_scope: tuple[str, ...]
    out_of_scope: tuple[str, ...]
    surface_count: int
    comparator_count: int
    reconfirmed: bool
    claimed: dict[str, str]


class ToldAct(Model):
    """What the file says that a person did with an open point."""

    kind: Literal["resolved", "moved", "reopened"]
    words: str
    to: int | None = None
    by: str
    user_message_ref: str


class ToldPoint(Model):
    id: str
    phase: int
    text: str
    words: str
    raised_by: str
    user_message_ref: str
    status: Literal["open", "resolved"] = "open"
    acts: tuple[ToldAct, ...] = ()


class Document(Model):
    """A file that can be read in.

    `done` are the phases that it says are approved and whose answers it holds: a phase that it only claims to be
    approved is asked again.
    """

    name: str
    tier: int | None
    request: str
    phase: int
    requester: str
    requester_name: str
    clarifications: tuple[Told, ...]
    lock: ToldLock | None
    done: tuple[int, ...]
    unanswered: dict[int, tuple[str, ...]]  # phase -> questions that were asked and not resolved
    settled: tuple[dict[str, str], ...]
    open_points: tuple[ToldPoint, ...]
    was: str | None  # the session that it was exported from


def read(data: object, now: datetime) -> Document | list[Mistake]:
    """The document, or everything that is wrong with it."""
    reader = _Reader(now)
    found = reader.document(data)
    return reader.mistakes if reader.mistakes or found is None else found


class _Reader:
    def __init__(self, now: datetime) -> None:
        self.now = now
        self.mistakes: list[Mistake] = []

    def wrong(self, path: str, message: str) -> None:
        self.mistakes.append(Mistake(path=path, message=message))

    # -- the whole -------------------------------------------------------------------------------------------------

    def document(self, data: object) -> Document | None:
        if not isinstance(data, Mapping):
            self.wrong("", "this is no specification: an object with meta, scope_lock, gates and context")
            return None
        if data.get("schema_version") != FORM:
            said = data.get("schema_version")
            self.wrong("schema_version", f"this is form {said!r}; form {FORM} can be read. Export it anew.")
            return None
        meta, context = self.part(data, "meta"), self.part(data, "context")
        phase = self.part(data, "phase")
        tier = self._tier(meta.get("complexity_tier"))
        told = [self._told(row, n) for n, row in enumerate(self.rows(context, "clarifications"))]
        clarifications = tuple(t for t in told if t is not None)
        self._unique([t.id for t in clarifications])
        gates = self.part(data, "gates")
        left, answered = self._unanswered(gates, clarifications), {t.phase for t in clarifications}
        current = phase.get("current", 1)
        if not isinstance(current, int) or not 1 <= current <= LAST:
            self.wrong("phase.current", f"there is no phase {current!r}; a phase is 1 to {LAST}")
            current = 1
        return Document(
            name=self.text(meta, "meta.feature_name"),
            tier=tier,
            request=self.text(meta, "meta.request", empty=True),
            phase=current,
            requester=self.text(meta, "meta.requester"),
            requester_name=self.text(meta, "meta.requester_name", empty=True),
            clarifications=clarifications,
            lock=self._lock(self.part(data, "scope_lock")),
            done=tuple(n for n in range(1, LAST + 1) if self._approved(gates, n) and n in answered and n not in left),
            unanswered=left,
            settled=self._settled(context),
            open_points=self._points(context),
            was=meta.get("session") if isinstance(meta.get("session"), str) else None,
        )

    def part(self, data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = data.get(key, {})
        if not isinstance(value, Mapping):
            self.wrong(key, "this must be an object")
            return {}
        return value

    def rows(self, data: Mapping[str, Any], key: str) -> Sequence[Any]:
        value = data.get(key, [])
        if not isinstance(value, list | tuple):
            self.wrong(f"context.{key}", "this must be a list")
            return ()
        return value

    def text(self, data: Mapping[str, Any], path: str, *, empty: bool = False) -> str:
        value = data.get(path.rpartition(".")[2])
        if not isinstance(value, str) or (not empty and not value.strip()):
            if value is None and empty:
                return ""
            self.wrong(path, "a text is missing here" if value is None else "this must be a text that is not empty")
            return ""
        return value

    def time(self, value: object, path: str) -> datetime:
        """A claimed time: readable, with its zone, and not in the future; else the file can not be believed."""
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self.wrong(path, f"{value!r} is no time with a zone; leave the entry out, or repair it from the original")
            return self.now
        if moment > self.now + SKEW:
            self.wrong(path, f"{value} lies in the future: it was not written down when it happened. Export it anew")
            return self.now
        return moment

    # -- its parts -------------------------------------------------------------------------------------------------

    def _tier(self, value: object) -> int | None:
        if value is None:
            return None
        digits = [int(c) for c in str(value) if c.isdigit()]
        if len(digits) == 1 and digits[0] in TIERS:
            return digits[0]
        self.wrong("meta.complexity_tier", f"{value!r} is no tier; tiers are {', '.join(map(str, TIERS))}")
        return None

    def _told(self, row: object, number: int) -> Told | None:
        path = f"context.clarifications[{number}]"
        if not isinstance(row, Mapping):
            self.wrong(path, "a clarification is an object")
            return None
        before = len(self.mistakes)
        via = row.get("chosen_via")
        if via not in VIAS:
            said = "nothing" if via is None else repr(via)
            allowed = " or ".join(VIAS)
            self.wrong(f"{path}.chosen_via", f"{said} is no way in which a person chooses; only {allowed} is")
        for key, allowed_values in (("phase", range(1, LAST + 1)), ("round", range(1, 1000))):
            value = row.get(key)
            if not isinstance(value, int) or isinstance(value, bool) or value not in allowed_values:
                self.wrong(f"{path}.{key}", f"{value!r} is no {key}")
        if row.get("trigger") not in ("intake", "ambiguity", "loopback"):
            self.wrong(f"{path}.trigger", "the trigger is intake, ambiguity or loopback")
        texts = {
            key: self.text(row, f"{path}.{key}") for key in ("id", "topic", "why_it_matters", "user_message_ref")
        }
        texts |= {key: self.text(row, f"{path}.{key}", empty=True) for key in ("question", "field", "artefact")}
        by = row.get("answered_by")
        if not isinstance(by, str) or ":" not in by or by.startswith(("agent:", "system", "model:")):
            self.wrong(f"{path}.answered_by", "this names no person (platform:person)")
        options = self._options(row.get("options"), path)
        chosen = row.get("chosen")
        if chosen is not None and chosen not in {o.key for o in options}:
            self.wrong(f"{path}.chosen", f"{chosen!r} is none of its options")
        chosen_text = self._words(row, f"{path}.chosen_text")
        if chosen is None and not chosen_text:
            self.wrong(f"{path}.chosen", "nothing is chosen: neither an option nor words")
        at = self.time(row.get("claimed_at") or row.get("chosen_at"), f"{path}.chosen_at")
        rationale, note = (self._words(row, f"{path}.{key}") for key in ("recommendation_rationale", "user_note"))
        if len(self.mistakes) > before:
            return None
        return Told.model_validate(
            {
                **texts,
                "question": texts["question"] or texts["id"],
                "phase": row["phase"],
                "round": row["round"],
                "trigger": row["trigger"],
                "options": options,
                "recommendation_rationale": rationale,
                "chosen": chosen,
                "chosen_text": chosen_text,
                "chosen_via": via,
                "chosen_at": at,
                "user_note": note,
                "answered_by": by,
                "stakes": row.get("stakes") if row.get("stakes") in ("critical", "minor") else "minor",
            }
        )

    def _words(self, row: Mapping[str, Any], path: str) -> str | None:
        value = row.get(path.rpartition(".")[2])
        if value is not None and not isinstance(value, str):
            self.wrong(path, "this must be a text or nothing")
            return None
        return value

    def _options(self, value: object, path: str) -> tuple[Option, ...]:
        if not isinstance(value, list | tuple):
            self.wrong(f"{path}.options", "this must be a list")
            return ()
        options = []
        for number, row in enumerate(value):
            here = f"{path}.options[{number}]"
            if not isinstance(row, Mapping) or not all(isinstance(row.get(k), str) for k in ("key", "label")):
                self.wrong(here, "an option has a key and a label")
                continue
            label = row["label"]
            last = number == len(value) - 1
            options.append(
                Option(
                    key=row["key"],
                    label=label,
                    tradeoff=row["tradeoff"] if isinstance(row.get("tradeoff"), str) else "",
                    recommended=row.get("recommended") is True,
                    other=last and label.casefold().startswith("other"),
                )
            )
        if sum(o.recommended for o in options) > 1:
            self.wrong(f"{path}.options", "two options are recommended; a question has one")
        return tuple(options)

    def _unique(self, ids: Sequence[str]) -> None:
        for twice in sorted({i for i in ids if ids.count(i) > 1}):
            self.wrong("context.clarifications", f"the id {twice} is there twice")

    def _lock(self, data: Mapping[str, Any]) -> ToldLock | None:
        if data.get("locked") is not True:
            return None
        before = len(self.mistakes)
        tier = data.get("complexity_tier")
        if not isinstance(tier, int) or tier not in TIERS:
            self.wrong("scope_lock.complexity_tier", f"{tier!r} is no tier; tiers are {', '.join(map(str, TIERS))}")
        for key in ("surface_count", "comparator_count"):
            value = data.get(key)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                self.wrong(f"scope_lock.{key}", f"{value!r} is no number of at least 1; a locked scope has it")
        compared = data.get("comparator_count")
        if (
            isinstance(compared, int)
            and isinstance(tier, int)
            and tier in TIERS
            and compared < FEWEST_COMPARATORS[tier]
        ):
            self.wrong("scope_lock.comparator_count", f"tier {tier} compares at least {FEWEST_COMPARATORS[tier]}")
        lists: dict[str, tuple[str, ...]] = {}
        for key in ("in_scope", "out_of_scope"):
            value = data.get(key, [])
            if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
                self.wrong(f"scope_lock.{key}", "this must be a list of texts")
                value = ()
            lists[key] = tuple(value)
        claimed: dict[str, str] = {}
        for key in ("locked_at", "reconfirmed_at"):
            if data.get(key) is not None:
                claimed[key] = self.time(data[key], f"scope_lock.{key}").isoformat()
        if len(self.mistakes) > before:
            return None
        return ToldLock(
            complexity_tier=data["complexity_tier"],
            scope_summary=str(data.get("scope_summary", ""))[:300],
            surface_count=data["surface_count"],
            comparator_count=data["comparator_count"],
            reconfirmed=data.get("reconfirmed_at_phase_3") is True,
            claimed=claimed,
            **lists,
        )

    def _gate(self, gates: Mapping[str, Any], number: int) -> Mapping[str, Any]:
        value = gates.get(f"phase_{number}", {})
        return value if isinstance(value, Mapping) else {}

    def _approved(self, gates: Mapping[str, Any], number: int) -> bool:
        return self._gate(gates, number).get("status") == "approved"

    def _unanswered(self, gates: Mapping[str, Any], told: Sequence[Told]) -> dict[int, tuple[str, ...]]:
        answered = {(t.phase, t.question) for t in told}
        left: dict[int, tuple[str, ...]] = {}
        for number in range(1, LAST + 1):
            rounds = self._gate(gates, number).get("rounds", ())
            asked = [
                q
                for r in (rounds if isinstance(rounds, list | tuple) else ())
                if isinstance(r, Mapping) and isinstance(r.get("questions"), list | tuple)
                for q in r["questions"]
                if isinstance(q, str)
            ]
            missing = tuple(dict.fromkeys(q for q in asked if (number, q) not in answered))
            if missing:
                left[number] = missing
        return left

    def _settled(self, context: Mapping[str, Any]) -> tuple[dict[str, str], ...]:
        kept = []
        for row in self.rows(context, "settled"):
            if isinstance(row, Mapping) and isinstance(row.get("phase"), int):
                texts = {k: v for k, v in row.items() if isinstance(v, str)}
                if {"question", "topic", "value", "source"} <= texts.keys():
                    kept.append({**texts, "phase": str(row["phase"])})
        return tuple(kept)

    def _points(self, context: Mapping[str, Any]) -> tuple[ToldPoint, ...]:
        kept: list[ToldPoint] = []
        for number, row in enumerate(self.rows(context, "open_questions")):
            path = f"context.open_questions[{number}]"
            if not isinstance(row, Mapping):
                self.wrong(path, "an open point is an object")
                continue
            texts = {
                k: self.text(row, f"{path}.{k}") for k in ("id", "text", "words", "raised_by", "user_message_ref")
            }
            if not POINT.fullmatch(texts["id"]) or any(p.id == texts["id"] for p in kept):
                self.wrong(f"{path}.id", f"{texts['id']!r} is no name of its own; points are V-001, V-002, …")
                continue
            phase = row.get("phase_ref")
            acts = self._acts(row, path)
            last = next((a.kind for a in reversed(acts) if a.kind != "moved"), "reopened")
            status: Literal["open", "resolved"] = "resolved" if last == "resolved" else "open"
            if row.get("status", "open") != status:
                said = "no act of a person settles it" if status == "open" else "its last act settles it"
                self.wrong(f"{path}.status", f"it says {row.get('status')!r}, but {said}")
            own = phase if isinstance(phase, int) and 1 <= phase <= LAST else 1
            kept.append(ToldPoint(**texts, phase=own, status=status, acts=acts))
        return tuple(kept)

    def _acts(self, row: Mapping[str, Any], path: str) -> tuple[ToldAct, ...]:
        """Who settled or moved it, in which message; without these nobody has."""
        kept: list[ToldAct] = []
        rows = row.get("acts", [])
        if not isinstance(rows, list | tuple):
            self.wrong(f"{path}.acts", "this must be a list")
            return ()
        for number, act in enumerate(rows):
            where = f"{path}.acts[{number}]"
            if not isinstance(act, Mapping) or act.get("kind") not in ("resolved", "moved", "reopened"):
                self.wrong(where, "an act is an object whose kind is resolved, moved or reopened")
                continue
            to = act.get("to")
            if (act["kind"] == "moved") != (isinstance(to, int) and 1 <= to <= LAST):
                self.wrong(f"{where}.to", f"{to!r}: a moved point, and no other, names a phase from 1 to {LAST}")
                continue
            self.time(act.get("at"), f"{where}.at")
            texts = {k: self.text(act, f"{where}.{k}") for k in ("words", "by", "user_message_ref")}
            kept.append(ToldAct.model_validate({"kind": act["kind"], "to": to, **texts}))
        return tuple(kept)
