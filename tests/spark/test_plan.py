"""How far a batch goes: ranges cover every place once, limits hold and are shared, troubles have names."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.client.feed import Feed, Plan
from reliquary.spark.errors import BadOffset
from reliquary.spark.plan import (
    Finding,
    Limit,
    Place,
    Span,
    Trouble,
    allot,
    from_json,
    still_wanted,
    survey,
    to_json,
)

NAMES = st.text("abcß.", min_size=1, max_size=3)
PLACES = st.builds(Place, st.sampled_from(["one", "two"]), st.integers(0, 1 << 56))


# -- offsets


@given(st.dictionaries(NAMES, PLACES))
def test_an_offset_goes_through_a_checkpoint(offset: dict[str, Place]) -> None:
    text = json.dumps(to_json(offset))
    assert from_json(json.loads(text)) == offset
    assert json.dumps(to_json(dict(reversed(offset.items())))) == text


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"v": 2, "queues": {}}, "an offset of version 2, and this is version 1"),
        ({"orders": 7}, "an offset that this source did not write"),
        ({"v": 1, "queues": {"orders": {"inc": "x", "id": "7"}}}, "an offset that this source did not write"),
    ],
)
def test_a_foreign_offset_is_refused(written: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadOffset, match=sentence):
        from_json(written)


# -- survey


def feed(queue: str, incarnation: str = "one", mark: int = 100, cursor: int | None = 0) -> Feed:
    return Feed(queue, incarnation, mark, cursor, 0, 0)


def test_a_queue_is_read_from_its_place_to_the_mark() -> None:
    found = survey({"a": Place("one", 7), "b": Place("one", 100)}, [feed("a"), feed("b"), feed("c")])
    assert found.spans == (Span("a", "one", 7, 100), Span("b", "one", 100, 100))
    assert [each.queue for each in found.new] == ["c"]
    assert found.findings == ()


@pytest.mark.parametrize(
    ("feeds", "finding"),
    [
        ([], Finding(Trouble.MISSING, "a", 7)),
        ([feed("a", "two")], Finding(Trouble.REPLACED, "a", 7)),
        ([feed("a", cursor=None)], Finding(Trouble.UNKEPT, "a", 7)),
        ([feed("a", cursor=8)], Finding(Trouble.LOST, "a", 7, 8)),
        ([feed("a", mark=6, cursor=5)], Finding(Trouble.REWOUND, "a", 7, 5)),
        ([feed("a", "one@1")], Finding(Trouble.REWOUND, "a", 7)),
        ([feed("a", "two@1")], Finding(Trouble.REPLACED, "a", 7)),
    ],
)
def test_every_trouble_has_its_name(feeds: list[Feed], finding: Finding) -> None:
    assert survey({"a": Place("one", 7)}, feeds).findings == (finding,)


def test_a_queue_that_the_option_does_not_name_any_more_is_left_alone() -> None:
    offset = {"orders": Place("one", 1), "old": Place("one", 2), "inv-gone": Place("one", 3)}
    kept = still_wanted(offset, [feed("orders")], ["Orders", "INV-*"])
    assert sorted(kept) == ["inv-gone", "orders"]


# -- limits

BATCHES = st.lists(
    st.lists(st.integers(1, 50), min_size=1, max_size=12),  # for each queue the sizes of its rows
    min_size=1,
    max_size=6,
)
LIMITS = st.builds(Limit, st.none() | st.integers(1, 30), st.none() | st.integers(1, 200))


def plan_of(sizes: list[int], limit: Limit) -> Plan:
    """What the server plans: rows as far as they go, one at least."""
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
        ):  # whoever wanted more has no less than any other, but for one
            assert mine >= max(got) - len(queues)


@given(LIMITS, BATCHES)
def test_batch_after_batch_every_row_is_taken_once_and_nobody_starves(
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
    assert served == [False, False, True], "whoever is largest is not last for ever"
