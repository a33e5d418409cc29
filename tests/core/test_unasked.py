"""What is said unasked: at its time, once, not in quiet hours, and only of what is open (CH-6)."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.codec import decode_state, encode_state
from bot.core.effects import Audit, ClearTimer, Say, SetTimer, Step
from bot.core.events import BotAway, DeliveryFailed, PlaceLost, PlaceRestored
from bot.core.view import plain
from tests.core.builders import Talk

HOURS = 3600.0


def said(made: Step) -> list[str]:
    return [plain(effect.message) for effect in made.effects if isinstance(effect, Say)]


def timers(made: Step) -> list[datetime | None]:
    """What this step says of the timer: a moment, or None = cleared."""
    orders = [e for e in made.effects if isinstance(e, SetTimer | ClearTimer) and e.name == "wake"]
    return [order.at if isinstance(order, SetTimer) else None for order in orders]


def at(talk: Talk, moment: str) -> None:
    talk.at = datetime.fromisoformat(moment).replace(tzinfo=UTC) - timedelta(seconds=1)  # every act takes one


def restarted(talk: Talk, restart: bool) -> None:
    if restart and talk.state is not None:
        talk.state = decode_state(encode_state(talk.state))


@pytest.fixture
def talk() -> Talk:
    made = Talk()
    made.says("ana", "/settings zone Europe/Berlin")
    return made


# -- field case b55 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restart", [False, True])
def test_b55_tomorrow_at_nine_across_the_clock_change(talk: Talk, restart: bool) -> None:
    """CH-6 RD-6: 09:00 in Berlin is 08:00Z, not 07:00Z; said once; nothing is resolved by it."""
    at(talk, "2026-10-24T17:00")
    talk.says("ana", "review my paper")
    at(talk, "2026-10-24T18:00")
    made = talk.says("ana", "ask me tomorrow at 9")
    assert "Sun 25 Oct, 09:00 Europe/Berlin (UTC+1)" in said(made)[0]
    assert timers(made) == [datetime(2026, 10, 25, 8, 0, tzinfo=UTC)]
    assert not any(record.kind == "clarification" for record in made.records)
    restarted(talk, restart)
    at(talk, "2026-10-25T08:00")
    made = talk.rings("wake", after=1)
    assert len(said(made)) == 1
    assert "Still open: 1 (Where it will go)" in said(made)[0]
    assert timers(made) == []  # it rang, and rings no more
    assert said(talk.rings("wake")) == []
    assert talk.state is not None
    assert talk.state.current is not None
    assert talk.state.current.stage.kind == "asking"


def test_b55_an_hour_that_does_not_exist(talk: Talk) -> None:
    """CH-6: the moment that will be used is named."""
    at(talk, "2027-03-27T11:00")
    talk.says("ana", "review my paper")
    made = talk.says("ana", "remind me tomorrow at 02:30")
    assert "Sun 28 Mar, 03:30 Europe/Berlin (UTC+2)" in said(made)[0]
    assert "02:30 does not exist that night" in said(made)[0]
    assert timers(made) == [datetime(2027, 3, 28, 1, 30, tzinfo=UTC)]


def test_b55_nobody_knows_the_zone() -> None:
    """CH-6: nothing is guessed in silence; once the zone is told, the same hour is meant in it."""
    talk = Talk()
    at(talk, "2026-10-24T17:00")
    talk.says("ana", "review my paper")
    made = talk.says("ana", "later, tomorrow at 9")
    assert "Sun 25 Oct, 09:00 UTC" in said(made)[0]
    assert "/settings zone" in said(made)[0]
    made = talk.says("ana", "/settings zone Berlin")
    assert "is now Sun 25 Oct, 09:00 Europe/Berlin (UTC+1)" in said(made)[0]
    assert timers(made) == [datetime(2026, 10, 25, 8, 0, tzinfo=UTC)]


@pytest.mark.parametrize("restart", [False, True])
def test_b55_quiet_hours_are_told_at_once(talk: Talk, restart: bool) -> None:
    """CH-6: the clash is told at once, not discovered by silence."""
    talk.says("ana", "/settings quiet 22:00-08:00")
    at(talk, "2026-12-01T20:00")
    talk.says("ana", "review my paper")
    at(talk, "2026-12-01T20:50")
    made = talk.says("ana", "remind me in 30 minutes")
    assert "Tue 1 Dec, 22:20 Europe/Berlin (UTC+1) is in the quiet hours (22:00–08:00)" in said(made)[0]
    assert "Wed 2 Dec, 08:00 Europe/Berlin" in said(made)[0]
    assert timers(made) == [datetime(2026, 12, 2, 7, 0, tzinfo=UTC)]
    restarted(talk, restart)
    at(talk, "2026-12-02T07:00")
    assert len(said(talk.rings("wake", after=1))) == 1


# -- stopping -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["A", "/cancel", "/new", "accept recommendations"])
def test_answered_cancelled_or_paused_nothing_rings(talk: Talk, word: str) -> None:
    """CH-6: never about what is not open any more. The timer goes with it."""
    talk.says("ana", "/settings reminders daily")
    talk.says("ana", "review my paper")
    assert timers(talk.says("ana", "ask me tomorrow at 9")) != []
    made = talk.says("ana", word)
    assert timers(made) == [None]
    assert said(talk.rings("wake", after=48 * HOURS)) == []


def test_reminders_are_few_and_none_comes_before_a_wish(talk: Talk) -> None:
    """CH-6 P8: after a wish for Friday nobody is reminded on Wednesday; three a round, whatever the downtime."""
    talk.says("ana", "/settings reminders daily")
    talk.says("ana", "review my paper")
    made = talk.says("ana", "ask me on friday")  # from Monday, the 2nd of March
    assert timers(made) == [datetime(2026, 3, 6, 8, 0, tzinfo=UTC)]
    talk.at = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)  # nobody was there to say it for two weeks
    made = talk.rings("wake")
    assert [line for text in said(made) for line in text.splitlines() if "wanted" in line or "reminder" in line] == [
        "You wanted to be asked again: “ask me on friday”."
    ]
    texts = []
    for _ in range(6):
        talk.at += timedelta(days=9)
        texts += said(talk.rings("wake"))
    assert [text.splitlines()[0][:19] for text in texts] == [f"A reminder, {n} of 3:" for n in (1, 2, 3)]


def test_switched_on_late_nobody_is_reminded_at_once(talk: Talk) -> None:
    """CH-6: whoever acts here is here."""
    talk.says("ana", "review my paper")
    talk.at += timedelta(days=30)
    made = talk.says("ana", "/settings reminders daily")
    assert timers(made) == [talk.at + timedelta(days=1)]
    talk.at += timedelta(hours=20)
    assert timers(talk.says("ana", "/status")) == [talk.at + timedelta(days=1)]


def test_no_more_reminders(talk: Talk) -> None:
    talk.says("ana", "/settings reminders daily")
    talk.says("ana", "review my paper")
    made = talk.says("ana", "no more reminders please")
    assert timers(made) == [None]
    assert [r.event for r in made.records if isinstance(r, Audit)] == ["reminder.stopped"]
    assert timers(talk.says("ana", "/status")) == []
    assert timers(talk.says("ana", "ask me tomorrow at 9")) != []  # a wish is another thing


# -- places that can not be reached, and nights ----------------------------------------------------------------------


def test_b41_a_lost_place_is_not_reminded_and_offered_once(talk: Talk) -> None:
    """CH-6 CH-7 b41: reminders stop; back again, the open round is offered once, and no reminder beside it."""
    talk.says("ana", "/settings reminders daily")
    talk.says("ana", "review my paper")
    assert timers(talk.happens(PlaceLost(reason="removed"))) == [None]
    assert said(talk.rings("wake", after=48 * HOURS)) == []
    made = talk.happens(PlaceRestored())
    assert len(said(made)) == 1
    moment = timers(made)[0]
    assert moment is not None
    assert moment > talk.at


@pytest.mark.parametrize("event", ["restored", "away"])
def test_what_is_shown_again_waits_for_the_morning(talk: Talk, event: str) -> None:
    """CH-6: re-posts are unasked too. A person's own message is answered at any hour."""
    talk.says("ana", "/settings quiet 22:00-08:00")
    talk.says("ana", "review my paper")
    night = datetime(2026, 3, 3, 1, 0, tzinfo=UTC)
    talk.at = night
    day = timedelta(days=1)
    away = BotAway(since=night - 2 * day, until=night, lost_before=night - day)
    made = talk.happens(PlaceRestored() if event == "restored" else away)
    assert said(made) == []
    assert timers(made) == [datetime(2026, 3, 3, 7, 0, tzinfo=UTC)]
    assert len(said(talk.says("ana", "/status"))) == 1
    talk.at = datetime(2026, 3, 3, 7, 0, tzinfo=UTC)
    made = talk.rings("wake", after=0)
    assert len(said(made)) == 1
    assert ("I can write here again." if event == "restored" else "I was away") in said(made)[0]
    assert said(talk.rings("wake")) == []


