"""A new database is made from one text, which must be where the migrations arrive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from storage import migrate
from storage.migrations.write_newest import newest


def test_the_text_is_where_the_migrations_arrive() -> None:
    assert migrate.NEWEST.read_text(encoding="utf-8") == newest(), "run `make schema`"


def test_a_database_made_from_it_is_the_same(tmp_path: Path) -> None:
    migrate.upgrade(tmp_path / "made.db")
    assert migrate.newest(tmp_path / "made.db") == newest()
    assert migrate.check(tmp_path / "made.db") == migrate.VERSION


def test_a_new_database_is_made_without_alembic(tmp_path: Path) -> None:
    """It takes half a second to import."""
    program = (
        "import pathlib, sys; from storage import migrate; migrate.upgrade(pathlib.Path(sys.argv[1])); "
        "assert not {'alembic', 'sqlalchemy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program, tmp_path / "new.db"], check=True, timeout=60)
