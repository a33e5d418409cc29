"""What a command does not need it does not load: imports are half of its time. `make bench` has the times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from storage import migrate
from tests.e2e.installed import LONG, surroundings

PROGRAM = """
import io, json, sys
sys.argv[0] = "askfirst"
from bot.cli import main
try:
    main()
finally:
    print("\\n" + json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
SLOW = {"structlog", "rich", "alembic", "sqlalchemy", "prompt_toolkit", "typer.rich_utils", "mcp", "uvicorn"}


SERVED = """
import json, sys
from bot.cli.serve import wanted
from config.settings import load_settings
wanted(load_settings())
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded(*arguments: object, cwd: Path, program: str = PROGRAM, **given: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        input=b'{"text": "hello"}\n',
        capture_output=True,
        timeout=LONG,
        check=True,
        cwd=cwd,
        env=surroundings(given),
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_chat(tmp_path: Path) -> None:
    assert not loaded("chat", "--jsonl", cwd=tmp_path) & SLOW


def test_sessions_load_neither_rules_nor_packs(tmp_path: Path) -> None:
    migrate.upgrade(tmp_path / "askfirst.db")
    assert not loaded("sessions", "--json", cwd=tmp_path) & {*SLOW, "yaml", "structlog", "bot.core.step", "bot.app"}


def test_help_loads_next_to_nothing(tmp_path: Path) -> None:
    assert not loaded("--help", cwd=tmp_path) & {*SLOW, "pydantic", "yaml", "structlog", "bot.ports", "storage"}


def test_a_platform_without_a_token_is_not_loaded(tmp_path: Path) -> None:
    alone = loaded(cwd=tmp_path, program=SERVED, ASKFIRST_TELEGRAM__TOKEN="123456:ABC-DEF")
    assert "telegram" in alone
    assert not alone & {"slack_bolt", "slack_sdk", "aiohttp.web"}
    slack = {"ASKFIRST_SLACK__BOT_TOKEN": "xoxb-1", "ASKFIRST_SLACK__SIGNING_SECRET": "shh"}
    alone = loaded(cwd=tmp_path, program=SERVED, **slack)
    assert "slack_bolt" in alone
    assert "telegram" not in alone
