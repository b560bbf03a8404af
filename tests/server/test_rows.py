"""Tests rows of the settings: an error knows the row that it is about."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.rows import RowError, check_rows, in_row


def few_and_different(rows: Sequence[str]) -> None:
    if len(rows) > 3:
        raise UsageError("too many")
    if len(set(rows)) < len(rows):
        raise UsageError("twice")


@pytest.mark.parametrize(
    ("rows", "row", "said"),
    [("aba", "r[2]", "twice"), ("aa", "r[1]", "twice"), ("aaaaa", "r[3]", "too many")],
)
def test_the_row_is_the_first_that_brings_the_error(rows: str, row: str, said: str) -> None:
    with pytest.raises(RowError, match=said) as refused:
        check_rows("r", rows, few_and_different)
    assert (refused.value.row, refused.value.rows) == (row, "r")


def test_good_rows_pass() -> None:
    check_rows("r", "abc", few_and_different)
    with in_row("r", 0):
        pass
