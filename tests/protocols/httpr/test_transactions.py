"""Tests batches in doubt and batches that come: every case of the two tables."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.httpr.codec.values import Outcome
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.protocols.httpr.transactions import (
    RESOLUTIONS,
    BatchPosition,
    OutcomeMessage,
    Reception,
    Resolution,
    Settlement,
    reception,
    settlement,
)

CHANNEL = Channel(1, Role.SERVER, "httpr://me/app", "primary", "httpr://you/mq")


def test_the_table_has_every_case() -> None:
    assert set(RESOLUTIONS) == set(product(OutcomeMessage, BatchPosition, Outcome))


@pytest.mark.spec("HR-015", "HR-053", "HR-069", "HR-127")
@pytest.mark.parametrize("by", OutcomeMessage)
@pytest.mark.parametrize("outcome", Outcome)
def test_batches_before_the_named_one_are_committed(by: OutcomeMessage, outcome: Outcome) -> None:
    assert settlement((3, 4, 5), 5, outcome, by).committed[:2] == (3, 4)


@pytest.mark.spec("HR-053")
@pytest.mark.parametrize("by", OutcomeMessage)
def test_the_named_batch_has_the_outcome_that_is_said(by: OutcomeMessage) -> None:
    assert settlement((4,), 4, Outcome.COMMIT, by) == Settlement(committed=(4,))
    assert settlement((4,), 4, Outcome.ROLLBACK, by) == Settlement(returned=(4,))
    assert not settlement((4,), 4, Outcome.INDOUBT, by)


@pytest.mark.spec("HR-126")
def test_a_response_leaves_what_was_pipelined_behind_it_in_doubt() -> None:
    assert not settlement((5, 6), 4, Outcome.COMMIT, OutcomeMessage.RESPONSE)
    assert settlement((4, 5, 6), 4, Outcome.ROLLBACK, OutcomeMessage.RESPONSE) == Settlement(
        returned=(4, 5, 6)
    )


@pytest.mark.spec("HR-053", "HR-126")
def test_a_rollback_that_was_settled_before_says_nothing_of_what_is_on_the_way() -> None:
    """PUSH 4 was rolled back; now a PULL and PUSH 5 are pipelined, and the PULL's response still names 4."""
    assert not settlement((5,), 4, Outcome.ROLLBACK, OutcomeMessage.RESPONSE)
    assert settlement((5,), 4, Outcome.ROLLBACK, OutcomeMessage.REPORT) == Settlement(returned=(5,))


@pytest.mark.spec("HR-053")
def test_a_report_returns_what_the_peer_never_got() -> None:
    for outcome in (Outcome.COMMIT, Outcome.ROLLBACK):
        assert settlement((5, 6), 4, outcome, OutcomeMessage.REPORT) == Settlement(returned=(5, 6))
    assert not settlement((5,), 4, Outcome.INDOUBT, OutcomeMessage.REPORT)


@pytest.mark.spec("HR-125")
def test_the_answer_to_get_responder_info_returns_nothing_that_may_still_arrive() -> None:
    for outcome in Outcome:
        assert settlement((4, 5), 4, outcome, OutcomeMessage.INFO_ANSWER).returned in ((), (4,))
        assert RESOLUTIONS[OutcomeMessage.INFO_ANSWER, BatchPosition.BEHIND, outcome] is Resolution.IN_DOUBT


@pytest.mark.spec("HR-018")
def test_an_unknown_id_settles_nothing() -> None:
    assert not settlement((), 7, Outcome.COMMIT, OutcomeMessage.REPORT)


@pytest.mark.spec("HR-055", "HR-104")
def test_only_newer_batches_are_taken() -> None:
    channel = Channel(
        1, Role.SERVER, "httpr://me/app", "primary", "httpr://you/mq", last_received_id=4, last_sent_id=6
    )
    verdicts = {batch: reception(channel, batch) for batch in (0, 3, 4, 5, 6, 7)}
    assert verdicts == {
        0: Reception.MALFORMED,
        3: Reception.KNOWN,
        4: Reception.KNOWN,
        5: Reception.LATE,
        6: Reception.LATE,
        7: Reception.TAKEN,
    }
    assert reception(CHANNEL, 1) is Reception.TAKEN
