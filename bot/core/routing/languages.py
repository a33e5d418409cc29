"""The words and phrases of one language, and how those of a pack's languages are put together (RT-12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.core.model import Model
from bot.core.routing.phrases import Lexicon

Mark = Literal[
    "lead",  # may stand before a request: "please", "can you", "I want to"
    "polite",  # dropped, with commas around it
    "joint",  # "and", "then"
    "verb",  # a request that follows "and" ends a topic before it
    "negation",  # takes back what follows in its clause
    "negation_back",  # takes back what stands before it in its clause
    "not_negation",  # "no more than", "not only"
    "contrast",  # ends a negated part: "but", "only"
    "topic",  # what follows is a topic or title
    "topic_back",  # what stands before is a topic (について, 에 대한)
    "manner",  # begins a topic with verbs of its own: "how reviewers read and check …"
    "topic_until",  # what follows, up to a `topic_end`, is a topic (关于 … 的)
    "topic_end",
    "mine",  # after "on": no topic but the person's own thing ("on my draft")
    "definite",  # "the": a noun alone after it is no request ("thanks for the review")
    "about",  # a sentence that begins so asks what something is
    "about_any",  # the same, anywhere in the sentence
    "done",  # "already": the clause tells what has happened
    "reset",  # "no wait": what stands before is taken back
    "forwarded",  # a line that begins so hands on somebody else's words
    "handed_on",  # a line that ends so does, with a colon: "my supervisor wrote:"
    "menu_question",  # "what is the difference", as the answer to a menu
    "about_it",  # after a command: "what does it do"
    "around",  # words that may stand around the letter in an answer to a menu
    "else",  # "none of these", as the answer to a menu
    "first",  # ordinals, as the answer to a menu: "the first one"
    "second",
    "third",
    "fourth",
    "yet",  # in a negated request: it may come later ("don't write it yet")
    "roughly",  # a topic mark that may also stand before an amount: "about twenty papers"
    "number",
    "others",  # people who are not asking: "my student"
    "their_part",  # right after them: what they do is no request ("should", "is going to", "who")
    "their_wish",  # right after that: they want something, and that is one ("my editor will need an abstract")
    "own",  # after "and" or "but": the person speaks of their own wish again
    "reported",  # "asked whether": a question somebody else put
    "news",  # "got accepted": the clause tells something, and what it names is not handed in
    "tells",  # begins a sentence of an abstract: "we review", "this paper examines"
    "limit",  # after a deliverable: "literature review, last 5 years"
    "has",  # before a deliverable: it is there already ("here is an outline of my draft")
    "below",  # beside a request: the paragraphs that follow are what it is about
    "above",
    "asks",  # begins a question; a command named in it is asked about, not called
]


class Language(Model):
    """One file of a pack's `triggers/` folder. Adding a language is adding a file (RT-12)."""

    language: str
    gaps: tuple[int, int] = (4, 8)  # words that `..` and `...` may pass over
    fold: tuple[str, ...] = ()  # "論论": the first character is read as the second
    words: dict[str, tuple[str, ...]] = {}
    marks: dict[Mark, tuple[str, ...]] = {}
    triggers: dict[str, tuple[str, ...]] = {}
    negative: dict[str, tuple[str, ...]] = {}  # triggers that hold a negation: "an idea but no question"
    names: dict[str, tuple[str, ...]] = {}  # bare nouns; they count only as the answer to a menu (RT-9)
    artefacts: dict[int, tuple[str, ...]] = {}  # by phase; -1: looks like one and is none ("literature review")
    unserved: tuple[str, ...] = ()  # requests that no workflow serves (RT-3)


def compile_languages(languages: Sequence[Language]) -> Lexicon:
    """Raises ValueError that names language and phrase, if one is badly formed."""
    variants = {pair[0]: pair[1] for language in languages for pair in language.fold}
    lexicon = Lexicon(variants)
    for language in languages:
        marks = {f"!{mark}": entries for mark, entries in language.marks.items()}
        for name, entries in {**language.words, **marks}.items():
            for entry in entries:
                try:
                    lexicon.add_class(name, language.language, (entry,))
                except ValueError as wrong:
                    raise ValueError(f"{language.language}: {wrong}") from None
    for language in languages:
        tables = (
            ("trigger", language.triggers),
            ("negative", language.negative),
            ("name", language.names),
            ("artefact", {str(k): v for k, v in language.artefacts.items()}),
            ("unserved", {"": language.unserved}),
        )
        for kind, table in tables:
            for value, phrases in table.items():
                for phrase in phrases:
                    try:
                        lexicon.add_phrase(kind, value, phrase, language.language, language.gaps)
                    except ValueError as wrong:
                        raise ValueError(f"{language.language}: {phrase!r}: {wrong}") from None
    lexicon.finish()
    return lexicon
