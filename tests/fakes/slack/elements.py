"""Elements and composition objects of Block Kit: buttons, menus, inputs, options, texts.

Limits: docs.slack.dev/reference/block-kit/block-elements and …/composition-objects, and slack_sdk.models.blocks.
"""

from __future__ import annotations

from typing import Any

from tests.fakes.slack.text import pings, sloppy

Json = dict[str, Any]

MAX_ACTION_ID = 255
MAX_BUTTON, MAX_BUTTON_VALUE, MAX_URL, MAX_A11Y = 75, 2000, 3000, 75
MAX_OPTION = 75  # text, and description
MAX_OPTION_VALUE = 75  # slack_sdk says 150, Slack's own types 75: stay within both
MAX_CHOICES, MAX_OPTIONS, MAX_GROUPS = 10, 100, 100  # radio buttons and checkboxes; selects; groups of a select
MAX_OVERFLOW = 5
MAX_PLACEHOLDER = 150
MAX_INPUT = 3000
MAX_CONFIRM_TITLE, MAX_CONFIRM_TEXT, MAX_CONFIRM_BUTTON = 100, 300, 30

_SELECT = "type! action_id placeholder confirm focus_on_load "
_INPUT = "type! action_id placeholder initial_value focus_on_load dispatch_action_config "
ELEMENTS = {
    "button": "type! text! action_id url value style confirm accessibility_label",
    "overflow": "type! action_id options! confirm",
    "radio_buttons": "type! action_id options! initial_option confirm focus_on_load",
    "checkboxes": "type! action_id options! initial_options confirm focus_on_load",
    "static_select": _SELECT + "options option_groups initial_option",
    "multi_static_select": _SELECT + "options option_groups initial_options max_selected_items",
    "users_select": _SELECT + "initial_user",
    "multi_users_select": _SELECT + "initial_users max_selected_items",
    "conversations_select": _SELECT
    + "initial_conversation default_to_current_conversation response_url_enabled filter",
    "channels_select": _SELECT + "initial_channel response_url_enabled",
    "datepicker": _SELECT + "initial_date",
    "timepicker": _SELECT + "initial_time timezone",
    "plain_text_input": _INPUT + "multiline min_length max_length",
    "email_text_input": _INPUT,
    "url_text_input": _INPUT,
    "number_input": _INPUT + "is_decimal_allowed! min_value max_value",
    "image": "type! alt_text! image_url slack_file",
}
# "Works with block types" of each element's page. A multi-select does not work in actions.
_MENUS = {"radio_buttons", "checkboxes", "static_select", "users_select", "conversations_select", "channels_select"}
_MENUS |= {"datepicker", "timepicker"}
_MULTI = {"multi_static_select", "multi_users_select"}
ALLOWED = {
    "section": {"button", "overflow", "image"} | _MENUS | _MULTI,
    "actions": {"button", "overflow"} | _MENUS,
    "input": {"plain_text_input", "email_text_input", "url_text_input", "number_input"} | _MENUS | _MULTI,
    "context": {"image"},
}
_RICH = {
    "rich_text_section": "type! elements!",
    "rich_text_list": "type! elements! style! indent offset border",
    "rich_text_quote": "type! elements! border",
    "rich_text_preformatted": "type! elements! border language",
}
_RICH_INSIDE = {
    "text": "type! text! style",
    "link": "type! url! text unsafe style",
    "emoji": "type! name! unicode style skin_tone",
    "user": "type! user_id! style",
    "channel": "type! channel_id! style",
    "usergroup": "type! usergroup_id! style",
    "broadcast": "type! range!",
    "date": "type! timestamp! format! url fallback",
}


