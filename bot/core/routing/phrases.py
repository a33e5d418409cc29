"""Phrases of a pack, compiled once, and found in a message in one pass.

A phrase is a row of words and word classes, written in a pack like this:

    review <mine> .. <paper>      words, a class, a gap of a few words
    ^ <make> [a|an] <outline> $   `^` begins and `$` ends a clause; `[…]` may be missing; `|` gives a choice
    <reviews> ;; (what now|help)  `;;` goes on later in the message
    <write> ~ <paper>             `~`: small words of the class `det` only ("me a short")
    check*                        any word that begins so

`<name>` holds the words of that name of *all* languages, because people mix them ("帮我 review 一下"); `<.name>`
holds only those of its own file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bot.core.routing.text import CLAUSE, SENTENCE, Token, dense, words

SMALL_WORDS = 5
FAR = 60  # `;;`: about five sentences
MIN_TYPO, MIN_SWAPPED = 6, 5  # shorter words are too often other words one letter away ("papers", "pages")


class Element(NamedTuple):
    ids: frozenset[int]
    optional: bool
    reach: int  # how many words may stand before it
    far: bool  # these may cross the ends of clauses and sentences


class Phrase(NamedTuple):
    kind: str  # "trigger", "name", "artefact", "unserved", …
    value: str
    elements: tuple[Element, ...]
    opens: bool
    closes: bool
    source: str
    key: str


class Match(NamedTuple):
    phrase: Phrase
    first: int
    last: int  # exclusive, in tokens
    bits: int  # the words it names, from `first` on; those that a gap passes over are not among them

    @property
    def named(self) -> frozenset[int]:
        return frozenset([i for i in range(self.first, self.last) if self.bits >> (i - self.first) & 1])


Place = tuple[int, Sequence[int]]  # where a word stands, and where the words of the wanted classes end there


class Node:
    """One step of the word tree. `ids` are the classes that end here."""

    __slots__ = ("_typos", "ids", "leaf", "sizes", "stems", "words")

    def __init__(self) -> None:
        self.words: dict[str, Node] = {}
        self.stems: dict[str, Node] = {}
        self.sizes: tuple[int, ...] = ()
        self._typos: str | dict[str, str] = ""  # slipped spellings, each followed by its word
        self.ids: tuple[int, ...] = ()
        self.leaf = False  # nothing goes on from here

    def prepare(self) -> None:
        """Stems and typing errors, once all words are in."""
        self.leaf = not self.words and not self.stems
        self.sizes = tuple(sorted({len(s) for s in self.stems}, reverse=True))
        typos: dict[str, str] = {}
        for word in self.words:
            if len(word) >= MIN_SWAPPED and word.isalpha():
                for shorter in _without_one(word):
                    typos.setdefault(shorter, word)
                if len(word) >= MIN_TYPO:
                    typos.setdefault(word, word)
        self._typos = " ".join([f"{slipped} {word}" for slipped, word in typos.items()])
        self.stems = self.stems or _NO_NODES
        self.words = self.words or _NO_NODES

    def __reduce__(self) -> tuple[Any, ...]:
        """Shorter than field by field, and read in half the time: `config.kept`."""
        return _node, (self.words, self.stems, self.sizes, self._typos, self.ids, self.leaf)

    def typos(self) -> dict[str, str]:
        """By slipped spelling, the word. Cut apart when it is first needed: most tables never are."""
        if isinstance(self._typos, str):
            cut = iter(self._typos.split())
            self._typos = dict(zip(cut, cut, strict=True))
        return self._typos


_NOTHING: dict[int, list[int]] = {}  # most words of a message begin nothing


def _node(*values: Any) -> Node:
    node = Node.__new__(Node)
    node.words, node.stems, node.sizes, node._typos, node.ids, node.leaf = values  # noqa: SLF001 - our own
    return node


_NO_NODES: dict[str, Node] = {}  # most nodes are ends; one empty table for all of them keeps a lexicon small


class Lexicon:
    """All classes and phrases of a pack. `spans` and `matches` are the look-ups."""

    def __init__(self, variants: Mapping[str, str]) -> None:
        self.variants = variants
        self.root = Node()
        self._ids: dict[str, int] = {}
        self._by_first: dict[int, list[Phrase]] = {}
        # The words of the marks, which alone are asked for word by word.
        self._marks: dict[str, frozenset[tuple[str, ...]]] = {}

    # -- building --

    def identity(self, name: str) -> int:
        return self._ids.setdefault(name, len(self._ids))

    def add_word(self, *identities: int, text: str) -> None:
        node = self.root
        stem = text.rstrip().endswith("*")
        parts = words(text.replace("*", " "), self.variants)
        if not parts:
            raise ValueError(f"{text!r} holds no word")
        last = len(parts) - 1
        for at, part in enumerate(parts):
            branch = node.stems if at == last and stem and not dense(part[0]) else node.words
            following = branch.get(part)
            if following is None:
                following = branch[part] = Node()
            node = following
        for identity in identities:
            if identity not in node.ids:
                node.ids = (*node.ids, identity)

    def add_class(self, name: str, language: str, entries: Iterable[str]) -> None:
        if name.startswith("!"):
            said = {words(entry.replace("*", " "), self.variants) for entry in entries}
            self._marks[f"<{name}>"] = self.phrases_of(f"<{name}>") | said
        for entry in entries:
            self.add_word(self.identity(f"<{name}>"), self.identity(f"<{language}.{name}>"), text=entry)

    def add_phrase(self, kind: str, value: str, source: str, language: str, gaps: tuple[int, int]) -> None:
        phrase = _compile(self, kind, value, source, language, gaps)
        if not phrase.elements or phrase.elements[0].optional:
            raise ValueError(f"{source!r} must begin with a word that cannot be missing")
        for identity in phrase.elements[0].ids:
            self._by_first.setdefault(identity, []).append(phrase)

    def known(self, name: str) -> bool:
        return name in self._ids

    def finish(self) -> None:
        """Prepare stems and typing errors once all words are in. Ends that say the same become one."""
        ends: dict[tuple[int, ...], Node] = {}
        todo = [self.root]
        while todo:
            node = todo.pop()
            node.prepare()
            for branch in (node.words, node.stems):
                for word, following in branch.items():
                    if not following.words and not following.stems:
                        branch[word] = ends.setdefault(following.ids, following)
            todo += [*node.words.values(), *node.stems.values()]

    # -- look-ups --

    def phrases_of(self, name: str) -> frozenset[tuple[str, ...]]:
        """The words of a mark, such as `<!around>`."""
        return self._marks.get(name, frozenset())

    def spans(self, tokens: Sequence[Token]) -> list[dict[int, list[int]]]:
        """For each token: class id → the token positions at which a word of that class ends."""
        begun: dict[str, list[Node]] = {}
        found = []
        for at, token in enumerate(tokens):
            nodes = begun.get(token.form)
            if nodes is None:
                nodes = begun[token.form] = _steps(self.root, token.form)
            found.append(_ends(nodes, tokens, at) if nodes else _NOTHING)
        return found

    def matches(
        self,
        tokens: Sequence[Token],
        spans: Sequence[Mapping[int, list[int]]],
        hidden: Sequence[bool],
        opens: Sequence[bool],
    ) -> list[Match]:
        """Every phrase that occurs; hidden words are passed over, as if they were not there."""
        present = {identity for here, away in zip(spans, hidden, strict=True) if not away for identity in here}
        # Of each phrase that can occur what is behind its first word, without what may be missing and is.
        possible: dict[int, list[tuple[Phrase, list[Element]]]] = {}
        for identity in present & self._by_first.keys():
            here = [
                (phrase, [e for e in phrase.elements[1:] if not e.ids.isdisjoint(present)])
                for phrase in self._by_first[identity]
                if all(e.optional or not e.ids.isdisjoint(present) for e in phrase.elements)
            ]
            if here:
                possible[identity] = here
        found: list[Match] = []
        if not possible:
            return found
        places = _Places(tokens, spans, hidden)
        for at, begins in enumerate(spans):
            if not begins or hidden[at]:
                continue
            tried: set[str] = set()  # several classes of a word may begin the same phrase
            for identity in begins:
                for phrase, rest in possible.get(identity, ()):
                    if (opens[at] or not phrase.opens) and phrase.key not in tried:
                        tried.add(phrase.key)
                        hit = _match(phrase, rest, at, places)
                        if hit is not None:
                            found.append(hit)
        return found


class _Places:
    """Where the classes of a message stand, without the hidden words."""

    def __init__(
        self, tokens: Sequence[Token], spans: Sequence[Mapping[int, list[int]]], hidden: Sequence[bool]
    ) -> None:
        self.spans = spans
        self.size = size = len(tokens)
        self.step = [size] * (size + 2)  # the first place from here on that is not hidden
        for at in range(size - 1, -1, -1):
            self.step[at] = self.step[at + 1] if hidden[at] else at
        self.order: list[int] = []  # the number of each place among those that are not hidden
        self.clause: list[int] = []  # ends of clauses before it
        self.opens: list[bool] = []  # is there one right before it?
        self.where: dict[int, list[int]] = {}  # class id → its places
        seen = ends = 0
        for at, token in enumerate(tokens):
            opens = token.gap >= CLAUSE
            if not hidden[at]:
                seen += 1
                ends += opens
                for identity in spans[at]:
                    self.where.setdefault(identity, []).append(at)
            self.order.append(seen)
            self.clause.append(ends)
            self.opens.append(opens)
        self._of: dict[frozenset[int], tuple[list[int], list[Place]]] = {}

    def of(self, ids: frozenset[int]) -> tuple[list[int], list[Place]]:
        """The places of any of these classes, in order, and the same with the ends of their words."""
        found = self._of.get(ids)
        if found is None:
            lists = [self.where[i] for i in ids if i in self.where]
            order = lists[0] if len(lists) == 1 else sorted({at for each in lists for at in each})
            found = self._of[ids] = order, [(at, self.ends(ids, at)) for at in order]
        return found

    def ends(self, ids: frozenset[int], at: int) -> Sequence[int]:
        """Where the words of any of these classes end that begin at this place."""
        found = [ends for identity, ends in self.spans[at].items() if identity in ids]
        return found[0] if len(found) == 1 else [end for ends in found for end in ends]

    def within(self, ids: frozenset[int], first: int, reach: int, *, far: bool) -> Sequence[Place]:
        """Those from `first` on with words between, `reach` at most; a clause ends the search, unless `far`."""
        if first >= self.size or (not far and self.opens[first]):
            return ()
        order, places = self.of(ids)
        start = end = bisect_left(order, first)
        most, clause, numbers, clauses = self.order[first] + reach, self.clause[first], self.order, self.clause
        while end < len(order) and numbers[order[end]] <= most and (far or clauses[order[end]] == clause):
            end += 1
        return places[start:end]


def _ends(nodes: list[Node], tokens: Sequence[Token], at: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    here, size = at + 1, len(tokens)
    while nodes:
        for node in nodes:
            for identity in node.ids:
                ends = found.get(identity)
                if ends is None:
                    found[identity] = [here]
                elif ends[-1] != here:
                    ends.append(here)
        if here >= size or tokens[here].gap >= SENTENCE:
            break
        form = tokens[here].form
        if len(nodes) == 1 and (node := nodes[0]) and not node.sizes and len(form) < MIN_SWAPPED:
            exact = node.words.get(form)  # one character of a dense script
            if exact is None:
                break
            nodes = [exact]
        else:
            nodes = [following for node in nodes if not node.leaf for following in _steps(node, form)]
        here += 1
    return found


def _steps(node: Node, form: str) -> list[Node]:
    exact = node.words.get(form)
    found = [exact] if exact is not None else []
    if not node.sizes and (found or len(form) < MIN_SWAPPED):
        return found
    for size in node.sizes:
        if size <= len(form):
            stem = node.stems.get(form[:size])
            if stem is not None:
                found.append(stem)
    if not found and len(form) >= MIN_SWAPPED and not node.leaf:
        meant = _meant(node, form)
        if meant:
            found.append(node.words[meant])
    return found


def _meant(node: Node, form: str) -> str | None:
    """The word that was meant, if exactly one slip away: a letter more, less, other (in long words), or swapped."""
    typos = node.typos()
    if not typos:
        return None
    for candidate in (form, *_without_one(form)):
        word = typos.get(candidate)
        if word and word[0] == form[0] and _one_slip(word, form):
            return word
    return None


def _one_slip(word: str, typed: str) -> bool:
    if len(word) == len(typed):
        places = [i for i, (a, b) in enumerate(zip(word, typed, strict=True)) if a != b]
        if len(places) == 1:
            # The last letter is inflection more often than a slip: "abstracts", "reviewed".
            return len(word) > MIN_TYPO and places[0] < len(word) - 1
        first = places[0]
        return places == [first, first + 1] and word[first] == typed[first + 1] and word[first + 1] == typed[first]
    if word.startswith(typed) or typed.startswith(word):
        return False  # an ending, not a slip: "reviews" is another word than "review"
    return abs(len(word) - len(typed)) == 1 and min(len(word), len(typed)) >= MIN_TYPO


def _without_one(word: str) -> list[str]:
    return [word[:i] + word[i + 1 :] for i in range(len(word))]


def _match(phrase: Phrase, rest: Sequence[Element], at: int, places: _Places) -> Match | None:
    """Follow the phrase from `at`; the set of places reached stays small, so the work per place is bounded."""
    spans, step, opens, size = places.spans, places.step, places.opens, places.size
    begins = phrase.elements[0].ids
    reached: dict[int, int] = {}  # next token → words named so far, as bits from `at` on
    for identity, ends in spans[at].items():
        if identity in begins:
            for end in ends:
                reached[end] = (1 << (end - at)) - 1
    for ids, optional, reach, far in rest:
        following = dict(reached) if optional else {}
        for place, named in reached.items():
            first = step[place]
            near: Sequence[Place]
            if reach:
                near = places.within(ids, first, reach, far=far)
            elif first >= size or (opens[first] and not far) or ids.isdisjoint(spans[first]):
                continue
            else:
                near = ((first, places.ends(ids, first)),)
            for here, stops in near:
                passed = 1 << (here - at)
                for end in stops:
                    more = named | ((1 << (end - at)) - passed)
                    if end not in following or more.bit_count() > following[end].bit_count():
                        following[end] = more
        reached = following
        if not reached:
            return None
    if phrase.closes:
        reached = {place: named for place, named in reached.items() if _closes(place, places)}
        if not reached:
            return None
    last = max(reached)
    return Match(phrase, at, last, reached[last])


def _closes(place: int, places: _Places) -> bool:
    following = places.step[place]
    return following >= places.size or following > place or places.opens[place]


# -- the little language of phrases ----------------------------------------------------------------------------


def _compile(lexicon: Lexicon, kind: str, value: str, source: str, language: str, gaps: tuple[int, int]) -> Phrase:
    parts = _parts(source)
    opens = bool(parts) and parts[0] == "^"
    closes = bool(parts) and parts[-1] == "$"
    elements: list[Element] = []
    reach, far = 0, False
    for part in parts[1 if opens else 0 : len(parts) - 1 if closes else len(parts)]:
        if part in ("..", "...", ";;"):
            reach, far = {"..": gaps[0], "...": gaps[1], ";;": FAR}[part], part == ";;"
            continue
        if part == "~":
            small = frozenset((lexicon.identity("<det>"),))
            elements += [Element(small, optional=True, reach=0, far=False)] * SMALL_WORDS
            continue
        optional = part.startswith("[")
        ids = frozenset(_choice(lexicon, part, language))
        elements.append(Element(ids, optional, reach, far))
        if not optional:
            reach, far = 0, False
    key = f"{kind} {value} {language} {source}"
    return Phrase(kind, value, tuple(elements), opens, closes, source, key)


def _parts(source: str) -> list[str]:
    """Split at blanks outside brackets; neighbouring plain words stay one part."""
    found: list[str] = []
    depth, part = 0, ""
    for char in source + " ":
        if char.isspace() and depth == 0:
            if part:
                found.append(part)
            part = ""
            continue
        if char in "([<" and depth == 0 and part:
            found.append(part)
            part = ""
        depth += (char in "([<") - (char in ")]>")
        part += char
        if char in ")]>" and depth == 0:
            found.append(part)
            part = ""
    if depth:
        raise ValueError(f"{source!r}: a bracket is not closed")
    return found


def _choice(lexicon: Lexicon, part: str, language: str) -> Iterable[int]:
    choices = part[1:-1].split("|") if part[0] in "([" else [part]
    for choice in choices:
        item = choice.strip()
        if item.startswith("<"):
            name = item[1:-1]
            full = f"<{language}{name}>" if name.startswith(".") else item
            if not lexicon.known(full):
                raise ValueError(f"{full} names no words")
            yield lexicon.identity(full)
        else:
            identity = lexicon.identity(item)
            lexicon.add_word(identity, text=item)
            yield identity
