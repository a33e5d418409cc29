"""The installed command on PostgreSQL, and `db copy` and `db prune` on both."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.installed import TALK, as_said, askfirst, chat, exported, plainly_refused
from tests.fakes.postgres import PostgresServer


async def test_every_command_on_postgresql(tmp_path: Path, postgres: PostgresServer) -> None:
    """The same conversation gives the same record as on SQLite."""
    url = await postgres.new_database()
    env = {"ASKFIRST_DATABASE": url}
    plainly_refused(askfirst("sessions", env=env), "no tables of askfirst", "askfirst db upgrade")
    assert askfirst("db", "upgrade", env=env).code == 0
    ran = askfirst("chat", "--jsonl", said=as_said(TALK), env=env)
    assert (ran.code, ran.err) == (0, "")
    chat(tmp_path / "plain.db")
    on_sqlite = exported(tmp_path / "plain.db")
    found = askfirst("export", "--format", "json", env=env).json()
    kept = [{**e, "id": e["id"][-3:], "chosen_at": None, "session": None} for e in found]
    assert sorted(kept, key=lambda e: e["id"]) == on_sqlite
    [session] = askfirst("sessions", "--json", env=env).json()
    assert session["state"] == "completed"
    shown = askfirst("show", session["session"], "--json", env=env).json()
    assert len(shown["clarifications"]) == len(on_sqlite)
    assert askfirst("replay", session["session"], env=env).code == 0
    assert askfirst("audit", "verify", "--json", env=env).json()["ok"] is True
    assert askfirst("doctor", env=env).out.endswith("all is well\n")
    assert askfirst("parked", env=env).out == "nothing was put aside\n"
    # Once more: everything is known.
    again = askfirst("chat", "--jsonl", said=as_said(TALK), env=env)
    assert {line["outcome"] for line in again.lines() if "done" in line} == {"duplicate"}
    # A backup is a file, and a copy back is the same again.
    assert askfirst("db", "backup", tmp_path / "backup.db", env=env).code == 0
    assert exported(tmp_path / "backup.db") == on_sqlite
    second = await postgres.new_database()
    copied = askfirst("db", "copy", tmp_path / "backup.db", second, "--json").json()
    assert copied["verified"] is True
    assert copied["rows"]["clarification"] == len(on_sqlite)
    plainly_refused(askfirst("db", "copy", tmp_path / "backup.db", second), "is not empty", "new database")
    plainly_refused(askfirst("db", "copy", second, tmp_path / "backup.db"), "is not empty", "new database")


def test_prune_on_a_file(tmp_path: Path) -> None:
    database, archive = tmp_path / "chat.db", tmp_path / "old.jsonl"
    chat(database)
    prune = ("db", "prune", "--db", database, "--older-than")
    assert askfirst(*prune, 30).code == 2  # where is it to be kept?
    assert askfirst(*prune, 1, "--archive", archive).code == 2  # platforms may still deliver again
    assert askfirst(*prune, 30, "--archive", archive, "--json").json()["places"] == 0
    assert askfirst(*prune, 30, "--dry-run").out == "0 places would go\n"
    assert askfirst("audit", "verify", "--db", database).code == 0
    assert json.loads("[" + ",".join(archive.read_text().splitlines()) + "]") == []
