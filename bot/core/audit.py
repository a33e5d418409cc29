"""The closed vocabulary of the audit log (AU-1). The store refuses any other event."""

from __future__ import annotations

from bot.core.model import PersonId

# The protocol's own events; names as in the spec-state format that they are exported in.
PROTOCOL_EVENTS = frozenset(
    {
        "spec_created",
        "tier_set",
        "scope_locked",
        "scope_change",
        "phase_started",
        "phase_completed",
        "phase_skipped",
        "phase_rerun",
        "phase_blocked",
        "phase_jump",
        "intake_round",
        "clarification_resolved",
        "bulk_accept_recommended",
        "clarification_gate_violation",
        "clarification_escalation",
        "gate_approved",
        "gate_bypassed",
        "gate_withheld",
        "verify_item_raised",
        "verify_item_moved",
        "verify_item_resolved",
        "run_abandoned",
        "run_resumed",
        "injection_incident",
    }
)

PRODUCT_EVENTS = frozenset(
    {
        "route.menu_shown",
        "route.chosen",
        "route.reopened",
        "round.closed",
        "round.reposted",
        "answer.replaced",
        "answer.withdrawn",
        "answer.amended",
        "answer.conflict",
        "answer.conflict_settled",
        "answer.confirmation_asked",
        "answer.confirmation_declined",
        "answer.skipped",
        "answer.force_quit",
        "answer.put_off",
        "answer.delegated",
        "answer.message_deleted",
        "session.opened",
        "session.paused",
        "session.resumed",
        "session.completed",
        "session.cancelled",
        "session.replaced",
        "access.refused",
        "access.answer_refused",
        "access.settings_changed",
        "delivery.failed",
        "delivery.restored",
    }
)

EVENTS = PROTOCOL_EVENTS | PRODUCT_EVENTS


def human(person: PersonId) -> str:
    """The actor of an act by a person: `human:<platform>:<id>`."""
    return f"human:{person}"
