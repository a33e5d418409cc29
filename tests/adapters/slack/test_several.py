"""Several rounds accepted by one message, typed in the channel, in a thread and in a direct message (RP-4 RP-7)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.adapters.slack.talking import Talk


@pytest.mark.parametrize(
    "words", ["accept recommendations for #1, #2 except #2 2: B", "accept all mine except #2 2: B"]
)
@pytest.mark.parametrize("where", ["channel", "dm"])
async def test_a_summary_first_then_a_receipt_a_round(talk: Talk, words: str, where: str) -> None:
    """Ben's yes is not Ana's, and each thread gets its own receipt."""
    roots = [(await talk.begin()).ts, (await talk.begin()).ts]
    place = talk.triage if where == "channel" else talk.ana.dm
    said = talk.ana.say(words, place)
    await talk.settle()
    assert "Nothing is recorded yet" in talk.words(place)[-1]
    assert not talk.recorded
    if where == "channel":
        talk.ben.reply(said, "yes")
        await talk.settle()
        assert not talk.recorded
        talk.ana.reply(said, "yes")
    else:
        talk.ana.say("yes")
    await talk.settle()
    talk.clock.advance(3)
    await talk.settle()
    made = [record for commit in talk.store.commits for record in commit.clarifications]
    assert len({(record.session, record.question) for record in made}) == 6
    assert [r.chosen_via for r in made if (r.question, r.chosen) == ("databases", "B")] == ["user_response"]
    receipts = [m for m in talk.mine() if "Done: 3 answers" in m.text]
    assert sorted(str(m.thread_ts) for m in receipts) == sorted(roots)


async def test_a_yes_beside_the_summary_is_told_where_it_counts(talk: Talk) -> None:
    """RP-3 RP-7 RD-15. Said loose in the channel it may be meant for anybody: nothing is recorded, once a hint is
    given to its author alone, and the yes in the thread still holds."""
    await talk.begin()
    await talk.begin()
    said = talk.ana.say("accept all mine", talk.triage)
    await talk.settle()
    assert "Nothing is recorded yet" in talk.words()[-1]
    before = len(talk.mine())
    for words in ("lunch?", "who takes the review of the parser, and when?"):
        talk.ana.say(words, talk.triage)
    talk.ben.say("yes", talk.triage)
    await talk.settle()
    assert len(talk.mine()) == before
    for _ in range(2):
        talk.ana.say("yes", talk.triage)
        await talk.settle()
    [hint] = talk.mine()[before:]
    assert (hint.only_to, hint.thread_ts) == (talk.ana.id, None)
    assert "nothing is recorded yet" in hint.text
    assert not talk.recorded
    talk.ana.reply(said, "yes")
    await talk.settle()
    talk.clock.advance(3)
    await talk.settle()
    assert len(talk.recorded) == 3
    assert sum(len(commit.clarifications) for commit in talk.store.commits) == 6


async def test_a_yes_long_after_the_summary_is_about_something_else(talk: Talk) -> None:
    """CH-2."""
    await talk.begin()
    await talk.begin()
    talk.ana.say("accept all mine", talk.triage)
    await talk.settle()
    before = len(talk.mine())
    talk.clock.advance(timedelta(minutes=11))
    talk.ana.say("yes", talk.triage)
    await talk.settle()
    assert len(talk.mine()) == before


async def test_a_reply_to_what_is_over_links_to_the_open_card(talk: Talk) -> None:
    """RP-7 RD-14: both stand in one direct message, and the card may be far above."""
    talk.ana.say("lit-review this")
    await talk.settle()
    over = talk.card(talk.ana.dm)
    talk.ana.say("accept recommendations")
    await talk.settle()
    talk.clock.advance(6)
    await talk.settle()
    talk.ana.say("lit-review this")
    await talk.settle()
    card = talk.card(talk.ana.dm)
    talk.ana.reply(over, "what was that?")
    await talk.settle()
    told = talk.mine(talk.ana.dm)[-1]
    assert told.text.startswith("That intake (#1) is over.")
    assert [e["text"] for e in told.blocks[-1]["elements"]] == [f"<{card.link}|To the open questions>"]
