"""Block Kit: each limit at its edge and one beyond, and the words of the refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.models import blocks as sdk

from tests.fakes.conftest import Acme
from tests.fakes.slack.blocks import Check, numbered
from tests.fakes.slack.model import elements_of

Json = dict[str, Any]
Make = Callable[[int], Json]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "x", **more: Any) -> Json:
    return {"type": "section", "text": mrkdwn(text)} | more


def button(text: str = "Go", **more: Any) -> Json:
    return {"type": "button", "text": plain(text)} | more


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements)} | more


def option(text: str = "A", value: str = "a", **more: Any) -> Json:
    return {"text": plain(text), "value": value} | more


def radio(options: list[Json], **more: Any) -> Json:
    return {"type": "radio_buttons", "action_id": "r", "options": options} | more


def select(options: list[Json], **more: Any) -> Json:
    return {"type": "static_select", "action_id": "s", "options": options} | more


def options(count: int) -> list[Json]:
    return [option(f"o{n}", f"v{n}") for n in range(count)]


def field(**more: Any) -> Json:
    return {"type": "plain_text_input", "action_id": "i"} | more


def asked(element: Json, label: str = "Why?", **more: Any) -> Json:
    return {"type": "input", "label": plain(label), "element": element} | more


def modal(*blocks: Json, **more: Any) -> Json:
    return {"type": "modal", "title": plain("A form"), "submit": plain("Send"), "blocks": list(blocks)} | more


def check(*blocks: Json, surface: Any = "message") -> Check:
    made = Check(surface)
    made.blocks(list(blocks))
    return made


def check_view(view: Json, surface: Any = "modal") -> Check:
    made = Check(surface, "/view")
    made.view(view)
    return made


EDGES: dict[str, tuple[int, Make]] = {
    # limit and a block of that size: docs.slack.dev/reference/block-kit
    "section text": (3000, lambda n: section("x" * n)),
    "section field": (2000, lambda n: {"type": "section", "fields": [mrkdwn("x" * n)]}),
    "section fields": (10, lambda n: {"type": "section", "fields": [mrkdwn("x")] * n}),
    "header": (150, lambda n: {"type": "header", "text": plain("x" * n)}),
    "context elements": (10, lambda n: {"type": "context", "elements": [mrkdwn("x")] * n}),
    "actions elements": (25, lambda n: actions(*[button(action_id=f"a{i}") for i in range(n)])),
    "button text": (75, lambda n: actions(button("x" * n))),
    "button value": (2000, lambda n: actions(button(value="x" * n))),
    "button url": (3000, lambda n: actions(button(url="x" * n))),
    "action_id": (255, lambda n: actions(button(action_id="x" * n))),
    "block_id": (255, lambda n: section(block_id="x" * n)),
    "radio options": (10, lambda n: actions(radio(options(n)))),
    "checkboxes": (10, lambda n: actions({"type": "checkboxes", "action_id": "c", "options": options(n)})),
    "select options": (100, lambda n: actions(select(options(n)))),
    "overflow options": (5, lambda n: section(accessory={"type": "overflow", "options": options(n)})),
    "option text": (75, lambda n: actions(radio([option("x" * n)]))),
    "option description": (75, lambda n: actions(radio([option(description=plain("x" * n))]))),
    "option value": (75, lambda n: actions(radio([option(value="x" * n)]))),
    "placeholder": (150, lambda n: actions(select(options(1), placeholder=plain("x" * n)))),
    "input label": (2000, lambda n: asked(field(), "x" * n)),
    "input hint": (2000, lambda n: asked(field(), hint=plain("x" * n))),
    "max_length": (3000, lambda n: asked(field(max_length=n))),
    "alt text": (2000, lambda n: {"type": "image", "image_url": "https://a.b/c.png", "alt_text": "x" * n}),
    "markdown": (12_000, lambda n: {"type": "markdown", "text": "x" * n}),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_limit_of_a_block(name: str) -> None:
    most, make = EDGES[name]
    assert check(make(most)).errors == []
    assert len(check(make(most + 1)).errors) == 1


@pytest.mark.parametrize(("surface", "most"), [("message", 50), ("modal", 100), ("home", 100)])
def test_how_many_blocks(surface: str, most: int) -> None:
    assert check(*[{"type": "divider"}] * most, surface=surface).errors == []
    assert check(*[{"type": "divider"}] * (most + 1), surface=surface).errors == [
        f"no more than {most} items allowed [json-pointer:/blocks]"
    ]


WRONG: dict[str, tuple[list[Json], str]] = {
    "an empty section": ([section("")], "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
    "a section of nothing": ([{"type": "section"}], "missing required field: text or fields"),
    "a header in mrkdwn": ([{"type": "header", "text": mrkdwn("x")}], "unsupported type: mrkdwn"),
    "two blocks of one id": ([section(block_id="b"), section(block_id="b")], "`block_id` b already exists"),
    "two actions of one id": ([actions(*[button(action_id="a")] * 2)], "`action_id` a already exists"),
    "a text field among actions": ([actions(field())], "unsupported type: plain_text_input"),
    "many selects among actions": (
        [actions({"type": "multi_static_select", "action_id": "m", "options": options(2)})],
        "unsupported type: multi_static_select",
    ),
    "no options": ([actions(radio([]))], "no fewer than 1 items allowed"),
    "options of one value": ([actions(radio([option(), option("B")]))], "value a is there twice"),
    "an initial option that is none": (
        [actions(radio([option()], initial_option=option("A", "other")))],
        "initial_option must exactly match one of the provided options",
    ),
    "mrkdwn in a select": ([actions(select([{"text": mrkdwn("x"), "value": "v"}]))], "unsupported type: mrkdwn"),
    "a colour of its own": ([actions(button(style="green"))], "must be one of primary, danger"),
    "null": ([section(accessory=None)], "must not be null"),
    "no list": ([{"type": "actions", "elements": {}}], "must be an array"),
    "no text": ([{"type": "section", "text": "x"}], "unsupported type: None"),
    "a label in mrkdwn": ([asked(field()) | {"label": mrkdwn("x")}], "unsupported type: mrkdwn"),
    "lengths the wrong way round": ([asked(field(min_length=5, max_length=2))], "must be less than max_length"),
    "two elements that want the focus": (
        [asked(field(focus_on_load=True)), asked(field(focus_on_load=True))],
        "only one element can have focus_on_load",
    ),
    "a start that is too long": ([asked(field(max_length=2, initial_value="xxx"))], "must be less than 3 characters"),
    "too much markdown in all": ([{"type": "markdown", "text": "x" * 6001}] * 2, "in all markdown blocks"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name: str) -> None:
    blocks, words = WRONG[name]
    made = check(*blocks)
    assert len(made.errors) == 1
    assert words in made.errors[0]
    assert made.unknown == []


UNKNOWN: dict[str, tuple[Json, str]] = {
    "a block": ({"type": "nonsense"}, "there is no block type 'nonsense'"),
    "a block of Slack's": ({"type": "table", "rows": []}, "not modelled here"),
    "an element": (actions({"type": "slider"}), "element type 'slider' is not known"),
    "a field": (section(color="red"), "section has no field 'color'"),
    "a field of a text": ({"type": "section", "text": mrkdwn("x") | {"emoji": True}}, "mrkdwn has no field 'emoji'"),
    "a field of an option": (actions(radio([option(emoji=True)])), "object has no field 'emoji'"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_the_fake_does_not_know(name: str) -> None:
    block, words = UNKNOWN[name]
    made = check(block)
    assert made.errors
    assert len(made.unknown) == 1
    assert words in made.unknown[0]


async def test_the_whole_text_has_a_limit_of_its_own(acme: Acme) -> None:
    """About 13,200 characters over all blocks (slackapi/bolt-js#2509)."""
    blocks = [section("x" * 2640) for _ in range(5)]
    assert (await acme.client.chat_postMessage(channel=acme.triage.id, text="t", blocks=blocks))["ok"]
    with pytest.raises(SlackApiError, match="msg_blocks_too_long"):
        await acme.client.chat_postMessage(channel=acme.triage.id, text="t", blocks=[*blocks, section()])


async def test_the_shape_of_a_refusal(acme: Acme) -> None:
    with pytest.raises(SlackApiError) as caught:
        await acme.client.chat_postMessage(channel=acme.triage.id, text="t", blocks=[section("x" * 3001)])
    problem = "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    assert caught.value.response.data == {
        "ok": False,
        "error": "invalid_blocks",
        "errors": [problem],
        "response_metadata": {"messages": [f"[ERROR] {problem}"]},
    }
    with pytest.raises(SlackApiError, match="invalid_blocks_format"):
        await acme.client.chat_postMessage(channel=acme.triage.id, text="t", blocks="[no json")
    assert (await acme.client.chat_postMessage(channel=acme.triage.id, text="t", blocks='[{"type": "divider"}]'))[
        "ok"
    ]
    assert [call.error for call in acme.server.refused] == ["invalid_blocks", "invalid_blocks_format"]


