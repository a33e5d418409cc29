"""Own answers, and what is said about answering: RP-2, RP-11."""

from __future__ import annotations

import pytest

from bot.core.replies import read_reply
from bot.core.replies.reading import ItemReading, Slot
from tests.core.replies.score import HERE
from tests.core.replies.shapes import BOOK, three


def lines(name: str) -> list[str]:
    return [line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


@pytest.mark.parametrize("text", lines("own.txt"))
def test_an_own_answer_is_taken(text: str) -> None:
    """RP-2: words that say what the thing is to be are the answer, as typed."""
    answers = read_reply(f"1: B\n2: {text}\n3: A", three(), BOOK).answers
    assert {n: item.key for n, item in answers.items()} == {1: "B", 2: "other", 3: "A"}
    assert answers[2].text == text


@pytest.mark.parametrize("text", lines("asides.txt"))
@pytest.mark.parametrize("form", ["1: B\n2: {}\n3: A", "2: {}", "3. A 2. {}"])
def test_words_about_answering_are_no_answer(text: str, form: str) -> None:
    """RP-2: not now, not mine, no idea, see above, what?: nothing is recorded, and the rest counts."""
    reading = read_reply(form.format(text), three(), BOOK)
    item = reading.answers.get(2)
    assert item is None or item.text is None
    assert item is None or item.key in ("other", "skip")
    if form.startswith("1"):
        assert reading.answers[1].key == "B"
        assert reading.answers[3].key == "A"


@pytest.mark.parametrize(
    "text",
    [
        "I'd have to look into that",
        "das müssen wir noch klären",
        "je dois en parler avec mon chef",
        "tengo que hablarlo con mi jefe",
        "preciso falar com meu chefe",
        "надо обсудить с начальником",
        "треба обговорити з керівником",
        "để tôi suy nghĩ thêm",
        "我得先问问老板",
        "上司に相談してみます",
        "생각할 시간이 필요해요",
        "no clue what this is",
        "one sec",
        "sorry in a meeting",
        "tomorrow i'll tell you",
        "i'll let you know",
        "morgen sag ich dir bescheid",
        "mañana te digo",
        "amanhã te falo",
    ],
)
def test_an_open_question_is_not_answered_by_putting_it_off(text: str) -> None:
    """RP-11."""
    assert not read_reply(text, [Slot(number=1, form="open")], BOOK).answers
    assert not read_reply(f"1: {text}", [Slot(number=1, form="open"), Slot(number=2, form="open")], BOOK).answers


@pytest.mark.parametrize(
    "text",
    [
        "B, but I need to ask my boss first",
        "B, I'd have to check",
        "B muss ich noch prüfen",
        "B mais je dois vérifier",
        "B pero tengo que preguntar",
        "B mas preciso confirmar",
        "B надо уточнить",
        "B để tôi hỏi lại",
        "B要问老板",
    ],
)
def test_a_letter_that_is_put_off_again_is_a_leaning(text: str) -> None:
    """RP-2: tentative, with the letter leaned to."""
    reading = read_reply(f"1: {text}\n2: A", three(), BOOK)
    assert [(e.item, e.code) for e in reading.errors] == [("1", "tentative")]
    assert reading.answers[2].key == "A"


@pytest.mark.parametrize(
    "text",
    [
        "after the board meeting",
        "the committee meets on Thursday",
        "the treasurer decides",
        "after lunch",
        "when the order is shipped",
        "aucune limite",
        "nach der Vorstandssitzung",
        "la junta es el jueves",
        "depois da assembleia",
        "правление заседает в четверг",
        "після зборів",
        "sau cuộc họp hội đồng",
        "等理事会开完会",
        "理事会のあとで",
        "이사회 끝나고",
    ],
)
@pytest.mark.parametrize("form", ["1: B\n2: {}\n3: A", "accept recommendations, 2: {}"])
def test_words_that_may_be_a_reason_to_wait_are_kept_and_asked_about(text: str, form: str) -> None:
    """RP-2, RP-8: nothing is recorded on 2 before a yes, and a yes takes the words as typed."""
    reading = read_reply(form.format(text), three(), BOOK)
    item = reading.answers.get(2)
    assert item is None or item.text is None
    assert 2 not in reading.accepted
    assert [proposal.answers for proposal in reading.proposals] == [{2: ItemReading(key="other", text=text)}]


@pytest.mark.parametrize(
    "text",
    [
        "rien ne va",
        "nothing here works for us",
        "选项都不对",
        "nada disso serve",
        "ничего нам не подходит",
        "nichts davon passt",
    ],
)
def test_what_is_said_of_the_options_is_no_text_of_ones_own(text: str) -> None:
    """RP-2."""
    reading = read_reply(f"1: B\n2: {text}\n3: A", three(), BOOK)
    assert reading.answers.get(2) is None or reading.answers[2].text is None
    assert not reading.proposals
