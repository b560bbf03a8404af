"""What XML reserves is escaped, what it cannot hold is refused."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.wire.xml_text import escaped, quoted, without_impossible

_legal = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r")
)


@given(_legal)
def test_any_text_that_xml_can_hold_is_read_back(text: str) -> None:
    assert (ElementTree.fromstring(f"<a>{escaped(text)}</a>").text or "") == text


@given(_legal)
def test_any_text_is_read_back_from_an_attribute_with_its_white_space(text: str) -> None:
    assert ElementTree.fromstring(f"<a b={quoted(text)}/>").get("b") == text


@pytest.mark.parametrize("number", [0, 8, 0x1F, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF])
def test_a_character_that_xml_cannot_hold_is_refused_by_its_number(number: int) -> None:
    character = chr(number)
    with pytest.raises(UsageError, match=f"U\\+{ord(character):04X}"):
        escaped(f"label {character}")
    with pytest.raises(UsageError, match=f"U\\+{ord(character):04X}"):
        quoted(f"label {character}")


@given(st.text())
def test_what_is_left_without_impossible_characters_can_be_written(text: str) -> None:
    left = without_impossible(text)
    assert ElementTree.fromstring(f"<a b={quoted(left)}/>").get("b") == left
    assert len(left) == len(text)


@given(_legal)
def test_legal_text_stays_as_it_is(text: str) -> None:
    assert without_impossible(text) == text


def test_control_characters_above_ascii_are_legal() -> None:
    assert escaped("\x7f\x85\x9f") == "\x7f\x85\x9f"
