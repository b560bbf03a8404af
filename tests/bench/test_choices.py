"""The names that benchmarks take on their command lines, and those that they refuse."""

from __future__ import annotations

import argparse

import pytest

from bench.choices import some_of

SHAPES = {"1x1": 1, "16x1": 16}


def test_chosen_names_keep_the_order_of_the_command_line() -> None:
    assert some_of(SHAPES)("16x1,1x1") == ["16x1", "1x1"]


@pytest.mark.parametrize(("text", "refused"), [("1x1,2x2", "'2x2'"), ("", "''"), ("1x1,", "''")])
def test_an_unknown_name_is_refused_with_those_that_exist(text: str, refused: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{refused} is none of 1x1, 16x1$"):
        some_of(SHAPES)(text)
