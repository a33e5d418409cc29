"""Regular expressions that are compiled when they are first used.

The core has a hundred, and a program that is just starting needs a handful: compiling all of them took a tenth of the
time to the first answer.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Later:
    """Stands for a pattern. What is asked of it for the first time is then kept here, so a look-up costs nothing."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, later. A mistake in the text shows at the first use: a test compiles all of them."""
    return cast("re.Pattern[str]", _Later(text, flags))
