"""Text from outside, made safe to look at: what would steer a terminal is shown as a mark (field case b49).

The stored text is never changed; this is for printing and for Markdown.
"""

from __future__ import annotations

import re

# C0, DEL, C1 (U+009B alone begins a control sequence) and the characters that turn the direction of writing:
# unicode.org/reports/tr9/#Directional_Formatting_Characters
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")


def marked(value: str, *, keep: str = "") -> str:
    """The text with a mark for each steering character, except those in `keep` (say, a line break)."""
    return _STEERING.sub(lambda found: found[0] if found[0] in keep else _mark(ord(found[0])), value)


def _mark(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)  # ␛ and the like: the block "Control Pictures"
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩"
