"""Tests errors: each number has its row, and each refusal of the manager its number."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.server.refusals import NOT_HELD, REFUSALS, StatedOutcome, not_taken
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.transfer import ReservationRefusal

ROLL_BACK = {510, 511, 512, 513, 514, 515, 518, *range(520, 527), 529}


def test_every_error_has_a_row_and_every_refused_hold_an_error() -> None:
    assert set(REFUSALS) == set(ErrorNumber)
    assert set(NOT_HELD) == set(ReservationRefusal)


@pytest.mark.spec("HR-084")
def test_some_errors_roll_the_batch_back() -> None:
    assert {number for number, row in REFUSALS.items() if row.said is StatedOutcome.ROLLED_BACK} == ROLL_BACK
    assert REFUSALS[ErrorNumber.ADMINISTRATOR_CLOSED].said is StatedOutcome.LAST_OUTCOME


@pytest.mark.spec("HR-084")
def test_every_error_ends_the_session() -> None:
    assert all(row.ends_session for row in REFUSALS.values())


@pytest.mark.parametrize(
    ("reason", "number"),
    [
        (MessageClass.NACK_BAD_DEST_QUEUE, 518),
        (MessageClass.NACK_ACCESS_DENIED, 525),
        (MessageClass.NACK_QUEUE_EXCEED_QUOTA, 515),
        (MessageClass.NORMAL, 513),
        (MessageClass.NACK_BAD_SIGNATURE, 515),
    ],
)
def test_why_the_manager_did_not_take_a_batch(reason: MessageClass, number: int) -> None:
    assert not_taken(reason) == number
