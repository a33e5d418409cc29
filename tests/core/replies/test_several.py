"""Which rounds a message names (RP-4, RP-7): a table of whole messages."""

from __future__ import annotations

import pytest

from bot.core.replies.several import read_several, said_of
from tests.core.builders import book

NAMED = {
    "accept recommendations for #12, #14 except #14 2: C": {12: "", 14: "except 2: C"},
    "#12, #14 except #14 2: C": {12: "", 14: "except 2: C"},
    "accept #12 and #14 please": {12: "", 14: ""},
    "#12: accept recommendations": {12: "accept recommendations"},
    "#12 2: C": {12: "2: C"},
    "accept #12, 14 & 15": {12: "", 14: "", 15: ""},
    "accept #12 and 14 except #14 2: C": {12: "", 14: "except 2: C"},
    "#12, 2: C": {12: "2: C"},
    "accept recs for # 12, # 14": {12: "", 14: ""},
    "#12 2: C, 3: A": {12: "2: C, 3: A"},
    "#12 1: B, 2: A; #14 3: other (we ship weekly, mostly)": {
        12: "1: B, 2: A",
        14: "3: other (we ship weekly, mostly)",
    },
    "#1 B #2 A": {1: "B", 2: "A"},  # "A" is a letter, whatever small word it is in some language
    "accept recommendations for #12 2, 3": {12: "for 2, 3"},
    "#12 1: other (see #14)": {12: "1: other (see #14)"},
    "接受 #12 和 #14 的推荐": {12: "", 14: ""},
    "akzeptiere alle Empfehlungen für #12, #14 außer #14 2: C": {12: "", 14: "except 2: C"},
    "принимаю рекомендации для #12, #14 кроме #14 2: C": {12: "", 14: "except 2: C"},
    "acepto las recomendaciones de #12 y #14 excepto #14": {12: "", 14: None},
}


@pytest.mark.parametrize("text", NAMED)
def test_the_rounds_that_are_named_and_what_is_said_of_each(text: str) -> None:
    """RP-4"""
    said = read_several(text, book().phrases)
    assert said is not None
    found: dict[int, str | None] = {}
    for named in said.named:
        words = said_of(named, accepted=named.accepted).removeprefix("accept recommendations ")
        found[named.number] = None if named.left_out else words if named.words else ""
    assert found == NAMED[text]
    assert not said.mine


@pytest.mark.parametrize(
    "text",
    [
        "accept all mine",
        "Accept everything of mine, please!",
        "akzeptiere alle meine",
        "接受我的全部推荐",
        "принимаю все мои рекомендации",
        "приймаю всі мої рекомендації",
        "acepto todas las mías",
        "aceito todas as minhas",
        "j'accepte tous les miens",
        "自分の分すべて推奨でお願いします",
        "내 것 모두 추천대로",
        "chấp nhận tất cả của tôi",
    ],
)
def test_all_of_ones_own_in_every_main_language(text: str) -> None:
    """RP-4"""
    said = read_several(text, book().phrases)
    assert said is not None
    assert (said.mine, said.accepts, said.named) == (True, True, ())


@pytest.mark.parametrize(
    "text",
    [
        "see #12",
        "don't accept #12",
        "do not accept all mine",
        "不接受我的推荐",
        "nicht meine akzeptieren",
        "is that mine?",
        "everything of mine",
        "accept recommendations",
        "C#12",
        "fixes #12 and #14",
        "> accept all mine\n1: A",
        "accept all mine? " * 50,
        "",
        "#",
        "#12345678901234567890" * 40,
    ],
)
def test_what_names_no_rounds(text: str) -> None:
    """RP-1: prose is no message of this kind; nothing of it is picked out."""
    assert read_several(text, book().phrases) is None


def test_what_is_excepted_as_a_whole_is_left_out() -> None:
    """RP-4"""
    said = read_several("accept all mine except #14 2: C and #15", book().phrases)
    assert said is not None
    assert said.mine
    assert [(n.number, n.words, n.left_out) for n in said.named] == [(14, "2: C", False), (15, "", True)]
