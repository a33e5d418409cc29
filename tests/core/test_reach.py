"""Which messages may answer a round (RP-7), and what is said when a place is lost or the bot was away."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.core.effects import Redraw, Say, Step
from bot.core.events import BotAway, DeliveryFailed, MessagePosted, MessageReceived, PlaceLost, PlaceRestored
from bot.core.model import Material, MessageRef, Person, Place
from bot.core.view import plain
from tests.core.builders import Talk, person

CARD = "s000000001.1"


def recorded(made: Step) -> int:
    return sum(record.kind == "clarification" for record in made.records)


def said(made: Step) -> list[str]:
    return [plain(effect.message) for effect in made.effects if isinstance(effect, Say)]


@pytest.fixture
def talk() -> Talk:
    """The request is message 5."""
    made = Talk()
    made.says("ana", "review my paper", order=5)
    return made


# -- copies of a card ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "counts"), [(4, 0), (5, 0), (6, 1), (8, 1)])
def test_rp7_after_a_copy_of_unknown_id_the_request_is_the_bound(talk: Talk, order: int, counts: int) -> None:
    """P26: the first copy may have arrived at any time after the round was opened."""
    talk.happens(MessagePosted(card=CARD, message="m2", order=9, unsure=True))
    assert recorded(talk.says("ana", "1: A", order=order)) == counts


@pytest.mark.parametrize(("order", "counts"), [(6, 0), (8, 1), (20, 1)])
def test_rp7_a_later_copy_changes_nothing_about_who_could_have_seen_it(talk: Talk, order: int, counts: int) -> None:
    talk.posted(CARD, "m1", 7)
    talk.says("ana", "/resume", order=10)
    talk.posted(CARD, "m2", 11)
    assert recorded(talk.says("ana", "1: A", order=order)) == counts


@pytest.mark.parametrize("order", [3, 5])
def test_rp7_what_was_there_before_the_round_never_answers_it(talk: Talk, order: int) -> None:
    """Also while it is not known that the card has arrived."""
    assert recorded(talk.says("ana", "1: A", order=order)) == 0
    assert recorded(talk.says("ana", "1: A", order=6)) == 1


# -- again ---------------------------------------------------------------------------------------------------------


def test_what_nobody_has_seen_is_shown_whole(talk: Talk) -> None:
    """b35: the card never arrived; no farewell to a card that is not there."""
    talk.undelivered(CARD, "the topic is closed")
    made = talk.happens(PlaceRestored())
    assert not [e for e in made.effects if isinstance(e, Redraw)]
    assert "Why A:" in said(made)[0] or "Why B:" in said(made)[0]


def test_an_absence_says_when_and_what_is_lost(talk: Talk) -> None:
    talk.posted(CARD, "m1", 7)
    until = talk.at + timedelta(days=2)
    made = talk.happens(BotAway(since=talk.at, until=until, lost_before=until - timedelta(days=1)))
    [words] = said(made)
    assert words.startswith("I was away from 02 March 09:00 to 04 March 09:00 UTC. What was sent before 03 March")
    assert [r.event for r in made.records if r.kind == "audit"] == ["round.reposted", "delivery.gap"]
    assert recorded(made) == 0


@pytest.mark.parametrize("words", [("/spec",), ("/spec Refunds", "accept recommendations")])
def test_a_specification_that_waits_for_a_word_is_shown_again_too(words: tuple[str, ...]) -> None:
    """P29, SP-2: the word may be among what is lost. What waits comes last, behind the absence."""
    talk = Talk()
    talk.says("ana", "/settings pack triage")
    shown = [said(talk.says("ana", text))[-1] for text in words][-1]
    assert talk.state is not None
    before = talk.state.sessions[-1]
    assert before.stage.kind == "between"
    until = talk.at + timedelta(days=2)
    made = talk.happens(BotAway(since=talk.at, until=until, lost_before=until - timedelta(days=1)))
    lead, again = said(made)
    assert lead.startswith("I was away from")
    assert again.splitlines()[-1] == shown.splitlines()[-1]
    assert "delivery.gap" in [r.event for r in made.records if r.kind == "audit"]
    assert talk.state.sessions[-1].touched_at == before.touched_at


def test_with_nothing_open_nothing_is_said() -> None:
    talk = Talk()
    talk.says("ana", "/help")
    for event in (PlaceRestored(), BotAway(since=talk.at, until=talk.at, lost_before=talk.at)):
        made = talk.happens(event)
        assert (made.outcome, made.effects) == ("ignored", ())


def test_ch7_the_requester_is_told_once(talk: Talk) -> None:
    """In private; in their own chat there is nobody else to tell."""
    assert said(talk.happens(PlaceLost(reason="blocked"))) == []
    shared = Talk(shared=True)
    shared.says("ana", "review my paper", addressed=True)
    first = shared.happens(DeliveryFailed(card=CARD, reason="removed", place=True))
    assert [e.only_to for e in first.effects if isinstance(e, Say)] == ["x:ana"]
    for event in (DeliveryFailed(card=CARD, reason="removed", place=True), PlaceLost(reason="removed")):
        assert said(shared.happens(event)) == []


def test_somebody_who_acts_makes_it_worth_trying_again(talk: Talk) -> None:
    talk.happens(PlaceLost(reason="blocked"))
    assert talk.state is not None
    assert talk.state.unreachable == "blocked"
    talk.says("ana", "1: A", order=8)
    assert talk.state.unreachable is None


# -- nobody in particular ------------------------------------------------------------------------------------------


def voice(talk: Talk, text: str, **more: object) -> Step:
    name = Person(id="x:-100", name="Triage", kind="channel")
    event = MessageReceived(person=name, text=text, ref=MessageRef(id="u9", quote=text), **more)  # type: ignore[arg-type]
    return talk.happens(event)


def test_rd12_a_voice_without_a_person_is_told_why_it_does_not_count() -> None:
    """Only where it answers or speaks to the bot; never in private; nothing is recorded."""
    talk = Talk(shared=True)
    talk.place = Place(conversation="x:ana", platform="x", shared=True)  # let in by its id
    talk.says("ana", "review my paper", addressed=True)
    assert voice(talk, "lunch at one?").outcome == "ignored"
    for made in (voice(talk, "1: A"), voice(talk, "what is this?", addressed=True)):
        assert made.outcome == "refused"
        [words] = said(made)
        assert "whose decision" in words
        assert [e.only_to for e in made.effects if isinstance(e, Say)] == [None]
        assert recorded(made) == 0


def test_a_bot_is_never_answered() -> None:
    talk = Talk(shared=True)
    talk.says("ana", "review my paper", addressed=True)
    made = talk.says("robot", "1: A", addressed=True)
    assert (made.outcome, said(made)) == ("ignored", [])


def test_a_channel_is_told_once() -> None:
    talk = Talk(shared=True)
    talk.place = Place(conversation="x:ana", platform="x", shared=True, read_only=True)
    assert "can't ask in a channel" in said(voice(talk, "review my paper", addressed=True))[0]
    assert said(voice(talk, "review my paper", addressed=True)) == []
    assert talk.state is not None
    assert talk.state.sessions == ()


# -- handled once more ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("earlier", ["1: B", None])
def test_rd13_an_event_handled_late_does_not_replace_what_was_said_since(earlier: str | None) -> None:
    talk = Talk()
    talk.says("ana", "lit-review this", order=5)
    if earlier:
        talk.says("ana", earlier, order=9)
    event = MessageReceived(person=person("ana"), text="1: A", ref=MessageRef(id="u3", quote="1: A"), order=8)
    again = talk.envelope(event).model_copy(update={"again": True})
    made = talk.takes(again)
    assert recorded(made) == (0 if earlier else 1)
    assert ("stays B" in said(made)[0]) is bool(earlier)


def test_status_speaks_of_trouble_with_the_platform(talk: Talk) -> None:
    """P27."""
    event = MessageReceived(person=person("ana"), text="/status", ref=MessageRef(id="u3", quote="/status"))
    envelope = talk.envelope(event).model_copy(update={"trouble": ("Another program has the token.",)})
    assert "⚠ Another program has the token." in said(talk.takes(envelope))[0]


# -- the menu ------------------------------------------------------------------------------------------------------

MENU = "s000000001"


@pytest.fixture
def menu() -> Talk:
    """The request is message 5, the menu message 8."""
    made = Talk()
    made.says("ana", "hi", order=5)
    made.posted(MENU, "m1", 8)
    return made


def stage(talk: Talk) -> str:
    assert talk.state is not None
    return talk.state.sessions[0].stage.kind


@pytest.mark.parametrize("text", ["c", "(c)", "the third one", "option c", "something else", "g"])
@pytest.mark.parametrize("order", [3, 6])
def test_rp7_a_letter_sent_before_the_menu_picks_nothing(menu: Talk, text: str, order: int) -> None:
    """RP-7 RT-9: it is asked for again, kindly; the menu stays open, and the same letter sent later counts."""
    made = menu.says("ana", text, order=order)
    assert (made.outcome, made.reason, stage(menu)) == ("refused", "older than the menu", "routing")
    assert "crossed" in said(made)[0]
    assert menu.says("ana", "c", order=9).outcome == "accepted"
    assert stage(menu) == "asking"


@pytest.mark.parametrize("text", ["review my paper", "/ars-reviewer"])
def test_rt2_a_request_sent_before_the_menu_is_a_request(menu: Talk, text: str) -> None:
    """RT-5: words that name a workflow need no menu."""
    assert menu.says("ana", text, order=6).outcome == "accepted"
    assert stage(menu) == "asking"


def test_rp7_more_of_the_request_is_kept(menu: Talk) -> None:
    assert menu.says("ana", "it is about bees", order=6).outcome == "accepted"
    assert menu.state is not None
    assert "bees" in menu.state.sessions[0].request.text


def test_rp7_a_reply_or_a_tap_is_sure_of_what_it_answers(menu: Talk) -> None:
    assert menu.says("ana", "c", order=6, about=MENU).outcome == "accepted"
    assert stage(menu) == "asking"
    other = Talk()
    other.says("ana", "hi", order=5)
    other.presses("ana", f"m:{MENU}:c")
    assert stage(other) == "asking"


def test_rp7_while_the_menu_has_no_id_the_clock_of_the_platform_counts() -> None:
    """Request and letter read together after an absence: the letter was there before the menu was made."""
    talk = Talk()
    talk.says("ana", "hi", order=5)
    envelope = talk.envelope(
        MessageReceived(person=person("ana"), text="c", ref=MessageRef(id="9", quote="c"), order=6)
    )
    talk.acts += 1
    early = envelope.model_copy(update={"platform_at": talk.at - timedelta(hours=1), "event_id": "early"})
    assert talk.takes(early).reason == "older than the menu"
    assert (
        talk.takes(envelope.model_copy(update={"platform_at": talk.at + timedelta(seconds=5)})).outcome == "accepted"
    )


def test_rp7_other_letters_after_other_files(menu: Talk) -> None:
    """RT-9: files redraw the menu; a letter that was meant for the old one picks nothing of the new one."""
    file = Material(kind="file", name="abstract.md")
    papers = Material(kind="file", name="papers.bib")
    menu.says("ana", "", order=10, materials=(file, papers))
    assert menu.says("ana", "a", order=9).reason == "older than the menu"
    assert menu.says("ana", "a", order=11).outcome == "accepted"


# -- a result that did not arrive ------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", ["restored", "an act"])
def test_ch7_a_result_that_was_given_up_is_handed_over_once_more(talk: Talk, found: str) -> None:
    """CH-7 RT-15 CA-4: once, when the place is found again; not again after that."""
    talk.says("ana", "A")
    talk.rings("grace:s000000001")
    talk.happens(DeliveryFailed(card=None, session="s000000001", reason="blocked", place=True))
    assert talk.state is not None
    assert talk.state.sessions[0].undelivered == "blocked"
    made = talk.happens(PlaceRestored()) if found == "restored" else talk.says("ana", "/help")
    results = [e for e in made.effects if isinstance(e, Say) and e.message.files]
    assert len(results) == 1
    assert "did not arrive" in plain(results[0].message)
    assert talk.happens(PlaceRestored()).outcome == "ignored"
    assert not any(isinstance(e, Say) and e.message.files for e in talk.says("ana", "/status").effects)


def test_ch7_a_message_that_is_refused_by_itself_is_not_offered_again(talk: Talk) -> None:
    """It would be refused again; /export gives it."""
    talk.says("ana", "A")
    talk.rings("grace:s000000001")
    talk.happens(DeliveryFailed(card=None, session="s000000001", reason="too large"))
    assert talk.happens(PlaceRestored()).outcome == "ignored"


def test_ch7_the_requester_learns_that_a_result_did_not_arrive() -> None:
    shared = Talk(shared=True)
    shared.says("ana", "review my paper", addressed=True)
    shared.says("ana", "1: A", about="s000000001.1")
    shared.rings("grace:s000000001")
    made = shared.happens(DeliveryFailed(card=None, session="s000000001", reason="removed", place=True))
    assert "The result is kept" in said(made)[0]
    assert [e.only_to for e in made.effects if isinstance(e, Say)] == ["x:ana"]
