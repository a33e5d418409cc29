"""Commands for whoever runs it: what is wrong, what was put aside, the audit log, the database."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.command import Config, Db, Json, app, audit_app, db_app, fail, run, settings


@app.command()
def doctor(as_json: Json = False, db: Db = None, config: Config = None) -> None:
    """Look at settings, database, tokens, webhook and what could not be handled or delivered; exit 1 on findings."""
    from bot.cli.doctor import run_doctor

    run(run_doctor({"database": db, "config": config}, as_json))


@app.command()
def parked(as_json: Json = False, db: Db = None) -> None:
    """List what came in and could not be handled, with the reason."""
    from bot.cli.parked import list_parked

    run(list_parked(settings(database=db), as_json))


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
    run(handle_again(settings(database=db, config=config), ids or [], everything, as_json))


@audit_app.command("verify")
def audit_verify(as_json: Json = False, db: Db = None) -> None:
    """Check every hash chain, and each clarification against its audit row."""
    from bot.cli.records import verify_audit

    run(verify_audit(settings(database=db), as_json))


@db_app.command("upgrade")
def db_upgrade(db: Db = None) -> None:
    """Make the database, or bring it up to this program's version."""
    from storage import named, upgrade

    url = settings(database=db).database
    typer.echo(f"{named(url)}: version {asyncio.run(upgrade(url))}")


@db_app.command("backup")
def db_backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to write.")], db: Db = None
) -> None:
    """Copy the database while it is in use, and check the copy."""
    from storage.backup import backup

    asyncio.run(backup(settings(database=db).database, target))
    typer.echo(f"{target}: written and checked")


@db_app.command("copy")
def db_copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A SQLite file or postgresql://…")],
    target: Annotated[str, typer.Argument(metavar="TO", help="An empty database of either kind.")],
    as_json: Json = False,
) -> None:
    """Move everything from SQLite to PostgreSQL or back, compare every row, and verify the audit log."""
    from bot.cli.records import copy_database

    run(copy_database(source, target, as_json))


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
    run(prune_database(settings(database=db).database, older_than, archive, dry_run, as_json))