# -- views --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["title", "submit", "close"])
def test_the_words_around_a_modal(name: str) -> None:
    assert check_view(modal(section(), **{name: plain("x" * 24)})).errors == []
    assert check_view(modal(section(), **{name: plain("x" * 25)})).errors == [
        f"must be less than 25 characters [json-pointer:/view/{name}/text]"
    ]


@pytest.mark.parametrize(("name", "most"), [("private_metadata", 3000), ("callback_id", 255), ("external_id", 255)])
def test_the_strings_of_a_view(name: str, most: int) -> None:
    assert check_view(modal(section(), **{name: "x" * most})).errors == []
    assert len(check_view(modal(section(), **{name: "x" * (most + 1)})).errors) == 1


def test_inputs_need_a_submit_button() -> None:
    view = modal(asked(field()))
    assert check_view(view).errors == []
    del view["submit"]
    assert "submit is required" in check_view(view).errors[0]


def test_what_a_home_tab_has_not() -> None:
    home = {"type": "home", "blocks": [section()]}
    assert check_view(home, "home").errors == []
    assert "title" in check_view(home | {"title": plain("x")}, "home").unknown[0]
    assert check({"type": "markdown", "text": "x"}, surface="modal").errors


def test_a_view_of_more_than_250_kilobytes() -> None:
    fat = [section("ä" * 2900) for _ in range(20)]
    assert check_view(modal(*fat)).too_large
    assert not check_view(modal(*fat[:10])).too_large


