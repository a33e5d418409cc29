"""What a request already says, by the phrases of a playbook (RD-5). Never invents: when in doubt, it says nothing.

A phrase is a line of words:

    papers|studies published? since {year}      one of several words; a word that may be missing; a year
    {number} words                              digits, "5,000", "5k", or a number up to twenty in words
    only? pubmed|scopus+                        one or several of these, listed with commas or "and"
    last five years $                           only at the end of a clause
    ^ last five years $                         only at its beginning: after a comma, or after a topic
    + in apa 7? style|format                    counts inside a topic too ("a paper on sleep in APA style")
    about {number} words -abstract              not where the sentence also says "abstract"
    {subject}                                   what the text shall be about, named in any of the usual ways
    {claim}                                     what shall be checked: "fact-check this: …"

A match counts unless its sentence negates it, doubts it, asks it, or names it as the topic of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from bot.core.own_words import own_words
from bot.core.patterns import regex
from bot.core.words import Word, words

_LONGEST_LIST = 20
_MOST_STEPS = 16  # words that may be missing are tried both ways

_NUMBERS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty few couple""".split()  # noqa: SIM905
)
_YEAR = regex(r"(?:19|20)\d\d")
_DIGITS = regex(r"\d{1,7}k?")
SUBJECT, CLAIM = "{subject}", "{claim}"
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
_SENTENCE_END = regex(r"[!?;\n。！？；]|\.(?=\s|$)|…")
_CLAUSE_END = regex(r"[,:()\[\]，、：]|\s[-–—]|[–—]\s")
_COMMA = regex(r"[,()\[\]，、]")
_NEGATORS = frozenset(
    """unable not no non none without never neither nor except excluding exclude avoid skip ignore drop cannot instead
    dont unnecessary nicht kein keine keinen keiner ohne statt pas sans sin não sem не без без нет không đừng
    keinerlei нельзя ni nem
    不 别 別 非 无 無 沒 没 勿""".split()  # noqa: SIM905
)
_RESETS = frozenset("but just sondern mais sino pero mas но 而 只 aber".split())  # noqa: SIM905
_AFTER = frozenset("is are was were does do did would should need needs needed isn't aren't won't".split())  # noqa: SIM905
_AFTER_NO = frozenset("not unnecessary optional excluded forbidden wrong no nicht optional".split())  # noqa: SIM905
_DOUBT = frozenset(
    """actually wait correction whether maybe perhaps possibly unsure undecided uncertain
    either versus vs unless if depends might previously
    formerly rejected vielleicht ob peut-être quizás talvez если может 是否 也许 可能""".split()  # noqa: SIM905
)
_DOUBTS = frozenset((
    ("not", "sure"), ("should", "i"), ("should", "we"), ("should", "it"), ("last", "time"), ("used", "to"),
    ("or", "not"), ("i", "mean"), ("i", "meant"), ("scratch", "that"),
    ("would", "it"), ("don't", "know"), ("no", "idea"), ("other", "than"), ("rather", "than"),
    ("可", "能"), ("是", "否"), ("也", "许"), ("還", "是"), ("还", "是"),
))  # fmt: skip
_OR = frozenset("or oder ou или или hoặc 或".split())  # noqa: SIM905
_AND = frozenset("and und et y e и 和".split())  # noqa: SIM905
_POLITE = frozenset("can could would will please pls".split())  # noqa: SIM905
_ABOUT = frozenset(
    """on about regarding concerning titled entitled called over über zu zum zur sobre sur
    о об обо про по тему""".split()  # noqa: SIM905
)
_ABOUT_REVIEWS = frozenset(["по"])  # "обзор по теме", but "статья по шаблону"
_TEXTS = frozenset(
    """abstract article bibliography book chapter dissertation essay literature manuscript paper papers report
    research review scan study survey text thesis write writing bericht artikel artículo
    literaturübersicht literaturüberblick literaturrecherche literaturreview literaturbericht forschungsstand aufsatz
    hausarbeit seminararbeit bachelorarbeit masterarbeit
    revisión literatura bibliográfica ensayo revisão artigo ensaio bibliografia revue littérature mémoire essai
    обзор обзора литературы статью статья статьи реферат эссе""".split()  # noqa: SIM905
)
_REVIEWS = frozenset("обзор обзора литературы".split())  # noqa: SIM905
_HERE = frozenset("attached enclosed following above below draft file files manuscript paper papers pdfs".split())  # noqa: SIM905
_POINTS = frozenset(
    """my our this these those it them your attached what
    diesen dieser diese dieses diesem meinen meiner meine meinem unseren unserer den folgenden schreiben
    verfassen erstellen lesen prüfen überarbeiten estos estas este esta mis mi estes meus minha meu
    minhas ces cet cette mes mon ma
    этим этой этому этих этой моим моей моему нашим""".split()  # noqa: SIM905
)
_LEADS_IN = _TEXTS - frozenset("abstract text draft write writing report scan".split()) | _ABOUT  # noqa: SIM905
_LEADS_IN |= frozenset("this it following that das dies dazu это esto isto ceci cela".split())  # noqa: SIM905
_LONGEST_LEAD = 10
_TELLS = frozenset(
    """am are asked comment comments editor got had has have here is referee reviewer reviewers said says supervisor
    was were wish wishes writes wrote""".split()  # noqa: SIM905
)
_NO_TOPIC = frozenset(
    """add all annotated any apa as below by can check chicago conference could cover deadline do don't due every for
    focus from harvard here i ieee in include journal just last length literature make max medline mla must
    narrative needs no not nothing only papers past please pls pubmed scopus search see seminar should since studies
    table term urgent use using vancouver we with without write you nur bitte solo sólo só apenas
    seulement только""".split()  # noqa: SIM905
)
_NO_TOPIC_ENDS = frozenset("format only pages please style words".split())  # noqa: SIM905
_PAPERS = "(?:papers|studies|articles|publications|literature)"
# What limits the search and not the topic, where it ends one: "CRISPR since 2018", "heat with papers from 2018".
# Before 2000 it is as likely a part of history that the text is about.
_LIMIT = regex(
    rf"(?<! papers)(?<! studies)(?<! articles)(?<!ed) (?:since|seit|ab|depuis|desde|с|(?:a|à) partir de) 20\d\d"
    rf"(?: (?:onwards|on|года|г))?$"
    rf"| (?:with|using|from) (?:only )?{_PAPERS} (?:published )?(?:from|since|after|between) (?:the )?"
    r"(?:last|past|(?:19|20)\d\d)\b.*$"
)
_LEADS_OUT = frozenset("using via following please limited restricted".split())  # noqa: SIM905


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


