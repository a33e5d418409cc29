"""views.*: modals and App Home, with triggers that live three seconds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.fakes.slack.blocks import Check, numbered
from tests.fakes.slack.errors import Refusal, invalid
from tests.fakes.slack.looking import Looking
from tests.fakes.slack.model import Channel, Installation, Json, View, elements_of, kept

TRIGGER_LIFE = timedelta(seconds=3)  # "trigger_id … expires in 3 seconds"
STACK = 3  # "up to three views in a modal's view stack"


class Views(Looking):
    def views_open(self, app: Installation, p: Json) -> Json:
        trigger = self._trigger(app, p["trigger_id"])
        body = self.check_view(p["view"], "modal")
        trigger.used = True
        person = trigger.person
        for view in person.modals:
            view.open = False
        person.modals[:] = []
        return _answer(self.show(app, person, body, None, trigger.channel))

    def views_push(self, app: Installation, p: Json) -> Json:
        trigger = self._trigger(app, p["trigger_id"])
        body = self.check_view(p["view"], "modal")
        if not trigger.person.modals:
            raise Refusal("not_found")
        if len(trigger.person.modals) >= STACK:
            raise Refusal("push_limit_reached")
        trigger.used = True
        above = trigger.person.modals[-1]
        return _answer(self.show(app, trigger.person, body, above, trigger.channel))

    def views_update(self, app: Installation, p: Json) -> Json:
        view = self.views.get(p.get("view_id", ""))
        if "view_id" not in p:
            named = [v for v in self.views.values() if v.open and v.body.get("external_id") == p.get("external_id")]
            view = named[0] if named and p.get("external_id") else None
        if view is None or not view.open or view.team is not app.team:
            raise Refusal("not_found")
        body = self.check_view(p["view"], view.body["type"], view)
        if "hash" in p and p["hash"] != view.hash:
            raise Refusal("hash_conflict")
        return _answer(self.rebuild(view, body))

    def views_publish(self, app: Installation, p: Json) -> Json:
        person = self.users.get(p["user_id"])
        if person is None:
            raise Refusal("user_not_found")
        if not self.app.home_tab:
            raise Refusal("not_enabled")
        old = self.homes.get((app.team.id, person.id))
        body = self.check_view(p["view"], "home", old)
        if "hash" in p and p["hash"] != (old.hash if old else ""):
            raise Refusal("hash_conflict")
        if old is not None:
            return _answer(self.rebuild(old, body))
        view = View(self.new_id("V", "HOME"), person, app.team, body, self._hash(), app.bot_id, self.app.id)
        view.root = view
        self.views[view.id] = self.homes[app.team.id, person.id] = view
        return _answer(view)

    # -- what they share -----------------------------------------------------------------------------------------

    def _trigger(self, app: Installation, given: str) -> Any:
        trigger = self.triggers.get(given)
        if trigger is None or trigger.team is not app.team:
            raise Refusal("invalid_trigger_id")
        if trigger.used:
            raise Refusal("exchanged_trigger_id")
        if self.clock.now() - trigger.at > TRIGGER_LIFE * self.slower:
            raise Refusal("expired_trigger_id")
        return trigger

    def check_view(self, given: Any, kind: Any, old: View | None = None) -> Json:
        """Views are refused as invalid_arguments, with the problems in the metadata."""
        check = Check(kind, "/view")
        check.view(given)
        self.complaints += check.unknown
        if check.errors:
            raise invalid("invalid_arguments", check.errors)
        if check.too_large:
            raise Refusal("view_too_large")
        external = given.get("external_id")
        if external and any(
            v is not old and v.open and v.body.get("external_id") == external for v in self.views.values()
        ):
            raise Refusal("duplicate_external_id")
        return dict(given) | {"blocks": numbered(given["blocks"], lambda: f"{self.number():05x}")}

    def show(
        self, app: Installation, person: Any, body: Json, previous: View | None, at: Channel | None = None
    ) -> View:
        view = View(self.new_id("V"), person, app.team, body, self._hash(), app.bot_id, self.app.id, previous)
        view.root = previous.root if previous else view
        for block, element in elements_of(body["blocks"]):
            if element.get("default_to_current_conversation") and at is not None:
                state = {"type": element["type"], "selected_conversation": at.id}
                view.chosen.setdefault(block["block_id"], {})[element["action_id"]] = state
        self.views[view.id] = view
        person.modals.append(view)
        return view

    def rebuild(self, view: View, body: Json) -> View:
        """What was typed stays where block_id and action_id stay."""
        view.body, view.hash, view.errors, view.trouble = body, self._hash(), {}, ""
        view.chosen = kept(body["blocks"], view.chosen)
        return view

    def _hash(self) -> str:
        return f"{int(self.clock.now().timestamp())}.{self.number():08x}"


def _answer(view: View) -> Json:
    """What people have typed is told in payloads only: here `state` is empty."""
    return {"view": view.json() | {"state": {"values": {}}}}
