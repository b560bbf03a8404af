"""Tests that headers and batches are written as equal bytes in one piece or in many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.net.httpr.batches import AT_ONCE, ENOUGH, is_small, pieces, whole
from reliquary.queueing.model.message import Message, StoredBody

HOME = "httpr://here.example/httpr/mq"
HEADER = b"outcome:COMMIT\r\n\r\n"


def unread(spool: int, index: int) -> bytes:
    raise AssertionError(f"no body {spool} is asked for, and yet its piece {index}")


@given(st.lists(st.sampled_from([0, 1, 1000, ENOUGH, 3 * ENOUGH]), max_size=6))
def test_many_pieces_are_equal_to_one(sizes: list[int]) -> None:
    batch = [Message(body=b"x" * size, label=f"{size}") for size in sizes]
    assert b"".join(pieces(HEADER, batch, HOME, unread)) == whole(HEADER, batch, HOME)


def test_a_large_body_is_read_piece_by_piece_as_it_leaves() -> None:
    read: list[int] = []

    def piece(spool: int, index: int) -> bytes:
        assert spool == 9
        read.append(index)
        return b"%d" % index * 4

    small = Message(body=b"small")
    large = Message.of(stored_body=StoredBody(9, 12, 3))
    parts = pieces(HEADER, [small, large, small], HOME, piece)
    first = next(parts)
    assert read == [0]
    assert first.startswith(HEADER + b"message-size:5\r\n")
    assert first.endswith(b"\r\n\r\n0000")
    rest = b"".join(parts)
    expected = whole(HEADER, [small, Message(body=b"000011112222"), small], HOME)
    assert first + rest == expected


@pytest.mark.parametrize(
    ("batch", "small"),
    [
        ([], True),
        ([Message(body=b"x" * AT_ONCE)], True),
        ([Message(body=b"x" * AT_ONCE), Message(body=b"x")], False),
        ([Message.of(stored_body=StoredBody(9, 12, 3))], False),
    ],
    ids=["nothing", "just", "too much", "large"],
)
def test_what_is_small_leaves_at_once(batch: list[Message], small: bool) -> None:
    assert is_small(batch) is small