class Step(NamedTuple):
    """One place of a phrase: any of these runs of words (or "{year}", "{number}")."""

    choices: tuple[tuple[str, ...], ...]
    optional: bool = False
    repeated: bool = False


class Phrase(NamedTuple):
    steps: tuple[Step, ...]
    ends_clause: bool = False
    begins_clause: bool = False
    in_topic: bool = False
    unless: frozenset[str] = frozenset()
    needs: tuple[frozenset[str], ...] = ()  # of each set at least one must be in `said`, or nothing can match
    starts: frozenset[str] = frozenset()  # the words that a match begins with; empty where it may be any


Reading = Literal["said", "denied", "doubted"]


class Match(NamedTuple):
    """Words that were found, and what their sentence makes of them."""

    start: int
    end: int
    reading: Reading


class Sentence(NamedTuple):
    words: tuple[Word, ...]
    breaks: frozenset[int]  # numbers of the words that a comma, a colon or their like stands before
    commas: frozenset[int]  # those of them that no phrase reaches across, except a list
    topic: frozenset[int]  # numbers of the words that name what a text is about
    asked: bool
    doubtful: bool
    said: frozenset[str]  # the words, and "{year}", "{number}" where there is one: for a quick no


class Statement:
    """A request, read once, to be searched for many phrases."""

    def __init__(self, text: str) -> None:
        self.text = text
        parts = own_words(text)
        self.pasted, self.introduced = parts.pasted, parts.introduced
        own, self._claim = _claimed(parts.own, text)
        self._sentences = tuple(_sentences(own))
        self._said = frozenset[str]().union(*(sentence.said for sentence in self._sentences))
        self._found: dict[str, tuple[Match, ...]] = {}  # by phrase: each is looked for with others, and alone

    def may_hold(self, phrases: Sequence[str]) -> bool:
        """Whether any of the phrases may match: an exact and quick "no"."""
        sought = _sought(tuple(phrases))
        return sought.always or not sought.by_word.keys().isdisjoint(self._said)

    def find(self, phrases: Sequence[str]) -> tuple[Match, ...]:
        """Every match of the phrases; of those that overlap only the longest."""
        sought = _sought(tuple(phrases))
        lines = {line for word in self._said for line in sought.by_word.get(word, ())}
        if not lines and not sought.always:
            return ()
        found = [match for line in lines for match in self._of(line)]
        if SUBJECT in phrases:
            found += self._subject()
        if CLAIM in phrases and self._claim is not None:
            found.append(self._claim)
        found.sort(key=lambda m: (m.start - m.end, m.start))
        kept: list[Match] = []
        for match in found:
            if all(match.end <= other.start or other.end <= match.start for other in kept):
                kept.append(match)
        return tuple(sorted(kept))

    def _of(self, line: str) -> tuple[Match, ...]:
        known = self._found.get(line)
        if known is None:
            sought = phrase(line)
            known = self._found[line] = tuple(m for s in self._sentences for m in _matches(s, sought))
        return known

    def _subject(self) -> tuple[Match, ...]:
        """The first place that names a subject; a labelled line counts even where the rest is quoted (RT-2)."""
        for signs, pattern in _NAMED:
            named = pattern.search(self.text) if any(sign in self.text for sign in signs) else None
            if named is not None and any(c.isalnum() for c in named.group(1)):
                return (Match(named.start(1), named.end(1), "said"),)
        for sentence in self._sentences:
            run: list[Word] = []
            for place, word in enumerate(sentence.words):
                if place in sentence.topic:
                    run.append(word)
                elif run:
                    break
            if run and not sentence.asked and not _OR & {word.text for word in run}:
                return (Match(run[0].start, run[-1].end, "said"),)
        return ()


