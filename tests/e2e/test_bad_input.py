"""Whatever is handed in: a plain message that says what is wrong and what to do, no traceback, and nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from config.settings import BUNDLED
from storage import migrate
from tests.e2e.installed import ASKFIRST, LONG, Ran, as_said, askfirst, chat, plainly_refused, surroundings

HELLO = b'{"text": "hello", "id": "k1", "from": "ana"}\n'


def hello(*arguments: object, **options: Any) -> Ran:
    return askfirst("chat", "--jsonl", *arguments, said=HELLO, **options)


# -- the folder of packs -----------------------------------------------------------------------------------------


def phrases(text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "phrases").mkdir()
        (folder / "phrases" / "en.yaml").write_text(text, encoding="utf-8")

    return write


def pack(file: str, text: str | bytes) -> Callable[[Path], None]:
    """The bundled pack `triage`, with one file replaced."""

    def write(folder: Path) -> None:
        shutil.copytree(BUNDLED / "packs", folder / "packs")
        raw = text.encode() if isinstance(text, str) else text
        (folder / "packs" / "triage" / file).write_bytes(raw)

    return write


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (pack("triggers/de.yaml", "a: [\nb: {"), ("triage/triggers/de.yaml:2: not valid YAML",)),
        (pack("routes.yaml", "workflows: []\nworkflow: 1\nx: 2\n"), ("routes.yaml:2: workflow", "routes.yaml:3: x")),
        (pack("routes.yaml", "[" * 100_000), ("routes.yaml:1: nested deeper than 20",)),
        (pack("menus.yaml", "a: &a [x]\nb: *a\n"), ("menus.yaml:1: anchors and aliases",)),
        (pack("pack.yaml", "name: 2026-13-01\ntitle: x\n"), ("pack.yaml:1: holds a value that can not be read",)),
        (pack("pack.yaml", b"\xff\xfe"), ("pack.yaml:1: not UTF-8",)),
        (pack("pack.yaml", "name: research\ntitle: x\nmarks_from: research\n"), ("another pack is named",)),
        (pack("playbooks/bug.yaml", "workflow: x\nquestion: 1\n"), ("playbooks/bug.yaml:2: refused: unknown_key",)),
        (pack("playbooks/bug.yaml", "- {"), ("playbooks/bug.yaml:1: refused: broken_yaml",)),
        (phrases("\tskip: x"), ("phrases/en.yaml:1: not valid YAML",)),
        (phrases("skip: [a]\nbogus: [b]\nnumber: [c]\n"), ("en.yaml:2: unknown word class", "en.yaml:3: number")),
        (phrases(""), ("phrases/en.yaml:1: expected kinds of words",)),
        (lambda folder: (folder / "packs").mkdir(), ("there is no pack in", "a folder with a pack.yaml")),
    ],
)
def test_a_broken_folder_is_told_by_file_and_line(
    make: Callable[[Path], None], words: tuple[str, ...], tmp_path: Path
) -> None:
    make(tmp_path)
    # `chat` reads everything, playbooks too; the others read their part, in half the time
    command = "chat" if "playbooks" in words[0] else "parse" if (tmp_path / "phrases").is_dir() else "route"
    plainly_refused(askfirst(command, "--jsonl", "--config", tmp_path, cwd=tmp_path), *words)
    assert not (tmp_path / "askfirst.db").exists()


def test_a_folder_that_is_not_there_and_a_pack_that_is_not_there(tmp_path: Path) -> None:
    for command in ("parse", "route"):
        plainly_refused(askfirst(command, "--jsonl", "--config", "nowhere", cwd=tmp_path), "no folder nowhere")
    plainly_refused(hello("--pack", "nope", cwd=tmp_path), "no pack nope. There are: research, triage.")
    assert list(tmp_path.iterdir()) == []


# -- settings ----------------------------------------------------------------------------------------------------

WRONG = """
databas = "x"
grace_seconds = "soon"
pack = 7
[access]
allow = "everybody"
extra = 1
"""


@pytest.mark.parametrize(
    ("toml", "env", "words"),
    [
        (WRONG, {}, ("databas ", "grace_seconds", "must be a number", "pack ", "access.allow", "access.extra")),
        ("a = [", {}, ("askfirst.toml is not readable as TOML", "Correct it, or move it away")),
        (b"\xff", {}, ("askfirst.toml is not UTF-8",)),
        (None, {}, ("askfirst.toml is no file",)),
        ("access = 3\n", {}, ("access (ASKFIRST_ACCESS, or in askfirst.toml): must be a table",)),
        (
            'pack = 7\ndatabase = ""\n',
            {"ASKFIRST_GRACE_SECONDS": "soon", "ASKFIRST_ACCESS__ALLOW": "everybody", "ASKFIRST_DATABSE": "x"},
            (
                "pack",
                "ASKFIRST_GRACE_SECONDS",
                "ASKFIRST_ACCESS__ALLOW",
                "is ASKFIRST_DATABASE meant",
                "not be empty",
            ),
        ),
        ("", {"ASKFIRST_ACCESS": "{"}, ("must be a table",)),
        ("", {"ASKFIRST_ACCESS__BOGUS": "1"}, ("access.bogus", "no such setting")),
        ("", {"ASKFIRST_GRACE_SECONDS": "nan"}, ("grace_seconds",)),
        ("", {"ASKFIRST_DATABASE": "postgresql://x/y"}, ("its host is not found",)),
    ],
)
def test_all_mistakes_of_the_settings_at_once(
    toml: str | bytes | None, env: dict[str, str], words: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "askfirst.toml"
    if toml is None:
        file.mkdir()
    else:
        file.write_bytes(toml.encode() if isinstance(toml, str) else toml)
    plainly_refused(askfirst("sessions", cwd=tmp_path, env=env), *words)
    assert list(tmp_path.iterdir()) == [file]


def test_empty_and_foreign_variables_do_no_harm(tmp_path: Path) -> None:
    migrate.upgrade(tmp_path / "askfirst.db")
    env = {"ASKFIRST_PACK": "", "ASKFIRST_SOMEBODY_ELSES": "x", "ASKFIRST_OTHER__PART": "y"}
    assert askfirst("sessions", "--json", cwd=tmp_path, env=env).json() == []


def test_secrets_are_not_repeated(tmp_path: Path) -> None:
    ran = askfirst("sessions", cwd=tmp_path, env={"ASKFIRST_GRACE_SECONDS": "hunter2"})
    assert "hunter2" not in ran.err


# -- the database ------------------------------------------------------------------------------------------------


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE songs (title TEXT)")


def newer(path: Path) -> None:
    migrate.upgrade(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (newer, ("version 0999", "left untouched", "Upgrade askfirst")),
        (foreign, ("not one of askfirst",)),
        (lambda path: path.write_bytes(b"no database, but long enough to be looked at" * 30), ("not a SQLite",)),
        (lambda path: path.mkdir(), ("is a folder. Name a file in it",)),
        (lambda path: path.symlink_to(path.parent / "no" / "where"), ("database",)),
    ],
    ids=["newer", "foreign", "garbage", "folder", "dangling link"],
)
def test_a_database_that_can_not_be_used_is_left_alone(
    make: Callable[[Path], None], words: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "a.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for command in (("sessions",), ("db", "upgrade")):
        plainly_refused(askfirst(*command, "--db", path), *words[: 1 if command == ("sessions",) else None])
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("name", ["no/such/folder.db", "x" * 300], ids=["folder", "long"])
def test_a_database_that_can_not_be_made(name: str, tmp_path: Path) -> None:
    word = "Choose another file" if len(name) > 200 else "Create the folder"
    plainly_refused(askfirst("db", "upgrade", "--db", name, cwd=tmp_path), word)


def test_odd_names_are_names(tmp_path: Path) -> None:
    for name in ("a b?mode=ro#x%41.db", "línea\n2.db"):
        assert askfirst("db", "upgrade", "--db", name, cwd=tmp_path).code == 0
        assert askfirst("sessions", "--json", "--db", name, cwd=tmp_path).json() == []
        assert (tmp_path / name).is_file()


KIND = 'UPDATE event SET envelope = replace(envelope, \'"kind":"message"\', \'"kind":"dreamt"\')'
FORM = "UPDATE conversation SET state = replace(state, '\"schema_version\":', '\"schema_version\":9')"


@pytest.mark.parametrize(("sql", "commands"), [(KIND, ("replay",)), (FORM, ("replay", "export --format spec"))])
def test_what_a_newer_program_has_stored(sql: str, commands: tuple[str, ...], tmp_path: Path) -> None:
    """b38: its words say what to do; nothing that people have said is in them."""
    database = tmp_path / "a.db"
    chat(database)
    with closing(sqlite3.connect(database)) as raw, raw:
        raw.execute(sql)
        [(session,)] = raw.execute("SELECT session FROM session")
    for command in commands:
        option = ("--session",) if command.startswith("export") else ()
        ran = askfirst(*command.split(), *option, session, "--db", database)
        plainly_refused(ran, "can not read" if sql == KIND else "stored in form 92", "Upgrade askfirst")
        assert "abstract" not in ran.err
    if sql == FORM:
        ran = hello("--db", database)
        [said] = ran.lines()
        assert (ran.code, said["error"]["code"]) == (1, "unreadable")
        assert "Upgrade askfirst" in said["error"]["message"]


def test_a_database_that_another_program_writes_to(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    chat(path, [])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        plainly_refused(hello("--db", path), "another program is writing to it. Nothing was written")
        assert askfirst("sessions", "--json", "--db", path).json() == []  # readers do not wait
        other.execute("ROLLBACK")
    assert hello("--db", path).lines()[-1] == {"done": "k1", "outcome": "accepted"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Mounts with the options given; a file system of its own, where this user may mount one."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(options: str) -> None:
        if (
            os.geteuid() != 0
            or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False
            ).returncode
        ):
            pytest.skip("this user may not mount a file system")

    yield mount
    subprocess.run(["umount", place], capture_output=True, check=False)


def test_a_full_disk(small_disk: Callable[[str], None], tmp_path: Path) -> None:
    small_disk("size=300k")
    path = tmp_path / "disk" / "a.db"
    # Not one word that compresses, and more in all than the disk holds.
    long = [{"text": f"{number} " + "word " * 6000} for number in range(9)]
    ran = askfirst("chat", "--jsonl", "--db", path, said=as_said(long))
    plainly_refused(ran, "the disk is full. Nothing was written. Make room")
    done = {line["done"] for line in ran.lines() if "done" in line}
    small_disk("size=9m,remount")
    again = askfirst("chat", "--jsonl", "--db", path, said=as_said(long)).lines()
    outcomes = {line["done"]: line["outcome"] for line in again if "done" in line}
    assert {name for name, outcome in outcomes.items() if outcome == "duplicate"} >= done
    assert len(outcomes) == len(long)
    assert askfirst("audit", "verify", "--db", path).code == 0


def test_a_read_only_disk(small_disk: Callable[[str], None], tmp_path: Path) -> None:
    small_disk("size=1m")
    path = tmp_path / "disk" / "a.db"
    migrate.upgrade(path)
    before = path.read_bytes()
    small_disk("remount,ro")
    new = askfirst("db", "upgrade", "--db", tmp_path / "disk" / "new.db")
    plainly_refused(new, "it can not be opened. See that its folder exists")
    plainly_refused(hello("--db", path), "it can not be written. Give this user write permission")
    assert path.read_bytes() == before


def test_a_backup_that_does_not_fit_leaves_nothing(small_disk: Callable[[str], None], tmp_path: Path) -> None:
    small_disk("size=64k")
    migrate.upgrade(tmp_path / "a.db")
    plainly_refused(askfirst("db", "backup", tmp_path / "disk" / "copy.db", "--db", tmp_path / "a.db"), "copy")
    assert list((tmp_path / "disk").iterdir()) == []


# -- lines ----------------------------------------------------------------------------------------------------------

ODD = (
    (b"{", "not_json"),
    (b"[" * 100_000, "not_json"),
    (b'{"text": ' + b'{"a":' * 50_000, "not_json"),
    (b"[]", "not_an_object"),
    (b"\xff\xfe{}", "not_utf8"),
    (b'{"text": 7}', "wrong_type"),
    (b'{"text": "' + b"y" * 1_100_000 + b'"}', "too_long"),
    (b'{"text": "a\x00b"}', "not_json"),
)


def test_odd_lines_one_after_the_other(tmp_path: Path) -> None:
    """Each is told by its number; what stands between them counts, also with a BOM, CRLF, NUL and surrogates."""
    good = [
        b'\xef\xbb\xbf{"text": "/ars-lit-review moss", "id": "k1"}\r',
        b'{"text": "1: other (a\\u0000b\\ud800c)", "id": "k2"}\r',
        json.dumps({"text": "2: other (" + "long " * 20_000 + ")", "id": "k3"}).encode(),
        b"\r",
        b'{"text": "3: B", "id": "k4\\udfff"}',
    ]
    path = tmp_path / "a.db"
    said = b"\n".join([*good, *(line for line, _ in ODD), b'{"text": "4: A", "id": "k5"}'])
    ran = askfirst("chat", "--jsonl", "--db", path, said=said)
    assert (ran.code, ran.err) == (1, "")
    errors = [(line["error"]["line"], line["error"]["code"]) for line in ran.lines() if "error" in line]
    assert errors == [(6 + number, code) for number, (_, code) in enumerate(ODD)]
    done = [(line["done"], line["outcome"]) for line in ran.lines() if "done" in line]
    assert done == [(name, "accepted") for name in ("k1", "k2", "k3", "k4\ufffd", "k5")]
    found = askfirst("export", "--db", path).json()
    assert found[0]["chosen_text"] == "a\ufffdb\ufffdc"
    assert len(found[1]["chosen_text"]) > 90_000
    assert [entry["chosen"] for entry in found[2:]] == ["B", "A"]
    assert askfirst("audit", "verify", "--db", path).code == 0


@pytest.mark.parametrize("command", ["parse", "route"])
def test_odd_records_get_an_error_each_in_their_order(command: str) -> None:
    fine = {
        "parse": {"reply": "B", "questions": 1, "options": "AB", "recommended": "A"},
        "route": {"text": "fact-check this", "files": [], "position": "first", "pack": "research"},
    }[command]
    odd: list[bytes] = [
        b"{", b"[" * 100_000, b"[]", b"\xff", b"null", b'{"id": "\\ud800", "reply": 7, "text": 7}',
        b'{"id": "y", "reply": "B", "questions": 1e9, "options": {}, "recommended": [], "text": "a", "files": 3}',
    ]  # fmt: skip
    first = b"\xef\xbb\xbf" + json.dumps({"id": "first", **fine}).encode() + b"\r"
    said = b"\n".join([first, *odd, b"", json.dumps({"id": "last", "unknown": [1], **fine}).encode()])
    ran = askfirst(command, "--jsonl", said=said)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.lines()
    assert len(lines) == len(odd) + 2
    assert (lines[0]["id"], lines[-1]["id"]) == ("first", "last")
    assert not [line for line in (lines[0], lines[-1]) if "error" in line]
    assert all("error" in line and "id" in line for line in lines[1:-1])


# -- streams ---------------------------------------------------------------------------------------------------------


def shell(line: str, cwd: Path) -> Ran:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        capture_output=True,
        timeout=LONG,
        check=False,
        cwd=cwd,
        env={**surroundings(), "ASKFIRST": str(ASKFIRST), "HELLO": HELLO.decode()},
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("$ASKFIRST chat --jsonl <&-", "stdin is closed"),
        ("$ASKFIRST parse --jsonl <&-", "stdin is closed"),
        ("$ASKFIRST chat --jsonl <<< $HELLO >&-", "stdout is closed"),
        ("$ASKFIRST sessions --json >&-", "stdout is closed"),
        ("$ASKFIRST chat --jsonl <<< $HELLO >/dev/full", "No space left on device"),
        ("$ASKFIRST demo </dev/null >/dev/full", "No space left on device"),
        ("$ASKFIRST check nowhere >/dev/full", "No space left on device"),
    ],
)
def test_streams_that_are_closed_or_full(line: str, word: str, tmp_path: Path) -> None:
    plainly_refused(shell(line, tmp_path), word)


def test_what_could_not_be_shown_comes_first_next_time(tmp_path: Path) -> None:
    assert shell("$ASKFIRST chat --jsonl <<< $HELLO >/dev/full", tmp_path).code == 1
    lines = hello("--db", tmp_path / "askfirst.db").lines()
    assert [line.get("message", line.get("done")) for line in lines] == ["m1", "k1"]
    assert lines[-1]["outcome"] == "duplicate"


def test_a_reader_that_has_had_enough(tmp_path: Path) -> None:
    """As behind `head`: quiet, and nothing is lost."""
    said = [{"text": f"/ars-lit-review {number}", "place": f"p{number}"} for number in range(20)]
    (tmp_path / "said").write_bytes(as_said(said))
    ran = shell("$ASKFIRST chat --jsonl < said | head -n 1", tmp_path)
    assert (ran.code, ran.err, len(ran.out.splitlines())) == (1, "", 1)
    again = chat(tmp_path / "askfirst.db", said)
    shown = {line["message"] for line in again if "message" in line} | {ran.lines()[0]["message"]}
    assert len(shown) == len(said)
    assert len(askfirst("sessions", "--json", cwd=tmp_path).json()) == len(said)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_in_the_middle(tmp_path: Path, number: signal.Signals, code: int) -> None:
    path = tmp_path / "a.db"
    command = [ASKFIRST, "chat", "--jsonl", "--db", path]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(HELLO)
        process.stdin.flush()  # and stays open: the program waits for the next line
        for raw in process.stdout:
            if b'"done"' in raw:
                break
        process.send_signal(number)
        rest, complaint = process.communicate(timeout=LONG)
    assert (process.returncode, rest) == (code, b"")
    assert complaint.decode().splitlines() == [
        f"askfirst: stopped by {number.name}. What was done is stored; start it again to go on."
    ]
    assert hello("--db", path).lines() == [{"done": "k1", "outcome": "duplicate"}]


def test_an_interrupt_of_a_pipe_is_quiet(tmp_path: Path) -> None:
    with subprocess.Popen(
        [ASKFIRST, "parse", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background has it ignored
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"id": 1, "reply": "B", "questions": 1, "options": "AB", "recommended": "A"}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=LONG)
    assert process.returncode == 130
    assert b"Traceback" not in complaint


def test_this_interpreter_is_the_one_that_the_command_uses() -> None:
    assert Path(sys.executable).parent == ASKFIRST.parent
