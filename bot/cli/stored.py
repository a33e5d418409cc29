"""Commands about what was stored: sessions, clarifications, specifications."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.command import Config, Db, Json, Session, app, fail, run, settings


@app.command()
def export(
    form: Annotated[
        Literal["json", "jsonl", "csv", "md", "spec", "spec-md"],
        typer.Option(
            "--format",
            metavar="json|jsonl|csv|md|spec|spec-md",
            help="How to write them; spec is one specification whole, as `askfirst import` reads it.",
        ),
    ] = "json",
    session: Session = None,
    db: Db = None,
) -> None:
    """Print the clarifications, with the names that other programs rely on."""
    from bot.cli.records import export_to
    from bot.cli.specs import export_spec

    if form == "spec" or form == "spec-md":
        if session is None:
            fail("give --session: a specification is exported by itself; `askfirst sessions` lists them", 2)
        run(export_spec(settings(database=db), session, sys.stdout, markdown=form == "spec-md"))
    run(export_to(settings(database=db), form, session, sys.stdout))


@app.command()
def sessions(as_json: Json = False, db: Db = None) -> None:
    """List the sessions, newest first."""
    from bot.cli.records import list_sessions

    run(list_sessions(settings(database=db), as_json))


@app.command()
def show(session: Annotated[str, typer.Argument(metavar="ID")], as_json: Json = False, db: Db = None) -> None:
    """One session whole: its request, clarifications and audit rows."""
    from bot.cli.records import show_session

    run(show_session(settings(database=db), session, as_json))


@app.command()
def gate(
    session: Annotated[str, typer.Option("--session", metavar="ID", help="The specification.")],
    phase: Annotated[int, typer.Option("--phase", metavar="N", help="Its phase, 1 to 7.")],
    asked_by: Annotated[
        str, typer.Option("--as", metavar="NAME", help="The agent that asks, for the audit log.")
    ] = "",
    as_json: Json = False,
    db: Db = None,
    config: Config = None,
) -> None:
    """May the artefact of a phase be made? Exit 1 while its gate is closed, with every reason."""
    from bot.cli.specs import check_gate

    run(check_gate(settings(database=db, config=config), session, phase, asked_by, as_json))


@app.command()
def signals(
    session: Annotated[str, typer.Option("--session", metavar="ID", help="The specification.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Signals, one JSON object a line; - is standard input.")
    ] = None,
    raised_by: Annotated[str, typer.Option("--as", metavar="NAME", help="The agent that raises them.")] = "",
    db: Db = None,
    config: Config = None,
) -> None:
    """What is unclear in a specification, as JSON; with a file, an agent adds what it found. It decides nothing."""
    from bot.cli.signals import signals as raise_and_score

    raw = None
    if file is not None:
        try:
            raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        except OSError as error:
            fail(f"{file}: {error.strerror or error}", 2)
    run(raise_and_score(settings(database=db, config=config), session, raised_by, raw))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A specification, as exported.")],
    place: Annotated[
        str, typer.Option("--place", metavar="PLACE", help="The conversation that it goes to, platform:place.")
    ] = "terminal:terminal",
    as_json: Json = False,
    db: Db = None,
    config: Config = None,
) -> None:
    """Read an exported specification in again, as a paused session; its answers are marked as imported."""
    from bot.cli.specs import import_spec, read_whole

    run(import_spec(settings(database=db, config=config), file, read_whole(file), place, as_json))


@app.command()
def replay(
    session: Annotated[str, typer.Argument(metavar="ID")],
    as_json: Json = False,
    db: Db = None,
    config: Config = None,
) -> None:
    """Fold the session's events again and compare the result with the stored state."""
    from bot.cli.records import replay_session

    run(replay_session(settings(database=db, config=config), session, as_json))
