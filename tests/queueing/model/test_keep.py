"""Tests that a limit is read as people write it, and written as it is read."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND
from reliquary.queueing.model.keep import EVERYTHING, Keep, parse_keep


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        ("7d", Keep(age=7 * 86_400 * SECOND)),
        ("90s", Keep(age=90 * SECOND)),
        ("5min", Keep(age=300 * SECOND)),
        ("10g", Keep(bytes=10 << 30)),
        ("500b", Keep(bytes=500)),
        ("512k", Keep(bytes=512 << 10)),
        ("5000", Keep(count=5000)),
        ("12h,1t,999999999999", Keep(age=43_200 * SECOND, bytes=1 << 40, count=999_999_999_999)),
        ("none", EVERYTHING),
    ],
)
def test_a_limit_is_written_as_it_is_read(text: str, keep: Keep) -> None:
    assert parse_keep(text) == keep
    assert str(keep) == text
    assert keep.is_limit == (text != "none")


def test_large_units_and_capitals_are_understood() -> None:
    assert parse_keep(" 48H, 2048K ") == parse_keep("2d,2m")


@pytest.mark.parametrize(
    "text", ["", "x", "0", "0d", "-1", "7w", "7d,,5", "1.5g", "999999999d", "\u0667d", "7d,"]
)
def test_what_is_no_limit_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(UsageError, match="a limit is written as 7d"):
        parse_keep(text)


def test_two_numbers_of_one_kind_are_refused() -> None:
    with pytest.raises(UsageError, match="two numbers for bytes"):
        parse_keep("1g,5m")
