"""Whether a question may be shown, as code (RD-3): every violation at once, before anybody sees anything.

Refused findings stop a round. Warned ones are told to whoever wrote it and stop nothing. Each finding says where
(`questions[0].options[2]`) and how to repair it, so that an author or an agent can act on the text alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from bot.core.lint_words import (
    ASKING,
    BEST_GUESS,
    BEST_PRACTICE,
    ELSEWHERE,
    FILLER,
    JOINING,
    JOINING_SPACELESS,
    LEADING,
    LEADING_LABEL,
    PRAISE,
)
from bot.core.model import Model, Option, Question
from bot.core.policies import Policy
from bot.core.words import contains, first_of, fold, plain_words, spaceless

_EDGES = " .,;:!\"'“”‘’«»„()[]"
_TOPIC_WORDS = (3, 6)
_TOPIC_CHARACTERS = (4, 16)  # in scripts without spaces


class Finding(Model):
    """One violation. `refused` stops the round; `warned` is advice."""

    level: Literal["refused", "warned"]
    code: str
    path: str
    message: str


def is_other(label: str) -> bool:
    """Whether a label written by hand or by an agent is meant as Other ("Other", "Other, I'll describe it")."""
    folded = fold(label)
    said = folded.partition(" ")[0].rstrip(",:;.…") == "other"
    return said and (
        len(folded) < 8 or first_of(folded, ("describe", "let me", "specify", "i'll", "i will")) is not None
    )


def lint_question(
    question: Question, policy: Policy, *, deny: Sequence[str] = (), path: str = "question"
) -> tuple[Finding, ...]:
    """Everything that is wrong with one question, in reading order."""
    rules: tuple[Callable[[Question, Policy, str], Iterator[Finding]], ...] = (
        _identity,
        _topic,
        _wording,
        _form,
        _options,
        _other,
        _recommended,
        _rationale,
    )
    findings = [finding for rule in rules for finding in rule(question, policy, path)]
    return (*findings, *_names(question, deny, path))


def lint_bank(questions: Sequence[Question], policy: Policy, *, deny: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Everything that is wrong with a playbook's candidates, of which a round may hold only some."""
    findings: list[Finding] = []
    seen: dict[str, int] = {}
    for number, question in enumerate(questions):
        path = f"questions[{number}]"
        findings += lint_question(question, policy, deny=deny, path=path)
        key = fold(question.id)
        if key and key in seen:
            text = f'the id "{question.id}" is taken by questions[{seen[key]}]; give each question its own id'
            findings.append(_refused("duplicate_id", path, text))
        seen.setdefault(key, number)
    return tuple(findings)


