"""Tests tables of protocols: what a field's type says about how it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import get_type_hints

import pytest
from msgspec import ValidationError

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration, seconds
from reliquary.server.protocol_table import convert_value, fields_of, protocol_table, rows


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Box:
    name: str
    colour: Colour = Colour.RED
    age: Duration = field(default=seconds(1))


@dataclass(frozen=True)
class Inner:
    boxes: tuple[Box, ...] = ()
    ladder: tuple[Duration, ...] = ()
    secret: str = ""


@dataclass(frozen=True)
class Outer:
    file: Path | None = None
    tokens: dict[str, str] = field(default_factory=dict)
    protocol: Inner = field(default_factory=Inner)


read_boxes = rows(Box, get_type_hints(Box))
TABLE = protocol_table("toy", Outer, Inner, {"boxes": read_boxes}, hidden=("secret",))


def test_both_have_their_fields_in_one_table_but_for_those_that_are_hidden() -> None:
    assert TABLE.names == ("file", "tokens", "boxes", "ladder")
    values = {
        name: TABLE.convert(name, value, strict=True)
        for name, value in {"file": "/f", "boxes": [{"name": "a"}], "ladder": [1, 2.5]}.items()
    }
    made = TABLE.options(values)
    assert made == Outer(Path("/f"), protocol=Inner((Box("a"),), (seconds(1), seconds(2.5))))


def test_lists_and_what_stands_in_the_file_alone_are_distinguished() -> None:
    assert [name for name in TABLE.names if TABLE.is_list(name)] == ["boxes", "ladder"]
    assert [name for name in TABLE.names if TABLE.is_for_the_file(name)] == ["tokens", "boxes"]
    assert not TABLE.is_list("unknown")
    assert not TABLE.is_for_the_file("unknown")


def test_a_row_has_any_fields_and_needs_the_first() -> None:
    assert read_boxes([{"name": "a", "age": 2}, {"name": "b", "colour": "red"}]) == (
        Box("a", age=seconds(2)),
        Box("b"),
    )
    for value, why in (
        ([{"age": 2}], "each needs the field name, and one has none"),
        ([{"name": "a", "size": 1}], "there is no field 'size'; these are name, colour, age"),
        ([{"name": 1}], "name: Expected `str`, got `int`"),
        ([{"name": "a", "colour": "blue"}], "colour: Invalid enum value 'blue'"),
    ):
        with pytest.raises(UsageError, match=why):
            read_boxes(value)
    with pytest.raises(ValidationError):
        read_boxes("a")


def test_a_part_of_the_fields_says_what_it_is_a_part_of() -> None:
    assert fields_of("thing", {"a": 1}, {"a": int, "b": int}) == {"a": 1}
    with pytest.raises(UsageError, match="there is no thing 'c'; these are a, b"):
        fields_of("thing", {"c": 1}, {"a": int, "b": int})


def test_text_of_the_environment_is_read_as_its_type() -> None:
    assert convert_value("2.5", Duration, strict=False) == seconds(2.5)
    assert convert_value("7", int, strict=False) == 7
    with pytest.raises(ValidationError):
        convert_value("7", int)
    with pytest.raises(UsageError, match="a span is 0 or more seconds, not -1"):
        convert_value(-1, Duration)
