"""`askfirst slack-manifest`: held against Slack's published schema, and enough for all that is used (b46, CH-3)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.manifest import RESERVED, Features, manifest
from tests.fakes.slack.table import RESERVED as NEVER

SPEC = os.environ.get("ASKFIRST_SPEC_DIR", "")
published = pytest.mark.skipif(not SPEC, reason="ASKFIRST_SPEC_DIR names no folder with Slack's published schema")
ASKFIRST = Path(sys.executable).parent / "askfirst"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
ALL = Features(
    url="https://bot.example.org",
    commands=[("clarify", "Clarify it"), ("status", "reserved"), ("x" * 40, "too long")],
    reactions=True,
    installs=True,
)


def wrong(value: Any, schema: dict[str, Any], whole: dict[str, Any], at: str = "manifest") -> Iterator[str]:
    """What a value has that JSON Schema, as far as Slack uses it, does not allow."""
    if "$ref" in schema:
        target: Any = whole
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        yield from wrong(value, target, whole, at)
        return
    for key in ("anyOf", "oneOf"):
        if key in schema and all(list(wrong(value, one, whole, at)) for one in schema[key]):
            yield f"{at}: fits none of {key}"
    for one in schema.get("allOf", ()):
        yield from wrong(value, one, whole, at)
    kind = schema.get("type")
    if isinstance(kind, str):
        right = isinstance(value, TYPES[kind]) if kind in TYPES else _number(value, kind)
        if not right:
            yield f"{at}: no {kind}"
            return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if isinstance(value, str):
        if len(value) > schema.get("maxLength", 10**9) or len(value) < schema.get("minLength", 0):
            yield f"{at}: {len(value)} characters"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{at}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", 10**9) or len(value) < schema.get("minItems", 0):
            yield f"{at}: {len(value)} items"
        for n, item in enumerate(value):
            yield from wrong(item, schema.get("items", {}), whole, f"{at}[{n}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{at}: without {name}"
        for name, inner in value.items():
            if name in known:
                yield from wrong(inner, known[name], whole, f"{at}.{name}")
            elif schema.get("additionalProperties", True) is False:
                yield f"{at}: unknown {name}"


def _number(value: Any, kind: str) -> bool:
    return isinstance(value, int if kind == "integer" else int | float) and not isinstance(value, bool)


@published
@pytest.mark.parametrize("features", [Features(), ALL])
def test_it_is_what_slack_takes(features: Features) -> None:
    schema = json.loads((Path(SPEC) / "slack-manifest.schema.json").read_text("utf-8"))
    assert list(wrong(manifest(features), schema, schema)) == []


@published
def test_the_validator_sees_mistakes() -> None:
    schema = json.loads((Path(SPEC) / "slack-manifest.schema.json").read_text("utf-8"))
    made = manifest(ALL)
    made["display_information"]["name"] = "x" * 36
    made["features"]["slash_commands"][0]["command"] = 7
    made["colour"] = "blue"
    assert len(list(wrong(made, schema, schema))) >= 3


def test_no_reserved_command_is_ever_listed() -> None:
    """CH-3."""
    assert {f"/{word}" for word in RESERVED} == NEVER
    listed = {one["command"] for one in manifest(ALL)["features"]["slash_commands"]}
    assert listed == {"/askfirst", "/clarify"}


def test_people_can_type_to_it_and_it_hears_them() -> None:
    """b46."""
    made = manifest(Features())
    home = made["features"]["app_home"]
    assert home["messages_tab_enabled"]
    assert not home["messages_tab_read_only_enabled"]
    assert "message.im" in made["settings"]["event_subscriptions"]["bot_events"]
    assert {"im:history", "im:write"} <= set(made["oauth_config"]["scopes"]["bot"])


def test_over_the_socket_no_address_is_given() -> None:
    assert "https:" not in json.dumps(manifest(Features(reactions=True)))
    assert manifest(Features())["settings"]["socket_mode_enabled"]
    assert not manifest(ALL)["settings"]["socket_mode_enabled"]


def test_the_command_prints_it(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASKFIRST_")}
    run = [ASKFIRST, "slack-manifest", "--http", "https://bot.example.org"]
    told = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    commands = [one["command"] for one in json.loads(told.stdout)["features"]["slash_commands"]]
    assert commands[:2] == ["/askfirst", "/clarify"]
    refused = subprocess.run(
        [*run[:3], "bot.example"], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert refused.returncode == 2