def test_what_is_pinged_in_blocks() -> None:
    """mrkdwn and rich text ping; plain text, headers and labels do not."""
    rich = {"type": "rich_text", "elements": [
        {"type": "rich_text_section", "elements": [{"type": "broadcast", "range": "here"},
                                                   {"type": "user", "user_id": "U1"}]}]}  # fmt: skip
    made = check(section("<!channel> <@U0ANA0001>"), rich, {"type": "header", "text": plain("<!everyone>")})
    assert made.errors == []
    assert made.pings == [("channel", ""), ("user", "U0ANA0001"), ("here", ""), ("user", "U1")]


# -- slack_sdk's own models are of one mind with the fake -----------------------------------------------------------

OPTIONS = [sdk.Option(text="A", value="a", description="first"), sdk.Option(text="B", value="b")]
MODELS = [
    sdk.SectionBlock(
        text="*x*", fields=["a", "b"], accessory=sdk.ButtonElement(text="Go", action_id="g", style="danger")
    ),
    sdk.ActionsBlock(
        elements=[
            sdk.RadioButtonsElement(action_id="r", options=OPTIONS, initial_option=OPTIONS[1]),
            sdk.StaticSelectElement(action_id="s", placeholder="Pick", options=OPTIONS),
            sdk.CheckboxesElement(action_id="c", options=OPTIONS, initial_options=OPTIONS),
            sdk.UserSelectElement(action_id="u", placeholder="Who"),
            sdk.DatePickerElement(action_id="d", initial_date="2026-03-02"),
            sdk.OverflowMenuElement(action_id="o", options=[sdk.Option(text="A", value="a")]),
        ]
    ),
    sdk.InputBlock(
        label="Why?", hint="briefly", optional=True, block_id="i",
        element=sdk.PlainTextInputElement(action_id="t", multiline=True, max_length=200),
    ),
    sdk.HeaderBlock(text="Round 1"),
    sdk.ContextBlock(elements=[sdk.MarkdownTextObject(text="_x_")]),
    sdk.DividerBlock(),
    sdk.MarkdownBlock(text="# x"),
    sdk.ImageBlock(image_url="https://a.b/c.png", alt_text="a chart"),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.type)
def test_what_the_sdk_builds_is_fine(model: sdk.Block) -> None:
    made = check(model.to_dict())
    assert (made.errors, made.unknown) == ([], [])


def test_elements_are_found_with_their_blocks() -> None:
    blocks = numbered([section(accessory=button()), actions(button(), button()), asked(field())], lambda: "id")
    assert [block["type"] for block, _ in elements_of(blocks)] == ["section", "actions", "actions", "input"]
