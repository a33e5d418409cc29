"""Commands that talk: here on the terminal, or on the platforms."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Annotated

import typer

from bot.cli.command import Config, Db, app, fail, run, settings


@app.command()
def chat(
    db: Db = None,
    config: Config = None,
    pack: Annotated[str | None, typer.Option("--pack", metavar="NAME", help="Pack to use here.")] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON object a line, in and out.")] = False,
) -> None:
    """Talk to the bot here, on this terminal; no token is needed."""
    from bot.cli.chat import run_chat

    run(run_chat(settings(database=db, config=config, pack=pack), jsonl=jsonl))


@app.command()
def demo() -> None:
    """On a terminal the chat; without one the bundled sample, and what was stored."""
    from bot.cli.chat import run_chat
    from bot.cli.demo import play_sample

    if sys.stdin.isatty() and sys.stdout.isatty():
        run(run_chat(settings(database="askfirst-demo.db"), jsonl=False))
    run(play_sample(settings()))


@app.command()
def serve(db: Db = None, config: Config = None) -> None:
    """Serve the platforms that have a token, until SIGTERM."""
    from bot.cli.serve import run_serve

    raise typer.Exit(asyncio.run(run_serve(settings(database=db, config=config))))


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
    typer.echo(json.dumps(on_slack.app(settings(config=config), http), ensure_ascii=False, indent=2))
