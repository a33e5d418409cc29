"""What the reader knows of natural languages: word classes, as data, compiled once.

A phrase file gives, for each word class, the phrases of one language. All languages are read together, because a
reply rarely says which one it is in and people mix them. Phrases are split by the same tokeniser as messages and
kept in one trie; looking up a position of a message walks at most the longest phrase.

`WORD_CLASSES` says what each class is for. It is also the list of keys that a phrase file may have.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bot.core.patterns import regex
from bot.core.replies.tokens import Token, fold, tokenize
from bot.core.words import fold as plain

WORD_CLASSES: Final[Mapping[str, str]] = {
    # what can be said of the whole round or of one question
    "accept": "the verb that takes the recommendations even alone: accept",
    "recommended": "the recommended option, by name: recommended, defaults, as proposed",
    "as_said": "the recommended option, of one question or the rest: as you said",
    "delegate": "leaves the choice to the bot: you decide",
    "agree": "agreement that names nothing: ok, yes, sounds good",
    "disagree": "a refusal that names nothing: no, nope",
    "negate": "turns the next words round: not, don't",
    "except": "begins the exceptions: except, but not",
    "rest": "the questions not yet answered: the rest, others",
    "all": "every question: all, everything",
    "mine": "every round that is the person's own: all mine, my rounds",
    "undo": "takes back what was just left to the bot: undo",
    "keep_it": "of two answers, the one that stands: keep",
    "switch": "of two answers, the other one: switch",
    "everywhere": "every question, after a letter: everywhere, for all",
    "skip": "leaves a question open on purpose",
    "leave": "leaves a question out, before its number: drop",
    "keep_open": "leaves a question unanswered, before its number: leave (… open)",
    "open": "ends it, after the number: open",
    "unsure": "no opinion: not sure, don't know",
    "later": "one question put off: hold, need to ask",
    "waiting": "an answer that has to wait, and nothing else is said: we'll see, next week, on holiday",
    "take_up": "takes a question up, before its number and a time: I'll do, come back to",
    "theirs": "leaves a question to somebody else, at the end of it: the client decides",
    "consult": "leaves a question to somebody else, before a name: ask",
    "hedge": "a leaning that needs a yes: maybe",
    "discuss": "wants to talk before deciding",
    "both": "more than one option: both",
    "none": "none of the options: neither",
    "other": "the Other option: other, own answer",
    "same": "refers to another answer: same as",
    "too": "after the number of a question, the answer said last: too, also",
    "pointer": "words elsewhere instead of a description: see above",
    "placeholder": "the card's own words for Other's text",
    "reject": "turns down the recommendation of one question",
    "change": "a change, before the number: change",
    "becomes": "a change, between number and value: to",
    "correct": "marks what follows as a correction: actually, I meant",
    "negative": "says only what it is not: anything but",
    "conditional": "begins a condition: if, unless",
    "limit": "narrows, postpones or contradicts what was just accepted: only, but, until",
    "solely": "before the text of an option, and no more than that: only",
    "not_after": "turns round the letter or number before it: 以外, 말고",
    "alternative": "before options that are all the same to the person: either",
    "tag": "asks for a yes at the end of a statement, before the question mark: right, isn't it",
    "keeps": "leaves an earlier answer as it is: stays, unchanged",
    "which": "takes up the question just named: that one, those are, where I want",
    "retract": "takes an earlier answer back, before its number: forget what I said about",
    "retract_after": "takes an earlier answer back, after its number: is wrong",
    "self": "the person as the one who acts: I, we will",
    # ends of a round
    "force_quit": "stop asking and draft with what there is",
    "pause": "ends the asking only for a while: for today, for now",
    "carry_on": "asks for nothing but to go on: continue, next",
    "stop": "stop, of what is not said",
    "cancel": "withdraws the request",
    "withdraw": "the bare verb that may be about one question: cancel",
    "refuse": "will not answer",
    "missed": "owns up to a question left out, before its number: I forgot",
    "content": "asks for nothing more, beside an acceptance: no changes, I don't mind",
    "put_off": "answers later: not now",
    "time": "when: tomorrow",
    "postpone": "asks to be asked again, before a time: ask me",
    "hand_over": "somebody else should answer, before a name: ask",
    "again": "an earlier round: same as last time",
    "done": "claims to have answered elsewhere",
    # questions back
    "question": "words that begin a question",
    "explain": "asks for an explanation without a question word",
    "asks_recommended": "asks what is recommended",
    "suggestion": "ends a suggestion put as a question",
    # the frame of an item
    "heading": "before a colon, how people announce their own answers: final, summary, reply",
    "in_order": "tells that letters without numbers stand in the order of the questions: in that order",
    "item": "a noun for a question: question, Q, No.",
    "suffix": "what may follow a number: st, nd, and the particles of Korean, Japanese, Chinese",
    "option": "a noun for an option: option, letter",
    "for": "between value and number, or before a number: for, on",
    "said_for": "between own words and the number of their question: for",
    "commit": "commits to a choice, in the middle of a sentence too: lets go with",
    "otherwise": "what is left of the same question, not the other questions: otherwise",
    "lead": "words before a value that add nothing: I take, is, let's go with",
    "article": "articles before numbers and letters",
    "and": "joins numbers or items: and",
    "or": "joins alternatives: or",
    "to": "joins the ends of a range: to",
    "note": "words that begin a remark right after a letter: but, because",
    "copula": "after a letter, begins what is said about it: is, seems",
    "verdict": "after a letter, praise that leaves it chosen: is better, sounds good",
    "against": "after a letter, a verdict that does not leave it chosen: too expensive, overkill",
    "contrast": "between one option and the one preferred to it: but, so, rather",
    "last": "the last option: last",
    "past": "tells of what was answered once, before items: last time",
    "imperative": "verbs that begin an own answer after a yes: use, add",
    "unit": "what a number counts when it is no question: days, users",
    # free words that are no answer of the person's own
    "opener": "begins what is said, and adds nothing: well, to be honest",
    "speaker": "who speaks, or is spoken of, as one who might answer: I, we, my boss",
    "adverb": "what may stand between such a person and the verb: still, honestly",
    "modal": "between such a person and a verb of deliberation: have to, am",
    "ponder": "deliberation that puts an answer off, after a modal: check, think",
    "matter": "begins what is deliberated: with, about, whether",
    "scene": "when or where in the product something happens, so that it is no delay: at, per, when, during",
    "unknowing": "has no knowledge or preference: couldn't say, doesn't matter",
    "baffled": "does not follow the question: don't get",
    "told": "has said it already: answered, sent",
    "elsewhere": "the answer is another one, or stands elsewhere: same thing, as usual",
    "not_mine": "the answer is somebody else's to give, or still being worked out: not my call, pending",
    "subject": "the question or its options, as what is spoken of: this one, the options",
    "offered": "the options, as what the words are about: the options, none of these options",
    "judged": "what is said of a question or its options: is a good question, doesn't apply",
    "to_bot": "what the bot is asked to do with the conversation: remind me, show the options",
    "closing": "how a letter ends: best regards",
    "occasion": "what people gather for or are away for, so that an answer may wait for it: board meeting, lunch",
    "awaits": "begins what is waited for: after, once",
    "ended": "ends what is waited for, in scripts where it comes last: 之后, のあと",
    "nothing": "no option at all, before a verb of fitting: nothing",
    "fits": "whether something fits, of the options: works, suits",
    # words that change nothing
    "polite": "greetings, thanks, please",
    "filler": "function words allowed in an acceptance: with, your, of, the",
}

VALUE_CLASSES: Final[Mapping[str, str]] = {
    "number": "number words with their values: one: 1",
    "ordinal": "ordinal words with their values: first: 1",
    "first_few": "how many questions from the first on: the first two: 2",
    "last_few": "how many questions up to the last: the last two: 2",
    "spoken": "what dictation makes of a letter: be: B",
}

# What makes a specification unclear (SC-2); whole words, looked for in requests and answers. All languages are read
# together: leave out what is an everyday word of another one (German "Handy", Spanish "todo").
SIGNS: Final[Mapping[str, str]] = {
    "vague": "an amount or speed without a number: many, soon",
    "generic_role": "people without a role: users",
    "small_screen": "one kind of screen: phone",
    "large_screen": "the other kind: desktop",
    "hearsay": "a source that nobody answers for: I heard",
    "hurry": "a date is near: by friday",
    "wide": "the scope is wide: everything",
    "design_gap": "the design system lacks something: no component",
}

# Words of a specification's own, compared as `bot.core.words` folds; `way` as tokens do.
SPEC_WORDS: Final[Mapping[str, str]] = {
    "way": "a way out of an escalation, before its number: way",
    "reason": "begins a reason, after the number of a way out: because",
    "authority": "who could approve something: user, client",
    "claimed": "claims that something is decided already: {who} has approved, do not ask (see `bot.core.claims`)",
}

# Words with which people describe a change of the scope, and tell what somebody else has said; kept as written.
CHANGE_WORDS: Final[Mapping[str, str]] = {
    "scope_drop": "takes something out of the scope: drop {what} (see `bot.core.scope_change`)",
    "scope_add": "brings something into the scope: add {what}",
    "scope_out": "names what is out: out of scope",
    "scope_in": "names what is in: in scope",
    "scope_tier": "names the tier",
    "scope_surfaces": "names surfaces: screens, pages",
    "scope_comparators": "names what is compared: competitors",
    "because": "begins the reason of a change, anywhere in it: because; with a comma before it: ', as'",
    "because_after": "ends a reason that comes first: ので",
    "unsettled": "keeps words beside it from being a change: maybe, should we",
    "says": "tells what somebody says, between their name and their words: said",
    "told_of": "the same where it stands elsewhere: {who} {words} dedi (see `bot.core.claims`)",
    "oneself": "who tells of themselves, or announces their own words: I, my answer",
}

# What a text says for sure, so that two texts of one specification can differ (SC-2); kept as written.
STATED_WORDS: Final[Mapping[str, str]] = {
    "owner": "says who answers for something: owner: {who} (see `bot.core.statements`)",
    "launch": "when it goes out to people: launch, go live",
    "deadline": "until when it has to be done: deadline, due",
    "bound": "makes a number a limit or a guess: at least, about",
}

TEXT_CLASSES: Final[Mapping[str, str]] = {
    "signature": "how an automatic signature begins",
    "forwarded": "how a forwarded line begins",
    "pasted": "how somebody else's words begin: a forward mark, a mail header, minutes",
    "roles": "how a transcript's lines begin: a role and a colon",
    **SIGNS,
    **SPEC_WORDS,
    **CHANGE_WORDS,
    **STATED_WORDS,
}

# Classes in which one or two slipped keys are forgiven. "expect" must never become "except", so `except` is not
# one of them, nor is anything whose misreading would record an answer to one question.
_FORGIVING: Final = ("accept", "recommended", "item", "asks_recommended")

_PLAIN_WORDS: Final = regex("[a-z]+(?: [a-z]+)*")
_CHARACTERS: Final = regex("[\u3041-\u3096\u30a1-\u30f6\u4e00-\u9fff\uac00-\ud7a3]+")
_JAMO: Final = regex("[\u3131-\u318e]+")  # "ㅇㅇ" reaches the grammar normalised

Match = tuple[int, int]  # how many tokens long the phrase is, and its value (0 where the class has none)
_NOTHING: Final[Mapping[str, Match]] = {}
_ENDS: Final = ""  # in a node of the trie: the classes that have a phrase ending there, with its value
_FOUND: Final = " "  # in a node: what is found where the walk ends there (no token is a blank)
_LAST: Final = "  "  # in a node: the same for the words that end a phrase below it, by word
_FORGIVES: Final = "   "  # in a node: that some word below it may have been meant by one with slipped keys


class PhraseBook:
    """Every language's phrases, ready for look-up. Immutable once built."""

    __slots__ = ("_near", "_root", "forwarded", "lists", "longest", "pasted", "roles", "signature", "signs")

    def __init__(self, languages: Iterable[Mapping[str, Any]]) -> None:
        self._root: dict[str, Any] = {}
        self.longest = 0  # tokens of the longest phrase
        near: dict[str, set[str]] = {}
        texts: dict[str, list[str]] = {name: [] for name in TEXT_CLASSES}
        for language in languages:
            for name, entries in language.items():
                if name in TEXT_CLASSES:
                    # signs keep their accents: they are compared as `bot.core.words` folds, which keeps them
                    texts[name].extend(
                        entry
                        if name in SIGNS or name in CHANGE_WORDS or name in STATED_WORDS
                        else plain(entry)
                        if name in SPEC_WORDS and name != "way"
                        else fold(entry)
                        for entry in entries
                    )
                elif name in VALUE_CLASSES:
                    for phrase, value in entries.items():
                        self._add(name, str(phrase), _value(value))
                else:
                    for phrase in entries:
                        self._add(name, str(phrase), 0)
                        if name in _FORGIVING:
                            for word in tokenize(phrase):
                                _remember(near, word.fold)
        _share_ends(self._root, {}, frozenset().union(*near.values()))
        self._near: dict[str, tuple[str, ...]] = {key: tuple(sorted(words)) for key, words in near.items()}
        self.signature: tuple[str, ...] = tuple(texts["signature"])
        self.pasted: tuple[str, ...] = tuple(texts["pasted"])
        self.roles: tuple[str, ...] = tuple(texts["roles"])
        self.signs: Mapping[str, tuple[str, ...]] = {name: tuple(texts[name]) for name in SIGNS}
        self.lists: Mapping[str, tuple[str, ...]] = {
            name: tuple(dict.fromkeys(texts[name])) for name in (*SPEC_WORDS, *CHANGE_WORDS, *STATED_WORDS)
        }
        self.forwarded: tuple[str, ...] = tuple(texts["forwarded"])

    def _add(self, name: str, phrase: str, value: int) -> None:
        node = self._root
        words = _folds(phrase)
        self.longest = max(self.longest, len(words))
        for word in words:
            node = node.setdefault(word, {})
        node.setdefault(_ENDS, {})[name] = value

    def at(self, tokens: Sequence[Token], start: int) -> Mapping[str, Match]:
        """The classes that have a phrase at `start`, each with its longest one.

        The same phrases give the same mapping, which is made once and is not to be changed.
        """
        node = self._root
        found = _NOTHING
        end = start
        count = len(tokens)
        while end < count:
            token = tokens[end]
            word = token.fold
            if not word:
                return found  # an apostrophe that counts as a letter
            exact: dict[str, Any] | None = node.get(word)
            following = exact
            if following is None:
                following = self._forgive(token, node) if _FORGIVES in node else None
                if following is None:
                    return found
            end += 1
            if len(following) == 1 and _ENDS in following:  # nothing goes on from here; other phrases end here too
                last: dict[str, Mapping[str, Match]] = node.setdefault(_LAST, {})
                known = last.get(word)
                if known is None:
                    known = _together(following, found, end - start)
                    if exact:
                        last[word] = known
                return known
            node = following
            known = node.get(_FOUND)
            if known is None:
                known = node[_FOUND] = _together(node, found, end - start)
            found = known
        return found

    def _forgive(self, token: Token, node: dict[str, Any]) -> dict[str, Any] | None:
        """The branch for a word with slipped keys ("recomendations"), or None."""
        word = token.fold
        if token.kind != "word" or not 5 <= len(word) <= 18:
            return None
        for key in (word, *_shorter(word)):
            for meant in self._near.get(key, ()):
                if meant in node and not (meant.startswith(word) and len(meant) > len(word) + 1):
                    branch: dict[str, Any] = node[meant]
                    return branch
        return None


