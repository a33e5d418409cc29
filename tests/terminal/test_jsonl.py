"""`chat --jsonl`, line by line, on the toy core."""

from __future__ import annotations

import asyncio
import io
import json
import os

import pytest

from adapters.terminal.jsonl import run_jsonl
from tests.fakes.clock import ManualClock, eventually
from tests.fakes.store import FakeStore
from tests.fakes.terminal import feed, terminal_parts


def texts(out: list) -> list[str]:
    return [line["text"] for line in out if "text" in line]


def done(out: list) -> list[tuple[str, str]]:
    return [(line["done"], line["outcome"]) for line in out if "done" in line]


async def test_a_line_its_messages_and_then_done() -> None:
    out, code = await feed([{"text": "two", "id": "u7"}])
    assert out == [
        {"message": "m1", "place": "terminal", "text": "one"},
        {"message": "m2", "place": "terminal", "text": "two"},
        {"done": "u7", "outcome": "accepted"},
    ]
    assert code == 0


async def test_who_where_and_with_what() -> None:
    out, _ = await feed([{"text": "look", "from": "ana", "place": "room", "files": [{"name": "draft.md"}]}])
    assert out[0] == {"message": "m1", "place": "room", "text": "1. ana: look [file draft.md]"}


async def test_files_alone_are_a_message() -> None:
    out, code = await feed([{"files": [{"name": "a.pdf"}, {"name": "b.md"}]}])
    assert texts(out) == ["1. you:  [file a.pdf] [file b.md]"]
    assert code == 0


async def test_cards_have_buttons_and_are_redrawn_under_their_number() -> None:
    out, _ = await feed([{"text": "card"}, {"press": {"message": "m1", "button": "B second"}, "from": "ana"}])
    assert out[0]["buttons"] == [{"id": "toy:A", "label": "A first"}, {"id": "toy:B", "label": "B second"}]
    assert out[0]["session"] == "s"
    notice, said, redrawn, _ = out[2:]
    assert notice == {"message": "u2.reply", "place": "terminal", "text": "noted, ana", "only_to": "ana"}
    assert said["text"] == "ana pressed B second on card"
    assert (redrawn["message"], redrawn["edits"]) == ("m1", "m1")


@pytest.mark.parametrize("button", ["toy:B", "B second", "b SECOND", "B", "b"])
async def test_a_press_names_the_id_the_label_or_the_letter(button: str) -> None:
    """CH-1."""
    out, _ = await feed([{"text": "card"}, {"press": {"message": "m1", "button": button}}])
    assert "you pressed B second on card" in texts(out)


async def test_a_press_counts_against_the_message_as_last_shown() -> None:
    lines = [{"text": "card"}, {"text": "redraw"}, {"press": {"message": "m1", "button": "C"}}]
    out, _ = await feed(lines)
    assert "you pressed C third on card" in texts(out)


async def test_a_press_on_a_button_that_was_there_once_reaches_the_core() -> None:
    """RD-14: what a late press is worth is the core's to say."""
    lines = [{"text": "card"}, {"text": "redraw"}, {"press": {"message": "m1", "button": "A"}}]
    out, _ = await feed(lines)
    assert "you pressed A first on card" in texts(out)


async def test_a_press_on_nothing_known_gets_an_honest_notice() -> None:
    out, code = await feed([{"press": {"message": "m9", "button": "zzz"}}])
    assert texts(out) == ["that button is no longer in use"]
    assert code == 0


async def test_the_same_id_again_is_the_same_event() -> None:
    line = {"text": "a", "id": "u7"}
    out, _ = await feed([line, line, line | {"place": "b"}])
    assert done(out) == [("u7", "accepted"), ("u7", "duplicate"), ("u7", "accepted")]
    assert len(texts(out)) == 2


async def test_lines_without_an_id_never_repeat_one_across_runs() -> None:
    store = FakeStore()
    first, _ = await feed([{"text": str(n)} for n in range(11)], store)
    second, _ = await feed([{"text": "x"}, {"text": "y"}], store)
    assert [name for name, _ in done(first)][-1] == "u11"
    assert done(second) == [("u12", "accepted"), ("u13", "accepted")]


async def test_an_edit_replaces_an_earlier_line() -> None:
    store = FakeStore()
    await feed([{"text": "2: B", "id": "u2"}, {"edit": "u2", "text": "2: C"}], store)
    edit = store.commits[-1].envelope.event
    assert (edit.kind, edit.message, edit.text, edit.ref.quote) == ("edit", "u2", "2: C", "2: C")


async def test_a_reply_names_the_message_it_answers() -> None:
    """RP-7."""
    out, _ = await feed([{"text": "card"}, {"text": "hm", "reply_to": "m1"}])
    assert texts(out)[-1] == "2. you: hm (about card)"


async def test_a_line_is_younger_than_the_messages_shown_before_it() -> None:
    """RP-7: older and younger by number, not by clock."""
    store = FakeStore()
    await feed([{"text": "two"}, {"text": "card"}, {"text": "x"}], store)
    orders = [commit.envelope.event.order for commit in store.commits]
    assert orders == [1, 5, 6, 7]  # two, card, its posting as m3, x


async def test_a_leading_mention_is_transport() -> None:
    """RT-6."""
    store = FakeStore()
    await feed([{"text": "@askfirst: help", "place": "room", "shared": True}], store)
    event = store.commits[0].envelope.event
    assert (event.text, event.addressed, event.ref.quote) == ("help", True, "@askfirst: help")
    assert store.commits[0].envelope.place.shared


async def test_private_messages_say_for_whom() -> None:
    out, _ = await feed([{"text": "secret", "from": "ben"}])
    assert out[0]["only_to"] == "ben"


