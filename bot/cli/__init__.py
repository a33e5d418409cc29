"""The command `askfirst`. Exit 0 = fine, 1 = findings or refused, 2 = wrong use."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal, NoReturn

import typer

if TYPE_CHECKING:
    from config.settings import Settings

# Modules and packs are made to stay: at the usual 700 the collector's walks are a tenth of the start, and while
# serving, pauses of a tenth of a second.
COLLECTED = (200_000, 20, 50)

# Each command imports its own parts: `askfirst --help` needs none of them, and a quarter of a second is felt.

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks show local variables, which may hold secrets
    rich_markup_mode=None,  # a mistake is one line, for people and for logs; boxes wrap it
    help="Askfirst asks before anyone acts: conversational intake in chat, stored with proof.",
)
audit_app = typer.Typer(no_args_is_help=True, help="The audit log.")
db_app = typer.Typer(no_args_is_help=True, help="The database.")
app.add_typer(audit_app, name="audit")
app.add_typer(db_app, name="db")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version
        from platform import python_version

        typer.echo(f"askfirst {version('askfirst')} (Python {python_version()})")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


Db = Annotated[str | None, typer.Option("--db", metavar="FILE", help="Database; else ASKFIRST_DATABASE.")]
Config = Annotated[
    Path | None, typer.Option("--config", metavar="DIR", help="Folder with packs/, phrases/, times/ and commands/.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only this session.")]


def fail(message: str, code: int = 1) -> NoReturn:
    """Say what was wrong and what to do, on stderr, and leave."""
    typer.echo(message, err=True)
    raise typer.Exit(code)


def _run(work: Coroutine[Any, Any, int]) -> NoReturn:
    raise typer.Exit(asyncio.run(_stoppable(work)))


async def _stoppable(work: Coroutine[Any, Any, int]) -> int:
    """SIGINT and SIGTERM end it between two steps: what is being written is written first."""
    task = asyncio.ensure_future(work)
    stopped: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        stopped.append(number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows: docs.python.org/3/library/asyncio-platforms.html
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not stopped:
            raise
        typer.echo(
            f"askfirst: stopped by {stopped[0].name}. What was done is stored; start it again to go on.", err=True
        )
        return 128 + stopped[0]


def emit(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


# -- the chat ------------------------------------------------------------------------------------------------------


@app.command()
def chat(
    db: Db = None,
    config: Config = None,
    pack: Annotated[str | None, typer.Option("--pack", metavar="NAME", help="Pack to use here.")] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON object a line, in and out.")] = False,
) -> None:
    """Talk to the bot here, on this terminal; no token is needed."""
    from bot.cli.chat import run_chat

    _run(run_chat(_settings(database=db, config=config, pack=pack), jsonl=jsonl))


@app.command()
def demo() -> None:
    """On a terminal the chat; without one the bundled sample, and what was stored."""
    from bot.cli.chat import run_chat
    from bot.cli.demo import play_sample

    if sys.stdin.isatty() and sys.stdout.isatty():
        _run(run_chat(_settings(database="askfirst-demo.db"), jsonl=False))
    _run(play_sample(_settings()))


@app.command()
def serve(db: Db = None, config: Config = None) -> None:
    """Serve the platforms that have a token, until SIGTERM."""
    from bot.cli.serve import run_serve

    raise typer.Exit(asyncio.run(run_serve(_settings(database=db, config=config))))


@app.command()
def slack_manifest(
    http: Annotated[
        str | None, typer.Option("--http", metavar="URL", help="Where Slack reaches the program; else by socket.")
    ] = None,
    config: Config = None,
) -> None:
    """The manifest of the Slack app, as JSON: paste it into api.slack.com/apps."""
    from bot.cli import on_slack

    if http is not None and not http.startswith("https://"):
        fail("--http wants an https address, such as https://bot.example.org", 2)
    typer.echo(json.dumps(on_slack.app(_settings(config=config), http), ensure_ascii=False, indent=2))


# -- programs for programs -----------------------------------------------------------------------------------------


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
    book = phrase_book(_settings(config=config))
    raise typer.Exit(_each(lambda record: parse_record(record, book)))


@app.command()
def route(jsonl: Jsonl = False, config: Config = None) -> None:
    """Route first messages: {"id", "text", "files", "position", "pack", "menu"?} a line."""
    from bot.app import load_packs
    from bot.core.routing import route_record

    if not jsonl:
        fail("give --jsonl: this command reads one JSON object a line on standard input", 2)
    packs = load_packs(_settings(config=config))
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


# -- what was stored -----------------------------------------------------------------------------------------------


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
        _run(export_spec(_settings(database=db), session, sys.stdout, markdown=form == "spec-md"))
    _run(export_to(_settings(database=db), form, session, sys.stdout))


@app.command()
def sessions(as_json: Json = False, db: Db = None) -> None:
    """List the sessions, newest first."""
    from bot.cli.records import list_sessions

    _run(list_sessions(_settings(database=db), as_json))


@app.command()
def show(session: Annotated[str, typer.Argument(metavar="ID")], as_json: Json = False, db: Db = None) -> None:
    """One session whole: its request, clarifications and audit rows."""
    from bot.cli.records import show_session

    _run(show_session(_settings(database=db), session, as_json))


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

    _run(check_gate(_settings(database=db, config=config), session, phase, asked_by, as_json))


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
    _run(raise_and_score(_settings(database=db, config=config), session, raised_by, raw))


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

    _run(import_spec(_settings(database=db, config=config), file, read_whole(file), place, as_json))


@app.command()
def replay(
    session: Annotated[str, typer.Argument(metavar="ID")],
    as_json: Json = False,
    db: Db = None,
    config: Config = None,
) -> None:
    """Fold the session's events again and compare the result with the stored state."""
    from bot.cli.records import replay_session

    _run(replay_session(_settings(database=db, config=config), session, as_json))


