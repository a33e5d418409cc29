"""Rounds by number, here and elsewhere, on plain values (RP-4, RP-7, RD-15)."""

from __future__ import annotations

from collections import Counter

import pytest

from bot.core.effects import Audit, Clarification, Say, SetTimer, Step
from bot.core.elsewhere import OpenRound, reachable
from bot.core.events import Envelope, Forwarded, MessageReceived
from bot.core.model import MessageRef, Place
from bot.core.replies.grammar import Parser
from bot.core.replies.message import Message
from bot.core.state import Conversation, Round
from bot.core.step import step
from bot.core.view import plain
from tests.core.builders import Talk, book, person


def said(made: Step) -> str:
    return "\n".join(plain(e.message) for e in made.effects if isinstance(e, Say))


def clarified(made: Step) -> dict[tuple[str, str], tuple[str | None, str]]:
    records = (r for r in made.records if isinstance(r, Clarification))
    return {(r.session, r.question): (r.chosen, r.chosen_via) for r in records}


def two() -> Talk:
    talk = Talk()
    talk.says("ana", "lit-review this")
    talk.says("ana", "/new review my paper")
    return talk


def pending(state: Conversation | None) -> str:
    assert state is not None
    return state.pending[-1].id


def revised(talk: Talk, number: int) -> None:
    """Somebody changes what a round asks: its revision counts one up."""
    assert talk.state is not None
    sessions = []
    for session in talk.state.sessions:
        if session.number == number:
            round_ = session.rounds[-1]
            session = session.model_copy(update={"rounds": (round_.model_copy(update={"revision": 2}),)})
        sessions.append(session)
    talk.state = talk.state.model_copy(update={"sessions": tuple(sessions)})


def test_nothing_is_recorded_before_the_yes() -> None:
    """RP-4"""
    talk = two()
    made = talk.says("ana", "accept all mine")
    made = step(talk.before, _with(talk, made, ()), book())
    assert made.wants == frozenset()
    assert not clarified(made)
    assert [r.event for r in made.records if isinstance(r, Audit)] == ["answer.confirmation_asked"]


def _with(talk: Talk, made: Step, elsewhere: tuple[OpenRound, ...]) -> Envelope:
    """The envelope of the last act again, with what its step wanted."""
    assert made.wants == {"elsewhere"}
    assert talk.state is not None
    text = "accept all mine"
    ref = MessageRef(id=f"u{talk.acts}", quote=text)
    event = MessageReceived(person=person("ana"), text=text, ref=ref)
    return Envelope(
        event_id=f"e{talk.acts}", place=talk.place, at=talk.at, new_id="s0", elsewhere=elsewhere, event=event
    )


def test_a_yes_records_each_round_with_the_same_proof() -> None:
    """RP-4, CA-2, CA-3: the reference is the yes, and quotes both messages."""
    talk = two()
    talk.says("ana", "#1, #2 except #1 3: A")
    made = talk.says("ana", "yes")
    assert set(clarified(made).values()) == {
        ("B", "accept_recommendations_bulk"),
        ("A", "accept_recommendations_bulk"),
        ("A", "user_response"),
    }
    refs = {r.user_message_ref for r in made.records if isinstance(r, Clarification)}
    assert refs == {'u4: "yes", confirming u3: "#1, #2 except #1 3: A"'}
    bulk = [r for r in made.records if isinstance(r, Audit) and r.event == "bulk_accept_recommended"]
    assert [(r.details["count"], r.details["items"]) for r in bulk] == [(2, [1, 2]), (1, [1])]


def test_a_round_that_has_changed_is_shown_again_and_the_others_are_recorded() -> None:
    """RD-15: bound to the revisions that were seen."""
    talk = two()
    talk.says("ana", "#1, #2 except #1 3: A")
    revised(talk, 1)
    made = talk.says("ana", "yes")
    assert [question for _, question in clarified(made)] == ["venue"]
    assert "The questions of #1 Literature review have changed" in said(made)


