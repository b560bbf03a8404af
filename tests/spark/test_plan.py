"""Tests the end of a batch.

Ranges cover every position once, limits hold and are shared, errors have names.
"""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.client.feed import Feed, Loss, Plan
from reliquary.spark.errors import DataLost, QueueMissing
from reliquary.spark.offsets import QueueKey, QueueOffset
from reliquary.spark.plan import (
    Finding,
    Limit,
    QueueProblem,
    Span,
    allot,
    cuts,
    first_unread,
    still_wanted,
    survey,
    unless_paused,
)

# -- survey


def key(queue: str, manager: str = "m") -> QueueKey:
    return QueueKey(manager, queue)


def feeds(*each: Feed, manager: str = "m") -> dict[QueueKey, Feed]:
    return {key(feed.queue, manager): feed for feed in each}


def feed(queue: str, incarnation: str = "one", mark: int = 100, cursor: int | None = 0) -> Feed:
    return Feed(queue, incarnation, mark, cursor, 0, 0)


def test_a_queue_is_read_from_its_place_to_the_mark() -> None:
    offset = {key("a"): QueueOffset("one", 7), key("b"): QueueOffset("one", 100)}
    found = survey(offset, feeds(feed("a"), feed("b"), feed("c")) | feeds(feed("a"), manager="n"))
    assert found.spans == (Span(key("a"), "one", 7, 100), Span(key("b"), "one", 100, 100))
    assert found.new == (key("c"), key("a", "n")), (
        "queues of two managers differ though their names are equal"
    )
    assert found.findings == ()


@pytest.mark.parametrize(
    ("there", "finding"),
    [
        ([], Finding(QueueProblem.MISSING, key("a"), 7)),
        ([feed("a", "two")], Finding(QueueProblem.REPLACED, key("a"), 7)),
        ([feed("a", cursor=None)], Finding(QueueProblem.UNKEPT, key("a"), 7)),
        ([feed("a", cursor=8)], Finding(QueueProblem.LOST, key("a"), 7, 8)),
        ([feed("a", mark=6, cursor=5)], Finding(QueueProblem.REWOUND, key("a"), 7, 5)),
        ([feed("a", "one@1")], Finding(QueueProblem.REWOUND, key("a"), 7)),
        ([feed("a", "two@1")], Finding(QueueProblem.REPLACED, key("a"), 7)),
    ],
)
def test_every_trouble_has_its_name(there: list[Feed], finding: Finding) -> None:
    assert survey({key("a"): QueueOffset("one", 7)}, feeds(*there)).findings == (finding,)


def test_a_loss_by_a_limit_is_reported_with_its_numbers() -> None:
    loss = Loss(5, 9, 4, 4000, "2026-11-18T05:00:00Z")
    there = Feed("a", "one", 100, 9, 0, 0, loss=loss)
    (finding,) = survey({key("a"): QueueOffset("one", 7)}, feeds(there)).findings
    reported = str(finding.fault("a at m", "lake"))
    assert "lost 4 messages (4000 bytes) after 5 up to 9" in reported
    assert "at 2026-11-18T05:00:00Z" in reported
    moved = Finding(QueueProblem.LOST, key("a"), 12, 15, loss).fault("a", "lake")
    assert "does another query use this consumer" in str(moved), "this gap is not the loss"


def test_for_a_paused_consumer_nothing_new_is_begun() -> None:
    span = Span(key("a"), "one", 7, 100)
    assert unless_paused(span, Feed("a", "one", 100, 5, 0, 0)) == span
    assert unless_paused(span, Feed("a", "one", 100, 5, 0, 0, paused=True)) == span._replace(until=7)


def test_a_restored_manager_is_noticed_although_it_has_passed_the_old_numbers() -> None:
    (finding,) = survey({key("a"): QueueOffset("one@5", 7)}, feeds(feed("a", "one@6", mark=1 << 50))).findings
    assert finding.trouble is QueueProblem.REWOUND
    assert isinstance(finding.fault("a at m", "lake"), DataLost)
    assert "'a at m' up to 7" in str(finding.fault("a at m", "lake"))
    assert isinstance(Finding(QueueProblem.MISSING, key("a")).fault("a", "lake"), QueueMissing)


def test_a_queue_that_the_option_does_not_name_any_more_is_left_alone() -> None:
    names = ("orders", "old", "inv-gone")
    offset = {key(name, manager): QueueOffset("one", 1) for name in names for manager in ("m", "away")}
    kept = still_wanted(offset, feeds(feed("orders")), ["m"], ["Orders", "INV-*"])
    assert sorted(kept) == [key("inv-gone"), key("orders")], "nothing is missing of a manager that is away"


