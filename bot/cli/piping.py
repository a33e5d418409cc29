"""Commands that other programs pipe records through, and the lints of what people write."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from bot.cli.command import Config, Json, app, emit, fail, settings


def _records(stream: BinaryIO) -> Iterator[object]:
    """The JSON values of a stream, one a line; a line that is none comes as the `ValueError` that says why."""
    for number, raw in enumerate(stream, start=1):
        if not raw.strip():
            continue
        try:
            yield json.loads(raw.decode("utf-8-sig"))  # some editors begin a file with a byte order mark
        except RecursionError:
            yield ValueError(f"line {number}: nested too deeply")
        except ValueError as error:
            yield ValueError(f"line {number}: not JSON: {error}")


def _each(make: Callable[[object], dict[str, Any]]) -> int:
    """One line out per line in, in order; a bad record gives {"id", "error"} and exit 1 at the end."""
    bad = False
    for record in _records(sys.stdin.buffer):
        made = {"id": None, "error": str(record)} if isinstance(record, ValueError) else make(record)
        bad |= "error" in made
        # ASCII: a lone surrogate in an id comes back as it went in
        sys.stdout.write(json.dumps(made, ensure_ascii=True) + "\n")
        sys.stdout.flush()
    return 1 if bad else 0


Jsonl = Annotated[bool, typer.Option("--jsonl", help="One JSON object a line, in and out.")]


@app.command()
def parse(jsonl: Jsonl = False, config: Config = None) -> None:
    """Read replies to lettered questions: {"id", "reply", "questions", "options", "recommended", …} a line."""
    from bot.app import phrase_book
    from bot.core.replies.records import parse_record

    if not jsonl:
        fail("give --jsonl: this command reads one JSON object a line on standard input", 2)
    book = phrase_book(settings(config=config))
    raise typer.Exit(_each(lambda record: parse_record(record, book)))


@app.command()
def route(jsonl: Jsonl = False, config: Config = None) -> None:
    """Route first messages: {"id", "text", "files", "position", "pack", "menu"?} a line."""
    from bot.app import load_packs
    from bot.core.routing import route_record

    if not jsonl:
        fail("give --jsonl: this command reads one JSON object a line on standard input", 2)
    packs = load_packs(settings(config=config))
    raise typer.Exit(_each(lambda record: route_record(record, packs)))


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files or folders.")], as_json: Json = False
) -> None:
    """Lint playbooks, packs, phrases and filed rounds: every problem with file and line."""
    from dataclasses import asdict

    from config.check import check_paths

    problems = check_paths(paths)
    if as_json:
        emit([asdict(problem) for problem in problems])
    for problem in problems if not as_json else ():
        typer.echo(str(problem))
    if not problems and not as_json:
        typer.echo("nothing to report")
    raise typer.Exit(1 if any(problem.level == "refused" for problem in problems) else 0)
