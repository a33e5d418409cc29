"""What has been handed in, and to which phase of the work it belongs (RT-3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.core.model import Material
from bot.core.patterns import regex
from bot.core.routing.pack import Pack, Pasted
from bot.core.routing.text import Span, Token, fold, paragraphs, tokenise
from bot.core.routing.triggers import Found

# Addresses are the one thing here that is a regular language. No nested repetition: linear.
_LINK = regex(
    r"https?://[^\s<>\"'|）】」》]+|www\.[^\s<>\"'|）】」》]+|\b10\.\d{4,9}/[^\s<>\"'|，。；]+", re.IGNORECASE
)
_CHUNK = regex(r"[^\s\"'`<>|*,;()\[\]，。；、：（）「」『』“”«»！？!?]+")
_SHORTEST_PASTE = 60  # characters
_SCHEME = regex(r"^(?:https?://)?(?:www\.)?", re.IGNORECASE)


class Item(NamedTuple):
    material: Material
    phase: int | None
    paper: bool  # a PDF or link that could be a paper as well as a draft


class Handed(NamedTuple):
    """`objects` are the stretches of the text that hold links, names of files and pasted documents.

    `words`: the text as it was cut to look for pasted documents; None where it is too short for one.
    """

    items: tuple[Item, ...]
    objects: tuple[Span, ...]
    words: list[Token] | None


def handed_in(text: str, given: Sequence[Material], pack: Pack) -> Handed:
    items = [_item(material, pack) for material in given]
    objects: list[Span] = []
    seen = {fold(item.material.name, {}).rpartition("/")[2] for item in items}
    for span in _links(text):
        items.append(_item(Material(kind="link", name=text[span.start : span.end]), pack))
        objects.append(span)
    taken = list(objects)
    for span in _names(text, pack):
        if any(s.start < span.end and span.start < s.end for s in taken):
            continue
        objects.append(span)
        name = text[span.start : span.end]
        if fold(name, {}).rstrip("/").rpartition("/")[2] not in seen:
            items.append(_item(Material(kind="named", name=name), pack))
    words = tokenise(text, pack.marks.variants) if pack.phases.pasted and len(text) >= _SHORTEST_PASTE else None
    for pasted, span in () if words is None else _pasted(text, words, pack):
        items.append(Item(Material(kind="named", name=pasted.name), pasted.phase, paper=False))
        objects.append(span)
    return Handed(tuple(items), tuple(objects), words)


def phases_of(items: Sequence[Item], artefacts: Sequence[Found], pack: Pack) -> tuple[int, ...]:
    """Sorted and unique. One paper alone decides nothing, unless the rest cannot be what it is."""
    rules = pack.phases
    found = {item.phase for item in items if item.phase is not None} | {int(a.value) for a in artefacts}
    papers = len({item.material.name for item in items if item.paper})
    if papers > 1 and rules.papers_phase is not None:
        found.add(rules.papers_phase)
    elif papers == 1 and found and not found & set(rules.one_paper_phases) and rules.one_paper_phases:
        # A review and one PDF: that PDF is a paper or the draft, and in neither case a review.
        found.add(rules.one_paper_phases[-1])
    return tuple(sorted(found))


def _item(material: Material, pack: Pack) -> Item:
    if material.kind == "link":
        hosted = _host_phase(material.name, pack)
        return Item(material, hosted, paper=hosted is None)
    phase = phase_of_name(material.name, pack)
    ending = _ending(material.name)
    paper = ending in pack.phases.paper_extensions or (not ending and material.media == "application/pdf")
    return Item(material, phase, paper=phase is None and paper)


def _host_phase(link: str, pack: Pack) -> int | None:
    rest = _SCHEME.sub("", link[:300], count=1).lower()
    return next((phase for host, phase in pack.phases.hosts.items() if rest.startswith(host)), None)


def _ending(name: str) -> str:
    last = name.replace("\\", "/").rpartition("/")[2]
    return fold(last.rpartition(".")[2], {}) if "." in last else ""


def phase_of_name(name: str, pack: Pack) -> int | None:
    """Folder before name before extension."""
    rules = pack.phases
    *folders, last = name[:1000].replace("\\", "/").split("/")
    for folder in reversed(folders):
        rest = fold(folder, {})
        if rest.startswith(rules.folder_prefix):
            digit = rest[len(rules.folder_prefix) :].lstrip(" _-")[:2]
            if (
                digit[:1].isdecimal()
                and not digit[1:].isdecimal()
                and any(p.number == int(digit[0]) for p in rules.phases)
            ):
                return int(digit[0])
    ending = _ending(last)
    stem = last[: len(last) - len(ending) - 1] if ending else last
    marked = _name_phase(stem, ending, pack)
    if marked is None and not last and folders:
        marked = _name_phase(folders[-1], "", pack)
    return marked if marked is not None else rules.extensions.get(ending)


def _name_phase(stem: str, ending: str, pack: Pack) -> int | None:
    lexicon = pack.marks
    tokens = tokenise(_apart(stem), lexicon.variants)
    spans = lexicon.spans(tokens)
    here = {identity for span in spans for identity in span}
    first = set(spans[0]) if spans else set()
    for number, mark in enumerate(pack.phases.names):
        if mark.extensions and ending not in mark.extensions:
            continue
        if lexicon.identity(f"n{number}") in here or lexicon.identity(f"^{number}") in first:
            return mark.phase
    return None


def _apart(stem: str) -> str:
    """`ReviewerComments2` → `Reviewer Comments 2`: names of files are often written as one word."""
    out = []
    for before, char in zip(" " + stem, stem, strict=False):
        if (before.islower() and char.isupper()) or (before.isalpha() and char.isdecimal() and before.islower()):
            out.append(" ")
        out.append(char)
    return "".join(out)


def _links(text: str) -> list[Span]:
    found: list[Span] = []
    if "/" not in text and "." not in text:
        return found
    for hit in _LINK.finditer(text):
        end = hit.end()
        while end > hit.start() and text[end - 1] in ".,;:!?)]}":
            end -= 1
        found.append(Span(hit.start(), end))
    return found


def _names(text: str, pack: Pack) -> list[Span]:
    """Words of the text that are names of files or folders."""
    rules = pack.phases
    prefix, known = rules.folder_prefix, rules.endings
    found: list[Span] = []
    if "." not in text and "/" not in text and prefix not in fold(text, {}):
        return found
    for hit in _CHUNK.finditer(text):
        chunk = hit.group().rstrip(".:")
        bare = fold(chunk, {})
        if "." not in chunk and "/" not in chunk and not bare.startswith(prefix):
            continue
        if "@" in chunk or "://" in chunk:
            continue
        folder = "/" in chunk and any(
            fold(part, {}).startswith(prefix) and part[len(prefix) :][:1].isdecimal() for part in chunk.split("/")
        )
        phase_folder = (
            bare.startswith(prefix)
            and bare[len(prefix) :][:1].isdecimal()
            and bare[len(prefix) + 1 :][:1] in ("_", "-")
        )
        if folder or phase_folder or (_ending(chunk) in known and chunk.rpartition(".")[0]):
            found.append(Span(hit.start(), hit.start() + len(chunk)))
    return found


def _pasted(text: str, words: Sequence[Token], pack: Pack) -> list[tuple[Pasted, Span]]:
    """Letters and reviews pasted as text: from the first paragraph with a mark to the last."""
    lexicon = pack.marks
    spans = lexicon.spans(words)
    parts = paragraphs(text)
    found = []
    for number, pasted in enumerate(pack.phases.pasted):
        ids = {lexicon.identity(f"p{number}.{place}") for place in range(len(pasted.any))}
        hits = [
            (words[at].start, identity) for at, span in enumerate(spans) if span for identity in ids & span.keys()
        ]
        if len({identity for _, identity in hits}) >= pasted.need:
            first, last = hits[0][0], hits[-1][0]
            start = max((p.start for p in parts if p.start <= first), default=0)
            end = next((p.end for p in parts if p.start <= last < p.end), len(text))
            found.append((pasted, Span(start, end)))
    return found
