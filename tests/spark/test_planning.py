"""Tests how managers are asked for the plans of a batch."""

from __future__ import annotations

import pytest

from reliquary.spark.access import Access, Gone
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import QueueKey
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import parse_reading
from reliquary.spark.plan import Limit, Span
from reliquary.spark.planning import Planning
from tests.spark.feed_double import World, Worlds

NORTH, SOUTH = QueueKey("north", "orders"), QueueKey("south", "orders")


@pytest.fixture
def worlds() -> Worlds:
    worlds = Worlds({name: World() for name in ("north", "south")})
    for name, count in (("north", 8), ("south", 2)):
        worlds.by_name[name].create("orders")
        worlds.by_name[name].send("orders", count)
        worlds.by_name[name].queues["orders"].consumers["lake"] = 0
    return worlds


def planning_of(worlds: Worlds, **more: str) -> Planning:
    accesses = [Access("", name=name) for name in worlds.by_name]
    managers = Managers(accesses, Gone.SKIP, worlds.connect, lambda _: None, lambda: 0.0)
    given = {"url": "http://server:1", "queue": "orders", "consumer": "lake"} | more
    return Planning(managers, parse_reading(given, OptionUse.STREAM))


def spans(worlds: Worlds) -> list[Span]:
    found = [(key, worlds.by_name[key.manager]) for key in (NORTH, SOUTH)]
    return [Span(key, world.queues["orders"].incarnation, 0, world.sequence) for key, world in found]


def rows(worlds: Worlds, limit: Limit) -> list[int]:
    return [plan.rows if plan else 0 for plan in planning_of(worlds).plans(spans(worlds), limit)]


def test_without_a_limit_a_batch_has_all_rows(worlds: Worlds) -> None:
    assert rows(worlds, Limit()) == [8, 2]


def test_a_limit_leaves_the_rest_to_the_larger_queue(worlds: Worlds) -> None:
    assert rows(worlds, Limit(rows=6)) == [4, 2]


def test_queues_take_turns_at_a_limit_of_one_row(worlds: Worlds) -> None:
    planning, asked = planning_of(worlds), spans(worlds)
    batches = [planning.plans(asked, Limit(rows=1)) for _ in range(2)]
    assert [[bool(plan) for plan in batch] for batch in batches] == [[True, False], [False, True]]


def test_a_manager_that_does_not_answer_has_no_plan(worlds: Worlds) -> None:
    asked = spans(worlds)
    worlds.by_name["north"].away = True
    assert [plan and plan.rows for plan in planning_of(worlds).plans(asked, Limit())] == [None, 2]


def test_a_batch_with_few_parts_is_cut_finer(worlds: Worlds) -> None:
    planning = planning_of(worlds, partitions="1", minPartitions="5")
    parts = [len(plan.parts) for plan in planning.plans(spans(worlds), Limit()) if plan]
    assert parts == [4, 1], "by their rows"


def test_a_range_is_planned_again_with_its_rows(worlds: Worlds) -> None:
    north, _ = spans(worlds)
    assert planning_of(worlds).again(north._replace(after=3, until=6)).rows == 3
