"""Tests the order of actions: by time, and for one moment in an order that the seed decides."""

from __future__ import annotations

from functools import partial

from reliquary.sim.chance import SeededChance
from reliquary.sim.scheduler import Scheduler


def order_of(seed: int, moments: list[int]) -> list[int]:
    scheduler = Scheduler(SeededChance(seed))
    seen: list[int] = []
    for number, moment in enumerate(moments):
        scheduler.at(moment, partial(seen.append, number))
    while scheduler.step():
        pass
    return seen


def test_things_happen_in_the_order_of_time() -> None:
    assert order_of(1, [30, 10, 20]) == [1, 2, 0]


def test_the_order_at_one_moment_is_the_seeds() -> None:
    orders = {tuple(order_of(seed, [5, 5, 5])) for seed in range(50)}
    assert len(orders) == 6
    assert order_of(9, [5] * 20) == order_of(9, [5] * 20)


def test_time_stands_still_while_something_happens_and_never_goes_back() -> None:
    scheduler = Scheduler(SeededChance(1))
    seen: list[int] = []
    scheduler.after(10, lambda: scheduler.at(3, lambda: seen.append(scheduler.now)))
    while scheduler.step():
        pass
    assert seen == [10]


def test_the_scheduler_runs_until_its_condition_is_true_and_not_longer() -> None:
    scheduler = Scheduler(SeededChance(1))
    seen: list[int] = []
    for moment in range(1, 11):
        scheduler.at(moment, partial(seen.append, moment))
    assert scheduler.run_until(lambda: len(seen) == 4, latest=100)
    assert (seen, scheduler.now) == ([1, 2, 3, 4], 4)
    assert not scheduler.run_until(lambda: False, latest=7)
    assert seen[-1] == 7
    assert not scheduler.run_until(lambda: False, latest=1000)
    assert len(scheduler) == 0


def test_time_passes_without_actions() -> None:
    scheduler = Scheduler(SeededChance(1))
    happened: list[int] = []
    scheduler.at(5, lambda: happened.append(scheduler.now))
    scheduler.pass_time(9)
    assert (scheduler.now, happened) == (9, [5])
