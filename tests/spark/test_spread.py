"""Rows are spread over managers by their key: evenly, for ever, and few move when managers come and go."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.spread import Spread, as_bytes, spread_of

KEYS = [f"customer {number}".encode() for number in range(3000)]


def owners(*managers: str) -> dict[bytes, str]:
    spread = Spread(managers)
    return {key: spread.manager_of(key) for key in KEYS}


def test_where_a_key_goes_never_changes() -> None:
    """A change here would send rows of running queries to other managers."""
    spread = Spread(["north", "south", "west"])
    keys = (b"", b"a", b"b", b"7", b"customer 7", "grüße".encode())
    assert [spread.manager_of(key) for key in keys] == ["south", "west", "north", "south", "south", "west"]


def test_the_order_of_the_managers_does_not_matter_and_all_have_their_share() -> None:
    found = owners("north", "south", "west")
    assert found == owners("west", "north", "south")
    assert min(Counter(found.values()).values()) > 800


def test_a_manager_that_comes_or_goes_moves_no_other_keys() -> None:
    two, three = owners("north", "south"), owners("north", "south", "west")
    assert all(three[key] in {two[key], "west"} for key in KEYS)
    assert any(three[key] == "west" for key in KEYS)


@given(st.lists(st.none() | st.text(max_size=3), min_size=1))
def test_every_row_goes_to_one_manager_in_its_order(keys: list[str | None]) -> None:
    batch = pa.RecordBatch.from_pydict({"row": list(range(len(keys)))})
    spread = Spread(["north", "south", "west"])
    pieces = dict(spread.split(pa.array(keys, pa.string()), batch))
    rows = {manager: piece.column("row").to_pylist() for manager, piece in pieces.items()}
    assert sorted(row for some in rows.values() for row in some) == list(range(len(keys)))
    for manager, some in rows.items():
        assert some == sorted(some)
        assert {spread.manager_of((keys[row] or "").encode()) for row in some} == {manager}


def test_one_manager_gets_all_rows_as_they_are() -> None:
    batch = pa.RecordBatch.from_pydict({"row": [1, 2]})
    assert list(Spread(["only"]).split(pa.nulls(2), batch)) == [("only", batch)]


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int64(), pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]
)
def test_the_width_of_a_number_does_not_matter(kind: pa.DataType) -> None:
    value: Any = 5 if pa.types.is_integer(kind) else b"5" if "binary" in str(kind) else "5"
    assert as_bytes(pa.array([value, None], kind)).to_pylist() == [b"5", None]


def test_the_word_for_a_spread_tells_managers_and_column() -> None:
    assert spread_of(["only"], "label") == ""
    assert spread_of(["a", "b"], "label") == spread_of(["b", "a"], "label")
    others = {spread_of(["a", "b"], "tag"), spread_of(["a", "b", "c"], "label")}
    assert len(others | {spread_of(["a", "b"], "label")}) == 3