@lru_cache(maxsize=2048)
def phrase(line: str) -> Phrase:
    """Read one phrase. Raises ValueError when nothing could ever match it, or anything would."""
    tokens = [token for token in line.split() if not token.startswith("-")]
    barred = [token for token in line.split() if token.startswith("-")]
    if tokens in ([SUBJECT], [CLAIM]):
        return Phrase(())
    in_topic, begins, ends = tokens[:1] == ["+"], tokens[:1] == ["^"], tokens[-1:] == ["$"]
    steps: list[Step] = []
    for token in tokens[1 if in_topic or begins else 0 : -1 if ends else None]:
        optional, repeated = token.endswith("?"), token.endswith("+")
        bare = token[:-1] if optional or repeated else token
        choices = tuple(
            (choice,) if choice in ("{year}", "{number}") else tuple(w.text for w in words(choice))
            for choice in bare.split("|")
        )
        if not all(choices) or any(c in "{}?+$*^" for c in re.sub(r"\{(?:year|number)\}", "", bare)):
            raise ValueError(f'"{token}" can not be read as words, {{year}} or {{number}}')
        steps.append(Step(choices, optional, repeated))
    if len(steps) > _MOST_STEPS:
        raise ValueError(f"it is longer than {_MOST_STEPS} words; split it")
    if all(step.optional for step in steps):
        raise ValueError("it would match any text; at least one word must not be optional")
    unless = frozenset(word.text for token in barred for word in words(token.replace("|", " ")))
    needs = tuple(frozenset(choice[0] for choice in step.choices) for step in steps if not step.optional)
    return Phrase(tuple(steps), ends, begins, in_topic, unless, needs, _starts(steps))


def _starts(steps: Sequence[Step]) -> frozenset[str]:
    found: set[str] = set()
    for step in steps:
        found |= {choice[0] for choice in step.choices}
        if not step.optional:
            break
    return frozenset() if any(word.startswith("{") for word in found) else frozenset(found)


class _Sought(NamedTuple):
    """Phrases by the words of which one must be said for them to match."""

    by_word: Mapping[str, tuple[str, ...]]
    always: bool  # a subject or a claim is among them, for which there is no such word


@lru_cache(maxsize=2048)  # the phrases of a playbook are looked for again and again
def _sought(lines: tuple[str, ...]) -> _Sought:
    by_word: dict[str, tuple[str, ...]] = {}
    always = False
    for line in lines:
        if line in (SUBJECT, CLAIM):
            always = True
            continue
        for word in phrase(line).needs[0]:
            by_word[word] = (*by_word.get(word, ()), line)
    return _Sought(by_word, always)


# -- sentences -------------------------------------------------------------------------------------------------------