def test_a_result_that_did_not_arrive_waits_for_the_morning_too(talk: Talk) -> None:
    """CH-6 CH-7."""
    talk.says("ana", "/settings quiet 22:00-08:00")
    talk.says("ana", "review my paper")
    talk.says("ana", "A")
    talk.rings("grace:s000000003")
    talk.happens(DeliveryFailed(card=None, session="s000000003", reason="blocked", place=True))
    talk.at = datetime(2026, 3, 3, 1, 0, tzinfo=UTC)
    made = talk.happens(PlaceRestored())
    assert (said(made), timers(made)) == ([], [datetime(2026, 3, 3, 7, 0, tzinfo=UTC)])
    talk.at = datetime(2026, 3, 3, 7, 0, tzinfo=UTC)
    assert "This did not arrive" in said(talk.rings("wake", after=0))[0]
    assert said(talk.rings("wake")) == []


def test_a_timer_that_rings_late_in_the_night_waits_for_the_morning(talk: Talk) -> None:
    """CH-6: the program was down at half past nine and came back at eleven."""
    talk.says("ana", "/settings quiet 22:00-08:00")
    talk.says("ana", "review my paper")
    talk.says("ana", "ask me today at 21:30")
    talk.at = datetime(2026, 3, 2, 22, 0, tzinfo=UTC)  # 23:00 in Berlin
    made = talk.rings("wake")
    assert (said(made), timers(made)) == ([], [datetime(2026, 3, 3, 7, 0, tzinfo=UTC)])
    talk.at = datetime(2026, 3, 3, 7, 0, tzinfo=UTC)
    assert len(said(talk.rings("wake", after=0))) == 1


