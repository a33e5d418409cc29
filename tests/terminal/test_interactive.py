"""The chat as a person has it, on a terminal without a screen."""

from __future__ import annotations

import asyncio
import io
from contextlib import asynccontextmanager

from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.cells import cell_len
from rich.console import Console

from adapters.terminal.board import Board, visible
from adapters.terminal.codec import Shown
from adapters.terminal.interactive import run_interactive
from bot.core.effects import File
from tests.fakes.clock import ManualClock, eventually
from tests.fakes.store import FakeStore
from tests.fakes.terminal import terminal_parts
from tests.fakes.toy import words


class Seat:
    """A person at a terminal."""

    def __init__(self, pipe, store: FakeStore, posted: int = 0) -> None:
        self.store, self._pipe, self.screen = store, pipe, io.StringIO()
        console = Console(file=self.screen, width=80)
        self.run = asyncio.create_task(
            run_interactive(
                lambda screen: terminal_parts(store, ManualClock(), screen, posted),
                terminal=(pipe, DummyOutput()),
                console=console,
            )
        )

    def type(self, keys: str) -> None:
        self._pipe.send_text(keys)

    async def until(self, text: str) -> None:
        await eventually(lambda: text in self.screen.getvalue())

    async def heard(self, count: int) -> None:
        await eventually(lambda: len(self.store.commits) >= count)


@asynccontextmanager
async def seat(store: FakeStore | None = None, posted: int = 0):
    with create_pipe_input() as pipe:
        one = Seat(pipe, store or FakeStore(), posted)
        yield one
        assert await asyncio.wait_for(one.run, 5) == 0


async def test_says_and_is_answered_and_leaves() -> None:
    async with seat() as person:
        person.type("hello\r")
        await person.until("1. you: hello")
        person.type("/quit\r")


async def test_presses_a_button_by_number_and_keeps_what_was_typed() -> None:
    async with seat() as person:
        person.type("card\r")
        await person.heard(2)
        person.type("#2\r")
        await person.until("you pressed B second on card")
        person.type("half a")
        person.type("\x1b1")  # Alt-1, now "B later"
        await person.until("you pressed B later on card")
        person.type(" word\r")
        await person.until("you: half a word")
        person.type("\x04")


async def test_after_a_restart_the_card_that_waits_stands_again() -> None:
    """P53: whoever comes back sees what is open, and its buttons work."""
    async with seat() as person:
        await person.until("#2")  # how a button is pressed
        person.type("card\r")
        await person.heard(2)
        person.type("hello\r")
        await person.until("you: hello")
        person.type("/quit\r")
    posted = await person.store.posted_count("terminal")
    async with seat(person.store, posted) as person:
        person.type("#2\r")
        await person.until("you pressed B second on card")
        person.type("/quit\r")


async def test_a_number_without_the_mark_is_text() -> None:
    async with seat() as person:
        person.type("card\r")
        await person.heard(2)
        person.type("2\r")
        await person.until("2. you: 2")
        person.type("\x03")


async def test_ctrl_c_clears_the_line_first_and_leaves_then() -> None:
    async with seat() as person:
        person.type("not this\x03")
        person.type("this\r")
        await person.until("1. you: this")
        person.type("\x03")


async def test_the_grace_is_over_when_the_person_leaves() -> None:
    """RD-16."""
    async with seat() as person:
        person.type("grace\r")
        await person.heard(1)
        person.type("/quit\r")
    assert "grace:s rang" in person.screen.getvalue()


async def test_a_failure_of_ours_does_not_end_the_chat() -> None:
    async with seat() as person:
        person.type("break it\r")
        person.type("hello\r")
        await person.until("1. you: hello")
        person.type("/quit\r")
    assert "our mistake" in person.screen.getvalue()


async def test_documents_are_printed() -> None:
    async with seat() as person:
        person.type("file\r")
        await person.until("result.json")
        person.type("/quit\r")


# -- the board ---------------------------------------------------------------------------------------------------


