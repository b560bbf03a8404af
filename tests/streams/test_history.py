"""Tests that the history has the identifiers of the last messages."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.queueing.model.message import ObjectId
from reliquary.streams.history import History
from reliquary.streams.tables import Remembered

SENDER = UUID(int=7)
ORDERS = "bench/orders"


def entry(number: int, place: int, *, arrived: int = 0, destination: str = ORDERS) -> Remembered:
    return Remembered(SENDER, number, arrived, place, destination)


def keep(history: History, *numbers: int) -> None:
    for number in numbers:
        history.keep(entry(number, history.next, arrived=100 + number))


def knows(history: History, *numbers: int) -> list[bool]:
    return [history.arrival(ObjectId(SENDER, number), ORDERS) is not None for number in numbers]


@pytest.mark.spec("SR-124")
def test_what_came_is_known_with_its_moment() -> None:
    history = History(3)
    keep(history, 1)
    assert history.arrival(ObjectId(SENDER, 1), ORDERS) == 101
    assert history.arrival(ObjectId(SENDER, 2), ORDERS) is None


def test_a_copy_for_another_destination_is_another_message() -> None:
    history = History(3)
    keep(history, 1)
    assert history.arrival(ObjectId(SENDER, 1), ORDERS + "-too") is None


def test_as_many_are_known_as_there_are_places() -> None:
    history = History(3)
    keep(history, 1, 2, 3, 4)
    assert knows(history, 1, 2, 3, 4) == [False, True, True, True]


def test_a_repeated_identifier_is_as_new_as_its_second_arrival() -> None:
    history = History(3)
    keep(history, 1, 2, 1, 3)
    assert knows(history, 1, 2, 3) == [True, True, True]
    keep(history, 4)
    assert knows(history, 1, 2, 3, 4) == [True, False, True, True]


def test_express_messages_take_no_place_of_durable_ones() -> None:
    history = History(2)
    keep(history, 1, 2)
    for number in (11, 12, 13):
        history.keep_for_now(entry(number, 0))
    assert knows(history, 1, 2, 11, 12, 13) == [True, True, False, True, True]
    assert history.next == 2


@given(st.lists(st.integers(0, 9)), st.integers(1, 6))
def test_what_is_known_are_the_last_places(numbers: list[int], size: int) -> None:
    """The history agrees with a plain list of all arrivals."""
    history = History(size)
    keep(history, *numbers)
    last = set(numbers[-size:])
    assert knows(history, *range(10)) == [number in last for number in range(10)]
