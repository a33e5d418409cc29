"""How the document of a session looks: as Markdown for people, as JSON for whatever takes it on (RT-15)."""

from __future__ import annotations

import json
from typing import Any

from bot.core import view
from bot.core.effects import Button, File, Message


def document_markdown(document: dict[str, Any], title: str) -> str:
    """The hand-over document for people. Text from people is quoted line by line, so that it formats nothing."""

    def quoted(words: str) -> list[str]:
        return [f"> {line}" for line in words.splitlines() or [""]]

    lines = [f"# {title}", "", f"Workflow: `{document['workflow']}` · session `{document['session']}`", ""]
    lines += ["## Request", "", *quoted(document["request"]["text"]), ""]
    if document["request"]["materials"]:
        lines += ["Materials: " + ", ".join(f"`{m['name']}`" for m in document["request"]["materials"]), ""]
    if document["clarifications"]:
        lines += ["## Decisions", ""]
    for entry in document["clarifications"]:
        lines.append(f"- **{entry['topic']}**: {decision_words(entry)}")
        lines.append(f"  - {entry['chosen_via']}, {entry['answered_by']}, {entry['chosen_at']}")
        lines.append(f"  - {' '.join(entry['user_message_ref'].split())}")
    for heading, key in (("Taken from the request", "settled"), ("Still open", "open"), ("Deferred", "deferred")):
        if document[key]:
            lines += ["", f"## {heading}", ""]
            lines += [f"- {e['topic']}: {e.get('value') or e.get('state') or e.get('reason')}" for e in document[key]]
    for heading, key in (("Assumptions, not validated", "assumptions"), ("Notes", "notes")):
        if document[key]:
            lines += ["", f"## {heading}", "", *(f"- {' '.join(entry.split())}" for entry in document[key])]
    return "\n".join(lines) + "\n"


def decision_words(entry: dict[str, Any]) -> str:
    chosen = entry["chosen"]
    words = "" if entry["chosen_text"] is None else f"“{' '.join(entry['chosen_text'].split())}”"
    if chosen is not None:
        labels = [option["label"] for option in entry["options"] if option["key"] == chosen]
        words = f"{chosen}, other: {words}" if words else f"{chosen}, {labels[0] if labels else ''}"
    note = entry["user_note"]
    return words if note is None else f"{words} (note: “{' '.join(note.split())}”)"


_JSON = json.JSONEncoder(ensure_ascii=False, check_circular=False)  # a document is a tree


def with_document(
    document: dict[str, Any], title: str, words: str, buttons: tuple[tuple[Button, ...], ...] = ()
) -> Message:
    """A few words and the document of a session, as Markdown and JSON."""
    session = document["session"]
    return Message(
        blocks=(view.text(words),),
        buttons=buttons,
        files=(
            File(name=f"{session}.md", media="text/markdown", content=document_markdown(document, title)),
            File(
                name=f"{session}.json",
                media="application/json",
                content=_JSON.encode(document),
            ),
        ),
    )
