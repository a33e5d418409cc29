"""One policy a protocol, as data (RD-1). The protocols differ in these values and in nothing else."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bot.core.model import Model


class Policy(Model):
    """What a round may be and what people may do with it.

    `ceilings` maps a tier to the most questions in one round (RD-4); `rounds` is the most rounds a phase.
    None = no limit.
    """

    name: str
    protocol: Literal["spec", "playbook", "packet", "exchange", "plan", "agent"]
    ceilings: dict[int, int] | None = None
    tier: int = 2  # when no tier is known (RD-4)
    rounds: int | None = None
    fewest_options: int = 2
    most_options: int = 5  # with Other
    options_required: bool = True
    recommendation: Literal["exactly_one", "when_safe", "none"] = "exactly_one"
    other: Literal["required", "allowed"] = "required"
    bulk_accept: bool = True
    force_quit: bool = False
    skip: Literal["never", "optional"] = "never"
    one_at_a_time: bool = False

    @property
    def ceiling(self) -> int | None:
        return None if self.ceilings is None else self.ceilings[self.tier]


SPEC = Policy(name="spec", protocol="spec", ceilings={1: 10, 2: 6, 3: 4}, rounds=3)

PLAYBOOK = Policy(name="playbook", protocol="playbook", ceilings={1: 10, 2: 6, 3: 4})  # RD-17

EXCHANGE = Policy(
    name="exchange",
    protocol="exchange",
    ceilings={2: 5},
    options_required=False,
    recommendation="none",
    other="allowed",
    bulk_accept=False,
    force_quit=True,
    skip="optional",
)

PACKET = Policy(
    name="packet",
    protocol="packet",
    recommendation="when_safe",
    other="allowed",
    skip="optional",
    one_at_a_time=True,
)

AGENT = Policy(
    name="agent",
    protocol="agent",
    ceilings={2: 6},
    options_required=False,
    recommendation="when_safe",
    other="allowed",
    skip="optional",
)

POLICIES = {policy.name: policy for policy in (SPEC, PLAYBOOK, EXCHANGE, PACKET, AGENT)}
# In a state: one by a policy that only a newer program has is refused as a whole, not found out about in mid-step.
PolicyName = Annotated[str, Field(pattern=f"^({'|'.join(POLICIES)})$")]

Answerers = Literal["requester", "participants", "listed", "anyone"]


Quiet = tuple[int, int]  # from and to, in minutes of the day; over midnight where `to` is the smaller one


class Own(Model):
    """What one person has set for themselves in a shared place. None = as the place has it."""

    zone: str | None = None
    quiet: Quiet | Literal["off"] | None = None


class Settings(Model):
    """What people set for this place. None = the program's default.

    `listed`: people and groups, as `circle.entry` keeps them. `outsiders`: guests and people of other
    organisations may answer too (RD-12). Where every message asks for an intake, menus `off` leaves those alone that
    name no workflow; echoes `off` says nothing of an answer that the card shows.
    """

    pack: str | None = None
    answerers: Answerers | None = None
    listed: tuple[str, ...] = ()
    outsiders: bool = False
    off: tuple[Literal["menus", "echoes"], ...] = ()
    zone: str | None = None  # time zone, by its name (`bot.core.moments.zones`)
    quiet: Quiet | Literal["off"] | None = None  # nothing unasked is said in these hours (CH-6)
    reminders: int | None = None  # hours between reminders of an open round; 0 = none (CH-6)
    own: dict[str, Own] | None = None  # by person


class Access(Model):
    """Who is let in (CH-5): `platform:person-or-place` entries, `*` allowed; closed when empty."""

    allow: tuple[str, ...] = ()

    def admits(self, person: str, conversation: str, platform: str) -> bool:
        if platform == "terminal":  # whoever can run the program can read its database
            return True
        place = conversation.split("/", 1)[0]
        parts = {f"{platform}:{part}" for part in place.split(":")[1:]}  # a workspace, and a channel in it
        return any(entry in (person, place, f"{platform}:*", "*") or entry in parts for entry in self.allow)
