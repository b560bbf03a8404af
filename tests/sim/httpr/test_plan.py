"""Tests that each seed has its own plan, which contains only possible ways."""

from __future__ import annotations

from reliquary.sim.chance import SeededChance
from reliquary.sim.httpr.plan import ExchangeMode, Plan

NAMES = ("a.example", "b.example", "c.example")
PLANS = [Plan.drawn(SeededChance(seed), NAMES) for seed in range(200)]


def test_every_way_is_taken_and_so_are_fetching_and_passing_on() -> None:
    assert {way for plan in PLANS for way in plan.ways.values()} == set(ExchangeMode)
    assert {plan.outbox is None for plan in PLANS} == {True, False}
    assert {plan.transit is None for plan in PLANS} == {True, False}


def test_no_agent_fetches_from_behind_a_wall_and_all_begin_with_a_session_there() -> None:
    for plan in PLANS:
        for fetched in (plan.outbox, plan.transit):
            assert fetched is None or plan.may_dial(fetched[1], fetched[0])
        for (first, _), way in plan.ways.items():
            assert not way.walled or plan.settings[first].proposed.sessions


def test_order_is_promised_where_there_is_one_way() -> None:
    plan = Plan(
        ways={("a", "b"): ExchangeMode.FETCH, ("b", "c"): ExchangeMode.HIDDEN}, transit=("c", "a", "b")
    )
    assert not plan.is_single_path("a", "DIRECT=HTTPR://b/httpr/mq#inbox", "b")
    assert plan.is_single_path("b", "DIRECT=HTTPR://a/httpr/mq#inbox", "a")
    assert plan.is_single_path("b", "DIRECT=HTTPR://c/httpr/mq#inbox", "c")
    assert plan.is_single_path("a", "outbox", "b")
    assert not plan.is_single_path("c", "transit", "b")  # its last part is from a to b
