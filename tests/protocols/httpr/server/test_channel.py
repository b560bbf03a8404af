"""When a batch that is fetched must be closed: five limits, each the least once."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import MILLISECOND, Instant, seconds
from reliquary.protocols.httpr.codec.values import Capabilities, Command, RequestHeader
from reliquary.protocols.httpr.events import RequestArrived
from reliquary.protocols.httpr.server.channel import Asked, Collecting, Session
from reliquary.queueing.message import Message
from reliquary.queueing.security.principals import ANONYMOUS

HEADER = RequestHeader(command=Command.PULL)


def collecting(first: int | None = None, latest: int = 0, **agreed: Any) -> Collecting:
    asked = Asked(RequestArrived(1, 1, "orders", HEADER), HEADER, Instant(0), Capabilities(**agreed))
    if first is None:
        return Collecting(asked, None, own=True)
    begun, grown = Instant(first * MILLISECOND), Instant(latest * MILLISECOND)
    return Collecting(asked, None, own=True, messages=[Message()], first=begun, latest=grown)


@pytest.mark.spec("HR-094", "HR-095", "HR-096", "HR-097")
@pytest.mark.parametrize(
    ("batch", "milliseconds"),
    [
        (collecting(), 100),
        (collecting(empty_batch_delay=50), 50),
        (collecting(max_wait_batch=20_000), 10_000),
        (collecting(60, 60), 100),
        (collecting(60, 60, max_wait_batch=5000), 160),
        (collecting(60, 120, max_wait_batch=5000), 160),
        (collecting(60, 120, max_wait_batch=5000, max_latency=500), 220),
        (collecting(60, 500, max_wait_batch=5000, max_latency=500), 560),
    ],
)
def test_the_least_of_the_limits_holds(batch: Collecting, milliseconds: int) -> None:
    assert batch.deadline == milliseconds * MILLISECOND


@pytest.mark.spec("HR-027")
def test_what_is_pipelined() -> None:
    session = Session("A", Capabilities(maximum_pipeline_depth=2), ANONYMOUS, Instant(0))
    asked = Asked(RequestArrived(1, 1, "orders", HEADER), HEADER, Instant(0), session.agreed)
    assert not asked.pipelined, "without a session nothing is"
    asked.session = session
    assert [asked.pipelined] == [True]
    session.agreed = Capabilities(maximum_pipeline_depth=1)
    assert [asked.pipelined] == [False]


def test_a_session_is_kept_for_a_second_at_least() -> None:
    session = Session("A", Capabilities(idle_session_interval=0), ANONYMOUS, Instant(0))
    assert session.patience == seconds(1)
