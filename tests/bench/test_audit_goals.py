"""Tests the goals of `./dev bench audit`."""

from __future__ import annotations

from bench.audit_goals import GOAL_EVENTS, Cost, judged


def cost(seconds: float, most: float, events: int = GOAL_EVENTS) -> Cost:
    return Cost(events, seconds, seconds, most)


def test_time_and_memory_are_judged_by_the_goals() -> None:
    assert judged(cost(9.1, 1146), cost(0.8, 900)) == [
        "seconds: 9.1, goal 25: met",
        "seconds, new events: 0.8, goal 8: met",
        "MB: 1,146.0, goal 1,500: met",
    ]
    assert [line.endswith(": not met") for line in judged(cost(26, 900), cost(9, 1600))] == [True] * 3


def test_a_small_history_has_no_goal_for_its_time() -> None:
    assert judged(cost(90, 900, events=1000), cost(90, 100)) == ["MB: 900.0, goal 1,500: met"]


def test_a_history_with_lost_messages_has_the_goals_of_its_size() -> None:
    assert len(judged(cost(9, 900, events=GOAL_EVENTS - 16), cost(1, 900))) == 3
