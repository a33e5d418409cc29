"""Phrases of a pack, compiled once; `bot.core.routing.search` finds them in a message.

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

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bot.core.routing.text import SENTENCE, Token, dense, words

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
    needs: tuple[frozenset[int], ...]  # classes behind the first, of each of which a word can not be missing


_NO_SIZES: Mapping[str, tuple[int, ...]] = {}


class Node:
    """One step of the word tree. `ids` are the classes that end here."""

    __slots__ = ("_typos", "ids", "leaf", "sizes", "stems", "words")

    def __init__(self) -> None:
        self.words: dict[str, Node] = {}
        self.stems: dict[str, Node] = {}
        self.sizes: Mapping[str, tuple[int, ...]] = _NO_SIZES  # of the stems, by their first letter
        self._typos: str | dict[str, str] = ""  # slipped spellings, each followed by its word
        self.ids: tuple[int, ...] = ()
        self.leaf = False  # nothing goes on from here

    def prepare(self) -> None:
        """Stems and typing errors, once all words are in."""
        self.leaf = not self.words and not self.stems
        sizes: dict[str, set[int]] = {}
        for stem in self.stems:
            sizes.setdefault(stem[0], set()).add(len(stem))
        self.sizes = {letter: tuple(sorted(lengths, reverse=True)) for letter, lengths in sizes.items()} or _NO_SIZES
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
    """All classes and phrases of a pack. `spans` finds the words, a `Search` the phrases."""

    def __init__(self, variants: Mapping[str, str]) -> None:
        self.variants = variants
        self.root = Node()
        self._ids: dict[str, int] = {}
        self._own: set[int] = set()  # classes of one language's words, until it is known which of them phrases name
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
            own = self.identity(f"<{language}.{name}>")
            self._own.add(own)
            self.add_word(self.identity(f"<{name}>"), own, text=entry)

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
        named = {i for phrases in self._by_first.values() for p in phrases for e in p.elements for i in e.ids}
        unused = self._own - named
        self._own = set()
        ends: dict[tuple[int, ...], Node] = {}
        todo = [self.root]
        while todo:
            node = todo.pop()
            node.prepare()
            for branch in (node.words, node.stems):
                for word, following in branch.items():
                    following.ids = tuple([i for i in following.ids if i not in unused])
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
        found: list[dict[int, list[int]]] = []
        following = [token.form if token.gap < SENTENCE else "" for token in tokens[1:]]
        for at, (token, ahead) in enumerate(zip(tokens, [*following, ""], strict=False)):
            nodes = begun.get(token.form)
            if nodes is None:
                nodes = begun[token.form] = _steps(self.root, token.form)
            if not nodes:
                found.append(_NOTHING)
            elif len(nodes) > 1 or nodes[0].sizes or len(ahead) >= MIN_SWAPPED or ahead in nodes[0].words:
                found.append(_ends(nodes, tokens, at))
            else:  # nothing goes on with the next word
                found.append({identity: [at + 1] for identity in nodes[0].ids} if nodes[0].ids else _NOTHING)
        return found

    def begins(self, present: set[int]) -> set[int]:
        """Those of these classes that phrases begin with."""
        return present & self._by_first.keys()

    def beginning(self, identity: int) -> Sequence[Phrase]:
        """The phrases that begin with a word of this class."""
        return self._by_first[identity]


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
    for size in node.sizes.get(form[0], ()):
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
    needs = tuple(sorted({e.ids for e in elements[1:] if not e.optional}, key=len))
    return Phrase(kind, value, tuple(elements), opens, closes, source, key, needs)


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
