"""Decides for a session's first message which workflow it belongs to, or which menu to show (RT)."""

from bot.core.routing.menu import MenuAnswer, MenuLine, MenuView, examples, menu_for, read_menu_answer
from bot.core.routing.pack import Pack, Workflow
from bot.core.routing.records import route_record
from bot.core.routing.router import route
from bot.core.routing.verdict import Position, Verdict

__all__ = [
    "MenuAnswer",
    "MenuLine",
    "MenuView",
    "Pack",
    "Position",
    "Verdict",
    "Workflow",
    "examples",
    "menu_for",
    "read_menu_answer",
    "route",
    "route_record",
]
