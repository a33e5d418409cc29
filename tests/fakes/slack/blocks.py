"""Block Kit as Slack checks it: every block, element and object held against its fields and limits.

Limits: docs.slack.dev/reference/block-kit and the validators of slack_sdk.models.blocks. What breaks one is an error
with a JSON pointer; what this file does not know at all (a type, a field) is kept apart in `unknown`.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from tests.fakes.slack.elements import Elements

Json = dict[str, Any]
Surface = Literal["message", "modal", "home"]

MOST_BLOCKS = {
    "message": 50,
    "modal": 100,
    "home": 100,
}  # "up to 50 blocks in each message, 100 in modals or home tabs"
MAX_SECTION, MAX_FIELDS, MAX_FIELD = 3000, 10, 2000
MAX_HEADER = 150
MAX_ACTIONS, MAX_CONTEXT = 25, 10
MAX_LABEL = 2000  # input block: label and hint
MAX_ALT, MAX_IMAGE_URL = 2000, 3000
MAX_MARKDOWN = 12_000  # "cumulative limit for all markdown blocks in a single payload"
MAX_BLOCK_ID = 255
MAX_ALL_TEXT = 13_200  # not documented: msg_blocks_too_long from about here (slackapi/bolt-js#2509)
MAX_VIEW_TITLE = 24  # title, submit and close
MAX_METADATA, MAX_CALLBACK_ID, MAX_EXTERNAL_ID = 3000, 255, 255
MAX_VIEW_BYTES = 250_000  # view_too_large

# Known to Slack, not to this fake: an app that uses one has to teach it here first.
_OTHERS = """
alert auth_provider call card carousel container context_actions data_table file plan table task_card video
"""
UNMODELLED = frozenset(_OTHERS.split())


class Check(Elements):
    """`errors` have JSON pointers below `at`; `unknown` is what this fake does not know."""

    def __init__(self, surface: Surface, at: str = "") -> None:
        super().__init__(surface)
        self.at = at
        self.ids: dict[str, str] = {}
        self.markdown = 0

    def blocks(self, blocks: Any) -> None:
        where = f"{self.at}/blocks"
        if not isinstance(blocks, list):
            self.bad(where, "must be an array")
            return
        if len(blocks) > MOST_BLOCKS[self.surface]:
            self.bad(where, f"no more than {MOST_BLOCKS[self.surface]} items allowed")
        for n, block in enumerate(blocks):
            self.block(f"{where}/{n}", block)
        if self.markdown > MAX_MARKDOWN and not self.errors:
            self.bad(where, f"must be less than {MAX_MARKDOWN + 1} characters in all markdown blocks")
        if self.focused > 1:
            self.bad(where, "only one element can have focus_on_load")

    def block(self, where: str, block: Any) -> None:
        if not isinstance(block, dict):
            self.bad(where, "must be an object")
            return
        kind = block.get("type")
        check = getattr(self, f"_{kind}", None) if kind in _FIELDS else None
        if check is None or kind is None:
            self.bad(f"{where}/type", f"unsupported type: {kind}")
            if kind in UNMODELLED:
                self.unknown.append(f"block type {kind!r} is Slack's, but not modelled here ({where})")
            else:
                self.unknown.append(f"there is no block type {kind!r} ({where})")
            return
        if not self.fields(where, block, _FIELDS[kind] + " block_id"):
            return
        self._block_id(where, block)
        check(where, block)

    def _block_id(self, where: str, block: Json) -> None:
        self.actions = {}
        if (given := block.get("block_id")) is None:
            return
        if not isinstance(given, str) or not 1 <= len(given) <= MAX_BLOCK_ID:
            self.bad(f"{where}/block_id", f"must be 1 to {MAX_BLOCK_ID} characters")
        elif given in self.ids:
            self.bad(f"{where}/block_id", f"`block_id` {given} already exists")
        else:
            self.ids[given] = where

    def _section(self, where: str, block: Json) -> None:
        if "text" not in block and not block.get("fields"):
            self.bad(where, "missing required field: text or fields")
        if "text" in block:
            self.text(f"{where}/text", block["text"], MAX_SECTION)
        fields = block.get("fields", [])
        if len(fields) > MAX_FIELDS:
            self.bad(f"{where}/fields", f"no more than {MAX_FIELDS} items allowed")
        for n, item in enumerate(fields):
            self.text(f"{where}/fields/{n}", item, MAX_FIELD)
        if "accessory" in block:
            self.element(f"{where}/accessory", block["accessory"], "section")

    def _divider(self, where: str, block: Json) -> None:
        pass

    def _header(self, where: str, block: Json) -> None:
        self.text(f"{where}/text", block["text"], MAX_HEADER, plain=True)

    def _image(self, where: str, block: Json) -> None:
        self.string(f"{where}/alt_text", block["alt_text"], MAX_ALT)
        if ("image_url" in block) == ("slack_file" in block):
            self.bad(where, "one of image_url and slack_file is required")
        self.string(f"{where}/image_url", block.get("image_url", "x"), MAX_IMAGE_URL)
        if "title" in block:
            self.text(f"{where}/title", block["title"], MAX_ALT, plain=True)

    def _context(self, where: str, block: Json) -> None:
        elements = self.listed(f"{where}/elements", block["elements"], MAX_CONTEXT)
        for n, element in enumerate(elements):
            spot = f"{where}/elements/{n}"
            if isinstance(element, dict) and element.get("type") == "image":
                self.element(spot, element, "context")
            else:
                self.text(spot, element, MAX_SECTION)

    def _actions(self, where: str, block: Json) -> None:
        for n, element in enumerate(self.listed(f"{where}/elements", block["elements"], MAX_ACTIONS)):
            self.element(f"{where}/elements/{n}", element, "actions")

    def _input(self, where: str, block: Json) -> None:
        self.inputs += 1
        self.text(f"{where}/label", block["label"], MAX_LABEL, plain=True)
        if "hint" in block:
            self.text(f"{where}/hint", block["hint"], MAX_LABEL, plain=True)
        self.boolean(where, block, "optional", "dispatch_action")
        self.element(f"{where}/element", block["element"], "input")

    def _markdown(self, where: str, block: Json) -> None:
        if self.surface != "message":
            self.bad(f"{where}/type", "unsupported type: markdown")  # "available in messages"
        self.string(f"{where}/text", block["text"], MAX_MARKDOWN)
        self.markdown += len(str(block["text"]))
        self.chars += len(str(block["text"]))
        self.said.append(str(block["text"]))

    def _rich_text(self, where: str, block: Json) -> None:
        for n, part in enumerate(self.listed(f"{where}/elements", block["elements"], 1000)):
            self.rich(f"{where}/elements/{n}", part)

    # -- views ---------------------------------------------------------------------------------------------------

    def view(self, view: Any) -> None:
        if not isinstance(view, dict):
            self.bad(self.at, "must be an object")
            return
        kind = view.get("type")
        if kind != self.surface:
            self.bad(f"{self.at}/type", f"unsupported type: {kind}")
            return
        modal = "title! blocks! submit close clear_on_close notify_on_close submit_disabled "
        known = f"type! {modal if kind == 'modal' else 'blocks! '}private_metadata callback_id external_id"
        if not self.fields(self.at, view, known):
            return
        for name in ("title", "submit", "close"):
            if view.get(name) is not None:
                self.text(f"{self.at}/{name}", view[name], MAX_VIEW_TITLE, plain=True)
        for name, most in [("private_metadata", MAX_METADATA), ("callback_id", MAX_CALLBACK_ID)]:
            self.string(f"{self.at}/{name}", view.get(name, ""), most, least=0)
        self.string(f"{self.at}/external_id", view.get("external_id", ""), MAX_EXTERNAL_ID, least=0)
        self.boolean(self.at, view, "clear_on_close", "notify_on_close", "submit_disabled")
        self.blocks(view["blocks"])
        if kind == "modal" and self.inputs and not view.get("submit"):
            self.bad(self.at, "submit is required when an input block is within blocks")
        self.too_large = len(json.dumps(view).encode()) > MAX_VIEW_BYTES


_FIELDS = {
    "section": "type! text fields accessory expand",
    "divider": "type!",
    "header": "type! text!",
    "image": "type! alt_text! image_url slack_file title",
    "context": "type! elements!",
    "actions": "type! elements!",
    "input": "type! label! element! hint optional dispatch_action",
    "markdown": "type! text!",
    "rich_text": "type! elements!",
}


def numbered(blocks: list[Json], new_id: Any) -> list[Json]:
    """Slack gives ids to the blocks and elements that came without."""
    made = json.loads(json.dumps(blocks))
    for block in made:
        block.setdefault("block_id", new_id())
        inside = [block.get("accessory"), block.get("element"), *(block.get("elements") or [])]
        for element in inside:
            if isinstance(element, dict) and element.get("type") in Elements.INTERACTIVE:
                element.setdefault("action_id", new_id())
    return list(made)
