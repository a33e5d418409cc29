"""The fields of a file, each checked as it is read; what is wrong is noted and reading goes on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from bot.core.patterns import regex
from bot.core.spec import LAST, TIERS
from bot.core.spec_file.told import Code, Mistake

SKEW = timedelta(minutes=5)  # by which the clocks of two machines may differ

# `capture.reference`: the message's id and a quote; a button: the act's id, the card's, and its label (CA-2).
_REFERENCE: Final = regex(
    r"(?P<id>[^\n]{1,300}?)(?: <[^<>\s]+>)?(?: on [^\n]{1,300}?)?: (?:pressed )?\"(?P<quote>.+)\""
    r"(?: \(message deleted [^()]+\))?",
    re.DOTALL,
)
_PERSON: Final = regex(r"(?P<platform>[A-Za-z][\w-]*):(?P<id>\S(?:.*\S)?)")
_NOBODY: Final = regex(
    r"\W*(?:(?:the )?(?:agent|assistant|auto|automatic|bot|default|import|inferred|llm|model|n/?a|nil|no|none|null"
    r"|orchestrator|recommended|system|tbd|unknown)(?:[-_# ]\w+)?)?\W*(?::.*)?",
    re.IGNORECASE | re.DOTALL,
)


class Fields:
    """Collects the mistakes of one file."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.mistakes: list[Mistake] = []

    def wrong(self, path: str, code: Code, message: str) -> None:
        self.mistakes.append(Mistake(path=path, code=code, message=message))

    def part(self, data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = data.get(key, {})
        if not isinstance(value, Mapping):
            self.wrong(key, "wrong_type", "this must be an object")
            return {}
        return value

    def rows(self, data: Mapping[str, Any], path: str) -> Sequence[Any]:
        value = data.get(path.rpartition(".")[2], [])
        if not isinstance(value, list | tuple):
            self.wrong(path, "wrong_type", "this must be a list")
            return ()
        return value

    def text(self, data: Mapping[str, Any], path: str, *, empty: bool = False) -> str:
        value = data.get(path.rpartition(".")[2])
        if not isinstance(value, str) or (not empty and not value.strip()):
            if value is None and empty:
                return ""
            missing = "a text is missing here" if value is None else "this must be a text that is not empty"
            self.wrong(path, "missing" if value is None or isinstance(value, str) else "wrong_type", missing)
            return ""
        return value

    def words(self, data: Mapping[str, Any], path: str) -> str | None:
        """A text, or nothing."""
        value = data.get(path.rpartition(".")[2])
        if value is not None and not isinstance(value, str):
            self.wrong(path, "wrong_type", "this must be a text or nothing")
            return None
        return value

    def texts(self, data: Mapping[str, Any], path: str) -> tuple[str, ...]:
        value = self.rows(data, path)
        if not all(isinstance(v, str) for v in value):
            self.wrong(path, "wrong_type", "this must be a list of texts")
            return ()
        return tuple(value)

    def number(self, value: object, path: str, code: Code, most: int, what: str) -> int:
        """A whole number from 1 to `most`; 1 where it is none."""
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most:
            return value
        self.wrong(path, code, f"{value!r} is no {what}; {what}s are 1 to {most}")
        return 1

    def phase(self, value: object, path: str) -> int:
        return self.number(value, path, "no_phase", LAST, "phase")

    def tier(self, value: object, path: str) -> int | None:
        """From a number, or from words that hold one: "Tier 2 — standard"."""
        if value is None:
            return None
        digits = [int(c) for c in str(value) if c.isdigit()]
        if len(digits) == 1 and digits[0] in TIERS:
            return digits[0]
        self.wrong(path, "no_tier", f"{value!r} is no tier; tiers are {', '.join(map(str, TIERS))}")
        return None

    def person(self, data: Mapping[str, Any], path: str) -> str:
        value = data.get(path.rpartition(".")[2])
        found = _PERSON.fullmatch(value) if isinstance(value, str) else None
        if found is None or _NOBODY.fullmatch(found["platform"]) or _NOBODY.fullmatch(found["id"]):
            self.wrong(path, "no_person", f"{value!r} names no person; write platform:person")
            return ""
        assert isinstance(value, str)
        return value

    def message(self, data: Mapping[str, Any], path: str) -> str:
        """The proof: a message's id and a quote, as `capture.reference` writes them (CA-2)."""
        value = data.get(path.rpartition(".")[2])
        found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if found is None or _NOBODY.fullmatch(found["id"]) or not found["quote"].strip():
            self.wrong(
                path,
                "no_message",
                f'{value!r} names no message of a person; write its id and a quote, as in 12: "1: B", or leave the '
                "entry out: it is asked again",
            )
            return ""
        assert isinstance(value, str)
        return value

    def time(self, value: object, path: str) -> datetime:
        """A claimed time: readable, with its zone, and not in the future; else the file can not be believed."""
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            told = f"{value!r} is no time with a zone; leave the entry out, or repair it from the original"
            self.wrong(path, "no_time", told)
            return self.now
        if moment > self.now + SKEW:
            told = f"{value} lies in the future: it was not written down when it happened. Export it anew"
            self.wrong(path, "future_time", told)
            return self.now
        return moment
