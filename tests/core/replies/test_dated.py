"""A moment and nothing else, where a question asks for words (RP-11, CH-6): the answer where it asks for a time, and
asked about where it does not, whichever moment it is and in whichever language."""

from __future__ import annotations

import pytest

from bot.core.book import Book
from config.times_loader import load_times
from tests.core.replies.test_talks import Talk, newsletter, played  # noqa: F401  the fixture

MOMENTS = {
    "en": ("tomorrow", "next week", "on monday", "friday", "in two weeks"),
    "de": ("morgen", "nächste Woche", "am Montag", "Freitag", "in zwei Wochen"),
    "fr": ("demain", "la semaine prochaine", "lundi", "vendredi", "dans deux semaines"),
    "es": ("mañana", "la próxima semana", "el lunes", "viernes", "en dos semanas"),
    "it": ("domani", "la prossima settimana", "lunedì", "venerdì", "tra due settimane"),
    "pt": ("amanhã", "na próxima semana", "na segunda", "sexta", "em duas semanas"),
    "ru": ("завтра", "на следующей неделе", "в понедельник", "пятница", "через две недели"),
    "uk": ("завтра", "наступного тижня", "у понеділок", "п'ятниця", "через два тижні"),
    "pl": ("jutro", "w przyszłym tygodniu", "w poniedziałek", "piątek", "za dwa tygodnie"),
    "tr": ("yarın", "gelecek hafta", "pazartesi", "cuma", "iki hafta sonra"),
    "zh": ("明天", "下周", "周一", "周五", "两周后"),
    "ja": ("明日", "来週", "月曜日", "金曜日", "2週間後"),
    "ko": ("내일", "다음 주", "월요일에", "금요일", "2주 후"),
    "vi": ("ngày mai", "tuần sau", "thứ hai", "thứ sáu", "hai tuần nữa"),
    "el": ("αύριο", "την επόμενη εβδομάδα", "τη Δευτέρα", "Παρασκευή", "σε δύο εβδομάδες"),
    "he": ("מחר", "בשבוע הבא", "ביום שני", "יום שישי", "בעוד שבועיים"),
    "fa": ("فردا", "هفته آینده", "دوشنبه", "جمعه", "دو هفته دیگر"),
    "hi": ("कल", "अगले हफ्ते", "सोमवार को", "शुक्रवार", "दो हफ्ते में"),
}
ALL = [pytest.param(text, id=f"{language}-{text}") for language, texts in MOMENTS.items() for text in texts]
LATER = (
    "ask me tomorrow", "later", "not now, tomorrow", "I'll answer tomorrow", "remind me on friday",
    "frag mich morgen", "später", "plus tard", "demande-moi demain", "luego", "позже", "稍后", "あとで",
)  # fmt: skip


def said(book: Book, begins: str, *texts: str) -> Talk:
    return played({"round": begins, "said": [{"from": "ana", "text": text} for text in texts]}, book)


def held(talk: Talk) -> list[str | None]:
    assert talk.state is not None
    items = talk.state.sessions[-1].rounds[-1].items
    return [None if item.answer is None else item.answer.text or item.answer.chosen for item in items]


def put_off(talk: Talk) -> list[str]:
    assert talk.state is not None
    return [kept.words for kept in talk.state.sessions[-1].put_off or ()]


@pytest.mark.parametrize("text", ALL)
def test_a_moment_answers_a_question_that_asks_for_a_time(text: str, newsletter: Book) -> None:  # noqa: F811
    for typed in (text, f"1: {text}"):
        talk = said(newsletter, "due", typed)
        assert (held(talk), put_off(talk)) == ([text], [])


@pytest.mark.parametrize("text", ALL)
def test_any_other_question_is_asked_back_which_of_the_two_it_is(text: str, newsletter: Book) -> None:  # noqa: F811
    for typed in (text, f"1: {text}"):
        assert (held(talk := said(newsletter, "open", typed)), put_off(talk)) == ([None], [])
        assert (held(talk := said(newsletter, "open", typed, "1")), put_off(talk)) == ([text], [])
        assert (held(talk := said(newsletter, "open", typed, "2")), put_off(talk)) == ([None], [text])
        assert talk.state is not None
        assert all(kept.at is not None for kept in talk.state.sessions[-1].put_off or ())
        assert (held(talk := said(newsletter, "open", typed, "no")), put_off(talk)) == ([None], [])


@pytest.mark.parametrize("begins", ["open", "due"])
@pytest.mark.parametrize("text", LATER)
def test_who_says_to_be_asked_later_is_asked_later(text: str, begins: str, newsletter: Book) -> None:  # noqa: F811
    talk = said(newsletter, begins, text)
    assert talk.state is not None
    assert (held(talk), talk.state.pending) == ([None], ())
    assert put_off(talk)


