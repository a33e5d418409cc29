"""Commands anywhere, in any state; links; the record as a document (CH-3, RT-2, RT-11, RT-14)."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from adapters.telegram import render as rendering
from bot.core.effects import File
from bot.core.step import step
from tests.adapters.telegram.talking import Talk, book
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Chat, Person, TelegramServer
from tests.fakes.telegram_rig import rig

ANSWERS = {
    "help": "I ask before anyone acts",
    "start": "",
    "status": "",
    "settings": "Pack:",
    "export": "",
    "new": "What do you need?",
    "resume": "",
    "cancel": "",
}


@pytest.fixture(params=[False, True], ids=["hears all", "privacy mode"])
async def talk(request: pytest.FixtureRequest) -> AsyncIterator[Talk]:
    server = TelegramServer(ManualClock(auto=True), privacy=request.param)
    async with rig(server, decide=functools.partial(step, book=book())) as made:
        yield Talk(made)


@pytest.fixture
def ana(talk: Talk) -> Person:
    return talk.server.person("Ana", username="ana_t", started=True)


async def nothing(talk: Talk, ana: Person, chat: Chat) -> None: ...


async def menu(talk: Talk, ana: Person, chat: Chat) -> None:
    ana.say("@askfirst_bot I have an abstract and a set of papers.", chat)
    await talk.settle()


async def asking(talk: Talk, ana: Person, chat: Chat) -> None:
    ana.say("@askfirst_bot lit-review this", chat)
    await talk.settle()


async def describing(talk: Talk, ana: Person, chat: Chat) -> None:
    await asking(talk, ana, chat)
    ana.press("Other…", chat)
    await talk.settle()


async def confirming(talk: Talk, ana: Person, chat: Chat) -> None:
    await asking(talk, ana, chat)
    ana.reply(talk.card(chat), "yeah ok")
    await talk.settle()


async def closing(talk: Talk, ana: Person, chat: Chat) -> None:
    await asking(talk, ana, chat)
    ana.reply(talk.card(chat), "accept recommendations")
    await talk.rig.hear()
    await talk.rig.outbox.drain()


async def ended(talk: Talk, ana: Person, chat: Chat) -> None:
    await closing(talk, ana, chat)
    talk.clock.advance(10)
    await talk.settle()


STATES = [nothing, menu, asking, describing, confirming, closing, ended]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
@pytest.mark.parametrize("where", ["private", "group"])
async def test_ch3_every_command_works_in_every_state(
    talk: Talk, ana: Person, where: str, state: Callable[..., Awaitable[None]]
) -> None:
    chat = ana.chat if where == "private" else talk.server.supergroup("Triage", ana)
    await state(talk, ana, chat)
    for command, words in ANSWERS.items():
        before = len(chat.posts)
        recorded = talk.recorded
        ana.say(f"/{command}@AskFirst_Bot" if where == "group" else f"/{command}", chat)
        await talk.settle()
        new = chat.posts[before:]
        assert new, f"/{command} is not answered"
        assert any(words in message.text for message in new), f"/{command}: {new}"
        assert "yeah" not in str(talk.recorded)
        assert talk.recorded == recorded, f"/{command} has recorded something"
    assert not [call for call in talk.server.history.calls if call.code not in (200, 0)]


@pytest.mark.parametrize("typed", ["/ars-lit-review moss", "/ars_lit_review moss", "/ARS—lit—review moss"])
async def test_rt11_hyphens_and_underscores(talk: Talk, ana: Person, typed: str) -> None:
    """Telegram's own tokens end at the hyphen."""
    ana.say(typed)
    await talk.settle()
    assert talk.session(ana.chat).workflow == "academic-paper/lit-review"


@pytest.mark.parametrize("payload", ["ars-lit-review", "ars_lit_review"])
async def test_a_link_that_names_a_workflow_is_its_command(talk: Talk, ana: Person, payload: str) -> None:
    ana.start(payload)
    await talk.settle()
    assert talk.session(ana.chat).workflow == "academic-paper/lit-review"
    assert talk.card(ana.chat).labels
    ana.say("1: B")
    ana.start("ars-full")
    await talk.settle()
    assert "Leave the present one" in ana.chat.texts[-1]
    assert talk.session(ana.chat).workflow == "academic-paper/lit-review"
    ana.press("Stay here")
    await talk.settle()
    assert talk.answers == {"years": "B"}


@pytest.mark.parametrize("payload", ["r_8f3a-unknown", "help", "x" * 64, "-", "direct-mode", "agent"])
async def test_any_other_link_is_a_plain_start(talk: Talk, ana: Person, payload: str) -> None:
    """b52: never an error, and nothing is opened by it."""
    ana.start(payload)
    await talk.settle()
    [words] = ana.chat.texts
    assert "What do you need?" in words
    ana.say("lit-review this")
    await talk.settle()
    assert talk.session(ana.chat).number == 1


async def test_the_record_is_a_document_in_a_group_too(talk: Talk, ana: Person) -> None:
    group = talk.server.supergroup("Triage", ana)
    await asking(talk, ana, group)
    ana.say("/export@askfirst_bot", group)
    await talk.settle()
    names = [m.content["document"]["file_name"] for m in group.posts if "document" in m.content]
    session = talk.session(group)
    assert names == [f"{session.id}.md", f"{session.id}.json"]
    assert b"lit-review this" in (group.last.file or b"")


def test_what_is_too_large_goes_packed_or_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def sent(content: str) -> tuple[str, bytes]:
        return rendering.small_enough(File(name="s.json", media="application/json", content=content))

    assert sent("{}") == ("s.json", b"{}")
    assert sent("") == ("s.json", b" ")
    monkeypatch.setattr(rendering, "MAX_FILE", 1000)
    name, content = sent("a" * 5000)
    assert (name, content[:2]) == ("s.json.gz", b"\x1f\x8b")
    noise: Any = __import__("random").Random(1)
    name, content = sent("".join(chr(noise.randrange(32, 0x3000)) for _ in range(3000)))
    assert name == "s.json.txt"
    assert b"askfirst export" in content
