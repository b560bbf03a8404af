"""Tests the recovery of a missing packet."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.base.time import MILLISECOND, SECOND, Duration, Instant, seconds
from reliquary.protocols.pgm.budget import Budget
from reliquary.protocols.pgm.repairs import NEXT, TIMERS_AT_ONCE, RepairEvent, Repairs, RepairState
from reliquary.protocols.pgm.settings import PgmSettings
from tests.protocols.pgm.pgm_network import SeededChance

SETTINGS = PgmSettings(
    shortest_back_off=Duration(20 * MILLISECOND), longest_back_off=Duration(20 * MILLISECOND)
)
START = Instant(1_000_000)
BACK_OFF = 20 * MILLISECOND


def repairs(settings: PgmSettings = SETTINGS) -> Repairs:
    return Repairs(settings, SeededChance(1), Budget(100_000))


def at(span: int) -> Instant:
    return Instant(START + span)


def test_the_table_answers_every_case() -> None:
    going_on = [RepairState.BACK_OFF, RepairState.WAIT_NCF, RepairState.WAIT_DATA]
    assert set(NEXT) == set(product(going_on, RepairEvent))


@pytest.mark.spec("SR-008")
def test_the_pause_before_a_nak_is_drawn_between_10_and_50_milliseconds() -> None:
    drawn = set()
    for seed in range(200):
        missing = Repairs(PgmSettings(), SeededChance(seed), Budget(10))
        missing.miss([7], START)
        due = missing.next_due()
        assert due is not None
        drawn.add((due - START) // MILLISECOND)
    assert min(drawn) == 10
    assert max(drawn) == 49
    assert len(drawn) > 30


def test_what_is_missing_is_asked_for_in_order_after_the_pause() -> None:
    missing = repairs()
    missing.miss([9, 8], START)
    assert missing.take_due(at(BACK_OFF - 1)) == ([], [])
    assert missing.take_due(at(BACK_OFF)) == ([8, 9], [])
    assert missing.next_due() == at(BACK_OFF + seconds(0.75))


def test_a_packet_that_comes_is_not_asked_for() -> None:
    missing = repairs()
    missing.miss([8, 9], START)
    missing.hear(8, RepairEvent.DATA, at(1))
    assert missing.take_due(at(BACK_OFF)) == ([9], [])
    assert 8 not in missing
    assert len(missing) == 1


@pytest.mark.parametrize(
    ("heard", "wait"), [(RepairEvent.NAK, seconds(0.75)), (RepairEvent.NCF, 2 * SECOND)], ids=["NAK", "NCF"]
)
def test_what_another_asks_for_is_waited_for(heard: RepairEvent, wait: int) -> None:
    missing = repairs()
    missing.miss([8], START)
    missing.hear(8, heard, at(5))
    assert missing.take_due(at(BACK_OFF)) == ([], [])
    assert missing.next_due() == at(5 + wait)


def test_a_nak_without_an_ncf_is_repeated_and_given_up_in_the_end() -> None:
    missing = repairs()
    missing.miss([8], START)
    asked, now = 0, START
    while (due := missing.next_due()) is not None:
        now = due
        ask, lost = missing.take_due(now)
        asked += len(ask)
        if lost:
            assert lost == [8]
    assert asked == 11  # once, and ten retries
    assert now == at(11 * (BACK_OFF + seconds(0.75)))


def test_a_confirmed_nak_without_data_is_repeated_and_given_up_in_the_end() -> None:
    missing = repairs()
    missing.miss([8], START)
    asked, now = 0, START
    while (due := missing.next_due()) is not None:
        now = due
        ask, _ = missing.take_due(now)
        asked += len(ask)
        if ask:
            missing.hear(8, RepairEvent.NCF, now)
    assert asked == 11
    assert now == at(11 * (BACK_OFF + 2 * SECOND))


def test_an_ncf_makes_a_confirmed_nak_wait_anew() -> None:
    missing = repairs()
    missing.miss([8], START)
    missing.hear(8, RepairEvent.NCF, at(0))
    missing.hear(8, RepairEvent.NCF, at(SECOND))
    assert missing.next_due() == at(3 * SECOND)


def test_what_leaves_the_window_is_not_asked_for() -> None:
    missing = repairs()
    missing.miss([7, 8, 9], START)
    missing.pass_by(9, at(1))
    assert missing.take_due(at(BACK_OFF)) == ([9], [])


def test_no_more_is_asked_for_at_once_than_one_nak_has_room_for() -> None:
    missing = repairs()
    missing.miss(range(100), START)
    assert missing.take_due(at(BACK_OFF)) == (list(range(63)), [])
    assert missing.next_due() == at(BACK_OFF)
    assert missing.take_due(at(BACK_OFF)) == (list(range(63, 100)), [])
    assert missing.next_due() == at(BACK_OFF + seconds(0.75))


def test_a_few_timers_are_looked_at_and_the_others_stay_due() -> None:
    missing = repairs()
    missing.miss(range(2 * TIMERS_AT_ONCE), START)
    for number in range(2 * TIMERS_AT_ONCE):
        missing.hear(number, RepairEvent.NCF, START)
    for _ in range(2):
        assert missing.next_due() == at(2 * SECOND)
        assert missing.take_due(at(2 * SECOND)) == ([], [])
    assert missing.next_due() == at(2 * SECOND + BACK_OFF)


def test_the_budget_knows_what_is_missing() -> None:
    budget = Budget(100)
    missing = Repairs(SETTINGS, SeededChance(1), budget)
    missing.miss(range(10), START)
    missing.hear(3, RepairEvent.DATA, START)
    missing.pass_by(3, START)
    assert budget.missing == len(missing) == 6
    missing.clear()
    assert (budget.missing, len(missing), missing.next_due()) == (0, 0, None)


def test_what_is_not_missing_means_nothing() -> None:
    missing = repairs()
    missing.hear(8, RepairEvent.NCF, START)
    assert missing.next_due() is None


def test_timers_of_what_came_do_not_pile_up() -> None:
    missing = repairs()
    for number in range(10_000):
        missing.miss([number], START)
        missing.hear(number, RepairEvent.DATA, START)
    assert len(missing._timers) < 100
