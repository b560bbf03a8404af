"""Tests that the history knows how many events wait for their export, and when there is room for more."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.history.history import History, Room
from reliquary.queueing.model.history.records import HistoryMark

ROOM = Room(events=10, bytes=1000)


@pytest.mark.parametrize(
    ("events", "size", "full", "room"),
    [
        (4, 499, False, True),
        (5, 0, False, False),
        (0, 500, False, False),
        (9, 999, False, False),
        (10, 0, True, False),
        (0, 1000, True, False),
    ],
)
def test_a_history_is_full_at_its_limit_and_has_room_again_below_half(
    events: int, size: int, full: bool, room: bool
) -> None:
    history = History(ROOM, last=70 + events, exported=70, total=500 + size, exported_total=500)
    assert (history.pending, history.pending_bytes) == (events, size)
    assert (history.is_full, history.has_room) == (full, room)


def test_the_mark_has_the_last_number_only_when_no_row_has_it() -> None:
    history = History(ROOM, last=7, exported=7, exported_total=70, missing=3, gap=True)
    assert history.mark() == HistoryMark(7, 70, 7, 3, True)
    history.last = 8
    assert history.mark() == HistoryMark(7, 70, 0, 3, True)