async def test_documents_come_as_an_extra_key() -> None:
    out, _ = await feed([{"text": "file"}])
    assert out[0]["files"] == [{"name": "result.json", "media": "application/json", "content": "{}"}]


async def test_ignored_lines_say_why() -> None:
    out, _ = await feed([{"text": "chatter", "id": "u1"}])
    assert out == [{"done": "u1", "outcome": "ignored", "reason": "not meant for the bot"}]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "not_json"),
        (b"[1]", "not_an_object"),
        (b'"text"', "not_an_object"),
        (b'{"text": "\xff"}', "not_utf8"),
        (b"[" * 100_000, "not_json"),
        (b'{"files": [{"name": "a", "size": ' + b"9" * 5000 + b"}]}", "not_json"),
        ({}, "nothing_said"),
        ({"text": None}, "nothing_said"),
        ({"from": "ana"}, "nothing_said"),
        ({"text": 7}, "wrong_type"),
        ({"text": "x", "from": ""}, "wrong_type"),
        ({"text": "x", "shared": "yes"}, "wrong_type"),
        ({"press": "m1"}, "wrong_type"),
        ({"press": {"message": "m1"}}, "nothing_said"),
        ({"press": {"message": "m1", "button": "A"}, "text": "x"}, "several_acts"),
        ({"press": {"message": "m1", "button": "A"}, "edit": "u1"}, "several_acts"),
        ({"edit": "u1"}, "nothing_said"),
        ({"files": ["a"]}, "wrong_type"),
        ({"files": [{}]}, "nothing_said"),
        (b'{"text": "' + b"x" * 1_000_000 + b'"}', "too_long"),
    ],
)
async def test_a_bad_line_says_so_and_the_rest_counts(line: object, code: str) -> None:
    out, exit_code = await feed([{"text": "a"}, line, {"text": "b"}])
    [error] = [entry["error"] for entry in out if "error" in entry]
    assert (error["line"], error["code"]) == (2, code)
    assert error["message"]
    assert texts(out) == ["1. you: a", "2. you: b"]
    assert exit_code == 1


async def test_a_failure_of_ours_is_told_and_the_rest_counts() -> None:
    out, code = await feed([{"text": "break it", "id": "u1"}, {"text": "b"}])
    assert "our mistake" in texts(out)[0]
    assert out[1] == {"done": "u1", "outcome": "refused", "reason": "our mistake: ZeroDivisionError"}
    assert texts(out)[1:] == ["1. you: b"]
    assert code == 0


async def test_odd_text_survives() -> None:
    lines = [b'{"text": "a\\ud800b\\u0000c"}', {"text": "x" * 100_000}, b"", b'{"text": "d"}\r', {"text": ""}]
    out, code = await feed(lines)
    assert texts(out)[0] == "1. you: a\ufffdb\ufffdc"
    assert len(texts(out)[1]) > 100_000
    assert texts(out)[2:] == ["3. you: d", "4. you: "]
    assert code == 0


async def test_at_the_end_of_input_the_grace_is_over() -> None:
    """RD-16."""
    out, _ = await feed([{"text": "grace"}])
    assert out[-1] == {"message": "m1", "place": "terminal", "text": "grace:s rang"}


async def test_other_timers_do_not_delay_the_end() -> None:
    store, clock = FakeStore(), ManualClock()
    await feed([{"text": "grace"}], store, clock)
    store.timer_rows["terminal:terminal", "remind:s"] = clock.now().replace(year=2030)
    out, _ = await asyncio.wait_for(feed([{"text": "x"}], store, clock), 5)
    assert texts(out) == ["2. you: x"]


async def test_after_a_restart_unsent_rows_come_first_and_numbers_go_on() -> None:
    store = FakeStore()
    await feed([{"text": "two"}], store)
    store.rows[1].sent = None  # killed before it was settled
    out, _ = await feed([{"text": "x"}], store)
    assert [line.get("message") for line in out] == ["m2", "m3", None]
    assert texts(out) == ["two", "2. you: x"]


async def test_a_press_on_a_message_of_an_earlier_run_finds_its_button() -> None:
    store = FakeStore()
    await feed([{"text": "card"}], store)
    out, _ = await feed([{"press": {"message": "m1", "button": "B"}}], store)
    assert "you pressed B second on card" in texts(out)


async def test_timers_fire_between_lines() -> None:
    store, clock = FakeStore(), ManualClock()
    reader, writer = os.pipe()
    sink = io.BytesIO()
    with os.fdopen(reader, "rb") as source:
        run = asyncio.create_task(
            run_jsonl(lambda screen: terminal_parts(store, clock, screen), source, sink),
        )
        os.write(writer, b'{"text": "grace"}\n')
        await eventually(lambda: b"done" in sink.getvalue() and clock.sleeping)
        clock.advance(5)
        await eventually(lambda: b"rang" in sink.getvalue())
        os.close(writer)
        assert await asyncio.wait_for(run, 5) == 0


async def test_nobody_reading_ends_it_quietly_and_keeps_the_row() -> None:
    store = FakeStore()
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb", buffering=0) as sink:
        code = await run_jsonl(
            lambda screen: terminal_parts(store, ManualClock(), screen), io.BytesIO(b'{"text": "a"}\n'), sink
        )
    assert code == 1
    assert store.rows[0].waiting


def test_every_line_out_is_json_even_with_line_separators() -> None:
    out, _ = asyncio.run(feed([{"text": "a\u2028b\u0085c"}]))
    assert json.loads(json.dumps(out[0]))["text"] == "1. you: a\u2028b\u0085c"
