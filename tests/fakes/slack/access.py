"""Who calls, what they may do and how often: tokens, scopes, tiers, places."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from typing import Any

from tests.fakes.slack.errors import Refusal, ratelimited
from tests.fakes.slack.model import Bucket, Channel, Installation, Json
from tests.fakes.slack.news import News
from tests.fakes.slack.table import METHODS, PER_MINUTE, Method

TOKEN_LIFE = timedelta(hours=12)  # docs.slack.dev/authentication/using-token-rotation: "expire after 12 hours"
POST_BURST, POST_EVERY = 4, 1.0  # chat.postMessage: "1 per second per channel. Short bursts >1 allowed"
TEAM_PER_MINUTE = 300  # "several hundred messages per minute" for a workspace
EVERY_SPECIAL = 300  # auth.test, getPermalink: "hundreds of requests per minute"


class Access(News):
    enforce_pace: bool = False

    # -- tokens --------------------------------------------------------------------------------------------------

    def grant(self, app: Installation) -> None:
        if self.app.rotation:
            app.token = f"xoxe.xoxb-1-{app.team.id}-{self.number()}-fake"
            app.refresh = f"xoxe-1-{app.team.id}-{self.number()}-fake"
            app.expires = self.clock.now() + TOKEN_LIFE
        self.tokens[app.token] = (app, app.expires)

    def caller(self, token: str, method: str) -> Installation:
        """Errors: docs.slack.dev/reference/methods/auth.test."""
        spec = METHODS[method]
        if not token:
            raise Refusal("not_authed")
        if token == self.app.app_token:
            if spec.token != "app":
                raise Refusal("not_allowed_token_type")
            if spec.scope not in self.app.app_scopes:
                raise Refusal("missing_scope", needed=spec.scope, provided=",".join(sorted(self.app.app_scopes)))
            return self.me
        if token not in self.tokens:
            raise Refusal("invalid_auth")
        app, expires = self.tokens[token]
        if spec.token == "app":
            raise Refusal("not_allowed_token_type")
        if app.dead or app.team.app is not app:
            raise Refusal(app.dead or "token_revoked")
        if expires is not None and self.clock.now() >= expires:
            raise Refusal("token_expired")
        if spec.scope and "{" not in spec.scope:
            self.need(app, spec.scope)
        return app

    @staticmethod
    def need(app: Installation, scope: str) -> None:
        if scope not in app.scopes:
            raise Refusal("missing_scope", needed=scope, provided=",".join(sorted(app.scopes)))

    # -- pace ----------------------------------------------------------------------------------------------------

    def hurry(self, app: Installation | None, method: str, p: Json) -> None:
        """docs.slack.dev/apis/web-api/rate-limits. A bucket per method, workspace and app."""
        if not self.enforce_pace:
            return
        team = app.team.id if app else ""
        tier = METHODS[method].tier
        per_minute = PER_MINUTE[tier] if tier else EVERY_SPECIAL
        if method == "chat.postMessage":
            self._take((team, method), TEAM_PER_MINUTE, TEAM_PER_MINUTE / 60)
            self._take((team, method, str(p.get("channel"))), POST_BURST, 1 / POST_EVERY)
        else:
            self._take((team, method), per_minute, per_minute / 60)

    def _take(self, key: tuple[str, ...], most: float, per_second: float) -> None:
        now = self.clock.now()
        wait = self.buckets.setdefault(key, Bucket(most, per_second, now)).take(now)
        if wait:
            raise ratelimited(max(1, math.ceil(wait)))

    # -- parameters ----------------------------------------------------------------------------------------------

    def read(self, method: str, spec: Method, given: Json, app: Installation | None) -> Json:
        """Values of their types. What Slack would ignore is a complaint."""
        values: Json = {}
        for name, value in given.items():
            if name == "team_id" and app is not None:  # Bolt gives it to every call
                if value != app.team.id:
                    raise Refusal("team_access_not_granted")
                continue
            if name not in spec.fields:
                self.complain(f"{method} has no parameter {name!r}")
                continue
            if value is None:
                self.complain(f"{method}: {name} is null")  # slack_sdk: "Slack API does not work with null"
                continue
            values[name] = _typed(method, name, spec.fields[name][0], value)
        for name, (_, required) in spec.fields.items():
            if required and values.get(name) in (None, ""):
                raise _missing(name)
        return values

    # -- places --------------------------------------------------------------------------------------------------

    def place(self, app: Installation, given: str, scope: str = "") -> Channel:
        """A channel that the bot can see. `scope` may have `{kind}` in it."""
        channel = app.team.channels.get(given)
        if channel is None or channel.deleted:
            raise Refusal("channel_not_found")
        if scope:
            self.need(app, scope.format(kind=channel.plural))
        if channel.kind != "channel" and app.bot.id not in channel.members:
            raise Refusal("channel_not_found")
        return channel

    def destination(self, app: Installation, given: str) -> Channel:
        """Where a message goes: an id, a #name, or a person, whose DM opens by itself."""
        if given[:1] in {"U", "W"}:
            person = self.users.get(given)
            if person is None:
                raise Refusal("channel_not_found")
            return self.dm(person, app.team)
        name = given.removeprefix("#")
        named = [c for c in app.team.channels.values() if c.name and c.name == name]
        channel = self.place(app, named[0].id if named and given not in app.team.channels else given)
        if channel.archived:
            raise Refusal("is_archived")
        if app.bot.id not in channel.members and "chat:write.public" not in app.scopes:
            raise Refusal("not_in_channel")
        if channel.kind == "im" and not self.app.messages_tab:
            raise Refusal("messages_tab_disabled")
        return channel


def _missing(name: str) -> Refusal:
    """The words of the methods for the ones that are forgotten most."""
    if name == "channel":
        return Refusal("channel_not_found")
    said = f"[ERROR] missing required field: {name}"
    return Refusal("invalid_arguments", response_metadata={"messages": [said]})


def _typed(method: str, name: str, kind: str, value: Any) -> Any:
    if kind == "bool":
        known = {"true": True, "1": True, "false": False, "0": False}
        if isinstance(value, bool):
            return value
        if str(value).lower() in known:
            return known[str(value).lower()]
    elif kind == "int":
        if not isinstance(value, bool) and str(value).lstrip("-").isdigit():
            return int(value)
    elif kind == "list":
        if isinstance(value, list):
            return [str(item) for item in value]
        return (
            json.loads(value)
            if str(value).startswith("[")
            else [v.strip() for v in str(value).split(",") if v.strip()]
        )
    elif kind == "json":
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise Refusal("invalid_blocks_format" if name == "blocks" else "invalid_arguments") from None
    elif isinstance(value, str):
        return value
    raise Refusal("invalid_arguments", response_metadata={"messages": [f"[ERROR] {method}: {name} is no {kind}"]})
