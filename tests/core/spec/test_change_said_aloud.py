"""A change of a closed round of a specification, said among others (RD-13)."""

from __future__ import annotations

from tests.core.spec.talk import SpecTalk


def test_a_change_said_to_nobody_is_made() -> None:
    """RD-13: "change 3 to A" means the last closed round here; ordinary talk stays alone (CH-2)."""
    talk = SpecTalk(shared=True)
    talk.ana("/spec Refunds", "accept recommendations")
    assert talk.spec.lock.surface_count == 2
    assert talk.ana("3 of us go to lunch").outcome == "ignored"
    talk.ana("change 3 to A")
    assert talk.spec.lock.surface_count == 1
    assert talk.says("bo", "change 3 to B").outcome == "refused"
    assert talk.spec.lock.surface_count == 1
