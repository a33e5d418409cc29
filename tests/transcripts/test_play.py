"""The player of transcripts, on the toy core."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.fakes.toy import toy
from tests.transcripts.all_stages import STAGES
from tests.transcripts.play import Differs, check, rewrite, stages_of
from tests.transcripts.script import BadTranscript, read, text_of

WHOLE = dedent(
    """\
    # Everything that a transcript can say.

    ana> hello
       | there
    bot< 1. ana: hello
       | there

    ana> card
    bot< pick one
       [ A first ]
       [ B second ]

    press> ana A
    bot@ana< noted, ana
    bot< ana pressed A first on card
    bot~ ana took A first
       [ B later ]
    bot! clarification toy A user_response

    # a late press, on what an older screen shows
    press> ben B second on m2
    bot@ben< noted, ben
    bot< ben pressed B second on card
    bot~ ben took B second
       [ B later ]
    bot! clarification toy B user_response

    again> 3
    bot! duplicate

    edit> ana 1 | hello
       | all
    bot< ana now says: hello
       | all

    reply> ben m2 | I see
    bot< 3. ben: I see (about card)

    ana> @file a.pdf, b.md | two files
    bot< one
    bot< two
    bot< 5. ana:  [file b.md]

    ana> @file draft.md
    bot< 6. ana:  [file draft.md]

    ana> grace
    clock| +4s
    clock| +1s
    bot< grace:s rang

    ana> file
    bot< here it is
       = result.json (application/json)

    ana> secret
    bot@ana< for ana only

    ! place room shared
    cleo> chatter
    bot! ignored: not meant for the bot
    cleo> hello
    bot< 2. cleo: hello
    """
)


def core(directives: dict[str, str]):
    assert set(directives) <= {"pack"}
    return toy


@pytest.mark.parametrize("stage", STAGES)
def test_a_whole_transcript_reads_the_same_everywhere(stage: str) -> None:
    check(on(stage, WHOLE), "whole.chat", stage, core)


def on(stage: str, text: str) -> str:
    """Telegram tells which button was pressed, but not what an older screen called it. In Slack several files are one
    message, and what is said loose in a channel begins a conversation of its own."""
    if stage.startswith("slack"):
        one = text.replace("bot< 5. ana:  [file b.md]\n", "").replace("bot< 2. cleo: hello", "bot< 1. cleo: hello")
        return re.sub(r"bot< (\d+)\. ana:  \[file draft", lambda m: f"bot< {int(m[1]) - 1}. ana:  [file draft", one)
    if stage not in ("telegram", "webhook"):
        return text
    return text.replace("ben pressed B second on", "ben pressed B later on").replace("took B second", "took B later")


def test_reading_and_writing_again_is_the_identity() -> None:
    assert text_of(read(WHOLE)) == WHOLE


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bot< one\n", "bot< won\n"),
        ("   [ A first ]\n", ""),
        ("bot~ ana took", "bot< ana took"),
        ("bot@ana< noted", "bot< noted"),
        ("bot! clarification toy A user_response\n", ""),
        ("bot! duplicate\n", ""),
        ("   = result.json", "   = other.json"),
        ("bot! ignored: not meant for the bot\n", "bot< silence\n"),
        ("clock| +1s\n", "clock| +9s\nbot< another\n"),
    ],
)
def test_every_kind_of_difference_is_seen(stage: str, before: str, after: str) -> None:
    assert before in WHOLE
    with pytest.raises(Differs) as difference:
        check(WHOLE.replace(before, after, 1), "whole.chat", stage, core)
    assert str(difference.value).startswith("--- whole.chat\n+++ whole.chat as played\n")


@pytest.mark.parametrize("stage", STAGES)
def test_a_late_tap_presses_what_an_earlier_drawing_showed(stage: str) -> None:
    text = "ana> card\nbot< pick one\n   [ A first ]\n   [ B second ]\nana> redraw\nbot~ redraw\n   [ C third ]\n"
    late = "press> ben A on m1.1\nbot@ben< noted, ben\nbot< ben pressed A first on card\nbot~ ben took A first\n"
    rest = "   [ B later ]\nbot! clarification toy A user_response\n"
    check(text + late + rest, "late.chat", stage, core)
    gone = "press> ben A on m1.2\nbot! not possible: drawing 2 of m1 shows no button 'A'\n"
    check(text + gone, "late.chat", stage, core)


@pytest.mark.parametrize("stage", STAGES)
def test_a_press_that_nobody_can_make_is_written_down(stage: str) -> None:
    text = "ana> two\nbot< one\nbot< two\npress> ana Z\nbot! not possible: no message shows a button 'Z'\n"
    text += "press> ana A on m7\nbot! not possible: there is no m7\n"
    check(text + "reply> ana m8 | x\nbot! not possible: there is no m8\n", "x.chat", stage, core)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bot< hello\n", "1: an expectation must follow"),
        ("ana> a\n\nbot< b\n", "3: an expectation must follow"),
        ("ana hello\n", "1: not an act"),
        ("clock> +6s\n", "1: not an act"),
        ("clock| 6\n", "1: the clock moves"),
        ("edit> ana 1 | x\n", "1: can not read this `edit>`"),
        ("ana> a\nedit> ana 1\n", "2: `edit>` needs a `|`"),
        ("ana> a\npress> ana A\nedit> ana 2 | x\n", "3: can not read this `edit>`"),
        ("again> 1\n", "1: can not read this `again>`"),
        ("ana> a\n! pack x\n", "2: `! pack` must come before"),
        ("! place a public\n", "1: write `! place NAME`"),
        ("!\n", "1: a directive needs a name"),
    ],
)
def test_mistakes_in_a_file_are_named_by_line(text: str, message: str) -> None:
    with pytest.raises(BadTranscript) as error:
        read(text)
    assert str(error.value).startswith(message)


def test_stages_can_be_chosen() -> None:
    assert stages_of(read("! stages core, fake\nana> x\n")) == ["core", "fake"]
    with pytest.raises(BadTranscript, match="not phone"):
        stages_of(read("! stages phone\n"))


def test_rewriting_writes_what_happens_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.chat"
    path.write_text("# remark\n\nana> card\nbot< wrong\n   | words\n\n# another\nana> two\n", "utf-8")
    assert rewrite(path, core)
    assert path.read_text("utf-8") == (
        "# remark\n\nana> card\nbot< pick one\n   [ A first ]\n   [ B second ]\n\n# another\n"
        "ana> two\nbot< one\nbot< two\n"
    )
    assert not rewrite(path, core)


CONFTEST = """\
from tests.fakes.toy import toy
from tests.transcripts.play import add_option, collect
def pytest_addoption(parser): add_option(parser)
def pytest_collect_file(file_path, parent): return collect(file_path, parent, lambda directives: toy)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_the_collector_in_pytest_itself(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "good.chat").write_text("ana> two\nbot< one\nbot< two\n")
    (tmp_path / "bad.chat").write_text("ana> two\nbot< one\n")
    (tmp_path / "torn.chat").write_text("bot< one\n")
    result = run(tmp_path, "--continue-on-collection-errors")
    assert result.returncode != 0
    assert "torn.chat:1: an expectation must follow" in result.stdout
    (tmp_path / "torn.chat").unlink()
    assert f"{len(STAGES)} failed, {len(STAGES)} passed" in result.stdout
    assert "on the stage `terminal`" in result.stdout
    assert "+bot< two" in result.stdout
    assert f"{2 * len(STAGES)} passed" in run(tmp_path, "--rewrite").stdout
    assert (tmp_path / "bad.chat").read_text() == (tmp_path / "good.chat").read_text()