def test_a_first_batch_that_is_repeated_begins_before_what_its_consumer_lost() -> None:
    lost = msgspec.structs.replace(feed("a", cursor=7), loss=Loss(2, 7, 3, 300, "2026-11-19T00:00:00Z"))
    moved = msgspec.structs.replace(lost, cursor=9)
    assert [first_unread(each) for each in (None, feed("a", cursor=7), lost, moved)] == [0, 7, 2, 9]


# -- limits

BATCHES = st.lists(
    st.lists(st.integers(1, 50), min_size=1, max_size=12),  # for each queue the sizes of its rows
    min_size=1,
    max_size=6,
)
LIMITS = st.builds(Limit, st.none() | st.integers(1, 30), st.none() | st.integers(1, 200))


def plan_of(sizes: list[int], limit: Limit) -> Plan:
    """Return what the server plans: rows as far as they go, one at least."""
    taken: list[int] = []
    for size in sizes:
        over = limit.bytes is not None and sum(taken) + size > limit.bytes
        if (limit.rows is not None and len(taken) >= limit.rows) or (over and taken):
            break
        taken.append(size)
    return Plan(len(taken), len(taken), sum(taken), ())


def allotted(limit: Limit, queues: list[list[int]], turn: int) -> list[Plan | None]:
    wants = [plan_of(sizes, limit) for sizes in queues]
    return allot(limit, wants, turn, lambda index, share: plan_of(queues[index], share))


@given(LIMITS, BATCHES, st.integers(0, 20))
def test_all_queues_together_stay_within_the_limit(limit: Limit, queues: list[list[int]], turn: int) -> None:
    given_plans = [plan for plan in allotted(limit, queues, turn) if plan is not None]
    rows, size = sum(plan.rows for plan in given_plans), sum(plan.bytes for plan in given_plans)
    assert rows >= 1, "a batch goes on"
    assert limit.rows is None or rows <= limit.rows
    alone = len(given_plans) == 1 and rows == 1
    assert limit.bytes is None or size <= limit.bytes or alone


@given(st.integers(1, 30), BATCHES, st.integers(0, 20))
def test_the_rows_of_a_limit_are_shared_fairly_and_used_up(
    rows: int, queues: list[list[int]], turn: int
) -> None:
    got = [plan.rows if plan else 0 for plan in allotted(Limit(rows), queues, turn)]
    assert sum(got) == min(rows, sum(map(len, queues)))
    for mine, sizes in zip(got, queues, strict=True):
        if mine < len(sizes) and rows >= len(
            queues
        ):  # a queue that wanted more has no less than any other, but for one
            assert mine >= max(got) - len(queues)


@given(LIMITS, BATCHES)
def test_batch_after_batch_every_row_is_taken_once_and_no_queue_starves(
    limit: Limit, queues: list[list[int]]
) -> None:
    left = [list(sizes) for sizes in queues]
    waited: Counter[int] = Counter()
    turn = 0
    while any(left):
        having = [index for index, sizes in enumerate(left) if sizes]
        plans = allotted(limit, [left[index] for index in having], turn)
        for index, plan in zip(having, plans, strict=True):
            waited[index] = 0 if plan else waited[index] + 1
            assert waited[index] <= 100, "it starves"
            left[index] = left[index][plan.rows if plan else 0 :]
        turn += 1
    assert turn <= sum(map(len, queues))


def test_a_busy_small_queue_does_not_starve_a_large_one() -> None:
    served = [bool(allotted(Limit(1), [[1], [1] * 9], turn)[1]) for turn in range(4)]
    assert served == [False, True, False, True]


def test_where_there_is_not_a_row_for_each_the_turn_goes_round() -> None:
    served = [allotted(Limit(2, 4), [[1], [2], [3]], turn)[2] is not None for turn in range(3)]
    assert served == [False, False, True], "the largest queue is not last for ever"


# -- parts


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8), st.integers(1, 9), st.integers(1, 200))
def test_a_batch_has_as_many_parts_as_are_wanted_at_least(rows: list[int], most: int, least: int) -> None:
    assert cuts(rows, most, None) == [min(most, count) for count in rows]
    parts = cuts(rows, most, least)
    assert sum(parts) >= min(least, sum(rows))
    assert all(1 <= part <= count for part, count in zip(parts, rows, strict=True))


def test_a_large_queue_is_cut_finer_than_a_small_one() -> None:
    assert cuts([1000, 10], 2, 20) == [20, 2]
    assert cuts([1000, 10], 2, 4) == [2, 2]
