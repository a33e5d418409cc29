"""What is wrong with a file of a pack, and where: every mistake of a folder is reported at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """`line` counts from 1; 0 where a file has no lines to speak of. `refused` keeps a pack from loading."""

    file: str
    line: int
    level: Literal["refused", "warned"]
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.level}: {self.code}: {self.message}"


class Unloadable(Exception):
    """A folder of configuration can not be used. Holds every problem, warned ones included."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(p) for p in self.problems))
