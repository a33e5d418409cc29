"""What a text is about: words in which no phrase counts, unless it says so ("a paper on sleep in APA style")."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.patterns import regex
from bot.core.stated.negation import negates
from bot.core.stated.phrases import DIGITS
from bot.core.words import Word

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
POINTS = frozenset(
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
NO_TOPIC = frozenset(
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


def topic_of(found: tuple[Word, ...], breaks: frozenset[int]) -> frozenset[int]:
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
        if nxt in POINTS or DIGITS.fullmatch(nxt):  # "on these papers", "about 5000 words"
            continue
        inside |= _run(said, breaks, place + 1 + (nxt == "thema"))
    return frozenset(inside)


def led_to(found: tuple[Word, ...], breaks: frozenset[int], colon: int) -> frozenset[int]:
    """The words after "lit-review this:"."""
    said = [w.text for w in found]
    lead = said[:colon]
    if len(lead) > _LONGEST_LEAD or lead[-1] not in _LEADS_IN or not _TEXTS & set(lead):
        return frozenset()
    if _TELLS & set(lead) or any(negates(word) for word in lead):
        return frozenset()
    first = colon + (said[colon] in _ABOUT)
    if first == len(said) or said[first] in NO_TOPIC | POINTS or DIGITS.fullmatch(said[first]):
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
