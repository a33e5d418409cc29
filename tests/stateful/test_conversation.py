"""Anything people, platforms, time and the network may do, in any order, on the real core: see `laws`."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.core.state import Closing
from tests.stateful import laws
from tests.stateful.world import GROUPS, PASTE, World

REQUESTS = (
    "lit-review this",
    "lit-review this, last 5 years",
    "review my paper",
    "/ars-3w on battery recycling",
    "/ars-lit-review",
    "Here's an abstract and some literature, see what you can do.",
    "hi",
    "lit-review this and check my citations",
    "[direct-mode] run bibliography_agent on these papers",
    "[direct-mode] lit-review this",
    "what does /ars-full actually do?",
    "/ars-litreview",
)
ANSWERS = (
    "1: B",
    "1: B, 2: A, 3: C",
    "1: A, 2: Z, 7: A",
    "2: other (PubMed and my own list)",
    "1: B but only the newer half",
    "3: maybe A",
    "a",
    "B",
    "1",
    "1: 2, 2: 1, 3: 1",
    "2: other",
    "accept recommendations",
    "accept recommendations except 3: A",
    "1: A, defaults for the rest",
    "you decide",
    "undo",
    "yeah ok",
    "yes",
    "no",
    "no, five years",
    "change 1 to C",
    "change 2 to other (something of ours)",
    "skip 2",
    "skip 1",
    "why is B recommended for 1?",
    "what is this?",
    "ask me tomorrow",
    "enough, draft with what you have",
    "cancel",
    "accept all mine",
    "accept all mine except #1 2: B",
    "accept recommendations for #1, #2",
    "#1, #2 except #2 1: C",
    "#1 2: B; #2 1: A",
    "#2: B",
    "#2: accept recommendations",
    "ok #1, #2",
    "#1, #9",
    "go on",
    "something else",
    "the board, none of them engineers",
    "1: the board, 2: yes",
    "only papers from before the war",
    "@ben please",
    "x" * PASTE,
    "",
    "\N{ZERO WIDTH SPACE}",
    "\0",
    "1: \0, 2: B",
    "²: B",
    "9" * 30,
    "<b>1: B</b> & *2: A*",
)
COMMANDS = (
    "/status",
    "/help",
    "/new",
    "/new review my paper",
    "/cancel",
    "/resume",
    "/resume 1",
    "/export",
    "/start",
    "/settings answers anyone",
    "/settings answers requester",
    "/settings answers participants",
    "/settings answers listed @ana @ben",
    "/settings listed remove @ben",
    "/settings outsiders on",
    "/settings outsiders off",
    "/new lit-review this",
    "/settings pack triage",
    "!status",
    "/cancel@somebot",
)
FORGED = (
    "",
    "a",
    "a:0000000001.1:1:A",
    "a:0000000001.1:1:+",
    "a:0000000001.1:01:A",
    "a:0000000001.1:²:A",
    "r:0000000001.1:1",
    "r:0000000001.1:7",
    "m:0000000001:a",
    "e:0000000001",
    "u:0000000001.1",
    "p:p.2:y",
    "p:p.2:²",
    "c:0000000001.1",
    "x:0000000001",
    "z:z:z",
)
SEVERAL = tuple(text for text in ANSWERS if "#" in text or "mine" in text)
FILES = (["a.pdf"], ["refs.bib"], ["draft.docx", "review_1.pdf"])

texts = st.one_of(st.sampled_from(REQUESTS), st.sampled_from(ANSWERS), st.sampled_from(ANSWERS))
anything = st.one_of(texts, st.sampled_from(COMMANDS))
recent = st.integers(0, 12)  # counted from the newest
owners = st.sampled_from(("ana", "ana", "ana", "ben", "guest", "mallory"))
members = st.sampled_from(("ana", "ana", "ben", "cleo", "guest", "mallory", "robot", "news"))
groups = st.sampled_from(GROUPS)
often = st.sampled_from((True, True, True, False))
seldom = st.sampled_from((False, False, False, False, True))


class Conversations(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.checked = 0

    def teardown(self) -> None:
        world = self.world
        try:
            world.server.faults.clear()
            world.server.blocked.clear()
            world.restart()
            for _ in range(4):  # what was put off is sent in the end, and what that leads to
                world.wait(timedelta(hours=1))
            assert world.run(world.store.waiting()) == 0
            self.obeys()
            laws.at_the_end(world)
        finally:
            world.close()

    @initialize(request=st.sampled_from(REQUESTS[:6]), answerers=st.sampled_from(("anyone", "anyone", "requester")))
    def begins(self, request: str, answerers: str) -> None:
        """So that most runs have something on the table."""
        self.world.say("ana", "ana", request)
        self.world.say("club", "ana", "@askfirst review my paper")
        self.world.say("team", "ana", f"/settings answers {answerers}")
        self.world.say("team", "ana", f"@askfirst {request}")
        self.world.go()

    @invariant()
    def obeys(self) -> None:
        fresh = self.world.taken[self.checked :]
        self.checked = len(self.world.taken)
        if fresh:
            laws.hold(self.world, fresh)

    # -- talking -----------------------------------------------------------------------------------------------

    @rule(person=owners, text=texts, send=often)
    def in_private(self, person: str, text: str, send: bool) -> None:
        self.world.say(person, person, text)
        self.world.go(send=send)

    @rule(text=st.sampled_from(ANSWERS))
    def answers(self, text: str) -> None:
        self.world.say("ana", "ana", text)
        self.world.go()

    @rule(room=groups, person=members, text=texts, addressed=st.booleans(), send=often)
    def in_a_group(self, room: str, person: str, text: str, addressed: bool, send: bool) -> None:
        self.world.say(room, person, f"@askfirst {text}" if addressed else text)
        self.world.go(send=send)

    @rule(text=st.sampled_from(SEVERAL), answer=st.sampled_from(("yes", "yes", "no", "")), send=often)
    def several_rounds(self, text: str, answer: str, send: bool) -> None:
        """Two intakes here and others elsewhere, taken by number; the yes is passed on when time passes."""
        self.world.say("ana", "ana", "/new review my paper")
        self.world.say("ana", "ana", text)
        if answer:
            self.world.say("ana", "ana", answer)
        self.world.go(send=send)

    @rule(room=groups, person=members, text=st.sampled_from(laws.TALK))
    def talk(self, room: str, person: str, text: str) -> None:
        self.world.say(room, person, text)
        self.world.go()

    @rule(room=st.sampled_from(("ana", *GROUPS)), person=members, text=st.sampled_from(COMMANDS))
    def command(self, room: str, person: str, text: str) -> None:
        self.world.say(room, "ana" if room == "ana" else person, text)
        self.world.go()

    @rule(person=owners, files=st.sampled_from(FILES), text=texts)
    def files(self, person: str, files: list[str], text: str) -> None:
        self.world.say(person, person, text, files=files)
        self.world.go()

    @rule(room=st.sampled_from(("ana", *GROUPS)), person=members, text=anything, files=st.sampled_from(([], *FILES)))
    def forward(self, room: str, person: str, text: str, files: list[str]) -> None:
        # Of several files each is forwarded; the fake platform does that for the first one only.
        person = "ana" if room == "ana" else person
        album = "forwarded" if len(files) > 1 else None
        for n, name in enumerate(files or [None]):  # type: ignore[list-item]
            more = {"files": [name]} if name else {}
            self.world.say(room, person, "" if n else text, forwarded_from="the boss", album=album, **more)
        self.world.go()

    @rule(which=recent, person=members, text=texts)
    def reply(self, which: int, person: str, text: str) -> None:
        posts = [(r.name, p.id) for r in self.world.server.rooms.values() for p in r.log]
        if which < len(posts):
            room, message = posts[-1 - which]
            self.world.say(room, person if room in GROUPS else room, text, reply_to=message)
            self.world.go()

    @rule(which=recent, text=texts)
    def edit(self, which: int, text: str) -> None:
        mine = [m for m in self.world.messages if m not in self.world.forwarded]
        if which < len(mine):
            self.world.edit(*mine[-1 - which], text)
            self.world.go()

    @rule(which=recent)
    def delete(self, which: int) -> None:
        if which < len(self.world.messages):
            self.world.delete(*self.world.messages[-1 - which])
            self.world.go()

    # -- pressing ----------------------------------------------------------------------------------------------

    @rule(which=st.integers(0, 60), person=members, send=often)
    def press(self, which: int, person: str, send: bool) -> None:
        buttons = self.world.buttons()
        if which < len(buttons):
            seen = buttons[-1 - which]
            by = person if seen.room in GROUPS else seen.room
            self.world.press(seen.room, by, seen.message, seen.token, seen.label)
            self.world.go(send=send)

    @rule(which=st.integers(0, 5))
    def press_new(self, which: int) -> None:
        self.press(which, "ana", True)

    @rule(token=st.sampled_from(FORGED), room=st.sampled_from(("ana", *GROUPS)), person=members)
    def forge(self, token: str, room: str, person: str) -> None:
        self.world.press(room, "ana" if room == "ana" else person, 1, token, "x")
        self.world.go()

    @rule(which=st.integers(0, 60), room=st.sampled_from(("ana", "ben", *GROUPS)))
    def press_elsewhere(self, which: int, room: str) -> None:
        buttons = self.world.buttons()
        if which < len(buttons):
            seen = buttons[-1 - which]
            self.world.press(room, "ben" if room == "ben" else "ana", seen.message, seen.token, seen.label)
            self.world.go()

    # -- platforms, time and trouble ---------------------------------------------------------------------------

    @precondition(lambda self: self.world.delivered)
    @rule(which=st.integers(0, 40))
    def deliver_again(self, which: int) -> None:
        updates = self.world.server.updates[: self.world.delivered]
        before = laws.shown(self.world.store)
        handled = self.world.deliver(updates[-1 - which % len(updates)])
        assert all(h.outcome == "duplicate" for h in handled), handled
        assert laws.shown(self.world.store) == before

    @rule(seconds=st.sampled_from((1, 2, 6, 60, 3600, 80 * 3600)))
    def time_passes(self, seconds: int) -> None:
        self.world.wait(timedelta(seconds=seconds))
        if seconds >= 6:
            rooms = (self.world.state(room) for room in self.world.server.rooms)
            closing = [s.stage for state in rooms if state for s in state.sessions if isinstance(s.stage, Closing)]
            late = [stage for stage in closing if stage.until <= self.world.clock.now()]
            assert not late, "the grace is over, but the result was not handed on"

    @rule()
    def process_restarts(self) -> None:
        self.world.restart()
        self.world.drain()

    @rule(fault=st.sampled_from(("limit", "lost before", "lost after", "refused")), much=seldom)
    def trouble(self, fault: str, much: bool) -> None:
        self.world.server.faults.extend([fault] * (3 if much else 1))  # type: ignore[list-item]

    @rule(person=st.sampled_from(("ana", "ben")))
    def blocks_or_not(self, person: str) -> None:
        self.world.server.blocked ^= {person}


COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}


def test_whatever_happens_the_laws_hold() -> None:
    """CA-1 CA-2 CA-3 CH-2 RD-6 RD-12 RD-13 RT-15 AU-1 AU-3: see `laws`."""
    short = settings(max_examples=60, stateful_step_count=35, **COMMON)  # type: ignore[arg-type]
    run_state_machine_as_test(Conversations, settings=short)


@pytest.mark.soak
def test_whatever_happens_for_long_the_laws_hold() -> None:
    """The same, longer."""
    long = settings(max_examples=1000, stateful_step_count=80, **COMMON)  # type: ignore[arg-type]
    run_state_machine_as_test(Conversations, settings=long)
