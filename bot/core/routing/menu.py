"""The routing menu: what it shows, and how an answer to it is read (RT-8, RT-9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bot.core.model import Material, Model
from bot.core.patterns import regex
from bot.core.routing.pack import Pack, Workflow, command_form
from bot.core.routing.phrases import Lexicon
from bot.core.routing.text import fold, words
from bot.core.routing.verdict import Verdict

MOST_OPTIONS = 3  # and "something else": never more than four lines (RT-8)
TOKEN = "[direct-mode]"  # noqa: S105 - RT-6's name for it; no secret


class MenuLine(Model):
    """One lettered line. `workflow` is None for "something else"; `call` is its command, or its id."""

    key: str
    workflow: str | None
    title: str
    comes_out: str = ""
    skill: str = ""
    call: str = ""

    @property
    def text(self) -> str:
        out = f" — {self.comes_out}" if self.comes_out else ""
        names = ", ".join(dict.fromkeys(n for n in (self.skill, self.call) if n))
        return f"({self.key}) {self.title}{out}" + (f" — {names}" if names else "")


class MenuView(Model):
    """The parts of the message, in the order in which they are shown. `text` is all of it, without the buttons."""

    summary: str
    question: str
    lines: tuple[MenuLine, ...]
    remark: str = ""  # a near miss of the token, or an agent named without it
    closing: str  # its last sentence tells of `[direct-mode]`

    @property
    def text(self) -> str:
        head = f"{self.summary} {self.question}".strip()
        body = "\n".join(line.text for line in self.lines)
        return "\n\n".join(part for part in (self.remark, head, body, self.closing) if part)


class MenuAnswer(NamedTuple):
    """`picked`: a workflow of the menu; `else`: the last line; `beyond`: a letter that is not there;
    `question`: about the menu; `words`: anything else, to be routed as a description."""

    kind: Literal["picked", "else", "beyond", "question", "words"]
    workflow: str | None = None


def menu_for(verdict: Verdict, pack: Pack) -> MenuView:
    """The menu for a verdict with the outcome `clarify`."""
    menus = pack.menus
    stage = {line.workflow: line for line in menus.stage if line.workflow}
    lines: list[MenuLine] = []
    for identity in verdict.options[:MOST_OPTIONS]:
        workflow = pack.workflow(identity) or Workflow(id=identity, title=identity)
        line = stage.get(identity) if verdict.menu == "stage" else None
        lines.append(_line(len(lines), workflow, line.title if line else "", line.comes_out if line else ""))
    other = next((line for line in menus.stage if line.workflow is None), None)
    last = other.title if other and verdict.menu == "stage" else menus.something_else
    lines.append(MenuLine(key=_key(len(lines)), workflow=None, title=last))
    summary, question = _heading(verdict, pack)
    return MenuView(
        summary=summary,
        question=question,
        lines=tuple(lines),
        remark=_remark(verdict, pack),
        closing=f"{menus.closing} {menus.direct_mode}",
    )


def _line(place: int, workflow: Workflow, title: str, comes_out: str) -> MenuLine:
    return MenuLine(
        key=_key(place),
        workflow=workflow.id,
        title=title or workflow.title,
        comes_out=comes_out or workflow.comes_out,
        skill=workflow.skill if workflow.kind == "workflow" and workflow.commands else "",
        call=workflow.call,
    )


def _key(place: int) -> str:
    return "abcdefgh"[place]


def _heading(verdict: Verdict, pack: Pack) -> tuple[str, str]:
    menus = pack.menus
    if verdict.unknown_command is not None:
        summary = menus.unknown_summary.format(command=_shown(verdict.unknown_command))
        if (meant := pack.mistyped(verdict.unknown_command)) is not None:
            summary = f"{summary} {menus.unknown_meant.format(command=f'/{meant}')}"
        return summary, menus.unknown_question
    if verdict.menu == "just_these":
        return menus.just_these_summary, menus.just_these_question
    if verdict.menu == "one_paper":
        return menus.one_paper_summary, menus.question
    if verdict.phases:
        return received(verdict.materials, verdict.phases, pack), menus.question
    return menus.stage_summary, menus.stage_question


def received(materials: Sequence[Material], phases: Sequence[int], pack: Pack) -> str:
    """ "I have a draft and reviewer comments (draft.docx, review_1.pdf)."."""
    names = [pack.received(phase) for phase in phases]
    listed = pack.menus.join.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    files = [_shown(m.name.replace("\\", "/").rstrip("/").rpartition("/")[2]) for m in materials if m.kind == "file"]
    more = [*files[:2], f"+{len(files) - 2}"] if len(files) > 3 else files
    return pack.menus.received.format(list=listed + (f" ({', '.join(more)})" if more else ""))


def _shown(name: str) -> str:
    """A name somebody typed, on one line, printable and short."""
    flat = "".join(c if c.isprintable() else " " for c in name).strip()
    return flat if len(flat) <= 40 else flat[:39] + "…"


def _remark(verdict: Verdict, pack: Pack) -> str:
    if verdict.near_miss is not None:
        same = verdict.near_miss.lower() == TOKEN
        form = pack.menus.near_miss_place if same else pack.menus.near_miss
        return form.format(seen=_shown(verdict.near_miss))
    if verdict.agent_named is not None and not verdict.direct_mode:
        return pack.menus.agent_named.format(agent=verdict.agent_named.rpartition("/")[2])
    return ""


def examples(pack: Pack) -> tuple[str, ...]:
    """Three requests that would start something, for when the menu stays open (RT-9)."""
    return tuple(w.example for w in pack.workflows if w.example)[:3]


# -- reading an answer -----------------------------------------------------------------------------------------

# Letters that look the same on other keyboards; for a letter's position only (RP-6).
_LOOKALIKES = {"а": "a", "α": "a", "в": "b", "β": "b", "б": "b", "с": "c", "ϲ": "c", "д": "d", "🅰": "a", "🅱": "b"}
_ORDINALS = {"1": 0, "2": 1, "3": 2, "4": 3}
_LINE = regex(r"(?<![\w'’])[b-dB-D](?![\w'’])|\(?(?<![\w'’])[a-dA-D]\)")  # "c'est", "d'un": no letters of lines
_ASKING = 80  # characters; longer words describe something


def read_menu_answer(text: str, menu: Sequence[str], pack: Pack) -> MenuAnswer:
    """`menu`: the workflow ids as offered, (a) first; "something else" stands after them."""
    said = words(text, pack.lexicon.variants)
    if len(said) > 40 or not text.strip():
        return MenuAnswer("words")
    offered = tuple(menu)
    around = frozenset(word for phrase in pack.lexicon.phrases_of("<!around>") for word in phrase)
    place = _letter(text, said, around)
    if place is None:
        place = _ordinal(said, around, pack.lexicon)
    if place is not None:
        if not offered:
            return MenuAnswer("else" if place == MOST_OPTIONS else "beyond")
        if place < len(offered):
            return MenuAnswer("picked", offered[place])
        # (d) is the last line of every full menu; on a shorter one its own last letter is too.
        return MenuAnswer("else" if place <= max(len(offered), MOST_OPTIONS) else "beyond")
    named = _named(text, said, offered, pack)
    if named:
        return MenuAnswer("picked", named)
    if _means(said, "else", around, pack.lexicon):
        return MenuAnswer("else")
    if _means(said, "menu_question", around, pack.lexicon):
        return MenuAnswer("question")
    return MenuAnswer("words")


def asks_about_a_line(text: str) -> bool:
    """ "Is (b) long?", "b or c?": a short question that names a line. Without brackets "a" is a word."""
    asks = len(text) <= _ASKING and text.rstrip().endswith(("?", "？", "؟"))
    return asks and _LINE.search(text) is not None


def _letter(text: str, said: Sequence[str], around: frozenset[str]) -> int | None:
    """The one letter or number that is meant, if the rest is only politeness."""
    found: list[int] = []
    for place, word in enumerate(_spell(text, said)):
        if len(word) == 1 and word in "abcdefgh":
            found.append("abcdefgh".index(word))
        elif word in around:
            continue
        elif word in _ORDINALS and place + 1 == len(said):
            found.append(_ORDINALS[word])
        else:
            return None
    if len(said) > 2 and len(found) == 2 and said[0] == "a":
        del found[0]  # "a opção b": an article
    return found[0] if len(set(found)) == 1 else None


def _ordinal(said: Sequence[str], around: frozenset[str], lexicon: Lexicon) -> int | None:
    """ "The second one", if the rest is only politeness."""
    found = set()
    for place, mark in enumerate(("first", "second", "third", "fourth")):
        for form in lexicon.phrases_of(f"<!{mark}>"):
            for at in range(len(said) - len(form) + 1):
                rest = [*said[:at], *said[at + len(form) :]]
                if tuple(said[at : at + len(form)]) == form and all(word in around for word in rest):
                    found.add(place)
    return found.pop() if len(found) == 1 else None


def _spell(text: str, said: Sequence[str]) -> list[str]:
    spelled = [_LOOKALIKES.get(word, word) for word in said]
    if not said:  # emoji letters and circled ones carry no alphanumeric character of their own
        kept = [_LOOKALIKES.get(c, fold(c, {})) for c in text if c.isprintable() and not c.isspace()]
        spelled = ["".join(c for c in kept if c.isalnum())] if kept else []
    return [s for s in spelled if s]


def _named(text: str, said: Sequence[str], offered: Sequence[str], pack: Pack) -> str | None:
    """A workflow's id, its mode, command or title, as the whole answer."""
    bare = fold(text, pack.lexicon.variants).strip(" \t\r\n.!()\"'`")
    by_id = pack.workflow(bare) or pack.workflow_by_command(bare)
    if by_id and by_id.kind == "workflow":
        return by_id.id
    wanted = tuple(said)
    for identity in (*offered, *(w.id for w in pack.workflows if w.kind == "workflow" and w.id not in offered)):
        workflow = pack.workflow(identity)
        if workflow is None:
            continue
        forms = {words(workflow.title, pack.lexicon.variants), words(workflow.id, pack.lexicon.variants)}
        mode = workflow.id.partition("/")[2]
        if mode not in ("full", "plan", "new"):  # shared by several workflows, or an everyday word
            forms.add(words(mode, pack.lexicon.variants))
        if wanted in forms or command_form(text) == command_form(mode) != "full":
            return identity
    skill = [i for i in offered if i.partition("/")[0] == bare]
    return skill[0] if len(skill) == 1 else None


def _means(said: Sequence[str], mark: str, around: frozenset[str], lexicon: Lexicon) -> bool:
    """The answer is one of the mark's phrases, perhaps with politeness around it."""
    forms = lexicon.phrases_of(f"<!{mark}>")
    return tuple(said) in forms or tuple(w for w in said if w not in around) in forms
