"""Tests the keys of the rows, and what old rows read as."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec.values import LAST_NUMBER, Dialect
from reliquary.protocols.wsrm.source.tables import (
    NUMBERED,
    OUTBOUND,
    TABLES,
    Numbered,
    Outbound,
    numbered_key,
    read_numbered_key,
)

PLACES = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, LAST_NUMBER))


@given(PLACES, PLACES)
def test_keys_have_the_order_of_sequences_and_numbers(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert (numbered_key(*one) < numbered_key(*other)) is (one < other)
    assert read_numbered_key(numbered_key(*one)) == one


def test_a_row_reads_as_it_was_written() -> None:
    row = Outbound(7, Dialect(), identifier="urn:uuid:1", acknowledged=((1, 4), (6, 6)), last=9)
    assert OUTBOUND.decode(b"k", OUTBOUND.encode(b"k", row)) == row
    assert NUMBERED.decode(b"k", NUMBERED.encode(b"k", Numbered(5))) == Numbered(5)


def test_all_tables_are_listed() -> None:
    assert (OUTBOUND.name, NUMBERED.name) == TABLES
