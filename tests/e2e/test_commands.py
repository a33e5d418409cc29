"""Every command as it is meant, with the shape of its JSON, and its exit codes: 0 fine, 1 refused, 2 wrong use."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from storage import migrate
from storage.export import FIELDS
from tests.e2e.installed import TALK, Ran, as_said, askfirst, chat, exported

MICROSECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    database = tmp_path_factory.mktemp("talk") / "chat.db"
    return database, chat(database)


@pytest.fixture
def database(talked: tuple[Path, list[Any]], tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    copy = tmp_path / "copy.db"
    shutil.copy(talked[0], copy)
    return copy


@pytest.fixture(scope="module")
def session(talked: tuple[Path, list[Any]]) -> str:
    [found] = askfirst("sessions", "--json", "--db", talked[0]).json()
    return str(found["session"])


# -- the chat --------------------------------------------------------------------------------------------------


def test_chat_writes_the_lines_that_other_programs_rely_on(talked: tuple[Path, list[Any]]) -> None:
    lines = talked[1]
    assert [line["done"] for line in lines if "done" in line] == [f"k{n + 1}" for n in range(len(TALK))]
    assert {line["outcome"] for line in lines if "done" in line} == {"accepted"}
    messages = [line for line in lines if "message" in line]
    allowed = {"message", "place", "text", "buttons", "files", "edits", "only_to", "session", "round"}
    for line in messages:
        assert {"message", "place", "text"} <= line.keys() <= allowed
        assert None not in line.values()
        assert line.get("edits", line["message"]) == line["message"]
        assert all(button.keys() == {"id", "label"} for button in line.get("buttons", ()))
    new = [line["message"] for line in messages if "edits" not in line and not line["message"].endswith(".reply")]
    assert new == [f"m{n + 1}" for n in range(len(new))]
    assert not [line for line in lines if line.keys() & {"done", "message", "error"} == set()]


def test_the_same_lines_again_are_duplicates_and_numbers_go_on(
    talked: tuple[Path, list[Any]], database: Path
) -> None:
    again = chat(database, [*TALK, {"text": "/help"}])
    assert [line["outcome"] for line in again if "done" in line] == ["duplicate"] * len(TALK) + ["accepted"]
    [help_] = [line["message"] for line in again if "message" in line]
    assert help_ not in {line["message"] for line in talked[1] if "message" in line}


def test_a_button_of_an_earlier_run_can_be_pressed_by_its_letter(tmp_path: Path) -> None:
    """CH-1: what a card shows is in the database; after a restart nothing of it is lost."""
    path = tmp_path / "a.db"
    [card] = [line["message"] for line in chat(path, [{"text": "/ars-lit-review moss"}]) if line.get("buttons")]
    for number in range(2):  # the second press is on the card as redrawn by the first: the next question
        lines = chat(path, [{"press": {"message": card, "button": "B"}, "id": f"p{number}"}])
        assert [line["outcome"] for line in lines if "done" in line] == ["accepted"]
        assert [line["edits"] for line in lines if "edits" in line] == [card]
    assert [entry["chosen"] for entry in exported(path)] == ["B", "B"]


def test_a_bad_line_is_told_and_the_rest_counts(tmp_path: Path) -> None:
    ran = askfirst("chat", "--jsonl", "--db", tmp_path / "a.db", said=b'{"text": "/help"}\n{"x": 1}\nnonsense\n')
    errors = [line["error"] for line in ran.lines() if "error" in line]
    assert [(e["line"], e["code"]) for e in errors] == [(2, "nothing_said"), (3, "not_json")]
    assert all(e.keys() == {"line", "code", "message"} for e in errors)
    assert (ran.code, ran.err) == (1, "")


# -- what was stored ---------------------------------------------------------------------------------------------


def test_sessions(talked: tuple[Path, list[Any]]) -> None:
    [found] = askfirst("sessions", "--json", "--db", talked[0]).json()
    assert list(found) == ["session", "workflow", "state", "place", "started_at"]
    assert (found["workflow"], found["state"]) == ("academic-paper/lit-review", "completed")
    assert MICROSECONDS.fullmatch(found["started_at"])
    assert found["session"] in askfirst("sessions", "--db", talked[0]).out


def test_sessions_are_listed_newest_first(tmp_path: Path) -> None:
    chat(tmp_path / "a.db", [{"text": "/ars-lit-review moss", "place": place} for place in ("one", "two", "three")])
    found = askfirst("sessions", "--json", "--db", tmp_path / "a.db").json()
    assert [row["place"] for row in found] == ["terminal:three", "terminal:two", "terminal:one"]


def test_export_has_the_names_of_the_format_in_every_form(talked: tuple[Path, list[Any]], session: str) -> None:
    """CA-1."""
    forms = {form: askfirst("export", "--format", form, "--db", talked[0]) for form in ("json", "jsonl", "csv", "md")}
    assert [(ran.code, ran.err) for ran in forms.values()] == [(0, "")] * 4
    entries = forms["json"].json()
    assert [tuple(entry) for entry in entries] == [FIELDS] * 4
    assert forms["jsonl"].lines() == entries
    rows = list(csv.DictReader(io.StringIO(forms["csv"].out, newline="")))
    assert [row["topic"] for row in rows] == [entry["topic"] for entry in entries]
    assert [json.loads(row["options"]) for row in rows] == [entry["options"] for entry in entries]
    assert all(entry["user_message_ref"] in forms["md"].out.replace("\\", "") for entry in entries)
    assert {entry["chosen_via"] for entry in entries} == {"user_response", "accept_recommendations_bulk"}
    only = askfirst("export", "--session", session, "--db", talked[0]).json()
    assert only == entries


def test_show(talked: tuple[Path, list[Any]], session: str) -> None:
    found = askfirst("show", session, "--json", "--db", talked[0]).json()
    assert found["session"] == session
    assert len(found["clarifications"]) == 4
    assert [row["seq"] for row in found["audit"]] == list(range(1, len(found["audit"]) + 1))
    ran = askfirst("show", session, "--db", talked[0])
    assert ran.code == 0
    assert all(entry["user_message_ref"] in ran.out for entry in found["clarifications"])


def test_replay(talked: tuple[Path, list[Any]], session: str) -> None:
    found = askfirst("replay", session, "--json", "--db", talked[0]).json()
    assert list(found) == ["session", "conversation", "events", "same"]
    assert (found["session"], found["conversation"], found["same"]) == (session, "terminal:terminal", True)


def test_replay_sees_a_state_changed_by_hand(database: Path, session: str) -> None:
    change(database, "UPDATE conversation SET state = replace(state, 'only open-access', 'only paid')")
    ran = askfirst("replay", session, "--json", "--db", database)
    assert (ran.code, ran.json()["same"]) == (1, False)


@pytest.mark.parametrize("command", [("show",), ("replay",), ("export", "--session")])
def test_a_session_that_is_not_there_is_refused(talked: tuple[Path, list[Any]], command: tuple[str, ...]) -> None:
    ran = askfirst(*command, "nobody", "--db", talked[0])
    assert (ran.code, ran.out) == (1, "")
    assert "no session nobody" in ran.err


# -- the audit log -------------------------------------------------------------------------------------------------


def change(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute(statement).rowcount > 0


def verified(database: Path) -> Ran:
    ran = askfirst("audit", "verify", "--json", "--db", database)
    assert ran.json().keys() == {"ok", "findings", "heads"}
    assert all(finding.keys() == {"chain", "where", "message"} for finding in ran.json()["findings"])
    return ran


def test_a_whole_log_is_whole(talked: tuple[Path, list[Any]], session: str) -> None:
    ran = verified(talked[0])
    assert (ran.code, ran.json()["ok"], ran.json()["findings"]) == (0, True, [])
    assert ran.json()["heads"][session].keys() == {"seq", "hash"}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE audit SET actor = 'human:terminal:ben' WHERE seq = 3", "hash does not fit"),
        ("UPDATE audit SET details = '{}' WHERE seq = 3", "details were changed"),
        ("DELETE FROM audit WHERE seq = 3", "missing"),
        ("UPDATE clarification SET chosen = 'A' WHERE chosen = 'B'", "chosen"),
        ("UPDATE clarification SET user_message_ref = 'k9: \"yes\"'", "user_message_ref"),
        ("UPDATE clarification SET why_it_matters = 'none'", "a field that the entry does not repeat"),
        ("DELETE FROM clarification WHERE chosen = 'A'", "the clarification is gone"),
    ],
)
def test_a_row_changed_by_hand_is_found(database: Path, session: str, statement: str, said: str) -> None:
    """AU-2."""
    change(database, statement)
    ran = verified(database)
    assert (ran.code, ran.json()["ok"]) == (1, False)
    assert any(said in finding["message"] for finding in ran.json()["findings"]), ran.out
    assert {finding["chain"] for finding in ran.json()["findings"]} == {session}


# -- the database ---------------------------------------------------------------------------------------------------


def test_upgrade_makes_a_database_and_leaves_a_current_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    first = askfirst("db", "upgrade", "--db", path)
    assert (first.code, first.out) == (0, f"{path}: version {migrate.VERSION}\n")
    before = path.read_bytes()
    assert askfirst("db", "upgrade", env={"ASKFIRST_DATABASE": str(path)}).code == 0
    assert path.read_bytes() == before
    assert askfirst("sessions", "--json", "--db", path).json() == []


def test_a_backup_is_the_whole_conversation(talked: tuple[Path, list[Any]], tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    ran = askfirst("db", "backup", copy, "--db", talked[0])
    assert (ran.code, ran.out) == (0, f"{copy}: written and checked\n")
    assert exported(copy) == exported(talked[0])
    again = askfirst("db", "backup", copy, "--db", talked[0])
    assert (again.code, again.out) == (1, "")
    assert "never replaces" in again.err


# -- the linter ------------------------------------------------------------------------------------------------------

DATA = Path(__file__).parents[1] / "data"


def test_check() -> None:
    fine = askfirst("check", DATA / "playbooks" / "good.yaml")
    assert (fine.code, fine.out, fine.err) == (0, "nothing to report\n", "")
    wrong = askfirst("check", DATA / "playbooks" / "duplicate_key.yaml")
    assert wrong.code == 1
    assert re.match(rf"{DATA}/playbooks/duplicate_key\.yaml:\d+: refused: duplicate_key: ", wrong.out)
    [found] = askfirst("check", "--json", DATA / "playbooks" / "duplicate_key.yaml").json()
    assert list(found) == ["file", "line", "level", "code", "message"]


# -- wrong use ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("chat", "--nonsense"),
        ("chat", "--pack"),
        ("parse",),
        ("route",),
        ("check",),
        ("export", "--format", "xml"),
        ("show",),
        ("replay",),
        ("audit",),
        ("db",),
        ("db", "backup"),
        ("sessions", "too", "many"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_two_and_says_how(arguments: tuple[str, ...]) -> None:
    ran = askfirst(*arguments)
    assert ran.code == 2
    assert ran.err
    assert "Traceback" not in ran.err


COMMANDS = (
    *((name,) for name in ("chat", "demo", "parse", "route", "check", "export", "sessions", "show", "replay")),
    ("audit", "verify"),
    ("db", "upgrade"),
    ("db", "backup"),
)


def test_it_says_which_version_it_is(tmp_path: Path) -> None:
    ran = askfirst("--version", cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"askfirst \d+\.\d+\.\d+ \(Python 3\.\d+\.\d+\)\n", ran.out)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command: tuple[str, ...], tmp_path: Path) -> None:
    ran = askfirst(*command, "--help", cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: askfirst {' '.join(command)}")
    assert list(tmp_path.iterdir()) == []


READERS = [("export",), ("sessions",), ("show", "x"), ("replay", "x"), ("audit", "verify"), ("db", "backup", "b")]


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_what_only_reads_makes_no_database(command: tuple[str, ...], tmp_path: Path) -> None:
    ran = askfirst(*command, cwd=tmp_path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("askfirst: there is no database at askfirst.db")
    assert list(tmp_path.iterdir()) == []


def test_lines_without_an_id_get_one(tmp_path: Path) -> None:
    ran = askfirst("chat", "--jsonl", said=b'{"text": "/help"}\n', cwd=tmp_path)
    assert ran.lines()[-1] == {"done": "u1", "outcome": "accepted"}
    assert (tmp_path / "askfirst.db").exists()
    assert as_said([{"text": "x"}]) == b'{"id": "k1", "from": "ana", "text": "x"}\n'
