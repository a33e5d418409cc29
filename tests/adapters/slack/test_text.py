"""Slack's markup: undone once, put in once (b04, b17)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.text import escape, mentioned, undo, without_mention


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        ("plain", "plain"),
        ("a &amp; b &lt; c", "a & b < c"),
        ("&amp;lt;", "&lt;"),
        ("<https://example.com>", "https://example.com"),
        ("<https://example.com|example.com>", "example.com"),
        ("<http://worker.py|worker.py>", "worker.py"),
        ("<https://example.com/a?x=1&amp;y=2|the notes>", "the notes (https://example.com/a?x=1&y=2)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<tel:+15550100>", "+15550100"),
        ("<tel:1823904|1823904>", "1823904"),
        ("<@U0BEN0001> please", "@ben please"),
        ("<@U0NEW0001|new.one> please", "@new.one please"),
        ("<@U0NEW0001>", "@U0NEW0001"),
        ("<#C0TRIAGE1|triage> and <#C0TRIAGE2>", "#triage and #C0TRIAGE2"),
        ("<!subteam^S0TEAM001|@team>", "@team"),
        ("<!subteam^S0TEAM001>", "@S0TEAM001"),
        ("<!here> <!channel|channel> <!everyone>", "@here @channel @everyone"),
        ("<!date^1392734382^{date} at {time}|18 February 2014>", "18 February 2014"),
        ("a\0b", "a\ufffdb"),
        ("<>", ""),
        ("1 < 2", "1 < 2"),
    ],
)
def test_undone_as_typed(sent: str, typed: str) -> None:
    assert undo(sent, {"U0BEN0001": "ben"}) == typed


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_what_is_escaped_reads_back(text: str) -> None:
    """b17: no word of a person becomes markup, and none is lost."""
    assert undo(escape(text)) == text
    assert "<" not in escape(text)


@pytest.mark.parametrize(
    ("sent", "rest", "addressed"),
    [
        ("<@U0BOT0001> hello", "hello", True),
        ("  <@U0BOT0001>: hello", "hello", True),
        ("<@U0BOT0001|askfirst>\u00a0hello", "hello", True),
        ("could <@U0BOT0001> help?", "could <@U0BOT0001> help?", True),
        ("<@U0BOT00012> hello", "<@U0BOT00012> hello", False),
        ("&lt;@U0BOT0001&gt; hello", "&lt;@U0BOT0001&gt; hello", False),
    ],
)
def test_a_leading_mention_is_transport(sent: str, rest: str, addressed: bool) -> None:
    """RT-6."""
    assert without_mention(sent, "U0BOT0001") == (rest, addressed)


def test_whom_the_words_name() -> None:
    assert mentioned("<@U1> and <@W2|x>, <@U1>") == ("U1", "W2")
