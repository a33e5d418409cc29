"""`/spec` where another pack is in use (RT-10), and a pack that is changed while a menu is open (RT-9)."""

from __future__ import annotations

from bot.core.effects import Say, Step
from bot.core.view import plain
from tests.core.builders import Talk


def said(made: Step) -> str:
    return "\n".join(plain(e.message) for e in made.effects if isinstance(e, Say))


def test_a_command_of_another_pack_says_where_it_is_known() -> None:
    """RT-10"""
    talk = Talk()
    hint = "/spec is a command of the pack triage: /settings pack triage, then send it again."
    assert hint in said(talk.says("ana", "/spec Refunds"))
    assert hint in said(talk.says("ana", "/spec Refunds"))  # the menu is open now


def test_the_commands_of_a_new_pack_count_while_a_menu_is_open() -> None:
    """RT-2 RT-9: nobody has to cancel the menu of the old pack first."""
    talk = Talk()
    talk.says("ana", "/spec Refunds")
    talk.says("ana", "/settings pack triage")
    made = talk.says("ana", "/spec Refunds: in the app")
    assert "[Phase 1] Clarification — Intake" in said(made)
    assert talk.state is not None
    session = talk.state.sessions[-1]
    assert (session.pack, session.workflow) == ("triage", "spec/new")
    assert session.request.text == "/spec Refunds: in the app"
    assert session.spec is not None
    assert session.spec.name == "Refunds"
