"""Tests of spans of time as people write them."""

from __future__ import annotations

import click
import pytest

from reliquary.cli.span import Span


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("5m", 300),
        ("2h", 7200),
        ("1d", 86400),
        (".5", 0.5),
        (" 1.5H ", 5400),
        (3, 3),
    ],
)
def test_a_span_is_seconds(text: object, seconds: float) -> None:
    assert Span().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "-1", "5 minutes", "1e3", "nan"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a time"):
        Span().convert(text, None, None)
