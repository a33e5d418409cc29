"""Quoted words choose no line of the menu, as they answer no question (AU-3, RT-9)."""

from __future__ import annotations

import pytest

from tests.core.builders import Talk


def workflow(*said: str, shared: bool = False) -> str | None:
    talk = Talk(shared=shared)
    talk.says("ana", "hello there, I need something", addressed=True)
    for text in said:
        talk.says("ana", text, addressed=shared)
    assert talk.state is not None
    return talk.state.sessions[-1].workflow


@pytest.mark.parametrize(
    "text", ["> b", '"b"', "“b”", "«b»", "`b`", "> (b)", '"option b"', ">b\n>c", '"the second one"']
)
@pytest.mark.parametrize("shared", [False, True])
def test_a_quoted_letter_chooses_nothing(text: str, shared: bool) -> None:
    assert workflow(text, shared=shared) is None
    assert workflow(text, "b", shared=shared) is not None  # the menu is open still


@pytest.mark.parametrize("text", ['"write a literature review"', "> /ars-full", '"academic-pipeline / full"'])
def test_a_quoted_workflow_is_not_chosen(text: str) -> None:
    assert workflow(text) is None


@pytest.mark.parametrize("text", ["b", "(b)", "B.", "option b", "b please", "> which one?\nb", "> a\nb"])
def test_ones_own_letter_chooses(text: str) -> None:
    assert workflow(text) == workflow("b") is not None


def test_it_is_told_why() -> None:
    talk = Talk()
    talk.says("ana", "hello there, I need something")
    (told,) = talk.says("ana", "> b").effects
    assert told.kind == "say"
    assert "without the marks" in "".join(s.text for block in told.message.blocks for s in block.spans)
