"""How many requests may be under way, and how long a session lasts."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.httpr.client.channel import ClientChannel, RefusedMessageSearch
from reliquary.protocols.httpr.codec.values import Capabilities
from reliquary.protocols.httpr.settings import Peer

PEER = Peer(responder="httpr://far.example/mq")


def channel(**more: object) -> ClientChannel:
    agreed = Capabilities(maximum_pipeline_depth=8, max_wait_batch=20_000, idle_session_interval=60)
    return ClientChannel(1, PEER, agreed=agreed, **more)  # type: ignore[arg-type]


@pytest.mark.spec("HR-027", "HR-034", "HR-044")
def test_only_a_session_is_pipelined() -> None:
    assert channel().depth == 1
    assert channel(session_id="1").depth == 8
    assert channel(session_id="1", single_requests=True).depth == 1
    assert channel(session_id="1", search=RefusedMessageSearch(1, 1, 1)).depth == 1


def test_an_empty_pull_waits_for_the_shorter_of_two_times() -> None:
    assert channel().longest_wait == 20 * SECOND
    assert channel().longest_empty_wait == 10 * SECOND


@pytest.mark.spec("HR-028", "HR-093")
def test_a_session_is_left_before_its_server_drops_it() -> None:
    session = channel(session_id="1", last_used=Instant(0))
    assert not session.is_stale(Instant(53 * SECOND))
    assert session.is_stale(Instant(54 * SECOND))
    assert not channel(last_used=Instant(0)).is_stale(Instant(1000 * SECOND))
