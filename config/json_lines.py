"""Where the parts of a JSON text stand: `questions[0].options[2]` is in line 14."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)


@dataclass
class _Level:
    path: str
    number: int | None  # of the element, in a list; None in an object
    key: str = ""

    def here(self) -> str:
        if self.number is not None:
            return f"{self.path}[{self.number}]"
        return f"{self.path}.{self.key}" if self.path else self.key


def lines_of(text: str) -> dict[str, int]:
    """Line by path, for a text that `json.loads` accepts. Iterative: depth is no danger here."""
    lines: dict[str, int] = {}
    levels: list[_Level] = []
    line, place = 1, 0
    expects_key = False
    for token in _TOKEN.finditer(text):
        line += text.count("\n", place, token.start())
        place = token.start()
        said = token.group()
        if said in "}]":
            levels.pop()
            expects_key = False
        elif said == ",":
            if levels[-1].number is None:
                expects_key = True
            else:
                levels[-1].number += 1
        elif said == ":":
            expects_key = False
        elif expects_key:
            levels[-1].key = said[1:-1]
            lines.setdefault(levels[-1].here(), line)
        else:
            path = levels[-1].here() if levels else ""
            lines.setdefault(path, line)
            if said in "{[":
                levels.append(_Level(path, 0 if said == "[" else None))
                expects_key = said == "{"
    return lines


def line_of(path: str, lines: dict[str, int]) -> int:
    """The line of the path, or of the nearest part around it."""
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path, 1)
