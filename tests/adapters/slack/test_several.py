"""Several rounds accepted by one message, typed in the channel, in a thread and in a direct message (RP-4 RP-7)."""

from __future__ import annotations

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
