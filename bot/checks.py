"""What `askfirst doctor` has looked at: one `Check` each, in words for the operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """`finding` makes the exit code 1 and says in `fix` what to do; a `note` is worth knowing, and all is well."""

    name: str
    level: Literal["ok", "note", "finding"]
    message: str
    fix: str | None = None
