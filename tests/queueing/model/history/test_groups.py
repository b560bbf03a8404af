"""Events join the last group where they follow it, and nothing of a batch is left in the next one."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.queueing.model.history.groups import Groups
from reliquary.queueing.model.history.heads import HeadKey
from reliquary.queueing.model.history.numbers import Numbers
from reliquary.queueing.model.history.records import COLUMNS, GROUP, HistoryRow, decode_events
from reliquary.wire.history import HistoryEvent

KEY: HeadKey = (HistoryEvent.DUE, 0, 0, ("", "", ""), "", 0, None, None, None)


def groups_of(row: HistoryRow) -> list[list[int]]:
    return [numbers for _, *numbers in GROUP.iter_unpack(decode_events(row.events).groups)]


def test_events_join_the_last_group_until_one_does_not_follow() -> None:
    groups = Groups()
    joined = [
        not groups.put(None, KEY, message, 0, (0,), count) for message, count in ((1, 1), (2, 3), (6, 1))
    ]
    assert joined == [False, True, False]
    assert groups_of(groups.take(0)) == [[4, 1, 0], [1, 6, 0]]


def test_no_event_joins_a_group_without_equal_numbers() -> None:
    groups = Groups()
    assert [groups.put(None, KEY, message, 0, (), 1) for message in (1, 2)] == [True, True]
    assert len(groups) == 2


def test_no_event_joins_a_group_of_another_batch_or_moment() -> None:
    groups = Groups()
    groups.put(None, KEY, 1, 0, (0,), 1)
    groups.drop()
    assert groups.put(None, KEY, 2, 0, (0,), 1)
    groups.at(Instant(9))
    assert groups.put(None, KEY, 3, 0, (0,), 1)


def test_numbers_of_all_groups_are_listed_in_their_order() -> None:
    groups = Groups()
    numbers: Numbers = {0: ([5, 3], [0, 0])}
    groups.add(None, KEY, numbers)
    groups.add(None, KEY, {0: ([9, 1], [0, 0])})
    groups.add(None, KEY, {0: ([1, 2], [0, 0])})
    events = decode_events(groups.take(0).events)
    assert events.listed == {"message": [5, 3, 9, 1]}
    assert [head.shape for head in events.heads] == [COLUMNS[0].listed, 0]
