"""Who may answer (RD-12), on plain values."""

from __future__ import annotations

import pytest

from bot.core.circle import Circle, entry
from bot.core.model import Person
from bot.core.policies import Answerers

ANA = Person(id="x:1", name="Ana", handle="ana")
BEN = Person(id="x:2", name="Ben", handle="Ben_K")
CLEO = Person(id="x:3", name="Cleo", groups=("x:S77",))
DORA = Person(id="x:4", name="Dora", member=True)
GUEST = Person(id="x:5", name="Guest", outside=True, member=True)
ROBOT = Person(id="x:6", name="Robot", kind="bot", member=True)

CIRCLE = Circle(shared=True, requester=ANA, taken_part=("x:2", "x:5", "x:6"), listed=("x:S77", "x:ben_k"))
MAY: dict[Answerers, str] = {
    "requester": "Ana",
    "participants": "Ana Ben Dora",  # Ben has written here, of Dora the platform says that she belongs here
    "listed": "Ana Ben Cleo",  # Ben by his handle, Cleo by her group
    "anyone": "Ana Ben Cleo Dora",
}


@pytest.mark.parametrize("policy", MAY)
def test_each_policy_lets_in_whom_it_names(policy: Answerers) -> None:
    """RD-12: bots never, people from outside only where the settings say so."""
    people = (ANA, BEN, CLEO, DORA, GUEST, ROBOT)
    assert " ".join(p.name for p in people if CIRCLE.refusal(p, "x", policy) is None) == MAY[policy]


def test_people_named_may_answer_whatever_the_policy() -> None:
    """RD-12, CH-6: by id, by handle in any case, by group."""
    for name, person in (("@ben_K", BEN), ("x:2", BEN), ("S77", CLEO)):
        circle = CIRCLE.model_copy(update={"named": (entry(name, "x"),)})
        assert circle.refusal(person, "x", "requester") is None
        assert circle.refusal(DORA, "x", "requester") is not None


def test_somebody_elses_platform_or_id_is_nobody_named() -> None:
    """A handle is compared with handles, an id with ids: `@2` is not the person with the id 2."""
    circle = CIRCLE.model_copy(update={"named": ("x:dora", "y:4")})
    assert circle.refusal(DORA.model_copy(update={"handle": None, "id": "x:9"}), "x", "requester") is not None
    assert circle.refusal(DORA, "x", "requester") is not None


def test_outsiders_where_the_settings_let_them() -> None:
    """RD-12: then they are people like others, and the policy still holds."""
    circle = CIRCLE.model_copy(update={"outsiders": True})
    assert circle.refusal(GUEST, "x", "participants") is None
    assert circle.refusal(GUEST, "x", "requester") is not None
    assert CIRCLE.refusal(GUEST, "x", "anyone") is not None


def test_in_private_the_person_answers_and_nobody_else() -> None:
    """RD-12: the terminal and JSON lines can have several people in a private place."""
    private = CIRCLE.model_copy(update={"shared": False})
    assert private.refusal(ANA, "x", "participants") is None
    assert private.refusal(DORA, "x", "participants") is not None
    assert private.model_copy(update={"answerers": "anyone"}).refusal(DORA, "x", "anyone") is None