@pytest.mark.parametrize("begins", ["open", "due"])
@pytest.mark.parametrize("text", ["sorry, friday", "maybe tomorrow", "1: maybe tomorrow", "désolé, vendredi"])
def test_words_beside_a_moment_make_it_uncertain(text: str, begins: str, newsletter: Book) -> None:  # noqa: F811
    assert (held(talk := said(newsletter, begins, text)), put_off(talk)) == ([None], [])
    assert put_off(said(newsletter, begins, text, "2")) == [text.removeprefix("1: ")]


def test_the_rest_of_the_message_counts_at_once(newsletter: Book) -> None:  # noqa: F811
    """RP-2: "1: B, 2: tomorrow" holds B, and asks about 2 only."""
    assert (held(talk := said(newsletter, "mixed", "1: B, 2: tomorrow")), put_off(talk)) == (["B", None], [])
    assert held(said(newsletter, "mixed", "1: B, 2: tomorrow", "1")) == ["B", "tomorrow"]


def test_beside_options_a_moment_puts_off(newsletter: Book) -> None:  # noqa: F811
    assert (held(talk := said(newsletter, "choice", "tomorrow")), put_off(talk)) == ([None] * 4, ["tomorrow"])


def test_words_of_other_are_asked_back_too(newsletter: Book) -> None:  # noqa: F811
    """After a press on Other a moment may be the words, or when to ask for them."""
    talk = said(newsletter, "choice")
    talk.presses("ana", "a:s000000001.1:2:D", "Other…")
    talk.says("ana", "tomorrow")
    assert (held(talk), put_off(talk)) == ([None] * 4, [])
    talk.says("ana", "1")
    assert (held(talk)[1], put_off(talk)) == ("tomorrow", [])


def test_an_answer_that_stands_is_not_asked_about(newsletter: Book) -> None:  # noqa: F811
    """RD-13: "tomorrow" said after an answer is no second one."""
    talk = said(newsletter, "open", "The Post", "tomorrow")
    assert held(talk) == ["The Post"]


ASKS_WHEN = (
    "When the first issue is due", "By when must it be out?", "Launch date", "Deadline", "Wann sie erscheint",
    "Bis wann?", "Frist", "Quand paraît le premier numéro ?", "Date limite", "Cuándo sale", "Fecha límite",
    "Quando esce", "Scadenza", "Quando sai", "Prazo", "Когда выходит номер", "Срок сдачи", "Коли виходить",
    "Kiedy wychodzi", "Termin oddania", "Ne zaman çıkacak", "Son tarih", "什么时候发布", "截止日期", "いつ出すか",
    "締め切り", "언제 나오나요", "Khi nào phát hành", "Hạn chót", "Πότε βγαίνει", "מתי זה יוצא",
    "چه زمانی منتشر می‌شود", "कब तक",
)  # fmt: skip
ASKS_ELSE = (
    "What it is called", "What happens when a user leaves", "Who updates it", "Candidates", "Update policy",
    "Was passiert, wenn jemand kündigt", "Qui décide quand on publie", "Mandate of the board", "Data sources",
    "Terminals", "How often it is sent", "Undated",
)  # fmt: skip


@pytest.mark.parametrize("question", ASKS_WHEN)
def test_a_question_for_a_time_is_known(question: str) -> None:
    assert load_times().asks_when(question)


@pytest.mark.parametrize("question", ASKS_ELSE)
def test_a_question_with_a_time_in_it_may_ask_for_something_else(question: str) -> None:
    assert not load_times().asks_when(question)


@pytest.mark.parametrize("text", ["yes", "ok", "👍"])
def test_a_yes_to_either_of_two_is_asked_which(text: str, newsletter: Book) -> None:  # noqa: F811
    """RP-8: it is not the answer to the question that asks for words, nor one of the two."""
    talk = said(newsletter, "open", "tomorrow", text, text)
    assert (held(talk), put_off(talk)) == ([None], [])
    talk.says("ana", "2")
    assert (held(talk), put_off(talk)) == ([None], ["tomorrow"])


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("the first one", True), ("first", True), ("My answer", True), ("the second one", False), ("2nd", False),
        ("die zweite", False), ("ask me then", False),
    ],
)  # fmt: skip
def test_which_of_the_two_is_said_in_words(text: str, answered: bool, newsletter: Book) -> None:  # noqa: F811
    talk = said(newsletter, "open", "tomorrow", text)
    assert (held(talk), put_off(talk)) == ((["tomorrow"], []) if answered else ([None], ["tomorrow"]))


def test_other_words_are_an_answer_of_their_own(newsletter: Book) -> None:  # noqa: F811
    assert held(said(newsletter, "open", "tomorrow", "The Second Sun")) == ["The Second Sun"]
