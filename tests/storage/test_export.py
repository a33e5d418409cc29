"""Exports give every clarification back as it was recorded, under the names of CA-1."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest

from bot.core.capture import exported as exported_by_the_core
from bot.core.capture import reference
from bot.core.effects import Clarification
from bot.core.model import MessageRef
from storage import open_store
from storage.export import FIELDS, Format, export
from storage.marks import marked
from storage.records import RecordStore
from tests.storage.build import START, clarification, commit, recorded

# Field case b11: what a spreadsheet or a line reader would change; then what steers terminals (b49).
TEXTS = [
    "1-2",
    "3/4",
    "007",
    "22.5",
    "1e5",
    "Größe, 日本 🙂 \u2028 end",
    'say "hi", then; go\r\nsecond line | with a pipe',
    "N",
    "null",
    "",
    "=SUM(A1)",
    " spaces kept ",
    "\x1b[1A\x1b[2K✔ audit verified\r31mred \x9b2J",
    "a\x85b\x0cc\x1dd",
]


@pytest.fixture(params=["memory:", "file"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RecordStore]:
    store = await open_store("memory:" if request.param == "memory:" else str(tmp_path / "a.db"))
    yield store
    await store.close()


async def record(store: RecordStore, *records: Clarification) -> None:
    for n, one in enumerate(records):
        await store.commit(commit(f"e{n}", 0, f"terminal:{n}", **recorded(one)))


async def exported(store: RecordStore, form: Any, **more: Any) -> str:
    return "".join([piece async for piece in export(store, form, **more)])


def other(n: int, text: str) -> Clarification:
    return clarification(session=f"p{n:02d}", chosen="C", chosen_text=text, user_note=text or None)


async def test_every_text_comes_back_from_json_jsonl_and_csv(store: RecordStore) -> None:
    await record(store, *(other(n, text) for n, text in enumerate(TEXTS)))
    as_json = json.loads(await exported(store, "json"))
    as_lines = await exported(store, "jsonl")
    assert len(as_lines.splitlines()) == len(TEXTS)  # splitlines breaks at U+2028 too
    as_jsonl = [json.loads(line) for line in as_lines.split("\n")[:-1]]
    as_csv = list(csv.DictReader(io.StringIO(await exported(store, "csv"), newline="")))
    for found in (as_json, as_jsonl, as_csv):
        assert [one["chosen_text"] for one in found] == TEXTS
    assert as_json == as_jsonl
    assert [json.loads(one["options"]) for one in as_csv] == [one["options"] for one in as_json]
    assert [one["chosen_at"] for one in as_csv] == ["2026-12-01T10:00:00.123456Z"] * len(TEXTS)


async def test_the_names_are_those_of_the_protocol_and_of_the_core(store: RecordStore) -> None:
    """CA-1"""
    one = clarification(phase=2, user_note="a note")
    await record(store, one)
    [found] = json.loads(await exported(store, "json"))
    assert list(found) == list(FIELDS)
    assert found == exported_by_the_core(one, START)
    assert [list(option) for option in found["options"]] == [["key", "label", "tradeoff", "recommended"]] * 3
    assert (await exported(store, "csv")).split("\r\n")[0].replace('"', "").split(",") == list(FIELDS)


async def test_nothing_and_an_empty_text_stay_two_things_in_csv(store: RecordStore) -> None:
    await record(store, other(0, ""))
    line = (await exported(store, "csv")).split("\r\n")[1]
    by_name = dict(zip(FIELDS, re.findall(r'("(?:[^"]|"")*"|[^,]*)(?:,|$)', line), strict=False))
    assert (by_name["chosen_text"], by_name["user_note"], by_name["round"]) == ('""', "", "1")


async def test_a_byte_order_mark_only_when_asked_for(store: RecordStore) -> None:
    assert not (await exported(store, "csv")).startswith("\ufeff")
    assert (await exported(store, "csv", bom=True)).startswith("\ufeff")


async def test_markdown_tables_hold_whatever_is_in_them(store: RecordStore) -> None:
    await record(store, *(other(n, text) for n, text in enumerate(TEXTS)))
    text = await exported(store, "md")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)
    rows = [line for line in text.split("\n") if line.startswith("|")]
    assert len(rows) == len(TEXTS) * (len(FIELDS) + 2)
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert r"say " in text
    assert r'| chosen_text | say "hi", then; go<br>second line \| with a pipe |' in text
    assert r"␛\[1A␛\[2K✔ audit verified␍31mred ⟨U+009B⟩2J" in text
    assert "| options | A: SQLite file (simple)<br>B: Postgres server (many writers) \\[recommended\\]<br>" in text


LINK = "https://acme.slack.com/archives/C1/p1700000000000100?thread_ts=1700000000.000000&cid=C1"
LINKED = {
    MessageRef(id="17.1", quote="1: B", link=LINK): f'17.1 <{LINK}>: "1: B"',
    MessageRef(id="T:U:a_1", quote="B", link=LINK, card="17.0"): f'T:U:a\\_1 <{LINK}> on 17.0: pressed "B"',
    MessageRef(id="17.1", quote="see <https://a.example>"): r'17.1: "see \<https://a.example\>"',
    MessageRef(id="17.1", quote="1|B <b>", link=LINK): rf'17.1 <{LINK}>: "1\|B \<b\>"',
    MessageRef(id="17.1", quote="B", link="https://a.example/>|<x"): r'17.1 \<https://a.example/\>\|\<x\>: "B"',
}


@pytest.mark.parametrize("ref", LINKED, ids=lambda ref: f"{ref.id} {ref.quote}")
async def test_the_link_of_a_reference_can_be_followed_in_markdown(store: RecordStore, ref: MessageRef) -> None:
    """CA-2: as the core writes it; addresses in a person's own words stay words."""
    await record(store, clarification(user_message_ref=reference(ref)))
    assert f"| user_message_ref | {LINKED[ref]} |\n" in await exported(store, "md")
    assert json.loads(await exported(store, "json"))[0]["user_message_ref"] == reference(ref)


