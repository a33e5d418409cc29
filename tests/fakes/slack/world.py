"""Workspaces, people and places, and what the app is registered for. Setting up a place is silent."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.ports import Clock
from tests.fakes.slack.model import Bucket, Channel, File, Installation, Json, Message, Team, UserGroup, View
from tests.fakes.slack.outgoing import Outgoing
from tests.fakes.slack.people import Person
from tests.fakes.slack.table import DEFAULT_SCOPES, EVENTS, SCOPES
from tests.fakes.slack.text import Ping

NOWHERE = "http://slack.test"  # the address while nothing is served


@dataclass
class App:
    """What a manifest says of the app."""

    id: str = "A0APP0001"
    name: str = "Askfirst"
    client_id: str = "111.222"
    client_secret: str = "fake-client-secret"
    signing_secret: str = "fake-signing-secret"
    verification: str = "fake-verification-token"
    app_token: str = "xapp-1-A0APP0001-1-fake"
    app_scopes: set[str] = field(default_factory=lambda: {"connections:write"})
    scopes: set[str] = field(default_factory=lambda: set(DEFAULT_SCOPES))
    events: set[str] = field(default_factory=lambda: set(EVENTS))
    commands: dict[str, bool] = field(
        default_factory=lambda: {"/clarify": False, "/askfirst": False}
    )  # should_escape
    shortcuts: dict[str, str] = field(default_factory=lambda: {"clarify_this": "message", "ask_for": "global"})
    interactivity: bool = True
    home_tab: bool = True
    messages_tab: bool = True
    messages_read_only: bool = False
    rotation: bool = False
    redirect_urls: list[str] = field(default_factory=list)

    def use_manifest(self, manifest: Json) -> None:
        """Take everything from a manifest, so that what it forgets does not work."""
        features, settings = manifest.get("features", {}), manifest.get("settings", {})
        oauth = manifest.get("oauth_config", {})
        home = features.get("app_home", {})
        self.scopes = set(oauth.get("scopes", {}).get("bot", []))
        self.redirect_urls = list(oauth.get("redirect_urls", []))
        self.events = set(settings.get("event_subscriptions", {}).get("bot_events", []))
        unknown = (self.scopes - SCOPES) | (self.events - set(EVENTS))
        assert not unknown, f"the manifest asks for what this fake does not know: {sorted(unknown)}"
        self.commands = {c["command"]: c.get("should_escape", False) for c in features.get("slash_commands", [])}
        self.shortcuts = {s["callback_id"]: s["type"] for s in features.get("shortcuts", [])}
        self.interactivity = settings.get("interactivity", {}).get("is_enabled", False)
        self.home_tab = home.get("home_tab_enabled", False)
        self.messages_tab = home.get("messages_tab_enabled", False)
        self.messages_read_only = home.get("messages_tab_read_only_enabled", True)
        self.rotation = settings.get("token_rotation_enabled", False)


class World:
    sockets: Any
    slower = 1.0  # times as long as Slack's are its deadlines: on real time, where the machine has much else to do

    def __init__(self, clock: Clock, app: App | None = None) -> None:
        self.clock, self.app = clock, app or App()
        self.outgoing = Outgoing(clock)
        self.teams: dict[str, Team] = {}
        self.users: dict[str, Person] = {}
        self.bots: dict[str, Person] = {}  # by bot id
        self.tokens: dict[str, tuple[Installation, datetime | None]] = {}  # with the end of their life
        self.buckets: dict[tuple[str, ...], Bucket] = {}
        self.files: dict[str, File] = {}
        self.views: dict[str, View] = {}
        self.triggers: dict[str, Any] = {}
        self.links: dict[str, Any] = {}  # response_urls
        self.codes: dict[str, Any] = {}
        self.used_codes: set[str] = set()
        self.homes: dict[tuple[str, str], View] = {}  # (team, person)
        self.origin = NOWHERE
        self.complaints: list[str] = []  # what this fake does not know; `verify` fails on it
        self.pings: list[Ping] = []  # phones that rang
        self.mentions: list[Ping] = []  # the same tokens anywhere, in edits and ephemeral messages too
        self.silent: list[Message] = []  # posted with blocks but without the top-level text (P71)
        self.sloppy: list[tuple[Message, list[str]]] = []  # `&`, `<` or `>` without escape
        self.strays: list[Message] = []  # meant for a thread that is not there: landed in the channel (b25)
        self.truncated: list[Message] = []
        self.unfurled: list[Message] = []  # the bot's own, with a link and without unfurl_links and _media false
        self.unseen: list[Message] = []  # ephemeral, in a thread that has no replies yet: nobody saw them
        self._counts: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        self._last_ts = (0, 0)
        self.team = self.workspace("Acme", id_="T0AAAAAA1")

    def number(self) -> int:
        return next(self._numbers)

    def ts(self) -> str:
        """Seconds, a dot and six digits; unique and growing, never to be read as a float."""
        now = int(self.clock.now().timestamp())
        second, within = self._last_ts
        self._last_ts = (now, 100) if now > second else (second, within + 100)
        return f"{self._last_ts[0]}.{self._last_ts[1]:06d}"

    def new_id(self, prefix: str, name: str = "") -> str:
        """Nine characters, as field cases have them: U0ANA0001, C0TRIAGE1."""
        slug = re.sub("[^A-Z0-9]", "", name.upper())[:6]
        self._counts[prefix + slug] += 1
        return f"{prefix}0{slug}{self._counts[prefix + slug]:0{7 - len(slug)}d}"

    # -- workspaces and people -----------------------------------------------------------------------------------

    def workspace(
        self, name: str, *, id_: str | None = None, enterprise: str | None = None, installed: bool = True,
        org_wide: bool = False,
    ) -> Team:  # fmt: skip
        team = Team(id_ or self.new_id("T", name), name, name.lower().replace(" ", "-"), enterprise)
        self.teams[team.id] = team
        if installed:
            self.install(team, org_wide=org_wide)
        return team

    def install(self, team: Team, *, scopes: set[str] | None = None, org_wide: bool = False) -> Installation:
        """The app with its bot in a workspace. A second time: new tokens for the same bot."""
        old = team.app
        bot = old.bot if old else self.person(self.app.name, team=team, id=self.new_id("U", "BOT"), is_bot=True)
        bot_id = old.bot_id if old else self.new_id("B", "BOT")
        bot.bot_id, bot.app_id = bot_id, self.app.id
        self.bots[bot_id] = bot
        token = f"xoxb-{team.id}-{self.number()}-fake"
        granted = self.app.scopes if scopes is None else scopes
        team.app = Installation(team, bot, bot_id, set(granted), token, org_wide=org_wide)
        self.grant(team.app)
        return team.app

    def grant(self, app: Installation) -> None:
        """Makes the token of an installation valid: see Access."""
        raise NotImplementedError

    @property
    def me(self) -> Installation:
        assert self.team.app is not None
        return self.team.app

    @property
    def token(self) -> str:
        return self.me.token

    def person(self, name: str, *, team: Team | None = None, **known: Any) -> Person:
        """`id`, `email`, `guest` (restricted or ultra), `tz`, `is_bot`; in a foreign `team`: Slack Connect."""
        known.setdefault("id", self.new_id("U", name.partition(" ")[0][:6]))
        person = Person(self, name, team or self.team, **known)
        self.users[person.id] = person
        return person

    def stranger(self, name: str, company: str = "Globex", **known: Any) -> Person:
        """Somebody from another company's workspace, where the app is not installed: Slack Connect."""
        there = next((t for t in self.teams.values() if t.name == company), None)
        return self.person(name, team=there or self.workspace(company, installed=False), **known)

    def other_bot(self, name: str, *, team: Team | None = None) -> Person:
        bot = self.person(name, team=team, is_bot=True)
        bot.bot_id, bot.app_id = self.new_id("B", name), self.new_id("A", name)
        self.bots[bot.bot_id] = bot
        return bot

    def user_group(self, handle: str, *people: Person, name: str = "", team: Team | None = None) -> UserGroup:
        home = team or self.team
        group = UserGroup(self.new_id("S", handle), handle, name or handle, [p.id for p in people])
        home.groups[group.id] = group
        return group

    # -- places --------------------------------------------------------------------------------------------------

    def channel(
        self, name: str, *people: Person, private: bool = False, bot: bool = True, id_: str | None = None,
        team: Team | None = None,
    ) -> Channel:  # fmt: skip
        home = team or self.team
        return self._place(
            Channel(id_ or self.new_id("C", name), home, name, "group" if private else "channel"), people, bot
        )

    def group_dm(self, *people: Person, bot: bool = True) -> Channel:
        """Its id starts with C, as those of today do (b31)."""
        name = "mpdm-" + "--".join(person.handle for person in people) + "-1"
        return self._place(Channel(self.new_id("C", "MPIM"), people[0].team, name, "mpim"), people, bot)

    def dm(self, person: Person, team: Team | None = None) -> Channel:
        """The direct messages between a person and our bot."""
        home = team or (person.team if person.team.app else self.team)
        for channel in home.channels.values():
            if channel.kind == "im" and channel.user == person.id:
                return channel
        made = Channel(self.new_id("D", person.name.partition(" ")[0]), home, "", "im", user=person.id)
        return self._place(made, (person,), True)

    def _place(self, channel: Channel, people: tuple[Person, ...], bot: bool) -> Channel:
        channel.members = [person.id for person in people]
        channel.created = int(self.clock.now().timestamp())
        channel.shared_with = sorted({p.team.id for p in people if p.team is not channel.team})
        if bot and channel.team.app is not None:
            channel.members.append(channel.team.app.bot.id)
        channel.team.channels[channel.id] = channel
        return channel

    def names(self, team: Team) -> dict[str, str]:
        """@name, #name and @handle by id."""
        known = {user.id: f"@{user.name}" for user in self.users.values()}
        known |= {channel.id: f"#{channel.name}" for channel in team.channels.values()}
        return known | {group.id: f"@{group.handle}" for group in team.groups.values()}

    def tokens_of(self, team: Team) -> dict[str, str]:
        """What a client makes of typed @names and #names."""
        known = {f"@{user.handle}": f"<@{user.id}>" for user in self.users.values()}
        known |= {f"#{c.name}": f"<#{c.id}|{c.name}>" for c in team.channels.values() if c.name}
        return known | {f"@{g.handle}": f"<!subteam^{g.id}|@{g.handle}>" for g in team.groups.values()}

    def message(self, channel: Channel, ts: str) -> Message | None:
        found = channel.messages.get(ts)
        return None if found is None or found.gone else found

    def complain(self, what: str) -> None:
        self.complaints.append(what)
