"""Open and validate questions: RP-11."""

from __future__ import annotations

import pytest

from bot.core.replies import read_reply, resolve_held
from bot.core.replies.reading import Slot
from tests.core.replies.shapes import BOOK

OPEN = [Slot(number=1, form="open")]
STATEMENT = [Slot(number=1, form="validate")]
MIXED = [
    Slot(number=1, form="open"),
    Slot(number=2, form="validate"),
    Slot(number=3, letters=("A", "B", "C"), other="C", recommended="A"),
]


@pytest.mark.parametrize(
    "text", ["Weekly, on Mondays: 2 copies", "B", "yes", "we ship from “Hall 3” – mostly", "all recommended shops"]
)
def test_the_whole_message_answers_the_only_open_question(text: str) -> None:
    reading = read_reply(text, OPEN, BOOK)
    assert reading.kind == "answers"
    assert (reading.answers[1].key, reading.answers[1].text) == ("answer", text)
    assert resolve_held(reading, OPEN) == ({1: "text"}, ())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("what do you mean?", "question_back"),
        ("cancel", "cancel"),
        ("enough, draft with what you have", "force_quit"),
        ("ask me tomorrow", "put_off"),
        ("@maria please", "hand_over"),
    ],
)
def test_unless_it_is_something_else(text: str, kind: str) -> None:
    reading = read_reply(text, OPEN, BOOK)
    assert (reading.kind, reading.answers) == (kind, {})


@pytest.mark.parametrize("text", ["yes", "correct", "Yes!", "oui", "да", "はい", "네", "1: yes", "好的"])
def test_yes_confirms_a_statement_at_once(text: str) -> None:
    assert read_reply(text, STATEMENT, BOOK).answers[1].key == "confirm"


@pytest.mark.parametrize("text", ["no, it is weekly", "yes but only admins", "it's monthly", "nein, monatlich"])
def test_other_words_correct_it(text: str) -> None:
    reading = read_reply(text, STATEMENT, BOOK)
    assert (reading.answers[1].key, reading.answers[1].text) == ("correct", text)


def test_with_several_only_numbered_parts_are_answers() -> None:
    reading = read_reply("1: 5 days, maybe 6\n2: yes\n3: B", MIXED, BOOK)
    assert {n: (i.key, i.text) for n, i in reading.answers.items()} == {
        1: ("answer", "5 days, maybe 6"), 2: ("confirm", None), 3: ("B", None),
    }  # fmt: skip
    assert read_reply("weekly", MIXED, BOOK).kind == "unparsed"


def test_bulk_accept_leaves_them_open() -> None:
    reading = read_reply("accept recommendations", MIXED, BOOK)
    assert resolve_held(reading, MIXED) == ({1: None, 2: None, 3: "A"}, (1, 2))


def test_skip_and_doubt() -> None:
    assert read_reply("skip 1, 3: B", MIXED, BOOK).answers[1].key == "skip"
    reading = read_reply("1: not sure, 3: B", MIXED, BOOK)
    assert [(e.item, e.code) for e in reading.errors] == [("1", "unsure")]


@pytest.mark.parametrize(
    "text",
    [
        "skip 2, 1: the board",
        "skip 2; 1: the board",
        "skip 2, 1 the board",
        "2: skip, 1: the board",
        "1: the board, skip 2",
        "skip 2\n1: the board",
        "1 the board, 2 skip",
    ],
)
def test_no_answer_is_lost_beside_a_skip(text: str) -> None:
    reading = read_reply(text, MIXED[:2], BOOK)
    assert {n: (i.key, i.text) for n, i in reading.answers.items()} == {1: ("answer", "the board"), 2: ("skip", None)}


@pytest.mark.parametrize(
    "text",
    [
        "2: yes, 1: the board",
        "2 yes, 1 the board",
        "2 is fine, 1: the board",
        "yes for 2, 1: the board",
        "2. correct\n1. the board",
    ],
)
def test_a_statement_confirmed_first(text: str) -> None:
    reading = read_reply(text, MIXED[:2], BOOK)
    assert {n: (i.key, i.text) for n, i in reading.answers.items()} == {
        1: ("answer", "the board"),
        2: ("confirm", None),
    }


WAITING = (
    "we'll see", "next week, I'm on holiday", "on holiday until Monday", "mal sehen", "nächste Woche, bin im Urlaub",
    "ya lo veremos", "estoy de vacaciones hasta el lunes", "on verra bien", "je suis en congé", "vedremo",
    "sono in ferie", "logo se vê", "zobaczymy", "jestem na urlopie", "посмотрим", "я в отпуске до понедельника",
    "побачимо", "bakarız", "tuần sau, tôi đang nghỉ phép", "下周，我在休假", "考えておきます", "来週、休暇中です",
    "두고 보죠", "agle hafte, chutti par hoon", "هفته بعد، مرخصی هستم", "נחיה ונראה", "θα δούμε",
)  # fmt: skip


@pytest.mark.parametrize("text", WAITING)
def test_words_that_may_be_a_reason_to_wait_are_asked_about(text: str) -> None:
    """RP-11 RP-3: kept for one yes, and not recorded; alone or behind the number."""
    for typed in (f"1: {text}", text):
        reading = read_reply(typed, OPEN, BOOK)
        assert reading.answers == {}
        offered = [item.text for p in reading.proposals for item in p.answers.values()]
        assert offered in ([text], []) if typed == text else [text]
        assert reading.kind in ("needs_confirmation", "put_off", "unparsed") if typed == text else ("answers",)


@pytest.mark.parametrize("text", ["1: cancel", "1: delete it, please", "1: stop", "1: never mind", "clear", "reset"])
def test_an_order_as_the_words_of_an_answer_is_asked_about(text: str) -> None:
    """RP-11 RP-3: either the answer or the order, by one tap."""
    reading = read_reply(text, OPEN, BOOK)
    assert reading.answers == {}
    assert [p.kind for p in reading.proposals] == ["answers", "cancel"]


@pytest.mark.parametrize(
    "text",
    ["Cancel Culture Weekly", "call it Later", "1: The Holiday Post", "the waiting room", "every Monday after lunch",
     "stop sign red", "clear glass", "end of March", "as soon as the board agrees, the Post"],
)  # fmt: skip
def test_such_words_inside_an_answer_are_part_of_it(text: str) -> None:
    """RP-11"""
    assert read_reply(text, OPEN, BOOK).answers[1].text == text.removeprefix("1: ")


def test_beside_options_only_the_bare_verb_is_an_order() -> None:
    """RP-2 RP-3: "remove it" says what is to be done."""
    choice = [MIXED[2].model_copy(update={"number": n}) for n in (1, 2)]
    assert read_reply("1: remove it, 2: A", choice, BOOK).answers[1].text == "remove it"
    reading = read_reply("1: cancel, 2: A", choice, BOOK)
    assert set(reading.answers) == {2}
    assert [p.kind for p in reading.proposals] == ["answers", "cancel"]


@pytest.mark.parametrize(
    "text", ["clear", "reset", "Delete.", "delete it please", "löschen", "borra", "efface", "删除"]
)
def test_a_bare_destructive_word_cancels_nothing_by_itself(text: str) -> None:
    """RP-3: it may be about an answer. "Cancel" is plain."""
    reading = read_reply(text, MIXED, BOOK)
    assert reading.kind in ("needs_confirmation", "unparsed")
    assert {p.kind for p in reading.proposals} <= {"cancel"}
    assert read_reply("cancel", MIXED, BOOK).kind == "cancel"
