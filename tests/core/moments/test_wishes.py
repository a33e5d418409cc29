"""CH-6: wishes are read the same way every time, in every language, and take nothing else of a message with them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.core.moments.expression import Expression
from bot.core.moments.resolve import Moment, on_the_wall, resolve
from bot.core.moments.scan import LONGEST
from bot.core.moments.wish import find, moment_in, only_moment
from bot.core.moments.words import LISTS, VALUES
from bot.core.moments.zones import Zones, after_quiet, in_words
from config.times_loader import FOLDER, load_times
from config.zones import WorldZones

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 30, 13, 0, tzinfo=UTC)
WORDS = load_times()
CASES = [
    line.split("  =>  ")
    for line in (Path(__file__).parent / "wishes.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def outcome(text: str) -> str:
    wish = find(text, WORDS)
    if wish is not None and wish.stops:
        return "no more"
    said = only_moment(text, WORDS) if wish is None else wish.said
    if said is None:
        return "no wish"
    behind = " (only a moment)" if wish is None else f" | {wish.rest}" if wish.rest else ""
    return shown(said) + behind


def shown(said: Expression) -> str:
    moment = resolve(said, NOW, BERLIN)
    return f"{moment.at.astimezone(BERLIN):%a %d %b %H:%M}" if isinstance(moment, Moment) else moment or "no moment"


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_wish_reads_as_it_should(text: str, expected: str) -> None:
    assert outcome(text.replace("\\n", "\n")).replace("\n", "\\n") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1はA、2はあとで", "no moment"),
        ("1a 2 later", "no moment"),
        ("1a, 3 tomorrow", "Tue 01 Dec 09:00"),
        ("1b 2 demain 3b", "Tue 01 Dec 09:00"),
        ("1: B, 2: at 3", "Mon 30 Nov 15:00"),
        ("1: B, 2: mañana a las 3", "Tue 01 Dec 15:00"),
        ("1 B 2 in 3 hours", "Mon 30 Nov 17:00"),
        ("1: B, 2: 4pm", "Mon 30 Nov 16:00"),
    ],
)
def test_the_number_of_a_question_is_no_hour(text: str, expected: str) -> None:
    """CH-6 RD-10: what is put off is a question, and nobody has said an hour."""
    assert shown(moment_in(text, WORDS, range(1, 5))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("later", "no moment"),
        ("not now, tomorrow at 9", "Tue 01 Dec 09:00"),
        ("heute nicht, morgen früh", "Tue 01 Dec 09:00"),
        ("when the board has met on monday", "no moment"),
        ("I'll answer on friday", "Fri 04 Dec 09:00"),
    ],
)
def test_the_time_in_words_that_put_off(text: str, expected: str) -> None:
    """CH-6: the reply reader has decided that these put off; here only the time is looked for."""
    assert shown(moment_in(text, WORDS)) == expected


def test_the_clocks_go_back_and_forward() -> None:
    """CH-6, field case b55: the wall clock counts, not 24 hours; an hour that does not exist is moved and said so."""
    evening = datetime(2026, 10, 24, 18, 0, tzinfo=UTC)
    wish = find("ask me tomorrow at 9", WORDS)
    assert wish is not None
    moment = resolve(wish.said, evening, BERLIN)
    assert isinstance(moment, Moment)
    assert moment.at == datetime(2026, 10, 25, 8, 0, tzinfo=UTC)
    assert in_words(moment.at, BERLIN, "Europe/Berlin", evening) == "Sun 25 Oct, 09:00 Europe/Berlin (UTC+1)"
    gone = on_the_wall(datetime(2027, 3, 28, 2, 30), BERLIN)  # noqa: DTZ001
    assert (gone.moved, gone.twice, gone.at) == (True, False, datetime(2027, 3, 28, 1, 30, tzinfo=UTC))
    twice = on_the_wall(datetime(2026, 10, 25, 2, 30), BERLIN)  # noqa: DTZ001
    assert (twice.moved, twice.twice, twice.at) == (False, True, datetime(2026, 10, 25, 0, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-12-01T20:59", "2026-12-01T20:59"),  # 21:59
        ("2026-12-01T21:00", "2026-12-02T07:00"),  # 22:00
        ("2026-12-02T02:00", "2026-12-02T07:00"),
        ("2026-12-02T07:00", "2026-12-02T07:00"),
        ("2026-10-24T21:00", "2026-10-25T07:00"),  # across the end of summer time: 23:00 → 08:00
        ("2027-03-27T22:00", "2027-03-28T06:00"),  # and its beginning
    ],
)
def test_quiet_hours_end_on_the_wall_clock(at: str, expected: str) -> None:
    """CH-6: from 22:00 to 08:00 in Berlin."""
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert after_quiet(moment, BERLIN, (22 * 60, 8 * 60)) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("utc", "UTC"),
        ("UTC+2", "UTC+02:00"),
        ("gmt -3", "UTC-03:00"),
        ("+5:30", "UTC+05:30"),
        ("UTC+99", None),
        ("+1:75", None),
        ("Atlantis", None),
        ("", None),
        ("../../etc/passwd", None),
        ("Europe", None),
    ],
)
def test_zones_by_name_city_and_offset(said: str, name: str | None) -> None:
    """CH-6: what is said is what is kept, or it is refused."""
    zones = WorldZones()
    assert zones.named(said) == name
    assert name is None or zones.zone(name) is not None
    assert Zones().zone("Europe/Berlin") is None  # the core knows no rules of its own


@given(st.text(max_size=LONGEST))
@example("ask me tomorrow ፩")  # a figure, and none of a decimal system
def test_no_text_breaks_it(text: str) -> None:
    wish = find(text, WORDS)
    said = moment_in(text, WORDS) if wish is None else wish.said
    only_moment(text, WORDS)
    moment = resolve(said, NOW, BERLIN)
    assert not isinstance(moment, Moment) or moment.at > NOW


@given(st.text("1234567890 :,.;ABC\nabx()?", max_size=40), st.text("1234567890 :,.;ABC\nabx()?", max_size=40))
def test_a_wish_takes_no_answer_with_it(before: str, behind: str) -> None:
    """CH-6: every letter and number of the rest of a message is still there for the reply reader."""
    wish = find(f"{before}, remind me tomorrow. {behind}", WORDS)
    if wish is None:
        return
    marks = set("1234567890ABCxb")  # none of them is in the wish itself
    said, kept = (Counter(c for c in t if c in marks) for t in (f"{before} {behind}", f"{wish.rest} {wish.words}"))
    assert said == kept


def test_every_language_of_the_reply_reader_is_there() -> None:
    """CH-6 RT-12."""
    phrases = {path.name for path in (FOLDER.parent / "phrases").glob("*.yaml")}
    assert phrases == {path.name for path in FOLDER.glob("*.yaml")}
    assert not LISTS.keys() & VALUES.keys()
