"""How single values are written: times, text and JSON. The same in every database.

Times are integer microseconds since 1970 in UTC. SQLite and PostgreSQL compare and sort them alike, and a
52-bit id or a far year loses no digit (field case b07). JSON is text.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# PostgreSQL refuses NUL in text (postgresql.org/docs/15/datatype-character.html), and nothing encodes half of a
# surrogate pair.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_HALF = re.compile("[\ud800-\udfff]")

# Of what is made of these the two writers of JSON make the same text; floats they write differently.
_FLAT = frozenset({str, int, bool, type(None)})

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=to_jsonable_python)


def micros(moment: datetime) -> int:
    """A moment as stored. Integer division: `timestamp()` is a float and loses microseconds."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(stored: int) -> datetime:
    return _EPOCH + stored * _MICROSECOND


def iso(stored: int) -> str:
    """A stored time as ISO 8601 with Z, always with six digits, so that text sorts like time (CA-1)."""
    return moment(stored).isoformat(timespec="microseconds").replace("+00:00", "Z")


def turn(moment: datetime) -> str:
    """A moment in twenty digits: as text it sorts like time."""
    return f"{micros(moment):020d}"


def text(value: str) -> str:
    """The text as every database can hold it: what can not be stored becomes U+FFFD, so nothing fails to store."""
    if value.isascii() and "\0" not in value:  # nearly always, and ten times faster than the search
        return value
    return _UNSTORABLE.sub("\ufffd", value)


def cleaned(value: Any) -> Any:
    """`text` applied to every string of a JSON-like value, keys included."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in value]
    return value


def canonical(value: Any) -> str:
    """One JSON text per value: sorted keys, no spaces. Hashes are taken over its UTF-8 bytes."""
    if type(value) is dict and _FLAT.issuperset(map(type, value.values())):
        return canonical_in_order(dict(sorted(value.items())))
    return _canonical(value)


def _canonical(value: Any) -> str:
    written = _ENCODER.encode(value)
    if "\\u0000" not in written and (written.isascii() or not _HALF.search(written)):
        return written  # nearly always: looking through the text costs a tenth of looking through the value
    return _ENCODER.encode(cleaned(value))


def canonical_in_order(value: Any) -> str:
    """As `canonical`, in a fifth of the time, for what holds no floats and whose keys are in order by themselves."""
    try:
        written = to_json(value)
    except PydanticSerializationError:  # half of a surrogate pair
        return _canonical(value)
    return _canonical(value) if b"\\u0000" in written else written.decode()
