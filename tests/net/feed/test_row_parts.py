"""Tests rows cut into their parts: any messages together, and bytes that are no rows."""

from __future__ import annotations

from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import FRAME
from reliquary.net.feed import row_parts, tails
from reliquary.net.feed.row_parts import RowParts
from reliquary.queueing.model.message import OWN, Message, ObjectId
from reliquary.queueing.model.tables import MESSAGES, message_key
from tests.net.feed.messages import messages

ANY_SIZE = st.sampled_from([0, 1, 31, 32, 127, 128, 255, 256, 65_535, 65_536])
"""Sizes at which a tag of MessagePack changes."""
NUMBERS = st.sampled_from([0, 1, 127, 128, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**63, 2**64 - 1])


def record(message: Message) -> bytes:
    """Return a message as it is in its row."""
    key = message_key(1)
    return MESSAGES.encode(key, message)[FRAME:]


def test_a_row_has_the_fields_that_are_cut() -> None:
    assert ("identifier", "body", "label", *tails.FIELDS) == OWN
    assert Message.__struct_fields__ == (*OWN, "more")
    assert len(Message.__struct_fields__) == row_parts.FIELDS


@settings(max_examples=60)
@given(
    st.lists(st.tuples(messages, NUMBERS, ANY_SIZE, st.integers(0, 249)), min_size=1, max_size=5),
    st.booleans(),
)
def test_parts_are_those_of_the_messages(
    given: list[tuple[Message, int, int, int]], one_lineage: bool
) -> None:
    rows = [
        message.changed(
            identifier=ObjectId(UUID(int=1) if one_lineage else message.identifier.lineage, number),
            body=bytes(size),
            label="\N{MUSICAL SYMBOL G CLEF}" * (length // 2) + "x" * (length % 2),
        )
        for message, number, size, length in given
    ]
    parts = RowParts([record(message) for message in rows])
    lineages, indexes = parts.lineages
    assert [lineages[index] for index in indexes.to_pylist()] == [
        message.identifier.lineage.bytes for message in rows
    ]
    assert parts.numbers.to_pylist() == [message.identifier.uniquifier for message in rows]
    assert parts.bodies.to_pylist() == [message.body for message in rows]
    assert parts.body_sizes.to_pylist() == [len(message.body) for message in rows]
    assert parts.labels.to_pylist() == [message.label for message in rows]
    for message, tail in zip(rows, parts.tails.to_pylist(), strict=True):
        assert record(message).endswith(tail)
        assert msgspec.msgpack.decode(b"\x96" + tail)[0] == message.priority


WHOLE = record(Message(ObjectId(UUID(int=1), 70_000), b"body" * 100, "label"))


def refused(*rows: bytes) -> bool:
    try:
        RowParts(rows)
    except StoreDamage as why:
        return "does not decode" in str(why)
    return False


def test_a_row_that_is_cut_off_is_damage() -> None:
    shortest_tail = 13
    for size in range(len(WHOLE) - shortest_tail):
        assert refused(WHOLE[:size]), size
        assert refused(WHOLE, WHOLE[:size]), size


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(msgspec.msgpack.encode({"nonsense": 1}), id="no array"),
        pytest.param(msgspec.msgpack.encode("text" * 10), id="text"),
        pytest.param(WHOLE[:20] + b"\xa3abc" + WHOLE[25:], id="a number that is text"),
        pytest.param(WHOLE[:25] + b"\xc6\x7f\xff\xff\xff" + WHOLE[28:], id="a body beyond the row"),
        pytest.param(WHOLE[:25] + b"\xc6\xff\xff\xff\xff" + WHOLE[28:], id="a body beyond all numbers"),
    ],
)
def test_a_malformed_row_is_damage(row: bytes) -> None:
    assert refused(row)
    assert refused(WHOLE, row)
    assert refused(row, WHOLE)
