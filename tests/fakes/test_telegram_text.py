"""Counting, marking and parsing, against what Telegram's own parsers say."""

from __future__ import annotations

import pytest

from tests.fakes.telegram.errors import Refusal
from tests.fakes.telegram.markup import parse
from tests.fakes.telegram.text import check_bounds, clean, cut, found, readable, trimmed, utf16


def kinds(text: str) -> list[tuple[str, str]]:
    return [(e["type"], cut(text, e["offset"], e["length"])) for e in found(text)]


def marked(text: str, mode: str) -> list[tuple[str, str]]:
    plain, entities = parse(text, mode)
    return [(e["type"], cut(plain, e["offset"], e["length"])) for e in entities]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("/ars-lit-review foo", [("bot_command", "/ars")]),
        ("/cancel@OtherQuizBot", [("bot_command", "/cancel@OtherQuizBot")]),
        ("2: C /cancel@OtherQuizBot", [("bot_command", "/cancel@OtherQuizBot")]),
        ("/tmp is fine, or /var/lib", [("bot_command", "/tmp")]),
        ("/a/b and /arsé and x/y", []),
        ("/cmd@ab", []),
        ("😀 /new", [("bot_command", "/new")]),
        ("ask @askfirst_bot or a@b.de, see https://x.org/y. #tag", None),
        ("me@example.org", [("email", "me@example.org")]),
        ("#1 and #a1 and a#b", [("hashtag", "#a1")]),
        ("sqlite.org/wal is one, file.txt is none", [("url", "sqlite.org/wal")]),
    ],
)
def test_what_telegram_marks_itself(text: str, what: list[tuple[str, str]] | None) -> None:
    if what is None:
        what = [("mention", "@askfirst_bot"), ("email", "a@b.de"), ("url", "https://x.org/y"), ("hashtag", "#tag")]
    assert kinds(text) == what


def test_offsets_count_utf16_units() -> None:
    assert (utf16("a😀б"), cut("😀 bold", 3, 4)) == (4, "bold")
    assert found("😀 /new")[0]["offset"] == 3


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<b>a</b> <i>b<u>c</u></i> &lt;x&gt; &amp; &#65;", [("bold", "a"), ("italic", "bc"), ("underline", "c")]),
        ('<a href="https://x.org/?a=1&amp;b=2">here</a>', [("text_link", "here")]),
        ('<a href="tg://user?id=7">Ana</a>', [("text_mention", "Ana")]),
        ('<pre><code class="language-py">x = 1</code></pre>', [("pre", "x = 1")]),
        ("<blockquote expandable>long</blockquote>", [("expandable_blockquote", "long")]),
        ('<span class="tg-spoiler">x</span><b></b>', [("spoiler", "x")]),
    ],
)
def test_html(text: str, what: list[tuple[str, str]]) -> None:
    assert marked(text, "HTML") == what


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a<br>b", 'Unsupported start tag "br" at byte offset 1'),
        ("é<none>", 'Unsupported start tag "none" at byte offset 2'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b>x</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("1 < 2", "Unclosed start tag at byte offset 2"),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
    ],
)
def test_html_that_can_not_be_parsed(text: str, why: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse(text, "html")
    assert refused.value.description == f"Bad Request: can't parse entities: {why}"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("*a* _b_ __c__ ~d~ ||e|| `f`", None),
        (r"1\. one \(two\) \\", []),
        ("```py\nx = 1\n```", [("pre", "x = 1\n")]),
        ("[here](https://x.org/a\\)b)", [("text_link", "here")]),
        (">quoted\n>more\nplain", [("blockquote", "quoted\nmore\n")]),
        ("*a _b_*", [("bold", "a b"), ("italic", "b")]),
    ],
)
def test_markdown_v2(text: str, what: list[tuple[str, str]] | None) -> None:
    if what is None:
        names = ["bold", "italic", "underline", "strikethrough", "spoiler", "code"]
        what = list(zip(names, "abcdef", strict=True))
    assert marked(text, "MarkdownV2") == what


@pytest.mark.parametrize("character", list("]()#+-=|{}.!"))
def test_markdown_v2_reserves_these(character: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse(f"a{character}", "MarkdownV2")
    words = f"Character '{character}' is reserved and must be escaped with the preceding '\\'"
    assert refused.value.description == f"Bad Request: can't parse entities: {words}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("🏟 🏟_abacaba", "Can't find end of Italic entity at byte offset 9"),
        ("🏟 🏟_abac * asd ", "Can't find end of Bold entity at byte offset 15"),
        ("🏟 🏟`", "Can't find end of Code entity at byte offset 9"),
        ("🏟 🏟```", "Can't find end of Pre entity at byte offset 9"),
        ("[a](b.org", "Can't find end of a URL at byte offset 4"),
    ],
)
def test_markdown_v2_that_does_not_end(text: str, why: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse(text, "MarkdownV2")
    assert refused.value.description == f"Bad Request: can't parse entities: {why}"


def test_a_mode_that_is_none() -> None:
    with pytest.raises(Refusal, match="unsupported parse_mode"):
        parse("x", "rst")


@pytest.mark.parametrize(
    ("offset", "length", "why"),
    [
        (0, 9, "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 9"),
        (1, 1, "entity begins in a middle of a UTF-16 symbol"),
        (0, 1, "ends in a middle of a UTF-16 symbol"),
        (-1, 1, "receive an entity with incorrect offset"),
        (0, -1, "receive an entity with incorrect length"),
    ],
)
def test_bounds(offset: int, length: int, why: str) -> None:
    check_bounds("😀 ok", [{"type": "bold", "offset": 0, "length": 5}])
    with pytest.raises(Refusal, match=why):
        check_bounds("😀 ok", [{"type": "bold", "offset": offset, "length": length}])


def test_blanks_at_both_ends_go_and_the_entities_move() -> None:
    text, entities = trimmed(
        " \n a b  ", [{"type": "bold", "offset": 3, "length": 5}, {"type": "code", "offset": 0, "length": 2}]
    )
    assert (text, entities) == ("a b", [{"type": "bold", "offset": 0, "length": 3}])


def test_control_characters_and_turning_marks_go() -> None:
    assert clean("a\tb\r\nc\x00\u202ed") == "a b\nc d"


def test_a_text_is_drawn_with_its_marks() -> None:
    text, entities = parse("<b>a <i>b</i></b> <code>c</code> <a href='https://x.org'>d</a>", "HTML")
    assert readable(text, entities) == "**a _b_** `c` [d](https://x.org)"