def test_a_round_that_ended_meanwhile_is_said_and_the_others_are_recorded() -> None:
    """RP-4"""
    talk = two()
    talk.says("ana", "#1, #2 except #1 3: A")
    name = pending(talk.state)
    talk.says("ana", "/cancel")
    made = talk.presses("ana", f"p:{name}:y")
    assert len(clarified(made)) == 3
    assert "Review of a paper (#2) was cancelled; nothing was recorded for it. /new starts something new." in said(
        made
    )


def test_an_older_summary_is_not_meant_by_a_loose_yes() -> None:
    """RP-3: once something else has been said, a loose yes no longer means it."""
    talk = two()
    talk.says("ana", "#1, #2 except #1 3: A")
    talk.says("ana", "/status")
    assert not clarified(talk.says("ana", "yes"))


def test_an_edit_takes_the_summary_back() -> None:
    """RD-13 RP-4. A yes to the first words would record what is not said any more; an edit by another is none."""
    talk = two()
    made = talk.says("ana", "accept all mine")
    name = pending(talk.state)
    talk.edits("ben", "u3", "accept recommendations for #1")
    assert pending(talk.state) == name
    made = talk.edits("ana", "u3", "accept recommendations for #1")
    assert made.outcome == "accepted"
    assert not made.state.pending
    assert not clarified(talk.presses("ana", f"p:{name}:y"))


def test_nobody_else_can_confirm() -> None:
    """RD-12"""
    talk = two()
    talk.says("ana", "#1, #2 except #1 3: A")
    made = talk.presses("ben", f"p:{pending(talk.state)}:y")
    assert (made.outcome, made.records) == ("refused", ())


# -- elsewhere -----------------------------------------------------------------------------------------------------


def team() -> Conversation:
    """A shared place in which ana's literature review waits."""
    talk = Talk(shared=True)
    talk.place = Place(conversation="x:team/7", platform="x", shared=True)
    ref = MessageRef(id="u1", quote="lit-review this")
    event = MessageReceived(person=person("ana"), text="lit-review this", addressed=True, ref=ref)
    envelope = Envelope(event_id="t1", place=talk.place, at=talk.at, new_id="team000001", numbered=11, event=event)
    return step(None, envelope, book()).state


def test_an_intake_in_a_thread_is_numbered_within_the_whole_place() -> None:
    """RP-7: eleven came before it, in whatever threads."""
    [session] = team().sessions
    assert session.number == 12


def test_a_step_says_that_it_wants_the_number_and_the_rounds_elsewhere() -> None:
    """Only the steps that need them: looking is the runner's part."""
    talk = Talk(shared=True)
    assert talk.says("ana", "lit-review this", addressed=True).wants == {"numbered"}
    assert talk.says("ana", "1: B").wants == frozenset()
    assert talk.says("ana", "accept recommendations for #1, #12").wants == {"elsewhere"}
    assert talk.says("ana", "see #12 and #14").wants == frozenset()


def private(text: str, elsewhere: tuple[OpenRound, ...], who: str = "ana") -> Step:
    place = Place(conversation=f"x:{who}", platform="x")
    event = MessageReceived(person=person(who), text=text, ref=MessageRef(id="5", quote=text))
    talk = Talk()
    envelope = Envelope(event_id="d1", place=place, at=talk.at, new_id="dm00000001", elsewhere=elsewhere, event=event)
    return step(None, envelope, book())


def test_a_round_elsewhere_is_forwarded_with_its_revision_and_an_id_that_names_the_place() -> None:
    """RP-7: message ids are a conversation's own, so the proof says whose it is."""
    there = team()
    made = private("#12 2: B", reachable([there], person("ana"), "x:ana"))
    [forward] = made.state.forwards
    assert isinstance(made.effects[0], SetTimer)
    assert made.effects[0].name == forward.name
    assert (forward.place, forward.event.revision, forward.event.ref.id) == ("x:team/7", 1, "5@x:ana")
    assert forward.event.reading.answers[2].key == "B"
    assert "Passed on to #12 Literature review" in said(made)
    arrived = arrive(there, forward.event)
    assert clarified(arrived) == {("team000001", "databases"): ("B", "user_response")}
    [record] = [r for r in arrived.records if isinstance(r, Clarification)]
    assert record.user_message_ref == '5@x:ana: "#12 2: B"'


