"""Members of a `Word` enumeration are keys like those of any other enumeration."""

from __future__ import annotations

from copy import deepcopy

import msgspec

from reliquary.base.words import Word


class Colour(Word):
    RED = "red"
    BLUE = "blue"


def test_members_are_keys() -> None:
    table = {Colour.RED: 1, Colour.BLUE: 2}
    assert [table[each] for each in (Colour("red"), Colour["BLUE"], deepcopy(Colour.RED))] == [1, 2, 1]


def test_the_hash_is_not_written_in_python() -> None:
    assert vars(Word)["__hash__"] is vars(object)["__hash__"]


def test_members_are_stored_by_their_values() -> None:
    data = msgspec.json.encode(Colour.BLUE)
    assert data == b'"blue"'
    assert msgspec.json.decode(data, type=Colour) is Colour.BLUE
