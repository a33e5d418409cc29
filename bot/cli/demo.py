"""`askfirst demo` without a terminal: the bundled sample played through the same program, and what it stored."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import typer

from bot.cli.chat import run_lines
from bot.cli.records import opened
from config.settings import BUNDLED, Settings
from storage.export import export
from storage.marks import marked

SAMPLE = BUNDLED / "sample.jsonl"


async def play_sample(settings: Settings) -> int:
    """Plays on a throw-away database, prints the conversation and the clarifications; gives the exit code."""
    with tempfile.TemporaryDirectory(prefix="askfirst-demo-") as folder:
        throw_away = settings.model_copy(update={"database": str(Path(folder) / "demo.db")})
        said = SAMPLE.read_bytes()
        sink = io.BytesIO()
        code = await run_lines(throw_away, io.BytesIO(said), sink)
        _print_conversation(said, sink.getvalue())
        async with opened(throw_away) as store:
            pieces = [piece async for piece in export(store, "jsonl")]
    typer.echo("\nStored, with proof of who decided what:\n")
    for line in "".join(pieces).splitlines():
        entry = json.loads(line)
        chosen = entry["chosen"] + (f" “{entry['chosen_text']}”" if entry["chosen_text"] else "")
        typer.echo(f"  {entry['id']}  {entry['topic']}: {chosen}")
        typer.echo(f"      chosen_via {entry['chosen_via']} · by {entry['answered_by']} · {entry['chosen_at']}")
        typer.echo(f"      {entry['user_message_ref']}")
    return code


def _print_conversation(said: bytes, answered: bytes) -> None:
    """Each line that went in, then the messages that it caused. A card redrawn in place is one short line."""
    lines = iter([json.loads(line) for line in said.splitlines() if line.strip()])
    _print_person(next(lines))
    for raw in answered.splitlines():
        line = json.loads(raw)
        if "done" in line and (following := next(lines, None)) is not None:
            _print_person(following)
        elif "edits" in line:
            typer.echo(f"\n           (card {line['edits']} is redrawn in place)")
        elif "message" in line:
            typer.echo("\n" + _block("askfirst> ", line["text"]))
            if line.get("buttons"):
                typer.echo(" " * 10 + "  ".join(f"[ {button['label']} ]" for button in line["buttons"]))
            for file in line.get("files", ()):
                typer.echo(f"          + {file['name']} ({len(file['content'])} characters)")


def _print_person(line: dict[str, Any]) -> None:
    files = "".join(f" [{file['name']}]" for file in line.get("files", ()))
    typer.echo("\n" + _block(f"{line['from']}> ", line.get("text", "") + files))


def _block(head: str, text: str) -> str:
    """Text under a speaker's name, indented."""
    return "\n".join(
        (head.rjust(10) if number == 0 else " " * 10) + marked(line) for number, line in enumerate(text.split("\n"))
    )
