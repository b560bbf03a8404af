"""Tests that the second computation of kept messages finds a loss within a limit, and a loss without a
report."""

from __future__ import annotations

import pytest

from reliquary.base.turn import Fact
from reliquary.queueing.feed.events import MoveConsumer, TrimFeed
from reliquary.queueing.feed.facts import (
    ConsumerDropped,
    ConsumerLost,
    ConsumerPlaced,
    FeedsLooked,
    QueueKept,
    RetainedDropped,
)
from reliquary.queueing.model.keep import EVERYTHING, Keep
from reliquary.queueing.model.tables import Consumer, Loss, Moments
from reliquary.sim.history import Violation
from reliquary.sim.kept import Kept
from tests.sim.written_history import ORDERS, position, removed, stored

LAKE = "lake"


def account(*facts: Fact, default: Keep = EVERYTHING) -> Kept:
    """Applies facts, each in a turn of its own."""
    kept = Kept(default)
    for fact in facts:
        kept.begin_turn()
        kept.apply(fact)
    return kept


def placed(cursor: int = 0, keep: Keep | None = None) -> ConsumerPlaced:
    return ConsumerPlaced(ORDERS, LAKE, Consumer(cursor, 0, 0, keep))


def lost(until: int, count: int, keep: Keep | None = None) -> ConsumerLost:
    loss = Loss(0, until, count, 0, 0)
    return ConsumerLost(ORDERS, LAKE, Consumer(until, 0, 0, keep, loss=loss, lost=count))


def test_what_is_beyond_a_limit_may_be_lost() -> None:
    keep = Keep(count=2)
    account(placed(keep=keep), stored(1, 2, 3), removed(1, 2, 3), lost(1, 1, keep))
    account(QueueKept(ORDERS, keep), placed(), stored(1, 2, 3), removed(1, 2, 3), lost(1, 1))
    account(placed(), stored(1, 2, 3), removed(1, 2, 3), lost(1, 1), default=keep)
    size = Keep(bytes=position(1).size)
    account(placed(keep=size), stored(1, 2), removed(1, 2), lost(1, 1, size))


def looked(elapsed: int) -> FeedsLooked:
    return FeedsLooked(Moments(elapsed))


@pytest.mark.parametrize(
    ("keep", "until"),
    [(Keep(count=2), 2), (Keep(count=3), 1), (Keep(bytes=10**9), 1), (Keep(age=9), 1), (EVERYTHING, 1)],
)
def test_a_loss_within_a_limit_is_found(keep: Keep, until: int) -> None:
    with pytest.raises(Violation, match="within its limit"):
        account(
            placed(keep=keep), looked(1), stored(1, 2, 3), looked(2), removed(1, 2, 3), looked(10),
            lost(until, until, keep),
        )  # fmt: skip


def test_an_age_counts_from_the_first_look_after_a_message_was_visible() -> None:
    keep = Keep(age=9)
    account(placed(keep=keep), stored(1), looked(2), removed(1), looked(11), lost(1, 1, keep))
    with pytest.raises(Violation, match="within its limit"):
        account(placed(keep=keep), looked(2), stored(1), looked(3), removed(1), looked(11), lost(1, 1, keep))


def test_a_loss_that_reports_too_few_messages_is_found() -> None:
    keep = Keep(count=1)
    with pytest.raises(Violation, match="record says only"):
        account(placed(keep=keep), stored(1, 2, 3), removed(1, 2, 3), lost(2, 1, keep))


def test_a_message_that_goes_unread_is_found() -> None:
    gone = RetainedDropped(ORDERS, (position(1),))
    account(placed(), stored(1), removed(1), placed(1), gone)
    account(placed(), stored(1), removed(1), ConsumerDropped(ORDERS, LAKE), gone)
    with pytest.raises(Violation, match="neither read nor lost"):
        account(placed(), stored(1), removed(1), gone)


def test_a_cursor_that_was_not_moved_is_found() -> None:
    kept = account(placed())
    kept.apply(placed(1), MoveConsumer(0, "orders", LAKE, 1))
    with pytest.raises(Violation, match="moved without a loss"):
        kept.apply(placed(2), TrimFeed(ORDERS))


def test_the_number_of_a_message_that_comes_and_goes_in_one_turn_is_not_known() -> None:
    keep = Keep(count=1)
    kept = account(placed(keep=keep))
    for fact in (stored(1), removed(1)):
        kept.apply(fact)
    kept.apply(lost(5, 1, keep))
    kept.apply(RetainedDropped(ORDERS, (position(1),)))
