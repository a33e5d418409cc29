"""Menus of commands: by scope and language, set only where something has changed (CH-3, RT-12)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.telegram.menus import menus, set_menus
from config.commands_loader import CommandFileError, load_commands
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import TelegramServer
from tests.fakes.telegram_rig import Rig, rig

WORKFLOWS = (("ars-lit-review", "A literature review"), ("ars-full", "The full pipeline"))


@pytest.fixture
async def made() -> AsyncIterator[Rig]:
    async with rig(TelegramServer(ManualClock(auto=True))) as built:
        yield built


async def bring(made: Rig, general: dict[str, dict[str, str]], workflows: tuple[tuple[str, str], ...]) -> int:
    """Set the menus; how many calls it took."""
    made.server.history.calls.clear()
    await set_menus(made.bot, made.me.id, made.store, made.clock, menus(general, workflows))
    return len(made.server.history.calls)


async def test_every_scope_and_language_has_its_menu_and_nothing_is_set_twice(made: Rig) -> None:
    general = load_commands()
    assert {"en", "ru", "uk", "de", "fr", "es", "pt", "zh", "ja", "ko", "vi"} <= set(general)
    assert await bring(made, general, WORKFLOWS) == 3 * len(general)
    for language in ("", *(code for code in general if code != "en")):
        private, group = (
            made.server.commands["all_private_chats", language],
            made.server.commands["all_group_chats", language],
        )
        names = [command["command"] for command in private]
        assert names == [
            "help",
            "status",
            "new",
            "cancel",
            "resume",
            "export",
            "settings",
            "ars_lit_review",
            "ars_full",
        ]
        assert group == private
        assert [c["command"] for c in made.server.commands["default", language]] == names[:7]
    assert made.server.commands["default", "ru"][0]["description"].startswith("что я делаю")
    assert await bring(made, general, WORKFLOWS) == 0


async def test_only_what_has_changed_is_set_and_what_is_no_more_is_taken_away(made: Rig) -> None:
    words = {"help": "what I do", "status": "what is open"}
    german = words | {"help": "was ich tue"}
    await bring(made, {"en": words, "de": german}, WORKFLOWS)
    assert await bring(made, {"en": words, "de": german | {"help": "was ich kann"}}, WORKFLOWS) == 3
    assert made.server.commands["default", "de"][0]["description"] == "was ich kann"
    assert await bring(made, {"en": words}, WORKFLOWS) == 3
    assert {language for _, language in made.server.commands} == {""}


async def test_a_flood_is_waited_for_and_another_failure_ends_it_until_the_next_start(made: Rig) -> None:
    words = {"en": {"help": "what I do"}}
    made.server.faults.limit(7, method="setMyCommands")
    assert await bring(made, words, ()) == 4
    assert made.clock.slept == [7]
    made.server.faults.fail(500, method="setMyCommands")
    changed = {"en": {"help": "what I can do"}}
    assert await bring(made, changed, ()) == 1
    assert await bring(made, changed, ()) == 3


def test_a_bad_file_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "en.yaml").write_text("help: what I do\nhlep: x\nnew: ''\nhelp: again\n")
    (tmp_path / "deutsch.yaml").write_text("- help\n")
    with pytest.raises(CommandFileError) as caught:
        load_commands(tmp_path)
    told = str(caught.value)
    for words in ("en.yaml:2: there is no command hlep", "en.yaml:3: new needs 1 to", "en.yaml:4", "deutsch.yaml:1"):
        assert words in told
    assert "en.yaml:1: the words for status, new" in told
