"""Reading replies: how many a second, and how long the worst message takes.

Nothing here waits for anything, so processor time is counted: what else the machine does stays out of it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.figure import Figure, Goal, interleaved
from bot.core.replies import read_reply
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.reading import Slot
from bot.core.replies.records import parse_record

RECORDS = Path(__file__).parents[1] / "tests/core/replies/replies.jsonl"

# The floor does what nobody can leave out, JSON in and JSON out, and looks for answers in the crudest way there is.
ANSWER = re.compile(r"\d+\s*[:=.-]?\s*[A-Za-z]")
# A grammar in plain Python over several languages against one C regular expression that reads one notation and tells
# a wrong answer from a right one in none: a fiftieth of its rate is above a thousand replies a second, and a platform
# lets a bot send thirty (core.telegram.org/bots/faq). Measured when this was set: a thirtieth.
REPLIES = Goal(0.02, "least")

LONGEST = 4096  # UTF-16 units of a Telegram message: core.telegram.org/bots/api#sendmessage
LIMIT_MS = (
    50.0  # no message of one person may hold up the others for longer: the limit of the issue, not a measurement
)

# What makes readers slow: repetition that can be cut in many ways, openings that never close, and the like.
NASTY = {
    "answers": "1: A, 2: B, ",
    "answers without blanks": "1A2B3C4D",
    "digits": "1",
    "letters": "a",
    "blanks": "1 ",
    "separators": "1:-=.,;/",
    "openings": "((([[[{{{“„«",
    "lines": "1\n:\nA\n\n",
    "courtesy": "please thanks ok yeah ",
    "notes": "1: other (because (it (is ",
    "wide": "１：Ａ、２：Ｂ。",
    "marks": "1️⃣ A\u200d\u2068\u0301 ",
    # The ten slowest that a search found: repeats of up to twelve of digits, letters, signs, emoji and words of the
    # phrase files, each token of them something that the grammar has to look at.
    "numbered in Chinese": "第1题B第2题A",
    "letters first, full width": "Ａ１Ｂ２",
    "nouns": "問",
    "yes": "네",
    "circled numbers": "①",
    "a list without end": "1n",
    "a letter a line": "В\n",
    "a letter and a number a line": "u2\n",
    "numbers with two nouns": "#3题",
    "number words a line": "6四\n",
    # Of a second search, over the phrases of all languages.
    "numero signs a line": "№\n",
    "questions in a row": "Q1 ",
    "ellipses": "…",
    "own answers in quotes": "„前2题2❌.第」 ",
    "a word of yes a line": "ó\n",
}


def figures(rounds: int, share: float) -> list[Figure]:
    """`share` is the part of the records and inputs that is used."""
    from bot.app import phrase_book
    from config.settings import Settings

    book = phrase_book(Settings())
    lines = RECORDS.read_text(encoding="utf-8").splitlines()
    lines = lines[: max(1, int(len(lines) * share))]
    rate, plain = interleaved(rounds, _rate(lines, lambda line: _read(line, book)), _rate(lines, _search))
    names = list(NASTY)[: max(1, int(len(NASTY) * share))]
    slowest = max(_milliseconds(NASTY[name], book, rounds) for name in names)
    return [
        Figure("replies_per_s", rate, plain, "/s", REPLIES),
        Figure("reply_4096_ms", slowest, LIMIT_MS, "ms", Goal(1.0, "most")),
    ]


def _rate(lines: list[str], work: Callable[[str], str]) -> Callable[[], float]:
    def measure() -> float:
        started, done = time.process_time(), 0
        while done == 0 or time.process_time() - started < 0.2:  # the floor is through in a few milliseconds
            for line in lines:
                work(line)
            done += len(lines)
        return done / (time.process_time() - started)

    return measure


def _read(line: str, book: PhraseBook) -> str:
    return json.dumps(parse_record(json.loads(line), book))


def _search(line: str) -> str:
    record = json.loads(line)
    return json.dumps({"id": record["id"], "answers": ANSWER.findall(record["reply"])})


def _milliseconds(piece: str, book: PhraseBook, rounds: int) -> float:
    text = (piece * LONGEST)[:LONGEST]
    return max(_one(text, slots, book, rounds) for slots in (few(), many()))


def few() -> list[Slot]:
    return [Slot(number=n, letters=("A", "B", "C", "D"), other="D", recommended="B") for n in range(1, 4)]


def many() -> list[Slot]:
    """Ten questions whose options' texts are known: texts in two languages for each."""
    return [
        Slot(
            number=n,
            letters=("A", "B", "C", "D"),
            other="D",
            recommended="ABC"[n % 3],
            labels=(f"Weekly report {n}", f"每周报告{n}", "Nothing yet", "Other"),
        )
        for n in range(1, 11)
    ]


def _one(text: str, slots: list[Slot], book: PhraseBook, rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        read_reply(text, slots, book)
        taken.append((time.process_time() - started) * 1000)
    return median(taken)