async def test_json_is_harmless_in_a_terminal(store: RecordStore) -> None:
    await record(store, other(0, "\x1b[2J\x9b2J\x7f"))
    for form in ("json", "jsonl"):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", await exported(store, form))


async def test_one_session_or_all(store: RecordStore) -> None:
    await record(store, clarification(session="s1"), clarification(session="s2"))
    for form in get_args(Format):
        whole, one = await exported(store, form), await exported(store, form, session="s2")
        assert "s1" in whole
        assert "s2" in whole
        assert "s1" not in one.replace("s1\\", "")
        assert "s2" in one


@pytest.mark.parametrize(("form", "expected"), [("json", "[]\n"), ("jsonl", ""), ("md", "No clarifications.\n")])
async def test_an_empty_export(store: RecordStore, form: str, expected: str) -> None:
    assert await exported(store, form) == expected


async def test_the_thousandth_comes_after_the_999th(store: RecordStore) -> None:
    ids = [f"clar-2026-12-01-{n:03d}" for n in (2, 999, 1000, 10000)]
    await record(store, *(clarification(id_) for id_ in reversed(ids)))
    assert [one["id"] for one in json.loads(await exported(store, "json"))] == ids


async def test_an_export_does_not_hold_all_rows_in_memory(tmp_path: Path) -> None:
    store = await open_store(str(tmp_path / "big.db"))
    crowd = [clarification(f"clar-2026-12-01-{n:03d}", chosen_text="x" * 2000) for n in range(3000)]
    await store.commit(commit("e1", **recorded(*crowd)))
    tracemalloc.start()
    try:
        length = 0
        async for piece in export(store, "jsonl"):
            length += len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        await store.close()
    assert length > 6_000_000
    assert peak < 4_000_000


def test_marks_stand_for_what_steers_a_terminal() -> None:
    assert marked("Ana\x1b[2J\x1b[H\x07") == "Ana␛[2J␛[H␇"
    assert marked("a\r\nb\u202ec\x7f") == "a␍␊b⟨U+202E⟩c␡"
    assert marked("a\nb", keep="\n") == "a\nb"
    assert marked("Größe 日本 🙂") == "Größe 日本 🙂"
