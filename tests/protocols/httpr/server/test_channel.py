"""Tests when a batch that is fetched must be closed: five limits, each the least once."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import MILLISECOND, Instant, seconds
from reliquary.protocols.httpr.codec.values import Capabilities, Command, RequestHeader
from reliquary.protocols.httpr.events import RequestArrived
from reliquary.protocols.httpr.server.channel import PendingRequest, PullInProgress, Session
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.security.principals import ANONYMOUS

HEADER = RequestHeader(command=Command.PULL)


def pull(first: int | None = None, latest: int = 0, **agreed: Any) -> PullInProgress:
    request = PendingRequest(
        RequestArrived(1, 1, "orders", HEADER), HEADER, Instant(0), Capabilities(**agreed)
    )
    if first is None:
        return PullInProgress(request, None, from_own_queue=True)
    begun, grown = Instant(first * MILLISECOND), Instant(latest * MILLISECOND)
    return PullInProgress(
        request, None, from_own_queue=True, messages=[Message()], first_at=begun, latest_at=grown
    )


@pytest.mark.spec("HR-094", "HR-095", "HR-096", "HR-097")
@pytest.mark.parametrize(
    ("batch", "milliseconds"),
    [
        (pull(), 100),
        (pull(empty_batch_delay=50), 50),
        (pull(max_wait_batch=20_000), 10_000),
        (pull(60, 60), 100),
        (pull(60, 60, max_wait_batch=5000), 160),
        (pull(60, 120, max_wait_batch=5000), 160),
        (pull(60, 120, max_wait_batch=5000, max_latency=500), 220),
        (pull(60, 500, max_wait_batch=5000, max_latency=500), 560),
    ],
)
def test_the_least_of_the_limits_holds(batch: PullInProgress, milliseconds: int) -> None:
    assert batch.deadline == milliseconds * MILLISECOND


@pytest.mark.spec("HR-027")
def test_requests_of_a_session_are_pipelined() -> None:
    session = Session("A", Capabilities(maximum_pipeline_depth=2), ANONYMOUS, Instant(0))
    request = PendingRequest(RequestArrived(1, 1, "orders", HEADER), HEADER, Instant(0), session.agreed)
    assert not request.pipelined, "without a session nothing is"
    request.session = session
    assert [request.pipelined] == [True]
    session.agreed = Capabilities(maximum_pipeline_depth=1)
    assert [request.pipelined] == [False]


def test_a_session_is_kept_for_a_second_at_least() -> None:
    session = Session("A", Capabilities(idle_session_interval=0), ANONYMOUS, Instant(0))
    assert session.idle_limit == seconds(1)
