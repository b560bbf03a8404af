"""Rows of sequences that come in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import DAY
from reliquary.protocols.wsrm.codec.values import LAST_NUMBER, Dialect, Reference
from reliquary.protocols.wsrm.destination.tables import (
    BUFFERED,
    INBOUND,
    RECEIVED,
    REQUESTS,
    TABLES,
    Inbound,
    Received,
    message_key,
    message_of_key,
)


def test_each_table_has_a_name_of_its_own() -> None:
    assert (INBOUND.name, RECEIVED.name, BUFFERED.name, REQUESTS.name) == TABLES
    assert len(set(TABLES)) == len(TABLES)


def test_a_sequence_expires_at_the_end_of_its_life() -> None:
    assert Inbound(1, "urn:a", "orders", "orders", Dialect(), Reference(""), 5, DAY).expires == 5 + DAY


@given(st.integers(0, 2**32 - 1), st.integers(1, LAST_NUMBER))
def test_the_key_of_a_message_goes_both_ways(sequence: int, number: int) -> None:
    assert message_of_key(message_key(sequence, number)) == (sequence, number)


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(1, LAST_NUMBER)), unique=True))
def test_keys_are_in_the_order_of_messages(pairs: list[tuple[int, int]]) -> None:
    assert [message_of_key(key) for key in sorted(message_key(*pair) for pair in pairs)] == sorted(pairs)


def test_a_row_of_the_largest_numbers_is_read_as_it_was_written() -> None:
    received = Received(((1, 7), (LAST_NUMBER, LAST_NUMBER)), last=LAST_NUMBER)
    assert RECEIVED.decode(b"k", RECEIVED.encode(b"k", received)) == received