def test_answered_in_the_night_nothing_is_shown_in_the_morning(talk: Talk) -> None:
    talk.says("ana", "/settings quiet 22:00-08:00")
    talk.says("ana", "review my paper")
    talk.at = datetime(2026, 3, 3, 1, 0, tzinfo=UTC)
    talk.happens(PlaceRestored())
    talk.says("ana", "A")
    talk.at = datetime(2026, 3, 3, 7, 0, tzinfo=UTC)
    assert said(talk.rings("wake")) == []


# -- people ----------------------------------------------------------------------------------------------------------


def test_each_of_several_people_has_their_own_zone_and_one_message_calls_them() -> None:
    """CH-6: what has become due together is one message."""
    talk = Talk(shared=True)
    talk.says("ana", "review my paper for @ben", addressed=True)
    talk.says("ana", "/settings my zone UTC+2")
    talk.says("ana", "ask me tomorrow at 9", about="s000000001.1")
    talk.says("ben", "ask me tomorrow at 8", about="s000000001.1")  # UTC: an hour later
    talk.at = datetime(2026, 3, 3, 10, 0, tzinfo=UTC)
    made = talk.rings("wake")
    lines = said(made)[0].splitlines()
    assert lines[:2] == [
        "ana: You wanted to be asked again: “ask me tomorrow at 9”.",
        "ben: You wanted to be asked again: “ask me tomorrow at 8”.",
    ]
    assert len(said(made)) == 1


def test_a_persons_own_night_counts_in_a_shared_place() -> None:
    talk = Talk(shared=True)
    talk.says("ana", "review my paper", addressed=True)
    talk.says("ana", "/settings my zone UTC+2")
    talk.says("ana", "/settings my quiet 20:00-10:00")
    made = talk.says("ana", "ask me tomorrow at 9", about="s000000001.1")
    assert timers(made) == [datetime(2026, 3, 3, 8, 0, tzinfo=UTC)]