def arrive(there: Conversation, event: Forwarded) -> Step:
    talk = Talk()
    return step(there, Envelope(event_id="forward:1", place=there.place, at=talk.at, event=event), book())


def test_a_forwarded_answer_to_questions_that_have_changed_records_nothing() -> None:
    """RD-15"""
    there = team()
    made = private("#12 2: B", reachable([there], person("ana"), "x:ana"))
    [session] = there.sessions
    changed: Round = session.rounds[0].model_copy(update={"revision": 2})
    there = there.model_copy(update={"sessions": (session.model_copy(update={"rounds": (changed,)}),)})
    arrived = arrive(there, made.state.forwards[0].event)
    assert not clarified(arrived)
    assert "have changed since then" in said(arrived)


def test_a_forwarded_answer_by_somebody_who_may_not_answer_is_refused_there() -> None:
    """RD-12: what may be answered is decided where the round is."""
    there = team()
    made = private("#12 2: B", reachable([there], person("ana"), "x:ana"))
    event = made.state.forwards[0].event.model_copy(update={"person": person("ben")})
    arrived = arrive(there, event)
    assert (arrived.outcome, arrived.reason) == ("refused", "may not answer here")
    assert not clarified(arrived)
    assert not arrive(there, event.model_copy(update={"person": person("mallory")})).effects  # not let in (CH-5)


@pytest.mark.parametrize(
    ("who", "here", "found"),
    [
        ("ana", "x:ana", [12]),  # one's own, from a private chat
        ("ben", "x:ben", []),  # somebody else's: not from there
        ("ben", "x:team", [12]),  # the same channel: named by number, and refused if not theirs
        ("ben", "x:team/9", [12]),
        ("ben", "x:te", []),
        ("ana", "x:team/7", []),  # its own conversation is no other one
    ],
)
def test_how_far_a_message_reaches(who: str, here: str, found: list[int]) -> None:
    """RP-7"""
    assert [one.number for one in reachable([team()], person(who), here)] == found


def test_an_answer_to_rounds_that_nobody_knows_opens_no_intake() -> None:
    """RP-7: it is said; in private a message would else begin something new."""
    made = private("#12 2: A", (), who="ben")
    assert said(made) == (
        "There is no open intake #12 within reach of this place. /status shows what is open.\nNothing is recorded."
    )
    assert made.state.sessions == ()


def test_a_rival_of_an_older_state_is_kept() -> None:
    """States of form 1 knew one rival to an answer."""
    from bot.core.codec import decode_state, encode_state

    talk = Talk(shared=True)
    talk.says("ana", "/settings answers anyone")
    talk.says("ana", "review my paper", addressed=True)
    talk.says("ana", "1: A")
    talk.says("ben", "1: B")
    assert talk.state is not None
    new = encode_state(talk.state)
    assert '"rivals":[{' in new
    start = new.index('"rivals":[{') + len('"rivals":[')
    end = new.index("}]", new.index('"at":', start)) + 1
    old = new[:start].replace('"rivals":[', '"rival":') + new[start:end] + new[end + 1 :]
    old = old.replace('"schema_version":2', '"schema_version":1').replace(',"by":["x:ben"]', "")
    assert decode_state(old) == talk.state


@pytest.mark.parametrize("text", ["#1 2: B, rest default", "#1 2B, rest default", "#1: 2 B, others as recommended"])
def test_what_is_said_of_a_round_has_numbers_of_its_own(text: str) -> None:
    """RP-4, RP-7: not question 1, whose rest would take question 2 as recommended."""
    talk = two()
    talk.says("ana", "/resume 1")
    made = talk.says("ana", text)
    assert {question: how for (_, question), how in clarified(made).items()} == {
        "years": ("B", "accept_recommendations_bulk"),
        "databases": ("B", "user_response"),
        "access": ("B", "accept_recommendations_bulk"),
    }


