"""Drawings that are made from text files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import drawings
from tools.conformance import Unclear

ROOT = Path(__file__).parents[2]
NAME = Path("docs/drawings/a.txt")


def test_a_text_becomes_a_drawing() -> None:
    svg = drawings.steps(NAME, "title: T\nlanes: a | b\na -> b: go\nb: work\n")
    assert "<title>T</title>" in svg
    assert ">go</text>" in svg


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("lanes: a\ntitle: T\n", "must begin with"),
        ("title: T\nlanes: a | b\nno step\n", "line 3: 'no step' is not like"),
        ("title: T\nlanes: a | b\na -> c: go\n", "line 3: c is no lane"),
    ],
)
def test_a_text_that_is_no_drawing_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(Unclear, match=why):
        drawings.steps(NAME, text)


def test_rooms_that_differ_from_the_contract_are_refused() -> None:
    with pytest.raises(Unclear, match="and the contract in"):
        drawings.rooms(NAME, "title: T\ncli: words\n", ROOT)