@pytest.mark.parametrize(
    "words", ["quiet", "quiet 25-8", "quiet 8-8", "quiet all night", "reminders", "reminders 0h", "reminders often",
              "zone", "zone Mars", "my", "my pack triage", "my zone"],
)  # fmt: skip
def test_a_setting_that_can_not_be_read_says_what_to_type(words: str) -> None:
    """CH-6 CH-1."""
    talk = Talk(shared=True)
    made = talk.says("ana", f"/settings {words}")
    assert made.outcome == "refused"
    assert "nothing is changed" in said(made)[0]
    assert "/settings" in said(made)[0]


@pytest.mark.parametrize("words", ["22:00-08:00", "22h-8h", "from 22 to 8", "22 bis 8 Uhr", "10pm-8am"])
def test_quiet_hours_as_people_write_them(talk: Talk, words: str) -> None:
    """CH-6."""
    assert "Quiet hours: 22:00–08:00." in said(talk.says("ana", f"/settings quiet {words}"))[0]


def test_a_button_of_the_settings_does_what_the_command_does(talk: Talk) -> None:
    """CH-1."""
    made = talk.presses("ana", "g:reminders:weekly", "Reminders weekly")
    assert "Reminders: weekly." in said(made)[0]
    made = talk.presses("ana", "g:quiet:22:00-08:00", "Quiet 22:00–08:00")
    assert "Quiet hours: 22:00–08:00." in said(made)[0]
    assert talk.presses("ana", "g:pack:nonsense").outcome == "refused"


def test_an_answer_beside_a_wish_is_kept_and_so_is_the_wish(talk: Talk) -> None:
    """CH-6 RD-10: both are honoured; words that only an open question would make an answer are asked about."""
    talk.says("ana", "lit-review this")
    made = talk.says("ana", "tomorrow at 9. 1: B")
    assert [r.question for r in made.records if r.kind == "clarification"] == ["years"]
    assert timers(made) == [datetime(2026, 3, 3, 8, 0, tzinfo=UTC)]
    made = talk.says("ana", "2: remind me in 2 hours, 3: B")
    assert [r.question for r in made.records if r.kind == "clarification"] == ["access"]
    assert timers(made) == [talk.at + timedelta(hours=2)]
    assert [r.event for r in made.records if isinstance(r, Audit)].count("answer.put_off") == 1


@pytest.mark.parametrize(
    "text", ["A, ask me tomorrow at 9", "ok, A. remind me tomorrow", "a please and remind me tomorrow"]
)
def test_a_letter_beside_a_wish_is_an_answer_though_it_is_a_small_word(talk: Talk, text: str) -> None:
    """CH-6 RD-10: "a" means nothing in English, and is an option all the same."""
    talk.says("ana", "review my paper")
    made = talk.says("ana", text)
    assert [r.chosen for r in made.records if r.kind == "clarification"] == ["A"]


def test_tomorrow_where_it_is_tomorrow_already() -> None:
    """CH-6: said at noon in Auckland, before anybody knew that it is Auckland."""
    talk = Talk()
    at(talk, "2026-11-30T23:00")
    talk.says("ana", "review my paper")
    assert timers(talk.says("ana", "ask me tomorrow at 9")) == [datetime(2026, 12, 1, 9, 0, tzinfo=UTC)]
    made = talk.says("ana", "/settings zone Auckland")
    assert "is now Wed 2 Dec, 09:00 Pacific/Auckland (UTC+13)" in said(made)[0]
    assert timers(made) == [datetime(2026, 12, 1, 20, 0, tzinfo=UTC)]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("accept recommendations, remind me tomorrow", True),
        ("you decide, but ask me tomorrow", True),
        ("cancel, no, ask me tomorrow", False),
        ("stop for today, ask me tomorrow", False),
        ("no idea yet, ask me tomorrow at 9", False),
    ],
)
def test_what_gainsays_a_wish_is_not_taken(talk: Talk, text: str, asked: bool) -> None:
    """CH-6 RP-3: whoever wants to be asked again has not accepted everything, nor called it off."""
    talk.says("ana", "lit-review this")
    made = talk.says("ana", text)
    events = [r.event for r in made.records if isinstance(r, Audit)]
    assert events == [*(["answer.confirmation_asked"] if asked else []), "answer.put_off"]
    assert timers(made) != []


