"""The numbers of a group are compared with what its first number and the step of the column give."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reliquary.queueing.model.history.numbers import are_alike, fits, follow, lineage_of
from reliquary.queueing.model.message import NO_OBJECT, Message, MessageClass, ObjectId, Position, SequenceId

few = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@given(few, st.sampled_from([0, 1]))
@example([5, 6, 7], 1)
@example([0, 0], 1)
@example([0, 1], 1)
def test_numbers_fit_when_a_reader_computes_each_of_them_from_the_first(
    numbers: list[int], step: int
) -> None:
    first = numbers[0]
    computed = [first + step * place if first else 0 for place in range(len(numbers))]
    assert fits(numbers, step) == (numbers == computed)


def test_positions_follow_when_message_and_lookup_identifier_grow_together() -> None:
    first, second = Position(11, 1, 100, 0), Position(12, 2, 50, 0)
    assert follow((first, second))
    assert not follow((second, first))
    assert not follow((first, Position(13, 2, 100, 0)))
    assert not follow(())


def own(number: int, **attributes: Any) -> Message:
    return Message.of(identifier=ObjectId(UUID(int=1), number), **attributes)


def test_messages_with_following_numbers_and_equal_attributes_are_alike() -> None:
    positions = (Position(11, 1, 100, 0), Position(12, 2, 100, 0))
    assert are_alike(positions, (own(1), own(2)))
    assert are_alike(positions, (own(8, priority=5), own(9, priority=5)))
    assert not are_alike(positions, (own(1), own(3)))
    assert not are_alike(positions, (own(1), Message(identifier=ObjectId(UUID(int=2), 2))))
    assert not are_alike(positions, (own(1),))


def test_attributes_that_the_history_does_not_keep_may_differ() -> None:
    positions = (Position(11, 1, 100, 0), Position(12, 2, 100, 0))
    assert are_alike(positions, (own(8, carrier_header="a"), own(9, carrier_header="b")))
    assert not are_alike(positions, (own(8, carrier_header="a"), own(9)))


@pytest.mark.parametrize(
    "attributes", [{"sequence": SequenceId(1, 2)}, {"correlation": ObjectId(UUID(int=3), 4)}], ids=str
)
def test_messages_with_numbers_in_a_stream_or_of_a_request_are_not_alike(attributes: dict[str, Any]) -> None:
    positions = (Position(11, 1, 100, 0), Position(12, 2, 100, 0))
    assert not are_alike(positions, (own(8, **attributes), own(9, **attributes)))


def test_no_identifier_follows_one_without_a_number() -> None:
    positions = (Position(11, 1, 100, 0), Position(12, 2, 100, 0))
    assert not are_alike(positions, (own(0), own(1)))


@pytest.mark.parametrize(
    "attributes",
    [
        {"priority": 4},
        {"sent_time": 9},
        {"message_class": MessageClass.REPORT},
        {"sequence": SequenceId(1, 2)},
        {"transaction": UUID(int=3)},
        {"correlation": ObjectId(UUID(int=3), 4)},
    ],
    ids=str,
)
def test_messages_with_another_attribute_are_not_alike(attributes: dict[str, Any]) -> None:
    positions = (Position(11, 1, 100, 0), Position(12, 2, 100, 0))
    assert not are_alike(positions, (own(1), own(2, **attributes)))


@pytest.mark.parametrize(
    "second",
    [
        Position(12, 2, 101, 0),
        Position(12, 2, 100, 0, express=True),
        Position(12, 2, 100, 0, expires=5),
        Position(13, 2, 100, 0),
        Position(13, 3, 100, 0),
    ],
    ids=str,
)
def test_messages_at_another_kind_of_position_are_not_alike(second: Position) -> None:
    assert not are_alike((Position(11, 1, 100, 0), second), (own(1), own(2)))


def test_a_message_without_an_identifier_has_no_lineage() -> None:
    assert lineage_of(NO_OBJECT) is None
    assert lineage_of(ObjectId(UUID(int=4), 1)) == UUID(int=4)
