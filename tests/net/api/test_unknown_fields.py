"""The hint at a field that was probably meant."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.net.api.unknown_fields import with_likely_field


class Lamp(msgspec.Struct, rename={"colour": "farbe"}):
    colour: str = ""
    watts: int = 0


class Order(msgspec.Struct):
    lamps: list[Lamp] | None = None
    count: int = 0


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("cuont", "count"), ("lamp", "lamps"), ("wats", "watts"), ("farb", "farbe")],
)
def test_fields_of_a_body_and_of_the_records_in_it_are_found(wrong: str, meant: str) -> None:
    sentence = f"Object contains unknown field `{wrong}` - at `$.x`"
    assert with_likely_field(sentence, Order | list[Order]) == f"{sentence}; did you mean `{meant}`?"


@pytest.mark.parametrize(
    "sentence",
    [
        "Object contains unknown field `anything`",
        "Object contains unknown field `{}`".format("count" * 100),
        "Expected `int`, got `str` - at `$.count`",
    ],
)
def test_other_refusals_stay_as_they_are(sentence: str) -> None:
    assert with_likely_field(sentence, Order) == sentence
