"""Single values as stored."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storage.values import canonical, canonical_in_order, cleaned, iso, micros, moment, text


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_comes_back_to_the_microsecond(when: datetime) -> None:
    assert moment(micros(when)) == when


def test_a_moment_is_stored_in_utc() -> None:
    berlin = timezone(timedelta(hours=1))
    assert micros(datetime(1970, 1, 1, 1, 0, 0, 5, tzinfo=berlin)) == 5
    assert iso(5) == "1970-01-01T00:00:00.000005Z"
    assert iso(0) == "1970-01-01T00:00:00.000000Z"


@given(st.text(st.characters(codec=None)))
def test_every_text_can_be_stored_and_only_what_can_not_is_replaced(value: str) -> None:
    stored = text(value)
    assert stored.encode().decode() == stored
    assert "\0" not in stored
    assert len(stored) == len(value)
    assert all(new in (old, "\ufffd") for old, new in zip(value, stored, strict=True))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [None, True, "ü"]}, '{"a":[null,true,"ü"],"b":1}'),
        ({"a": ("x", 2.5)}, '{"a":["x",2.5]}'),
        ({"b": 1e-7, "a": 1}, '{"a":1,"b":1e-07}'),
        ({"a": ["\ud800"]}, '{"a":["\ufffd"]}'),
        ({"a\0": "\ud800"}, '{"a\ufffd":"\ufffd"}'),
        ({"at": datetime(2026, 12, 1, tzinfo=UTC)}, '{"at":"2026-12-01T00:00:00Z"}'),
    ],
)
def test_one_json_text_per_value(value: Any, written: str) -> None:
    assert canonical(value) == written


values = st.recursive(
    st.none() | st.integers() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
)


@given(values)
def test_what_is_written_is_the_cleaned_value(value: Any) -> None:
    assert canonical(value) == json.dumps(cleaned(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


columns = st.lists(st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None)))


@given(columns, columns)
@example(["".join(map(chr, range(0x3000))), "\\u0000", "\ud800", "\U0001f600"], [])
def test_what_is_in_order_already_is_written_as_everything_else(first: list[Any], second: list[Any]) -> None:
    assert canonical_in_order(first) == canonical(first)
    options = [{"a": first, "b": second}]
    assert canonical_in_order(options) == canonical(options)


def test_cleaning_leaves_other_values_alone() -> None:
    assert cleaned([1, None, 2.5, {"a": "b"}]) == [1, None, 2.5, {"a": "b"}]
