"""What goes into the router and what comes out of it. `bot.core.routing.route` is the router."""

from __future__ import annotations

from typing import Literal

from bot.core.model import Material, Model

Position = Literal["first", "menu_open", "in_workflow"]
Outcome = Literal["proceed", "clarify", "confirm_leave", "continue"]
By = Literal["command", "trigger", "agent", "phase", "menu", "cross-phase", "no-materials", "direct-mode"]


class Verdict(Model):
    """Where a message should go (`askfirst route --jsonl`).

    `options` are the workflow ids offered, without "something else". `materials` is everything that was
    recognised, each mapped to a phase in `phases` (sorted, unique).
    """

    outcome: Outcome
    by: By | None = None
    direct_mode: bool = False
    workflow: str | None = None
    text: str = ""  # what is passed on: the token stripped, a command word kept
    phases: tuple[int, ...] = ()
    options: tuple[str, ...] = ()
    materials: tuple[Material, ...] = ()
    near_miss: str | None = None  # the wrong form of the token that was seen (RT-6), as typed
    agent_named: str | None = None  # an agent's name without the token (RT-7, RT-9)
    unknown_command: str | None = None  # as typed; `options` hold the nearest known ones (RT-10)
    question: bool = False  # the message asks about a command or the menu; nothing may start (RT-2, RT-9)
    menu: str | None = None  # which menu of the pack fits: "stage" (RT-4), "materials", "just_these", …
    trigger: str | None = None  # the words that decided, verbatim, for the audit row
    general: str | None = None  # /help and its kin, or a command of a running session, without the slash
    other_bot: str | None = None  # the command names another bot; nobody here is meant (CH-2)
