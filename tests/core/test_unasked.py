"""What is said unasked: at its time, once, not in quiet hours, and only of what is open (CH-6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

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
