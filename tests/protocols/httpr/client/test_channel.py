"""Tests how many requests may be pending, and how long a session lasts."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.connection import Connection
from reliquary.protocols.httpr.client.refusals import Refusals, RefusedMessageSearch
from reliquary.protocols.httpr.client.session import Session
from reliquary.protocols.httpr.codec.values import Capabilities
from reliquary.protocols.httpr.settings import Peer

PEER = Peer(responder="httpr://far.example/mq")


def channel(session: str = "", refusals: Refusals | None = None) -> ClientChannel:
    agreed = Capabilities(maximum_pipeline_depth=8, idle_session_interval=60)
    return ClientChannel(
        1, PEER, "", Connection(Instant(0)), Session(session, agreed=agreed), refusals=refusals or Refusals()
    )  # fmt: skip


@pytest.mark.spec("HR-027", "HR-034", "HR-044")
def test_only_a_session_is_pipelined() -> None:
    assert channel().depth == 1
    assert channel("1").depth == 8
    assert channel("1", Refusals(single_requests=True)).depth == 1
    assert channel("1", Refusals(RefusedMessageSearch(1, 1, 1))).depth == 1


@pytest.mark.spec("HR-028", "HR-093")
def test_a_session_is_left_before_its_server_drops_it() -> None:
    assert not channel("1").is_stale(Instant(53 * SECOND))
    assert channel("1").is_stale(Instant(54 * SECOND))
    assert not channel().is_stale(Instant(1000 * SECOND))
