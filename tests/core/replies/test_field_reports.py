"""Failures that people who run such bots have reported in public, as tests of the kind of fault.

Sources: scrapinghub/slackbot#86, vercel/chat#955 (links); NousResearch/hermes-agent#64748, slackapi/bolt-python#513
(entities); link-assistant/hive-mind#465, telegramdesktop/tdesktop#25794 (dashes and quotes);
adolfousier/opencrabs#950 (a long paste in parts); OppaAI/Aiko-chan#144 (sentences with a yes in them).
"""

from __future__ import annotations

import pytest

from bot.core.replies import read_reply
from tests.core.replies.shapes import BOOK, three


def read(text: str, *, decoded: bool = False) -> dict[int, tuple[str, str | None]]:
    reading = read_reply(text, three(), BOOK, decoded=decoded)
    return {n: (item.key, item.text or item.note) for n, item in reading.answers.items()}


def test_links_that_slack_makes_of_typed_words() -> None:
    """RP-6: raw Slack text; the label is what was typed."""
    assert read("1: B, 2: other ask <mailto:ops@example.com|ops@example.com>, 3: C") == {
        1: ("B", None),
        2: ("other", "ask ops@example.com"),
        3: ("C", None),
    }
    assert read(
        "2: other run <http://worker.py|worker.py>; see <https://example.com/a,b;c?x=1&amp;y=2|the notes>, 1: B"
    ) == {2: ("other", "run worker.py; see the notes (https://example.com/a,b;c?x=1&y=2)"), 1: ("B", None)}
    assert read("3: other ticket <tel:1823904|1823904>, call <tel:+15550100>") == {
        3: ("other", "ticket 1823904, call +15550100")
    }


def test_the_same_words_after_an_adapter_has_decoded_them() -> None:
    text = "2: other run worker.py; see the notes (https://example.com/a,b;c?x=1&y=2), 1: B"
    assert read(text, decoded=True) == {
        2: ("other", "run worker.py; see the notes (https://example.com/a,b;c?x=1&y=2)"),
        1: ("B", None),
    }


@pytest.mark.parametrize("text", ["<http://1.B|1.B> <http://2.AC|2.AC>", "1.B 2.AC"])
def test_two_letters_in_what_became_a_link(text: str) -> None:
    reading = read_reply(text, three(), BOOK)
    assert reading.answers[1].key == "B"
    assert [(e.item, e.code) for e in reading.errors] == [("2", "multiple")]


def test_entities_are_decoded_once_and_only_here_if_raw() -> None:
    """RP-6, CH-4."""
    assert read("1: other MSc &amp; MBA, 3: C") == {1: ("other", "MSc & MBA"), 3: ("C", None)}
    assert read("1: other show &amp;lt;b&amp;gt; literally") == {1: ("other", "show &lt;b&gt; literally")}
    assert read("1: other show &lt;b&gt; literally", decoded=True) == {1: ("other", "show &lt;b&gt; literally")}
    typed = "put <!channel> and <@U0BEN0001> in the title"
    assert read(f"1: other {typed}", decoded=True) == {1: ("other", typed)}


def test_a_label_with_special_characters_matches() -> None:
    slots = three()
    labels = ("Requester only", "R&D < Ops", "Named list", "Other — let me describe it")
    slots[1] = slots[1].model_copy(update={"labels": labels})
    assert read_reply("2: R&D < Ops", slots, BOOK, decoded=True).answers[2].key == "B"
    assert read_reply("2: R&amp;D &lt; Ops", slots, BOOK).answers[2].key == "B"


def test_keyboards_that_replace_hyphens_and_quotes() -> None:
    assert read("1: B — because it’s cheaper, 2 – A") == {1: ("B", "because it’s cheaper"), 2: ("A", None)}
    ranged = read_reply("1–3 as recommended", three(), BOOK)
    assert {n: (i.key, i.recommended) for n, i in ranged.answers.items()} == {
        1: ("B", True), 2: ("A", True), 3: ("C", True),
    }  # fmt: skip
    assert read("1—B\n2—A\n3—C") == {1: ("B", None), 2: ("A", None), 3: ("C", None)}
    assert read("2: other “requester, or ‘owner’ — whoever is first”") == {
        2: ("other", "“requester, or ‘owner’ — whoever is first”")
    }
    excepted = read_reply("accept all — except 3: A", three(), BOOK)
    assert (excepted.kind, excepted.accepted, excepted.answers[3].key) == ("accept_all_except", (1, 2), "A")


def test_an_answer_at_the_cut_of_a_long_paste_is_none() -> None:
    """RP-1: items behind long prose are part of it."""
    notes = "We log every order and keep it for a year. " * 90
    for joint in ("", "\n"):
        reading = read_reply(
            f"{notes}{joint}2: C) the old shop exports nightly, 1: B) the new one does not.", three(), BOOK
        )
        assert (reading.kind, reading.answers) == ("unparsed", {})
    assert read("2: C") == {2: ("C", None)}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("yes, just not today", {"put_off"}),
        ("sure, later on", {"put_off"}),
        ("are you certain about b?", {"question_back"}),
        ("I like this idea", {"unparsed", "needs_confirmation"}),
        ("go on with the tale", {"unparsed"}),
        ("no, go ahead", {"needs_confirmation"}),
        ("yes if ben agrees", {"needs_confirmation"}),
        ("don’t accept the recommendations", {"unparsed"}),
        ("approve b2", {"unparsed", "needs_confirmation"}),
    ],
)
def test_a_yes_in_a_sentence_is_no_yes(text: str, kinds: set[str]) -> None:
    """RP-1, RP-3."""
    reading = read_reply(text, three(), BOOK)
    assert reading.kind in kinds
    assert not reading.answers
    assert not reading.accepted


def test_a_letter_in_prose_is_no_choice_with_one_question_either() -> None:
    reading = read_reply("sure, whatever b does", three()[:1], BOOK)
    assert (reading.answers, reading.accepted) == ({}, ())


def test_words_that_begin_like_a_command_are_kept() -> None:
    """CH-2: no command of ours; offered as they were typed, if at all."""
    reading = read_reply("/tmp is fine, or /var/lib", three(), BOOK)
    assert (reading.answers, reading.accepted) == ({}, ())
