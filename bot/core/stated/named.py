"""What a request names outright: its subject, and the claim that is to be checked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.core.patterns import regex
from bot.core.stated.matching import OR, Match
from bot.core.stated.sentences import Sentence
from bot.core.stated.topics import NO_TOPIC, POINTS
from bot.core.words import Word, words

# The ways to name a subject, each with signs of which one must be in a text for it to match at all.
_NAMED = (
    (
        (":", "："),
        regex(
            r"\b(?:topic|title|subject|research question|rq|thema|titel|título|titre|tema)[ \t]*[:：]"
            r"[ \t]*([^\n]{3,300})",
            re.IGNORECASE,
        ),
    ),
    (
        tuple('"“„«'),
        regex(
            r"\b(?:on|about|titled|entitled|called|über|sobre|sur)[ \t]+[\"“„«]([^\"“”»\n]{3,300})[\"”“»]",
            re.IGNORECASE,
        ),
    ),
    (("关于", "關於", "题为", "題為"), regex(r"(?:关于|關於|题为|題為)([^，。！？\n的]{2,60})")),
    (("について", "に関"), regex(r"([^\s，。、！？]{2,60}?)(?:について|に関する|に関して)")),
    (("에 대", "에 관"), regex(r"((?:\S{1,30}[ ]){0,6}\S{2,40}?)(?:에 대한|에 대해|에 관한)")),
)
_CLAIM_LEAD = regex(
    r"^[ \t]*(?:(?:hi|hello|hey|please|pls|can|could|would|you|kindly|bitte|por favor|пожалуйста)\b[ ,]*){0,4}"
    r"(?:fact[- ]?check|verify|verifies|faktencheck|(?:über)?prüfe|verifica|verifique|vérifie|vérifiez|фактчек"
    r"|проверь|проверьте|核实|核查|事实核查)"
    r"(?:[ \t]+(?:this|these|the|following|claims?|statements?|sentence|facts?|me|for|diese?|folgende|behauptung"
    r"|aussage|esto|esta|este|isto|afirmación|afirmação|ceci|cette|affirmation|это|этот|факт|утверждение)){0,4}"
    r"(?:[ \t]*[:：]|[ \t]+that\b)",
    re.IGNORECASE | re.MULTILINE,
)
_CLAIM = regex(
    r"\s{0,4}[\"“„«']?((?:[^\n!?。！？\"“”»]|(?<=\d)\.(?=\d)){4,400}?)"
    r"(?=[\"“”»!?。！？\n]|\.(?!\d)|\s*$|,\s*(?:only|just|peer|please|any|with|true|nur|bitte|solo|только)\b)",
    re.IGNORECASE,
)


def subject(text: str, sentences: Sequence[Sentence]) -> tuple[Match, ...]:
    """The first place that names a subject; a labelled line counts even where the rest is quoted (RT-2)."""
    for signs, pattern in _NAMED:
        named = pattern.search(text) if any(sign in text for sign in signs) else None
        if named is not None and any(c.isalnum() for c in named.group(1)):
            return (Match(named.start(1), named.end(1), "said"),)
    for sentence in sentences:
        run: list[Word] = []
        for place, word in enumerate(sentence.words):
            if place in sentence.topic:
                run.append(word)
            elif run:
                break
        if run and not sentence.asked and not OR & {word.text for word in run}:
            return (Match(run[0].start, run[-1].end, "said"),)
    return ()


def claimed(own: str, text: str) -> tuple[str, Match | None]:
    """What is to be checked is not what the person says themselves: it is taken out of their words."""
    lead = _CLAIM_LEAD.search(own)
    claim = lead and _CLAIM.match(text, lead.end())
    if not claim:
        return own, None
    said = [word.text for word in words(claim.group(1))]
    if len(said) < 2 or said[0] in NO_TOPIC | POINTS:
        return own, None
    start, end = claim.span(1)
    return own[:start] + "\n" * (end - start) + own[end:], Match(start, end, "said")
