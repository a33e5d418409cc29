"""`make schema`: writes newest.sql, after a migration has been added."""

from __future__ import annotations

import tempfile
from pathlib import Path

from storage import migrate


def newest() -> str:
    """Where the migrations arrive, run one after the other on an empty file."""
    with tempfile.TemporaryDirectory(prefix="askfirst-schema-") as folder:
        path = Path(folder) / "newest.db"
        migrate.migrate(path)
        return migrate.newest(path)


if __name__ == "__main__":
    migrate.NEWEST.write_text(newest(), encoding="utf-8")