@pytest.mark.parametrize("text", ["#2 accept recommendations", "accept recommendations for #1, #2"])
def test_the_number_that_the_card_shows_is_asked_about(text: str) -> None:
    """RP-8: below a card that says "#2 ·" it can be the intake, and question 2 of it; #1 is answered already."""
    talk = Talk()
    talk.says("ana", "review my paper")
    talk.says("ana", "accept recommendations")
    talk.says("ana", "/new lit-review this")
    made = talk.says("ana", text)
    assert not clarified(made)
    assert "Which one?" in said(made)
    made = talk.presses("ana", f"p:{pending(talk.state)}:1")
    assert set(clarified(made).values()) <= {
        ("B", "accept_recommendations_bulk"),
        ("A", "accept_recommendations_bulk"),
    }


def over_twice() -> Talk:
    """Two intakes of three questions that are over, #1 with B A B and #2 with C C A."""
    talk = Talk()
    for letters in ("1: B, 2: A, 3: B", "1: C, 2: B, 3: A"):
        talk.says("ana", "lit-review this")
        talk.says("ana", letters)
        assert talk.state is not None
        talk.rings(f"grace:{talk.state.sessions[-1].id}")
    return talk


@pytest.mark.parametrize(
    "words",
    ["change 1 to A in #1", "in #1 change 1 to A", "#1: change 1 to A", "change 1 of #1 to A", "1: A in #1",
     "ändere 1 in #1 auf A", "cambia la 1 a A en #1"],
)  # fmt: skip
def test_a_change_goes_to_the_intake_that_is_named(words: str) -> None:
    """RP-7 RD-13"""
    talk = over_twice()
    assert talk.state is not None
    first = talk.state.sessions[0].id
    assert "#1 Literature review\n1 · Years to cover: was B, Last 10 years, would be A" in said(
        talk.says("ana", words)
    )
    assert clarified(talk.says("ana", "yes")) == {(first, "years"): ("A", "user_response")}


def test_a_change_of_an_intake_that_is_not_here_changes_nothing() -> None:
    """RP-7: never the latest one instead; a number in a remark names nothing."""
    talk = over_twice()
    talk.says("ana", "lit-review this")
    for words in ("change 1 to A in #9", "change 1 to E in #1"):
        made = talk.says("ana", words)
        made = step(talk.before, _answered(talk, words), book()) if made.wants else made
        assert not clarified(made)
        assert not made.state.pending
    assert list(clarified(talk.says("ana", "1: A as discussed in #1")).values()) == [("A", "user_response")]


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each text is read as a reply from now on, by its words."""
    times: Counter[str] = Counter()

    def parser(msg: Message) -> Parser:
        times[msg.clean.text] += 1
        return Parser(msg)

    monkeypatch.setattr("bot.core.replies.Parser", parser)
    return times


@pytest.mark.parametrize("words", ["change 1 to A in #1", "#1: change 1 to A", "1: A in #1"])
def test_what_is_said_of_an_intake_that_is_over_is_read_once(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """RP-7: whatever asks about it: whether it is a change, of which round, and what would follow."""
    talk = over_twice()
    times = counted(monkeypatch)
    talk.says("ana", words)
    assert set(times.values()) == {1}, times


@pytest.mark.parametrize("words", ["1: A in #1", "in #2 change 1 to A"])
def test_what_is_said_of_an_open_intake_is_read_once(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """RP-7"""
    talk = two()
    times = counted(monkeypatch)
    talk.says("ana", words)
    assert set(times.values()) == {1}, times


def test_a_message_within_the_grace_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """RD-16"""
    talk = Talk()
    talk.says("ana", "lit-review this")
    talk.says("ana", "1: B, 2: A, 3: A")
    times = counted(monkeypatch)
    assert "is now B" in said(talk.says("ana", "change 2 to B"))
    assert times == {"change 2 to B": 1}


def _answered(talk: Talk, text: str) -> Envelope:
    ref = MessageRef(id=f"u{talk.acts}", quote=text)
    event = MessageReceived(person=person("ana"), text=text, ref=ref)
    return talk.envelope(event).model_copy(update={"elsewhere": ()})
