"""mrkdwn both ways: as Slack reads what the app wrote, and as it sends what people typed."""

from __future__ import annotations

import pytest

from tests.fakes.slack.text import escape, pings, plain, rich, sloppy, typed, unescape

NAMES = {"U0ANA0001": "@Ana", "C0TRIAGE1": "#triage", "S0ONCALL1": "@oncall"}


@pytest.mark.parametrize(
    ("mrkdwn", "shown"),
    [
        ("R&amp;D &lt; Ops &gt; x", "R&D < Ops > x"),
        ("show &amp;lt;b&amp;gt; literally", "show &lt;b&gt; literally"),  # b17: decoded once
        ("*bold* _italics_ ~struck~ *_both_*", "bold italics struck both"),
        ("2*3*4 and snake_case_name", "2*3*4 and snake_case_name"),
        ("`*code*` stays", "`*code*` stays"),
        ("```a_b_ *c*```", "```a_b_ *c*```"),
        ("<@U0ANA0001> in <#C0TRIAGE1|triage>, <!subteam^S0ONCALL1>", "@Ana in #triage, @oncall"),
        ("*<@U0ANA0001>*", "@Ana"),
        ("<@U0NOBODY1|somebody>", "somebody"),
        ("<https://a.b/c_d_e|the _notes_> <https://a.b>", "the _notes_ https://a.b"),
        ("<mailto:a@b.c|a@b.c>", "a@b.c"),
        ("<!channel> <!date^1392734382^{date}|Feb 18>", "@channel Feb 18"),
        ("nul \\0 stays", "nul \\0 stays"),
    ],
)
def test_what_people_see(mrkdwn: str, shown: str) -> None:
    assert plain(mrkdwn, NAMES) == shown


@pytest.mark.parametrize(
    ("mrkdwn", "called"),
    [
        ("<!channel> <!here> <!everyone>", [("channel", ""), ("here", ""), ("everyone", "")]),
        ("<!here|here>", [("here", "")]),
        ("<!group>", [("channel", "")]),
        ("<!subteam^S1|@x> <@U1|ana>", [("group", "S1"), ("user", "U1")]),
        ("&lt;!channel&gt; @channel <#C1> <!date^1^x|y> <@>", []),
    ],
)
def test_who_is_called(mrkdwn: str, called: list[tuple[str, str]]) -> None:
    assert pings(mrkdwn) == called


def test_what_ought_to_have_been_escaped() -> None:
    assert sloppy("R&D") == ["&"]
    assert sloppy("a < b") == ["<"]
    assert sloppy("a < b > c") == ["< b >"]  # Slack would take it for a token
    assert sloppy("<b>x</b>") == ["<b>", "</b>"]
    assert sloppy("R&amp;D <https://a.b?x=1&amp;y=2|z> <!here> <@U1> <!subteam^S1> <#C1|x> &lt;b&gt;") == []
    assert sloppy("<https://a.b?x=1&y=2>") == ["&"]


def test_escapes_there_and_back() -> None:
    words = "a & b < c > d &amp; &lt;"
    assert unescape(escape(words)) == words
    assert typed(words, {}) == escape(words)


def test_the_rich_text_beside_what_was_typed() -> None:
    (block,) = rich("<@U1> see <https://a.b|it> &amp; <!here> <#C1|x> <!subteam^S1|@s>")
    kinds = [(e["type"], e.get("text")) for e in block["elements"][0]["elements"]]
    assert kinds == [
        ("user", None), ("text", " see "), ("link", "it"), ("text", " & "), ("broadcast", None), ("text", " "),
        ("channel", None), ("text", " "), ("usergroup", None),
    ]  # fmt: skip
    assert rich("") == []
