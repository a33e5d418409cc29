"""Score the reader on the table of replies: `python tests/core/replies/score.py [-v] [file.jsonl]`.

Exact: kind, resolved, open and the set of (item, code) all as expected; any outcome under `also` counts on the
fields that it has. A wrong capture is a letter or text recorded where every accepted outcome has another or none.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bot.core.replies.phrases import PhraseBook
from bot.core.replies.records import parse_record
from config.phrases_loader import load_phrases

HERE = Path(__file__).parent
Case = Mapping[str, Any]


def cases(name: str = "replies.jsonl") -> Iterator[dict[str, Any]]:
    with (HERE / name).open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def outcomes(case: Case) -> list[Case]:
    return [case["expect"], *case.get("also", ())]


def codes(outcome: Case) -> set[tuple[str, str]]:
    found = set()
    for error in outcome.get("errors", ()):
        if isinstance(error, str):
            item, _, rest = error.partition(": ")
            found.add((item, re.split(r"[ —]", rest)[0]))
        else:
            found.add((error["item"], error["code"]))
    return found


def differences(out: Case, outcome: Case) -> list[str]:
    wrong = [key for key in ("kind", "resolved", "open") if key in outcome and out.get(key) != outcome[key]]
    if "errors" in outcome and codes(out) != codes(outcome):
        wrong.append("errors")
    return wrong


def folded(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").strip().casefold()


def words_differ(out: Case, outcome: Case) -> list[str]:
    """Notes and texts that are not contained one in the other."""
    wrong = []
    for number, item in outcome.get("answers", {}).items():
        got = out["answers"].get(number, {})
        for key in ("note", "text"):
            wanted, have = folded(item.get(key)), folded(got.get(key))
            if wanted and not (wanted in have or (have and have in wanted)):
                wrong.append(f"{number}.{key}: {have!r} for {wanted!r}")
    return wrong


def wrong_captures(out: Case, case: Case) -> list[str]:
    wrong = []
    for number, value in out["resolved"].items():
        if value is None:
            continue
        allowed = [o["resolved"].get(number) for o in outcomes(case) if "resolved" in o]
        if value not in allowed:
            wrong.append(f"{number}={value}")
    return wrong


def score(book: PhraseBook, name: str = "replies.jsonl") -> tuple[int, int, list[str], list[str], list[str]]:
    """Cases, exact ones, and lines on failures, wrong captures and lost words."""
    total = exact = 0
    failures: list[str] = []
    captures: list[str] = []
    words: list[str] = []
    for case in cases(name):
        total += 1
        out = parse_record(case, book)
        tries = [differences(out, outcome) for outcome in outcomes(case)]
        best = min(tries, key=len)
        if not best:
            exact += 1
            if not tries[0] and (lost := words_differ(out, case["expect"])):
                words.append(f"{case['id']} {case['reply']!r}: {lost}")
        else:
            failures.append(
                f"{case['id']} {case['reply']!r} {best}"
                f"\n    got  {out['kind']} {out['resolved']} {sorted(codes(out))}"
                f"\n    want {case['expect'].get('kind')} {case['expect']['resolved']}"
                f" {sorted(codes(case['expect']))}"
            )
        if captured := wrong_captures(out, case):
            captures.append(f"{case['id']} {case['reply']!r}: {captured}")
    return total, exact, failures, captures, words


def main() -> None:
    names = [a for a in sys.argv[1:] if a != "-v"] or ["replies.jsonl"]
    book = load_phrases()
    for name in names:
        total, exact, failures, captures, words = score(book, name)
        print(
            f"{name}: {exact}/{total} exact ({100 * exact / total:.1f} %), {len(captures)} wrong captures, "
            f"{len(words)} notes or texts lost"
        )
        for title, lines in (("failures", failures), ("wrong captures", captures), ("words", words)):
            if lines and ("-v" in sys.argv or title == "wrong captures"):
                print(f"-- {title}", *lines, sep="\n")


if __name__ == "__main__":
    main()