def _sentences(text: str) -> Iterator[Sentence]:
    start = 0
    for end in (*(m.end() for m in _SENTENCE_END.finditer(text)), len(text)):
        found = words(text[start:end])
        if start:
            found = tuple([Word(w.text, w.start + start, w.end + start) for w in found])
        if found:
            between = [(i, text[a.end : b.start]) for i, (a, b) in enumerate(pairwise(found), 1)]
            gaps = [(i, gap) for i, gap in between if gap != " "]
            breaks = frozenset([i for i, gap in gaps if _CLAUSE_END.search(gap)])
            commas = frozenset([i for i, gap in gaps if _COMMA.search(gap)])
            said = frozenset([w.text for w in found])
            topic = _topic(found, breaks)
            led = frozenset[int]()
            if not topic:
                colon = next((i for i, gap in gaps if ":" in gap or "：" in gap), None)
                topic = led = _led_to(found, breaks, colon) if colon else topic
            asked = text[start:end].rstrip().endswith(("?", "？")) and not _POLITE & said and not led
            yield Sentence(found, breaks, commas, topic, asked, _doubtful(found), said.union(_figures(said)))
        start = end


def _figures(said: frozenset[str]) -> Iterator[str]:
    """Which of "{year}" and "{number}" some of these words can be."""
    digits = [word for word in said if _DIGITS.fullmatch(word)]
    if digits or not _NUMBERS.isdisjoint(said):
        yield "{number}"
    if any(_YEAR.fullmatch(word) for word in digits):
        yield "{year}"


def _doubtful(found: tuple[Word, ...]) -> bool:
    said = [w.text for w in found]
    if not _DOUBTS.isdisjoint(pairwise(said)):
        return True
    if _DOUBT.isdisjoint(said):
        return False
    return any(w in _DOUBT and (w, nxt) != ("if", "possible") for w, nxt in zip(said, [*said[1:], ""], strict=True))


def _topic(found: tuple[Word, ...], breaks: frozenset[int]) -> frozenset[int]:
    """The words after "a paper on …", up to the next comma or a word that leads out of it."""
    said = [w.text for w in found]
    inside: set[int] = set()
    for place, word in enumerate(said):
        if (word != "of" and word not in _ABOUT) or place in inside:
            continue
        clause = max((b for b in breaks if b <= place), default=0)
        before = said[max(clause, place - 4) : place]
        of = word == "of" and before[-1:] in (["review"], ["scan"], ["survey"])
        if not of and (word not in _ABOUT or not _TEXTS & set(before)):
            continue
        if word in _ABOUT_REVIEWS and not _REVIEWS & set(before):
            continue
        nxt = said[place + 1] if place + 1 < len(said) else ""
        if nxt == "the" and _HERE & set(said[place + 2 : place + 3]):
            continue
        if nxt in _POINTS or _DIGITS.fullmatch(nxt):  # "on these papers", "about 5000 words"
            continue
        inside |= _run(said, breaks, place + 1 + (nxt == "thema"))
    return frozenset(inside)


def _led_to(found: tuple[Word, ...], breaks: frozenset[int], colon: int) -> frozenset[int]:
    """The words after "lit-review this:"."""
    said = [w.text for w in found]
    lead = said[:colon]
    if len(lead) > _LONGEST_LEAD or lead[-1] not in _LEADS_IN or not _TEXTS & set(lead):
        return frozenset()
    if _TELLS & set(lead) or any(_negates(word) for word in lead):
        return frozenset()
    first = colon + (said[colon] in _ABOUT)
    if first == len(said) or said[first] in _NO_TOPIC | _POINTS or _DIGITS.fullmatch(said[first]):
        return frozenset()
    run = _run(said, breaks - {first}, first)
    return frozenset() if not run or said[max(run)] in _NO_TOPIC_ENDS else run


def _run(said: Sequence[str], breaks: frozenset[int], first: int) -> frozenset[int]:
    """A topic from its first word to the next comma, a word that leads out, or a limit on the search."""
    end = next((i for i in range(first, len(said)) if i in breaks or said[i] in _LEADS_OUT), len(said))
    limit = _LIMIT.search(" ".join(said[first:end]))
    if limit and limit.start():
        end = first + len(limit.string[: limit.start()].split())
    return frozenset(range(first, end))


def _claimed(own: str, text: str) -> tuple[str, Match | None]:
    """What is to be checked is not what the person says themselves: it is taken out of their words."""
    lead = _CLAIM_LEAD.search(own)
    claim = lead and _CLAIM.match(text, lead.end())
    if not claim:
        return own, None
    said = [word.text for word in words(claim.group(1))]
    if len(said) < 2 or said[0] in _NO_TOPIC | _POINTS:
        return own, None
    start, end = claim.span(1)
    return own[:start] + "\n" * (end - start) + own[end:], Match(start, end, "said")


# -- matching --------------------------------------------------------------------------------------------------------


