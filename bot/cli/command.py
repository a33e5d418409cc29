"""The command as a whole: its groups, the options that its commands share, and how one runs, fails and prints."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from config.settings import Settings

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


def run(work: Coroutine[Any, Any, int]) -> NoReturn:
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


def settings(**given: Any) -> Settings:
    from config.settings import load_settings

    return load_settings(**given)
