"""Tests MessagePosition.State: the table has an entry for every state and every event."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.queueing.model.message import Position
from reliquary.queueing.model.positions import NEXT, PositionEvent, State, state_of, step

PRINTED = [
    (State.DELETED, PositionEvent.SENT, State.AVAILABLE),
    (State.DELETED, PositionEvent.JOINED, State.UNCOMMITTED),
    (State.AVAILABLE, PositionEvent.RECEIVED, State.DELETED),
    (State.AVAILABLE, PositionEvent.TAKEN, State.LOCKED),
    (State.AVAILABLE, PositionEvent.MOVED, State.DELETED),
    (State.AVAILABLE, PositionEvent.PURGED, State.DELETED),
    (State.LOCKED, PositionEvent.PURGED, State.PURGE_PENDING),
    (State.UNCOMMITTED, PositionEvent.COMMITTED, State.AVAILABLE),
    (State.UNCOMMITTED, PositionEvent.ABORTED, State.DELETED),
    (State.LOCKED, PositionEvent.COMMITTED, State.DELETED),
    (State.PURGE_PENDING, PositionEvent.COMMITTED, State.DELETED),
    (State.LOCKED, PositionEvent.ABORTED, State.AVAILABLE),
    (State.PURGE_PENDING, PositionEvent.ABORTED, State.DELETED),
    (State.AVAILABLE, PositionEvent.EXPIRED, State.DELETED),
    (State.AVAILABLE, PositionEvent.QUEUE_DELETED, State.DELETED),
    (State.LOCKED, PositionEvent.QUEUE_DELETED, State.DELETED),
    (State.PURGE_PENDING, PositionEvent.QUEUE_DELETED, State.DELETED),
]
"""Each state, an event and the next state, in our words."""


@pytest.mark.spec("DM-039")
def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(State, PositionEvent))


@pytest.mark.spec("DM-039")
@pytest.mark.parametrize(("state", "event", "following"), PRINTED)
def test_the_table_says_what_is_printed(state: State, event: PositionEvent, following: State) -> None:
    assert step(state, event) is following


def test_what_is_gone_stays_gone_until_something_is_sent() -> None:
    sent = {PositionEvent.SENT, PositionEvent.SENT_FOR_LATER, PositionEvent.JOINED}
    assert all(step(State.DELETED, each) is State.DELETED for each in set(PositionEvent) - sent)


def test_what_is_delayed_is_seen_only_when_it_is_due() -> None:
    seen = {each for each in PositionEvent if NEXT[State.DELAYED, each] is State.AVAILABLE}
    assert seen == {PositionEvent.DUE}


def test_what_a_reader_has_neither_expires_nor_is_received_by_another() -> None:
    assert step(State.LOCKED, PositionEvent.EXPIRED) is State.LOCKED
    with pytest.raises(AssertionError, match="locked cannot be received"):
        step(State.LOCKED, PositionEvent.RECEIVED)


@pytest.mark.parametrize(
    ("position", "locked", "state"),
    [
        (Position(1, 1, 1, 1), False, State.AVAILABLE),
        (Position(1, 1, 1, 1), True, State.LOCKED),
        (Position(1, 1, 1, 1, purged=5), True, State.PURGE_PENDING),
        (Position(1, 1, 1, 1, purged=5), False, State.AVAILABLE),
        (Position(1, 1, 1, 1, due=5), False, State.DELAYED),
    ],
)
def test_the_state_of_a_position_is_where_it_is_and_what_it_says(
    position: Position, locked: bool, state: State
) -> None:
    assert state_of(position, locked=locked) is state
