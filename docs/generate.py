"""`make docs`: writes docs/reference/ from the code that it describes. A test compares."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.main import get_command

from adapters.terminal import codec, jsonl
from bot.cli import app
from bot.core import audit, stated
from bot.core.replies import records as replies
from bot.core.routing import records as routes
from config import playbooks_loader as playbooks
from config.settings import FILE, variables

REFERENCE = Path(__file__).parent / "reference"
MADE = "<!-- Made by `make docs` from the code. Change it there. -->\n"


def pages() -> dict[str, str]:
    """Every page by its file name."""
    made = {
        "commands.md": commands(),
        "settings.md": settings(),
        "audit-events.md": audit_events(),
        "playbooks.md": playbook_keys(),
        "jsonl.md": lines(),
    }
    return {name: MADE + "\n" + "\n".join(text).rstrip() + "\n" for name, text in made.items()}


def table(*heads: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


# -- one page each -----------------------------------------------------------------------------------------------


def commands() -> Iterator[str]:
    yield "# Commands\n"
    yield (
        "Exit 0: fine. Exit 1: findings, or refused, with the reason on standard error. Exit 2: wrong use. After a "
        "SIGINT or SIGTERM 130 or 143; what was done until then is stored.\n"
    )
    yield from _commands(get_command(app), "askfirst")


def _commands(group: Any, path: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}")
            continue
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option"]
        words = [p.metavar.removesuffix("…") + ("…" if p.nargs == -1 else "") for p in arguments]
        words += [_form(p) if p.required else f"[{_form(p)}]" for p in options]
        yield f"## {path} {name}\n"
        yield f"    {' '.join([path, name, *words])}\n"
        yield f"{command.help}\n"
        told = [(p.metavar, p.help) for p in arguments if p.help] + [(_form(p), p.help) for p in options]
        if told:
            yield from table("", "", rows=[(f"`{form}`", said) for form, said in told])


def _form(option: Any) -> str:
    return option.opts[0] if option.is_flag else f"{option.opts[0]} {option.metavar}"


def settings() -> Iterator[str]:
    yield "# Settings\n"
    yield (
        f"From `{FILE}` in the working folder, overridden by variables, overridden by options of a command. Every "
        "mistake is reported at once. An empty variable counts as not set; a list in a variable is written as JSON.\n"
    )
    rows = []
    for variable, field in variables():
        key = variable.removeprefix("ASKFIRST_").lower().replace("__", ".")
        default = field.get_default()
        shown = "the bundled one" if isinstance(default, Path) else "" if default in (None, ()) else f"`{default}`"
        assert field.description, variable
        rows.append((f"`{variable}`", f"`{key}`", shown, field.description))
    yield from table("variable", f"in `{FILE}`", "if left out", "what it is", rows=rows)


def audit_events() -> Iterator[str]:
    yield "# Audit events\n"
    yield (
        "The audit log knows these events and no other; the store refuses the rest. Every row has the time at which "
        "the store wrote it, the actor (`human:<platform>:<id>` or `system`), details, and the hash of the row "
        "before it in the chain of its session. `askfirst audit verify` checks them.\n"
    )
    yield "## Of the protocols\n"
    yield from _named("event", "what happened", audit.PROTOCOL_EVENTS)
    yield "## Of the product\n"
    yield from _named("event", "what happened", audit.PRODUCT_EVENTS)


def playbook_keys() -> Iterator[str]:
    yield "# Playbooks\n"
    yield (
        "One YAML file is one playbook. Plain data only: no anchors, no tags, one document. `askfirst check` reports "
        "every mistake with its file and line. How to write one: [howto/playbooks.md](../howto/playbooks.md).\n"
    )
    for title, keys in (
        ("A playbook", playbooks.PLAYBOOK),
        ("A question", playbooks.QUESTION),
        ("An option, as a mapping", playbooks.OPTION),
        ("`grounding`", playbooks.GROUNDING),
    ):
        yield f"## {title}\n"
        yield from _named("key", "what it is", keys)
    yield f"Kinds of grounding: {', '.join(f'`{kind}`' for kind in playbooks.KINDS)}.\n"
    yield "## Phrases of `known`\n"
    yield _text(stated)


def lines() -> Iterator[str]:
    yield "# Lines of JSON\n"
    yield "## `askfirst chat --jsonl`\n"
    yield _text(jsonl)
    yield "A line that can not be read has one of these codes:\n"
    yield from _named("code", "what is wrong", codec.CODES)
    yield "## `askfirst parse --jsonl`\n"
    yield "One record a line in, one a line out, in the same order. Unknown keys are ignored.\n"
    yield _text(replies)
    yield "## `askfirst route --jsonl`\n"
    yield "The same discipline.\n"
    yield f"{inspect.getdoc(routes.route_record)}\n"
    yield "Out:\n"
    yield (
        '    {"id", "outcome": "proceed" | "clarify" | "confirm_leave" | "continue", "by", "direct_mode",\n'
        '     "workflow", "text", "phases", "options"}\n'
    )


def _named(head: str, meaning: str, rows: Mapping[str, str]) -> Iterator[str]:
    yield from table(head, meaning, rows=[(f"`{name}`", said) for name, said in rows.items()])


def _text(module: Any) -> str:
    """A module's docstring without its first line, which is for those who read the code."""
    return f"{(inspect.getdoc(module) or '').partition(chr(10))[2].strip()}\n"


if __name__ == "__main__":
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
