"""Plays transcripts for pytest: one test for each file and stage, a diff where they differ."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from bot.runner import Decide
from tests.transcripts.all_stages import STAGES
from tests.transcripts.script import BadTranscript, Transcript, read, text_of, written
from tests.transcripts.stages import CannotPlay

# The core for a transcript's directives (`! pack triage` comes as {"pack": "triage"}).
Core = Callable[[dict[str, str]], Decide]

OWN = {"stages"}  # directives that are read here; all others go to `Core`


class Differs(Exception):
    """What happened is not what the file says."""


async def happened(transcript: Transcript, stage: str, core: Core) -> list[list[str]]:
    """What each act leads to, written down."""
    directives = {name: value for name, value in transcript.directives.items() if name not in OWN}
    played = STAGES[stage](core(directives))
    lines = []
    try:
        for part in transcript.parts:
            if part.act is None:
                continue
            try:
                lines.append(written(part.act, await played.play(part.act)))
            except CannotPlay as error:  # written down like everything else: that a button is gone is worth a line
                lines.append([f"bot! not possible: {error}"])
    finally:
        await played.close()
    return lines


def stages_of(transcript: Transcript) -> list[str]:
    wanted = [name.strip() for name in transcript.directives.get("stages", ", ".join(STAGES)).split(",")]
    unknown = sorted(set(wanted) - set(STAGES))
    if unknown:
        raise BadTranscript(f"`! stages` knows {', '.join(STAGES)}, not {', '.join(unknown)}")
    return wanted


def check(text: str, name: str, stage: str, core: Core) -> None:
    transcript = read(text)
    actual = text_of(transcript, asyncio.run(happened(transcript, stage, core)))
    expected = text_of(transcript)
    if actual != expected:
        diff = difflib.unified_diff(
            expected.splitlines(), actual.splitlines(), name, f"{name} as played", lineterm=""
        )
        raise Differs("\n".join(diff))


def rewrite(path: Path, core: Core) -> bool:
    """Write down what happens, as the first stage of the file has it. Whether the file changed."""
    before = path.read_text("utf-8")
    transcript = read(before)
    after = text_of(transcript, asyncio.run(happened(transcript, stages_of(transcript)[0], core)))
    path.write_text(after, "utf-8")
    return after != before


# -- pytest ------------------------------------------------------------------------------------------------------


class ChatFile(pytest.File):
    core: Core

    def collect(self) -> Iterable[pytest.Item]:
        if self.config.getoption("rewrite", default=False):
            rewrite(self.path, self.core)
        text = self.path.read_text("utf-8")
        try:
            stages = stages_of(read(text))
        except BadTranscript as error:
            raise pytest.Collector.CollectError(f"{self.path}:{error}") from error
        for stage in stages:
            item = ChatItem.from_parent(self, name=f"{self.path.stem}[{stage}]")
            item.stage, item.text = stage, text
            yield item


class ChatItem(pytest.Item):
    stage: str
    text: str

    def runtest(self) -> None:
        assert isinstance(self.parent, ChatFile)
        check(self.text, self.path.name, self.stage, self.parent.core)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **keys: Any) -> Any:
        if isinstance(excinfo.value, Differs):
            return f"{self.path}, on the stage `{self.stage}`:\n{excinfo.value}"
        return super().repr_failure(excinfo, *args, **keys)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite", action="store_true", help="Write down what happens in the transcripts; read the diff."
    )


def collect(path: Path, parent: pytest.Collector, core: Core) -> ChatFile | None:
    """For `pytest_collect_file`: *.chat files are transcripts."""
    if path.suffix != ".chat":
        return None
    file: ChatFile = ChatFile.from_parent(parent, path=path)
    file.core = core
    return file