def lint_round(questions: Sequence[Question], policy: Policy, *, deny: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Everything that is wrong with a batch of questions that shall be asked together.

    The ceiling refuses nothing: what is above it waits for a later round (RD-4).
    """
    if not questions:
        text = "the round holds no question; file at least one, or file nothing"
        return (_refused("empty_round", "questions", text),)
    findings = list(lint_bank(questions, policy, deny=deny))
    ceiling = policy.ceiling
    if ceiling is not None and len(questions) > ceiling:
        text = (
            f"{len(questions)} questions are more than the {ceiling} of one round; the critical ones are asked first "
            "and the rest is deferred and listed. Check whether the request is scoped too widely"
        )
        findings.append(_warned("over_ceiling", "questions", text))
    return tuple(findings)


# -- one question, rule by rule ----------------------------------------------------------------------------------


def _identity(question: Question, _policy: Policy, path: str) -> Iterator[Finding]:
    if not fold(question.id):
        yield _refused("empty_id", path, "the question has no id; give it a short one that stays, such as `years`")


def _topic(question: Question, _policy: Policy, path: str) -> Iterator[Finding]:
    topic = fold(question.topic)
    if not topic:
        yield _refused("missing_topic", f"{path}.topic", "no topic; name the decision in 3 to 6 words")
        return
    if spaceless(topic):
        count, (fewest, most), unit = len(topic.replace(" ", "")), _TOPIC_CHARACTERS, "characters"
    else:
        count, (fewest, most), unit = (
            len([w for w in topic.split() if any(map(str.isalnum, w))]),
            _TOPIC_WORDS,
            "words",
        )
    if not fewest <= count <= most:
        text = f"the topic has {count} {unit}; name the decision in {fewest} to {most}, so that it can be told apart"
        yield _warned("topic_length", f"{path}.topic", text)


def _wording(question: Question, _policy: Policy, path: str) -> Iterator[Finding]:
    """Why it matters, one decision, no leaning."""
    if not fold(question.why):
        text = "no reason; say in one sentence which document or decision changes with the answer"
        yield _refused("missing_why", f"{path}.why", text)
    if _bundled(question):
        text = "this reads like two decisions; ask them as two questions, so that each can be answered on its own"
        yield _warned("bundled", path, text)
    for field, text in (("topic", question.topic), ("text", question.text), ("why", question.why)):
        phrase = first_of(text, LEADING)
        if phrase is not None:
            advice = f'"{phrase}" pushes towards an answer; ask neutrally and leave the argument to the rationale'
            yield _warned("leading", f"{path}.{field}", advice)
    if first_of(f"{question.topic}\n{question.text}\n{_labels(question)}", ELSEWHERE) is not None:
        advice = "this points to something that is not on the card; put the question and its options themselves here"
        yield _refused("points_elsewhere", path, advice)
    best = question.recommended
    asked = f"{question.topic} {question.text}"
    if best and len(_content(best.label)) > 0 and len(fold(best.label)) > 3 and contains(asked, best.label):
        rivals = [o for o in _real(question) if o is not best]
        if not any(contains(asked, o.label) for o in rivals):
            advice = f'the question already names the recommended "{best.label}"; ask without naming one option'
            yield _warned("leading", path, advice)


def _form(question: Question, policy: Policy, path: str) -> Iterator[Finding]:
    if question.form == "choice":
        return
    if policy.options_required:
        text = f'a question of form "{question.form}" is not possible here; give it options, the last one Other'
        yield _refused("options_required", path, text)
    if question.options:
        text = f'a question of form "{question.form}" shows no options; drop them, or make it a choice question'
        yield _refused("unexpected_options", path, text)
    if question.form == "validate" and not fold(question.text):
        yield _refused("missing_text", f"{path}.text", "no statement to confirm or correct; put it into `text`")


def _options(question: Question, policy: Policy, path: str) -> Iterator[Finding]:
    if question.form != "choice":
        return
    count = len(question.options)
    if count < policy.fewest_options:
        text = (
            f"{count or 'no'} option{'' if count == 1 else 's'}; a choice needs {policy.fewest_options} to "
            f"{policy.most_options} with Other. If you want free words, declare the question open"
        )
        yield _refused("too_few_options", path, text)
    elif count > policy.most_options:
        text = f"{count} options; at most {policy.most_options} with Other can be weighed: drop the weakest"
        yield _refused("too_many_options", path, text)
    yield from _doubles(question, path)
    for number, option in enumerate(question.options):
        here = f"{path}.options[{number}]"
        if not fold(option.key):
            yield _refused("empty_key", here, "no key; give it the next letter")
        if not _label(option.label):
            yield _refused("empty_label", here, "no label; say in a few words what is chosen")
        if option.other:
            continue
        if not fold(option.tradeoff):
            text = "no tradeoff; say in one line what is gained and what is lost"
            yield _warned("missing_tradeoff", here, text)
        elif _only_praise(option.tradeoff):
            text = f'"{option.tradeoff}" is praise, not a tradeoff; say what is gained and what is lost'
            yield _warned("adjective_tradeoff", here, text)
        phrase = first_of(option.label, LEADING_LABEL)
        if phrase is not None:
            text = f'"{phrase}" in a label leans towards it; mark the option as recommended instead'
            yield _warned("leading", here, text)
    if count >= policy.fewest_options and len(_real(question)) == 1:
        text = "only one real option beside Other; name what else people could want, or do not ask"
        yield _warned("single_real_option", path, text)


def _doubles(question: Question, path: str) -> Iterator[Finding]:
    keys: dict[str, int] = {}
    labels: dict[str, int] = {}
    meanings: dict[tuple[str, ...], int] = {}
    for number, option in enumerate(question.options):
        here = f"{path}.options[{number}]"
        key, label, meaning = fold(option.key), _label(option.label), tuple(sorted(_content(option.label)))
        if key and key in keys:
            text = f'the key "{option.key}" is taken by options[{keys[key]}]; give each option its own letter'
            yield _refused("duplicate_key", here, text)
        if label and label in labels:
            text = f'the label "{option.label}" is taken by options[{labels[label]}]; drop it or say how it differs'
            yield _refused("duplicate_label", here, text)
        elif meaning and meaning in meanings:
            text = (
                f'"{option.label}" says nearly the same as "{question.options[meanings[meaning]].label}"; '
                "options must be different things, not other words"
            )
            yield _warned("near_duplicate_label", here, text)
        keys.setdefault(key, number)
        labels.setdefault(label, number)
        meanings.setdefault(meaning, number)


def _other(question: Question, policy: Policy, path: str) -> Iterator[Finding]:
    if question.form != "choice":
        return
    others = [number for number, option in enumerate(question.options) if option.other]
    if not others and policy.other == "required":
        text = 'Other is missing; end with an option such as "Other, I\'ll describe it" and mark it as other'
        yield _refused("other_missing", path, text)
    for number in others:
        here = f"{path}.options[{number}]"
        if number != len(question.options) - 1:
            yield _refused("other_not_last", here, "Other must be the last option and there is only one; move it")
        if question.options[number].recommended:
            text = "Other can not be recommended: nobody knows what it says; recommend a real option"
            yield _refused("other_recommended", here, text)


def _recommended(question: Question, policy: Policy, path: str) -> Iterator[Finding]:
    marked = [number for number, option in enumerate(question.options) if option.recommended]
    if question.form != "choice" or not question.options:
        return
    if policy.recommendation == "none":
        if marked:  # EX-3: the candidate is withheld
            text = "nothing may be recommended here: it would put words into the person's mouth; remove the mark"
            yield _refused("recommendation_not_allowed", f"{path}.options[{marked[0]}]", text)
    elif len(marked) > 1:
        text = f"{len(marked)} options are recommended; keep the mark on one of them"
        yield _refused("two_recommended", f"{path}.options[{marked[1]}]", text)
    elif not marked and policy.recommendation == "exactly_one":
        text = "nothing is recommended; mark one option and say why, as a best guess if there is nothing better"
        yield _refused("no_recommendation", path, text)


# -- the reason for the recommendation -----------------------------------------------------------------------------


def _rationale(question: Question, policy: Policy, path: str) -> Iterator[Finding]:
    here = f"{path}.rationale"
    rationale = question.rationale or ""
    asked_for = question.form == "choice" and policy.recommendation != "none"
    if not fold(rationale):
        if asked_for and (policy.recommendation == "exactly_one" or question.recommended):
            text = "no rationale for the recommendation; give one or two sentences with a concrete reason"
            yield _refused("missing_rationale", here, text)
        return
    source = question.grounding
    guessed = _says_best_guess(rationale)
    reference = fold(source.reference) if source else ""
    vague = first_of(reference, BEST_PRACTICE)
    sourced = bool(reference) and source is not None and source.kind != "best_guess" and vague is None
    claim = first_of(rationale, BEST_PRACTICE) or vague
    if claim is not None and not sourced:
        text = f'"{claim}" names no source; say who recommends it and where, or write "Best guess: …"'
        yield _refused("best_practice", here, text)
    if not sourced and not guessed:
        text = (
            "the rationale rests on nothing; name an approved document, a principle, a convention, what it means for "
            'people, a constraint or a rule as its grounding (kind and reference), or write "Best guess: …"'
        )
        yield _refused("ungrounded", here, text)
    elif _only_praise(rationale):
        text = "the rationale only praises; say what makes the option better in this case"
        yield _refused("ungrounded", here, text)
    if any(_repeats(rationale, option) for option in question.options):
        text = "the rationale only repeats the option; say why it is recommended"
        yield _refused("rationale_repeats_option", here, text)


def _says_best_guess(rationale: str) -> bool:
    text = fold(rationale)
    return any(
        contains(text, p) and not contains(text, f"not a {p}") and not contains(text, f"no {p}") for p in BEST_GUESS
    )


def _repeats(rationale: str, option: Option) -> bool:
    """Whether the rationale holds nothing that its option does not say already."""
    if not _label(option.label):
        return False
    said = {_label(text) for text in (option.label, option.tradeoff, f"{option.label} {option.tradeoff}")}
    if _label(rationale) in said - {""}:
        return True
    own = set(_content(rationale)) - {fold(option.key)}
    return bool(own) and not spaceless(rationale) and own <= set(_content(f"{option.label} {option.tradeoff}"))


# -- names that must not be told -----------------------------------------------------------------------------------


def _names(question: Question, deny: Sequence[str], path: str) -> Iterator[Finding]:
    texts = [
        (path + ".topic", question.topic),
        (path + ".text", question.text),
        (path + ".why", question.why),
        *((f"{path}.options[{n}]", f"{o.label}\n{o.tradeoff}") for n, o in enumerate(question.options)),
        (path + ".rationale", question.rationale or ""),
        (path + ".grounding", question.grounding.reference if question.grounding else ""),
    ]
    for here, text in texts:
        for name in dict.fromkeys(deny):
            if contains(text, name):
                advice = f'"{name}" is on the list of names that questions must not hold; write "the customer"'
                yield _refused("customer_name", here, advice)


# -- small readings of text ------------------------------------------------------------------------------------------


def _real(question: Question) -> tuple[Option, ...]:
    return tuple(option for option in question.options if not option.other)


def _labels(question: Question) -> str:
    return "\n".join(option.label for option in question.options)


def _label(text: str) -> str:
    """A label as it is compared. Symbols count ("C" is not "C++"); a label of punctuation alone is none."""
    folded = fold(text)
    return (
        folded.strip(_EDGES)
        if any(c.isalnum() or ord(c) > 0x2190 for c in folded)
        else folded.strip(_EDGES + "-–—_/*")
    )


def _content(text: str) -> tuple[str, ...]:
    """The words that carry meaning, plural or not; symbols stay on their word."""
    found = (word.strip(_EDGES + "–—-/") for word in fold(text).split())
    return tuple(w[:-1] if len(w) > 3 and w.endswith("s") else w for w in found if w and w not in FILLER)


def _only_praise(text: str) -> bool:
    found = plain_words(text)
    if spaceless(text):
        return fold(text).strip(_EDGES + "。！") in PRAISE
    return any(w in PRAISE for w in found) and all(w in PRAISE or w in FILLER for w in found)


def _bundled(question: Question) -> bool:
    topic, text = fold(question.topic), fold(question.text)
    joined = any(word in JOINING for word in topic.split()[1:-1]) or any(j in topic[1:-1] for j in JOINING_SPACELESS)
    if joined or text.count("?") + text.count("？") > 1:
        return True
    found = plain_words(text)
    return any(a in JOINING and b in ASKING for a, b in pairwise(found))


def _refused(code: str, path: str, message: str) -> Finding:
    return Finding(level="refused", code=code, path=path, message=message)


def _warned(code: str, path: str, message: str) -> Finding:
    return Finding(level="warned", code=code, path=path, message=message)