class Elements:
    INTERACTIVE = frozenset(ELEMENTS) - {"image"}

    def __init__(self, surface: str) -> None:
        self.surface = surface
        self.errors: list[str] = []
        self.unknown: list[str] = []
        self.said: list[str] = []  # every mrkdwn text
        self.called: list[tuple[str, str]] = []  # pings of rich text
        self.chars = 0
        self.inputs = self.focused = 0
        self.actions: dict[str, str] = {}
        self.too_large = False

    @property
    def pings(self) -> list[tuple[str, str]]:
        return [p for text in self.said for p in pings(text)] + self.called

    @property
    def sloppy(self) -> list[str]:
        return [s for text in self.said for s in sloppy(text)]

    def bad(self, where: str, problem: str) -> None:
        self.errors.append(f"{problem} [json-pointer:{where}]")

    # -- plain values --------------------------------------------------------------------------------------------

    def fields(self, where: str, value: Any, known: str) -> bool:
        """False when it makes no sense to look further."""
        if not isinstance(value, dict):
            self.bad(where, "must be an object")
            return False
        names = {name.removesuffix("!") for name in known.split()}
        for name in value.keys() - names:
            self.bad(f"{where}/{name}", f"invalid additional property: {name}")
            self.unknown.append(f"{value.get('type', 'object')} has no field {name!r} ({where})")
        nulls = [name for name, item in value.items() if item is None and name not in {"submit", "close"}]
        for name in nulls:
            self.bad(f"{where}/{name}", "must not be null")
        missing = [name[:-1] for name in known.split() if name.endswith("!") and name[:-1] not in value]
        for name in missing:
            self.bad(where, f"missing required field: {name}")
        return not missing and not nulls

    def string(self, where: str, value: Any, most: int, least: int = 1) -> None:
        if not isinstance(value, str):
            self.bad(where, "must be a string")
        elif len(value) > most:
            self.bad(where, f"must be less than {most + 1} characters")
        elif len(value) < least:
            self.bad(where, f"must be more than {least - 1} characters")

    def boolean(self, where: str, value: Json, *names: str) -> None:
        for name in names:
            if not isinstance(value.get(name, False), bool):
                self.bad(f"{where}/{name}", "must be a boolean")

    def listed(self, where: str, value: Any, most: int, least: int = 1) -> list[Any]:
        if not isinstance(value, list):
            self.bad(where, "must be an array")
            return []
        if len(value) > most:
            self.bad(where, f"no more than {most} items allowed")
        if len(value) < least:
            self.bad(where, f"no fewer than {least} items allowed")
        return value

    def text(self, where: str, value: Any, most: int, *, plain: bool = False) -> None:
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in ({"plain_text"} if plain else {"plain_text", "mrkdwn"}):
            self.bad(f"{where}/type", f"unsupported type: {kind}")
            return
        known = "type! text! " + ("emoji" if kind == "plain_text" else "verbatim")
        if self.fields(where, value, known) or "text" in value:
            self.string(f"{where}/text", value.get("text"), most)
            words = str(value.get("text"))
            self.chars += len(words)
            if kind == "mrkdwn":
                self.said.append(words)

    # -- elements ------------------------------------------------------------------------------------------------

    def element(self, where: str, value: Any, inside: str) -> None:
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in ELEMENTS or kind not in ALLOWED[inside]:
            self.bad(f"{where}/type", f"unsupported type: {kind}")
            if kind not in ELEMENTS:
                self.unknown.append(f"element type {kind!r} is not known here ({where})")
            return
        if not self.fields(where, value, ELEMENTS[kind]):
            return
        self._action_id(where, value)
        self.boolean(where, value, "focus_on_load", "multiline", "is_decimal_allowed")
        self.focused += value.get("focus_on_load") is True
        if "placeholder" in value:
            self.text(f"{where}/placeholder", value["placeholder"], MAX_PLACEHOLDER, plain=True)
        if "confirm" in value:
            self._confirm(f"{where}/confirm", value["confirm"])
        if kind == "button":
            self._button(where, value)
        elif "options" in ELEMENTS[kind]:
            self._menu(where, value, kind)
        elif kind == "plain_text_input":
            self._plain_input(where, value)
        elif kind == "image":
            self.string(f"{where}/alt_text", value["alt_text"], 2000)

    def _action_id(self, where: str, value: Json) -> None:
        if (given := value.get("action_id")) is None:
            return
        self.string(f"{where}/action_id", given, MAX_ACTION_ID)
        if given in self.actions:
            self.bad(f"{where}/action_id", f"`action_id` {given} already exists in this block")
        self.actions[given] = where

    def _button(self, where: str, value: Json) -> None:
        self.text(f"{where}/text", value["text"], MAX_BUTTON, plain=True)
        self.string(f"{where}/value", value.get("value", ""), MAX_BUTTON_VALUE, least=0)
        self.string(f"{where}/url", value.get("url", ""), MAX_URL, least=0)
        self.string(f"{where}/accessibility_label", value.get("accessibility_label", ""), MAX_A11Y, least=0)
        if value.get("style", "primary") not in {"primary", "danger"}:
            self.bad(f"{where}/style", "must be one of primary, danger")

    def _menu(self, where: str, value: Json, kind: str) -> None:
        rich = kind in {"radio_buttons", "checkboxes"}
        most = MAX_CHOICES if rich else MAX_OVERFLOW if kind == "overflow" else MAX_OPTIONS
        if ("options" in value) == ("option_groups" in value):
            self.bad(where, "one of options and option_groups is required")
            return
        options: list[Any] = []
        if "options" in value:
            options = self.listed(f"{where}/options", value["options"], most)
            self._options(f"{where}/options", options, rich)
        for n, group in enumerate(
            self.listed(f"{where}/option_groups", value.get("option_groups", [{}]), MAX_GROUPS)
        ):
            if "option_groups" in value and self.fields(f"{where}/option_groups/{n}", group, "label! options!"):
                spot = f"{where}/option_groups/{n}"
                self.text(f"{spot}/label", group["label"], MAX_OPTION, plain=True)
                inside = self.listed(f"{spot}/options", group["options"], MAX_OPTIONS)
                self._options(f"{spot}/options", inside, rich)
                options = options + inside
        initial = value.get("initial_options", [value["initial_option"]] if "initial_option" in value else [])
        for one in initial:
            if one not in options:
                self.bad(where, "initial_option must exactly match one of the provided options")

    def _options(self, where: str, options: list[Any], rich: bool) -> None:
        values: list[Any] = []
        for n, option in enumerate(options):
            if not self.fields(f"{where}/{n}", option, "text! value! description url"):
                continue
            self.text(f"{where}/{n}/text", option["text"], MAX_OPTION, plain=not rich)
            self.string(f"{where}/{n}/value", option["value"], MAX_OPTION_VALUE)
            if "description" in option:
                self.text(f"{where}/{n}/description", option["description"], MAX_OPTION, plain=not rich)
            if option["value"] in values:
                self.bad(f"{where}/{n}/value", f"value {option['value']} is there twice")
            values.append(option["value"])

    def _plain_input(self, where: str, value: Json) -> None:
        for name, least in [("min_length", 0), ("max_length", 1)]:
            given = value.get(name, least)
            if not isinstance(given, int) or not least <= given <= MAX_INPUT:
                self.bad(f"{where}/{name}", f"must be from {least} to {MAX_INPUT}")
        most = value.get("max_length", MAX_INPUT)
        if value.get("min_length", 0) > most:
            self.bad(f"{where}/min_length", "must be less than max_length")
        self.string(f"{where}/initial_value", value.get("initial_value", ""), most, least=0)
        if "dispatch_action_config" in value:
            self.fields(f"{where}/dispatch_action_config", value["dispatch_action_config"], "trigger_actions_on!")

    def _confirm(self, where: str, value: Any) -> None:
        if not self.fields(where, value, "title! text! confirm! deny! style"):
            return
        self.text(f"{where}/title", value["title"], MAX_CONFIRM_TITLE, plain=True)
        self.text(f"{where}/text", value["text"], MAX_CONFIRM_TEXT)
        for name in ("confirm", "deny"):
            self.text(f"{where}/{name}", value[name], MAX_CONFIRM_BUTTON, plain=True)

    def rich(self, where: str, value: Any) -> None:
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in _RICH:
            self.bad(f"{where}/type", f"unsupported type: {kind}")
            self.unknown.append(f"rich text {kind!r} is not known here ({where})")
            return
        if not self.fields(where, value, _RICH[kind]):
            return
        for n, item in enumerate(value["elements"]):
            spot, name = f"{where}/elements/{n}", item.get("type") if isinstance(item, dict) else None
            if kind == "rich_text_list":
                self.rich(spot, item)
            elif name not in _RICH_INSIDE:
                self.bad(f"{spot}/type", f"unsupported type: {name}")
                self.unknown.append(f"rich text element {name!r} is not known here ({spot})")
            elif self.fields(spot, item, _RICH_INSIDE[name]):
                self.chars += len(str(item.get("text", "")))
                target = item.get("user_id") or item.get("usergroup_id") or ""
                if name in {"user", "usergroup", "broadcast"}:
                    self.called.append((item.get("range") or name.replace("usergroup", "group"), target))
