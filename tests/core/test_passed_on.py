"""A worker goes on with what a newer version has written, and hands back what it does not know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.core.codec import NewerState, decode_state, encode_state, json_of
from bot.core.events import Envelope
from bot.core.model import Model, unknown
from bot.core.passed_on import as_data, holds_unknown, values_within
from bot.core.state import SCHEMA, Conversation, Item, Round, Session
from bot.core.step import Step
from bot.runner import Decide
from tests.core.spec.talk import DISCOVERED, SpecTalk
from tests.transcripts.conftest import core
from tests.transcripts.play import check, stages_of
from tests.transcripts.script import read

FOLDER = Path(__file__).parent.parent / "transcripts"
TRANSCRIPTS = [path for path in sorted(FOLDER.glob("*.chat")) if "core" in stages_of(read(path.read_text("utf-8")))]
NEWS = {"next_mood": "curious", "next_list": [1, None, {"a": 0.5}]}


def written_by_the_newer(state: Conversation) -> Conversation:
    """As this version reads it: the newer one has something more to say of everything."""
    data = as_data(state)
    for _, part in list(values_within(state, data)):
        part.update(NEWS)
    return decode_state(json_of(data))


def known(data: Any) -> Any:
    """Without the news."""
    if isinstance(data, dict):
        return {name: known(value) for name, value in data.items() if name not in NEWS}
    return [known(value) for value in data] if isinstance(data, list) else data


def lasting(state: Conversation) -> dict[Any, Model]:
    """What is the same thing before and after a step, however much of it has changed."""
    found: dict[Any, Model] = {"conversation": state}
    if state.gathering is not None:
        found["gathering", state.gathering.event.ref.id] = state.gathering
    for value, _ in values_within(state, None):
        if isinstance(value, Session | Round):
            found[value.id] = value
        if isinstance(value, Session):
            found["request", value.id] = value.request
            if value.reminded is not None:
                found["reminded", value.id] = value.reminded
            if value.spec is not None and value.spec.lock.locked:
                found["lock", value.id] = value.spec.lock
        if isinstance(value, Round):
            found.update({(value.id, item.number): item for item in value.items if isinstance(item, Item)})
    return found


def beside(decide: Decide) -> Decide:
    """Each step is taken a second time, on what a newer version would have written."""

    def decided(state: Conversation | None, envelope: Envelope) -> Step:
        step = decide(state, envelope)
        if state is None:
            return step
        newer = written_by_the_newer(state)
        assert newer == state
        on_newer = decide(newer, envelope)
        assert on_newer == step
        before = lasting(newer)
        assert {
            name for name, value in lasting(on_newer.state).items() if name in before and not unknown(value)
        } == set()
        handed_back = json.loads(encode_state(on_newer.state))
        assert handed_back["next_mood"] == NEWS["next_mood"]
        assert known(handed_back) == json.loads(encode_state(step.state))
        return step

    return decided


def unheard_of(path: str, value: object) -> dict[str, Any]:
    """A specification with a locked scope and a change of it; in one place there is what a newer version knows."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/tier 1 because there is an API as well")
    assert talk.state is not None
    assert decode_state(encode_state(talk.state)) == talk.state
    data = as_data(talk.state)
    *way, last = path.split(".")
    part: Any = data
    for name in way:
        part = part[int(name) if name.isdigit() else name]
    assert last in part
    part[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("sessions.0.policy", "interview"),
        ("sessions.0.spec.tier", 4),
        ("sessions.0.spec.phase", 8),
        ("sessions.0.spec.runs.0.phase", 0),
        ("sessions.0.spec.lock.complexity_tier", 4),
        ("sessions.0.spec.lock.changes.0.field", "budget"),
        ("sessions.0.stage.kind", "dreaming"),
        ("sessions.0.rounds.0.items.0.status", "postponed"),
    ],
)
def test_a_kind_that_only_a_newer_version_knows_is_refused_as_a_whole(path: str, value: object) -> None:
    """It is looked up in a table in the middle of a step; the event would be taken, and answer nothing."""
    with pytest.raises(NewerState, match=path.rpartition(".")[0].replace(".", r"\.")):
        decode_state(json_of(unheard_of(path, value)))


def test_a_state_of_an_older_form_is_written_the_short_way() -> None:
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    assert talk.state is not None
    data = {**as_data(talk.state), "schema_version": SCHEMA - 1}
    assert not holds_unknown(decode_state(json_of(data)))
    data["sessions"][0]["requester"]["next_mood"] = "curious"
    assert holds_unknown(decode_state(json_of(data)))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_what_a_newer_version_knows_is_passed_on_unread(path: Path) -> None:
    check(path.read_text("utf-8"), path.name, "core", lambda directives: beside(core(directives)))