def board(rows: int = 24) -> tuple[Board, io.StringIO]:
    screen = io.StringIO()
    return Board(lambda: Console(file=screen, width=60), lambda: (rows, 60), lambda: None), screen


def prompt(subject: Board) -> str:
    return "".join(text for _, text in subject.prompt())


def test_a_card_stands_and_changes_in_place() -> None:
    subject, screen = board()
    subject.show(Shown("m1", "terminal", words("pick one", "A", "B")))
    assert prompt(subject) == "pick one\n#1 A   #2 B\n> "
    subject.show(Shown("m1", "terminal", words("now the other", "C"), edits="m1"))
    assert prompt(subject) == "now the other\n#1 C\n> "
    assert screen.getvalue() == ""
    subject.show(Shown("m1", "terminal", words("done"), edits="m1"))
    assert (prompt(subject), screen.getvalue()) == ("> ", "done\n\n")


def test_a_new_card_sends_the_old_one_up() -> None:
    subject, screen = board()
    subject.show(Shown("m1", "terminal", words("first", "A")))
    subject.show(Shown("m2", "terminal", words("second", "B")))
    assert "first" in screen.getvalue()
    assert subject.message == "m2"


def test_a_card_taller_than_the_screen_scrolls_and_keeps_its_buttons_in_reach() -> None:
    subject, screen = board(rows=10)
    tall = "\n".join(f"line {n}" for n in range(30))
    subject.show(Shown("m1", "terminal", words(tall, "A")))
    assert "line 29" in screen.getvalue()
    assert prompt(subject) == "#1 A\n> "


def test_long_lines_count_as_the_rows_they_take() -> None:
    subject, screen = board(rows=10)
    subject.show(Shown("m1", "terminal", words("word " * 100, "A")))
    assert "word" in screen.getvalue()
    assert prompt(subject) == "#1 A\n> "


def test_no_word_and_no_button_is_cut_at_the_edge_of_the_screen() -> None:
    """CH-4: the whole card is on the screen, wrapped where it is too wide."""
    subject, _ = board()
    buttons = [f"Accept {n} recommendations" for n in range(1, 5)]
    subject.show(Shown("m1", "terminal", words("推荐 many words " * 10 + "the end", *buttons)))
    lines = prompt(subject).split("\n")
    assert max(cell_len(line) for line in lines) <= 60
    assert "the end" in lines[-4]
    assert [line.count("#") for line in lines[-3:]] == [2, 2, 0]


def test_a_tall_card_scrolls_once_more_only_when_it_reads_otherwise() -> None:
    subject, screen = board(rows=10)
    tall = "\n".join(f"line {n}" for n in range(30))
    for text in (tall, tall, f"{tall}\nand one"):
        subject.show(Shown("m1", "terminal", words(text, "A")))
    assert screen.getvalue().count("line 29") == 2


def test_in_a_window_that_becomes_smaller_the_card_scrolls_and_is_not_gone() -> None:
    screen, size = io.StringIO(), [24, 60]
    subject = Board(lambda: Console(file=screen, width=60), lambda: (size[0], size[1]), lambda: None)
    subject.show(Shown("m1", "terminal", words("\n".join(f"line {n}" for n in range(12)), "A")))
    assert "line 11" in prompt(subject)
    size[0] = 10
    for _ in range(2):
        assert prompt(subject) == "#1 A\n> "
    subject.leave()
    assert screen.getvalue().count("line 11") == 1


def test_a_text_document_is_printed_whole_and_others_are_named() -> None:
    subject, screen = board()
    files = (File(name="a.md", media="text/markdown", content="# All of it"),)
    files += (File(name="b.json", media="application/json", content='{"much": 1}'),)
    subject.show(Shown("m1", "terminal", words("done", files=files)))
    assert "# All of it" in screen.getvalue()
    assert "(b.json, application/json)" in screen.getvalue()
    assert "much" not in screen.getvalue()


def test_nothing_said_can_rewrite_the_screen() -> None:
    assert visible("a\x1b]0;title\x07b\x9bc\nd\te") == "a\ufffd]0;title\ufffdb\ufffdc\nd\te"
