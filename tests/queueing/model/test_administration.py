"""A noun whose declaration contradicts itself is refused when it is declared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.client.labels import LABEL


def test_an_act_is_found_by_its_verb() -> None:
    assert LABEL.act("write") is LABEL.acts[0]


def test_a_column_is_a_field_of_the_record() -> None:
    with pytest.raises(AssertionError, match="label has columns that are no fields"):
        replace(LABEL, listing=replace(LABEL.listing, columns=("queue", "colour")))


def test_what_is_acted_on_has_a_key() -> None:
    with pytest.raises(AssertionError, match="no key names the label to act on"):
        replace(LABEL, showing=None)


def test_a_key_and_a_part_are_fields_of_the_record() -> None:
    assert LABEL.showing is not None
    for showing in (
        replace(LABEL.showing, key="colour"),
        replace(LABEL.showing, parts={"colours": ("name",)}),
    ):
        with pytest.raises(AssertionError, match="label is named by no field, or has parts that are none"):
            replace(LABEL, showing=showing)