def test_words_beside_a_wish_are_no_answer_to_an_open_question_before_a_yes(talk: Talk) -> None:
    """CH-6 RP-11: “we sell bees” may be the answer; nothing is recorded before the person says so."""
    talk.says("ana", "/ars-3w")
    talk.says("ana", "2: yes")
    made = talk.says("ana", "people who sell bees. Remind me tomorrow at 9")
    assert not any(r.kind == "clarification" for r in made.records)
    assert "people who sell bees" in said(made)[0]
    made = talk.says("ana", "yes")
    assert [(r.question, r.chosen_text) for r in made.records if r.kind == "clarification"] == [
        ("audience", "people who sell bees.")
    ]


def test_an_explicit_answer_counts_though_the_rest_is_asked_about(talk: Talk) -> None:
    """CH-6 RD-10."""
    talk.says("ana", "lit-review this")
    made = talk.says("ana", "1: A, defaults for the rest, ask me tomorrow at 9")
    assert [r.question for r in made.records if r.kind == "clarification"] == ["years"]
    assert [r.question for r in talk.says("ana", "yes").records if r.kind == "clarification"] == [
        "databases",
        "access",
    ]


def test_an_edit_of_a_wish_is_the_later_word(talk: Talk) -> None:
    """CH-6 RD-13: and no answer to the one open question."""
    talk.says("ana", "/ars-3w")
    talk.says("ana", "2: yes")
    talk.says("ana", "remind me in 2 hours")
    message = f"u{talk.acts}"
    made = talk.edits("ana", message, "remind me in 3 hours")
    assert not any(r.kind == "clarification" for r in made.records)
    assert timers(made) == [talk.at + timedelta(hours=3)]


def test_an_edit_of_an_answer_with_a_wish(talk: Talk) -> None:
    """CH-6 RD-13: both parts of the message as they read now."""
    talk.says("ana", "lit-review this")
    talk.says("ana", "1: B, ask me tomorrow at 9")
    made = talk.edits("ana", f"u{talk.acts}", "1: C, ask me tomorrow at 10")
    assert [(r.question, r.chosen, r.user_note) for r in made.records if r.kind == "clarification"] == [
        ("years", "C", None)
    ]
    assert timers(made) == [datetime(2026, 3, 3, 9, 0, tzinfo=UTC)]


ACTS = st.sampled_from(
    ["ask me tomorrow at 9", "remind me in 2 hours", "later", "1: B", "2: A, 3: B", "accept recommendations", "/new",
     "/resume 1", "/cancel", "lit-review this", "hi", "a", "no more reminders", "/settings reminders every 4 hours",
     "/settings reminders off", "/settings quiet 22:00-08:00", "/settings quiet off", "/settings zone UTC+9",
     "lost", "restored", "wait 1", "wait 5", "wait 30", "wait 200"]
)  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(st.lists(ACTS, max_size=10))
def test_whatever_happens_nothing_is_said_unasked_that_should_not_be(acts: list[str]) -> None:
    """CH-6: only of what is open, three reminders a round, never in quiet hours, and no timer rings in a circle."""
    talk = Talk()
    reminders: Counter[str] = Counter()
    for act in acts:
        word, _, hours = act.partition(" ")
        if act in ("lost", "restored"):
            talk.happens(PlaceLost(reason="blocked") if act == "lost" else PlaceRestored())
        elif word == "wait":
            until = talk.at + timedelta(hours=int(hours))
            rung = 0
            while talk.state is not None and talk.state.wake is not None and talk.state.wake <= until:
                rung += 1
                assert rung < 60
                talk.at = max(talk.at, talk.state.wake)
                before = talk.state
                made = talk.rings("wake", after=0)
                after = talk.state
                assert after is not None
                assert after.wake is None or after.wake > talk.at
                spoken = said(made)
                assert len(spoken) <= 1 or before.owed is not None
                if spoken:
                    assert before.unreachable is None
                    assert (before.current is not None and before.current.stage.kind != "ended") or before.owed
                    local = talk.at + timedelta(hours=9 if before.settings.zone else 0)
                    assert before.settings.quiet in (None, "off") or 8 <= local.hour < 22
                if spoken and spoken[0].startswith("A reminder") and before.current and before.current.round:
                    reminders[before.current.round.id] += 1
            talk.at = until
        else:
            made = talk.says("ana", act)
            recorded = any(r.kind == "clarification" for r in made.records)
            assert not (recorded and act in ("ask me tomorrow at 9", "remind me in 2 hours", "later"))
    assert all(count <= 3 for count in reminders.values())