def _together(node: Mapping[str, Any], before: Mapping[str, Match], length: int) -> Mapping[str, Match]:
    """What is found on the way to a node, and in it."""
    ends = node.get(_ENDS)
    return before if ends is None else {**before, **{name: (length, value) for name, value in ends.items()}}


def _share_ends(
    node: dict[str, Any], ends: dict[tuple[tuple[str, int], ...], dict[str, Any]], meant: frozenset[str]
) -> None:
    """Phrases that end alike and go on nowhere share one end: most do, and it keeps the book small.

    `meant`: the words in which slipped keys are forgiven; nodes with none of them need not be looked through.
    """
    forgives = False
    for word, following in node.items():
        if word == _ENDS:
            continue
        forgives = forgives or word in meant
        if len(following) == 1 and _ENDS in following:
            node[word] = ends.setdefault(tuple(following[_ENDS].items()), following)
        else:
            _share_ends(following, ends, meant)
    if forgives:
        node[_FORGIVES] = True


def _folds(phrase: str) -> Sequence[str]:
    """The words of a phrase as they are compared; most phrases need no tokeniser to be cut."""
    if _PLAIN_WORDS.fullmatch(phrase):
        return phrase.split(" ")
    if _CHARACTERS.fullmatch(phrase):
        return phrase
    composed = _JAMO.sub(lambda found: unicodedata.normalize("NFKC", found.group()), phrase)
    return [token.fold for token in tokenize(composed)]


def _remember(near: dict[str, set[str]], word: str) -> None:
    if len(word) < 6:
        return
    near.setdefault(word, set()).add(word)
    once = _shorter(word)
    for key in once:
        near.setdefault(key, set()).add(word)
    if len(word) >= 10:
        for shorter in once:
            for key in _shorter(shorter):
                near.setdefault(key, set()).add(word)


def _shorter(word: str) -> list[str]:
    """Every spelling with one letter left out: two words that share one differ by a single slip."""
    return [word[:i] + word[i + 1 :] for i in range(len(word))]


def _value(value: object) -> int:
    """A value as a number; letters count from A = 1."""
    if isinstance(value, str):
        return ord(value.upper()) - 64
    return int(value) if isinstance(value, int) else 0