@app.command()
def doctor(as_json: Json = False, db: Db = None, config: Config = None) -> None:
    """Look at settings, database, tokens, webhook and what could not be handled or delivered; exit 1 on findings."""
    from bot.cli.doctor import run_doctor

    _run(run_doctor({"database": db, "config": config}, as_json))


@app.command()
def parked(as_json: Json = False, db: Db = None) -> None:
    """List what came in and could not be handled, with the reason."""
    from bot.cli.parked import list_parked

    _run(list_parked(_settings(database=db), as_json))


@app.command()
def retry(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID…", help="As `askfirst parked` lists them.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: Json = False,
    db: Db = None,
    config: Config = None,
) -> None:
    """Handle once more what could not be handled, e.g. after an upgrade. What people have said since stands."""
    from bot.cli.parked import retry as handle_again

    if bool(ids) == everything:
        fail("name what `askfirst parked` lists, or give --all", 2)
    _run(handle_again(_settings(database=db, config=config), ids or [], everything, as_json))


@audit_app.command("verify")
def audit_verify(as_json: Json = False, db: Db = None) -> None:
    """Check every hash chain, and each clarification against its audit row."""
    from bot.cli.records import verify_audit

    _run(verify_audit(_settings(database=db), as_json))


@db_app.command("upgrade")
def db_upgrade(db: Db = None) -> None:
    """Make the database, or bring it up to this program's version."""
    from storage import named, upgrade

    url = _settings(database=db).database
    typer.echo(f"{named(url)}: version {asyncio.run(upgrade(url))}")


@db_app.command("backup")
def db_backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to write.")], db: Db = None
) -> None:
    """Copy the database while it is in use, and check the copy."""
    from storage.backup import backup

    asyncio.run(backup(_settings(database=db).database, target))
    typer.echo(f"{target}: written and checked")


@db_app.command("copy")
def db_copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A SQLite file or postgresql://…")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty database of either kind.")],
    as_json: Json = False,
) -> None:
    """Move everything from SQLite to PostgreSQL or back, compare every row, and verify the audit log."""
    from bot.cli.records import copy_database

    _run(copy_database(source, target, as_json))


@db_app.command("prune")
def db_prune(
    older_than: Annotated[int, typer.Option("--older-than", metavar="DAYS", min=7, help="Nothing happened since.")],
    archive: Annotated[
        str | None, typer.Option("--archive", metavar="FILE", help="Kept there, a line a place.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    as_json: Json = False,
    db: Db = None,
) -> None:
    """Archive and remove places that nobody has used for so long and in which nothing is open."""
    from bot.cli.records import prune_database

    if archive is None and not dry_run:
        fail("give --archive FILE: what is removed is kept there (/dev/null keeps nothing)", 2)
    _run(prune_database(_settings(database=db).database, older_than, archive, dry_run, as_json))


def _settings(**given: Any) -> Settings:
    from config.settings import load_settings

    return load_settings(**given)


def main() -> None:
    """The console script: known refusals become one plain message, whatever command they come from."""
    gc.set_threshold(*COLLECTED)
    closed = [name for name in ("stdin", "stdout") if getattr(sys, name) is None]
    if closed:
        _leave(f"{' and '.join(closed)} is closed. Give it a file or a pipe, /dev/null if need be.")
    try:
        try:
            app()
        finally:  # now, where a full disk can still be told
            sys.stdout.flush()
    except BrokenPipeError:  # nobody reads any more, as behind `head`
        _leave(None)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ", while reading or writing"
        _leave(f"{error.strerror or error}{where}")
    except Exception as error:
        if not isinstance(error, _refusals()):
            raise
        _leave(str(error))


def _leave(message: str | None) -> NoReturn:
    """Say what was wrong and exit 1. What can not be flushed is dropped, or Python would complain of it once more."""
    if message is not None:
        typer.echo(f"askfirst: {message}", err=True)
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def _refusals() -> tuple[type[Exception], ...]:
    """What is wrong outside of this program and says so itself. Imported only once something has been raised."""
    from bot.outbox import TransportBroken
    from bot.ports import StoreUnavailable
    from config.commands_loader import CommandFileError
    from config.packs_loader import PackRefused
    from config.problems import Unloadable
    from config.settings import BadSettings
    from config.word_files import PhraseFileError

    return (
        BadSettings,
        CommandFileError,
        PackRefused,
        PhraseFileError,
        StoreUnavailable,
        TransportBroken,
        Unloadable,
    )


if __name__ == "__main__":
    main()
