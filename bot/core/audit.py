"""The closed vocabulary of the audit log (AU-1), each event with its meaning. The store refuses any other event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.core.model import PersonId

# The protocol's own events; names as in the spec-state format that they are exported in.
PROTOCOL_EVENTS: Final[Mapping[str, str]] = {
    "spec_created": "a specification was begun",
    "tier_set": "how big the work is was decided: the tier sets how many questions a round may hold",
    "scope_locked": "what the specification covers was fixed, or confirmed again",
    "scope_change": "something was added to the scope, or taken out, after it was fixed",
    "phase_started": "a phase began",
    "phase_completed": "a phase ended with its document",
    "phase_skipped": "a phase was left out, with the reason",
    "phase_rerun": "a phase that had ended was done again",
    "phase_blocked": "a phase can not go on until something is decided",
    "phase_jump": "somebody went to another phase than the next one",
    "intake_round": "a round of questions was put on the table",
    "clarification_resolved": "a question was answered; the entry holds the hash of the whole clarification",
    "bulk_accept_recommended": "somebody accepted the recommendations of several questions in one message",
    "clarification_gate_violation": "something was begun although a question that it hangs on is open",
    "clarification_escalation": "asking more would not help: a person has to choose how it goes on, and the choice",
    "gate_approved": "a person let the work through a gate",
    "gate_bypassed": "a person let the work pass a closed gate, with the reason",
    "gate_withheld": "a person kept a gate closed",
    "verify_item_raised": "something that has to be checked was noted",
    "verify_item_moved": "something that has to be checked was handed to a later phase",
    "verify_item_resolved": "something that had to be checked was checked",
    "run_abandoned": "the work was given up",
    "run_resumed": "the work was taken up again",
    "injection_incident": "quoted or handed-in text tried to give orders; nothing of it was followed",
}

PRODUCT_EVENTS: Final[Mapping[str, str]] = {
    "route.menu_shown": "it was not clear what is wanted, and the menu was shown",
    "route.chosen": "the workflow was settled, with what settled it",
    "route.reopened": "somebody wanted another workflow than the one taken",
    "round.closed": "every question of a round has ended",
    "round.reposted": "an open round was shown again",
    "round.withdrawn": "questions of an open round were withdrawn unanswered: the chosen tier does not ask them",
    "round.signal_raised": "an agent or a model said what is unclear; nothing was decided by it",
    "answer.replaced": "an answer was replaced before its round closed",
    "answer.withdrawn": "an answer was taken back before its round closed",
    "answer.amended": "an answer was changed after its round had closed, and the change confirmed",
    "answer.conflict": "two people gave different answers to one question",
    "answer.conflict_settled": "it was decided which of two answers stands",
    "answer.confirmation_asked": "words that may be an answer were asked back before anything was recorded",
    "answer.confirmation_declined": "that question was answered with no",
    "answer.skipped": "an optional question was left open on purpose",
    "answer.force_quit": "a round was ended early, where its protocol allows that",
    "answer.put_off": "somebody will answer later, or has to ask first",
    "answer.delegated": "somebody left a question to another person, or to the bot",
    "answer.message_deleted": "the message that an answer came from was deleted; the answer stands",
    "session.opened": "a request came in, and a session began",
    "session.paused": "a session was set aside for another one",
    "session.resumed": "a session that was set aside goes on",
    "session.completed": "everything is settled, and the result was handed over",
    "session.cancelled": "somebody called the request off",
    "session.replaced": "a session ended because something else was wanted",
    "access.refused": "somebody who is not let in wrote to the bot",
    "access.answer_refused": "somebody answered who may not answer here",
    "access.settings_changed": "a setting of this place was changed",
    "import.accepted": "an exported record was read in; its answers are marked, its times kept as claimed",
    "import.refused": "a file was not read in, with the reasons",
    "session.file_checked": "a file that a playbook wants checked was downloaded, or could not be used",
    "delivery.failed": "a message could not be brought to its place",
    "delivery.restored": "messages arrive again at that place",
    "privacy.pruned": "a place that nobody had used for long was archived and removed; the ends of its chains stay",
    "reminder.sent": "what is open was said unasked: a reminder, or because somebody had wished to be asked again",
    "reminder.stopped": "somebody wants no more reminders of an intake",
    "reminder.dropped": "a wish to be asked again was not followed: that intake was set aside, or is over",
    "delivery.gap": "the bot was away for longer than the platform keeps messages; some are lost",
}

HUMAN: Final = "human:"  # what the actor of a person's act begins with
EVENTS: Final[Mapping[str, str]] = {**PROTOCOL_EVENTS, **PRODUCT_EVENTS}


def human(person: PersonId) -> str:
    """The actor of an act by a person: `human:<platform>:<id>`."""
    return f"{HUMAN}{person}"
