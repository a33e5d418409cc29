"""The words by which ambiguity is found in requests and answers (SC-2). Folded; a tuple is a run of words."""

from __future__ import annotations

from typing import Final

VAGUE: Final = (
    "many", "several", "some", "a few", "a lot", "lots", "various", "numerous", "most", "often", "sometimes",
    "fast", "quick", "quickly", "slow", "soon", "large", "big", "small", "huge", "enough", "reasonable", "usually",
    "viele", "einige", "mehrere", "schnell", "oft", "manchmal", "bald", "muchos", "algunos", "rápido", "a menudo",
    "beaucoup", "quelques", "rapide", "souvent", "muitos", "alguns", "много", "несколько", "быстро", "часто",
)  # fmt: skip
GENERIC_ROLES: Final = (
    "users", "user", "people", "everyone", "everybody", "customers", "customer", "the team", "staff", "anyone",
    "nutzer", "benutzer", "leute", "kunden", "usuarios", "clientes", "gente", "utilisateurs", "clients", "usuários",
    "пользователи", "люди", "клиенты",
)  # fmt: skip
SMALL_SCREENS: Final = (
    "mobile", "phone", "phones", "smartphone", "smartphones", "tablet", "tablets", "android", "ios", "iphone",
    "handy", "móvil", "celular",
)  # fmt: skip
LARGE_SCREENS: Final = ("desktop", "laptop", "web app", "browser", "website", "computer", "ordenador")
HEARSAY: Final = (
    "i heard", "someone told", "somebody told", "a friend says", "a friend said", "according to a blog",
    "according to a blog post", "a blog says", "a blog post says", "on reddit", "from reddit", "according to reddit",
    "on twitter", "a tweet", "chatgpt says", "chatgpt said", "according to chatgpt", "according to an ai",
    "a forum post", "on a forum", "a vendor says", "the vendor says", "the vendor claims", "rumour has it",
)  # fmt: skip
HURRY: Final = (
    "asap", "deadline", "by friday", "by monday", "by tuesday", "by wednesday", "by thursday", "next week",
    "by next week", "this week", "end of the month", "end of month", "end of the quarter", "end of quarter",
    "before launch", "before the launch", "in a hurry", "urgent", "urgently", "dringend", "urgente",
)  # fmt: skip
WIDE: Final = (
    "everything",
    "all of it",
    "whole",
    "complete",
    "full",
    "entire",
    "end to end",
    "alles",
    "todo",
    "tout",
)
DESIGN_GAPS: Final = (
    "no component", "no such component", "no pattern for", "not in the design system", "design system lacks",
    "design system has no", "custom component", "new component",
)  # fmt: skip
