"""The command `askfirst`. Exit 0 = fine, 1 = findings or refused, 2 = wrong use."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

import typer

from bot.cli import conversing, piping, stored, upkeep
from bot.cli.command import app

# Importing one registers its commands; `--help` lists them in this order.
GROUPS = (conversing, piping, stored, upkeep)

# Modules and packs are made to stay: at the usual 700 the collector's walks are a tenth of the start, and while
# serving, pauses of a tenth of a second.
COLLECTED = (200_000, 20, 50)

# Each command imports its own parts: `askfirst --help` needs none of them, and a quarter of a second is felt.


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
    from bot.core.codec import UnreadableState
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
        UnreadableState,
    )


if __name__ == "__main__":
    main()