def _matches(sentence: Sentence, sought: Phrase) -> Iterator[Match]:
    said = sentence.said
    for need in sought.needs:  # nearly all phrases end here
        if need.isdisjoint(said):
            return
    if not sought.unless.isdisjoint(said):
        return
    for first, word in enumerate(sentence.words):
        if sought.starts and word.text not in sought.starts:
            continue
        end = _longest(sentence, sought.steps, first, joined=True)
        if end is None or end == first:
            continue
        at_end = end == len(sentence.words) or end in sentence.breaks
        if sought.ends_clause and not at_end:
            continue
        begins = (
            first == 0 or first in sentence.commas or (first - 1 in sentence.topic and first not in sentence.topic)
        )
        if sought.begins_clause and not begins:
            continue
        if not sought.in_topic and any(place in sentence.topic for place in range(first, end)):
            continue
        yield Match(sentence.words[first].start, sentence.words[end - 1].end, _reading(sentence, first, end))


def _longest(sentence: Sentence, steps: tuple[Step, ...], place: int, *, joined: bool = False) -> int | None:
    """Where the longest reading of the steps ends. `joined`: a comma before this place does not matter."""
    if not steps:
        return place
    step, rest = steps[0], steps[1:]
    ends: list[int | None] = [_longest(sentence, rest, place, joined=joined)] if step.optional else []
    for choice in step.choices if joined or place not in sentence.commas else ():
        after = _taken(sentence.words, choice, place)
        if after is None:
            continue
        reached = _listed(sentence.words, step, after) if step.repeated else [after]
        ends += [_longest(sentence, rest, end) for end in reached]
    return max((end for end in ends if end is not None), default=None)


def _listed(found: tuple[Word, ...], step: Step, after: int) -> list[int]:
    """Where the list may end that goes on here: "pubmed", "pubmed, scopus", "pubmed, scopus and ieee"."""
    ends = [after]
    while len(ends) < _LONGEST_LIST:
        place = ends[-1]
        place += place < len(found) and found[place].text in _AND
        nxt = next(
            (end for end in (_taken(found, choice, place) for choice in step.choices) if end is not None), None
        )
        if nxt is None:
            break
        ends.append(nxt)
    return ends


def _taken(found: tuple[Word, ...], choice: tuple[str, ...], place: int) -> int | None:
    if choice == ("{year}",):
        return place + 1 if place < len(found) and _YEAR.fullmatch(found[place].text) else None
    if choice == ("{number}",):
        if place >= len(found) or not (found[place].text in _NUMBERS or _DIGITS.fullmatch(found[place].text)):
            return None
        nxt = found[place + 1] if place + 1 < len(found) else None  # "5,000" is cut into two
        grouped = nxt and len(nxt.text) == 3 and nxt.text.isdecimal() and nxt.start - found[place].end == 1
        return place + 2 if grouped else place + 1
    end = place + len(choice)
    if end > len(found):
        return None
    for at, word in enumerate(choice, place):
        if found[at].text != word:
            return None
    return end


def _turns(sentence: Sentence, comma: int, first: int, end: int) -> bool:
    """Whether a negation before this comma is over ("not A, a B is enough") and does not go on ("no A, B or C")."""
    later = [word.text for word in sentence.words[comma:]]
    if any(word in _OR or word in _AND or word == "nor" for word in later):
        return False
    close = min((b for b in sentence.breaks if b >= end), default=len(sentence.words))
    return close - comma > end - first or end - first >= 3


def _reading(sentence: Sentence, first: int, end: int) -> Reading:
    """Denied, doubted, one of two, or said. A negation holds on to the end of its sentence, or to a "but"."""
    said = [w.text for w in sentence.words]
    if (
        sentence.asked
        or sentence.doubtful
        or (first and said[first - 1] in _OR)
        or (said[end : end + 1] and said[end] in _OR)
    ):
        return "doubted"
    for place in range(first - 1, -1, -1):
        word = said[place]
        if _negates(word):
            return "denied"
        turns = word in _RESETS and not (place and _negates(said[place - 1]))  # "not just"
        if turns or (place + 1 in sentence.breaks and _turns(sentence, place + 1, first, end)):
            break
    after = [] if end in sentence.breaks else said[end : end + 2]
    if not after:
        return "said"
    ruled_out = after[0] in _AFTER_NO or after[0].endswith("n't") or (after[0] in _AFTER and after[-1] in _AFTER_NO)
    return "denied" if ruled_out else "said"


def _negates(word: str) -> bool:
    return word in _NEGATORS or word.endswith("n't")
