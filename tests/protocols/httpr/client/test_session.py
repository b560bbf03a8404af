"""Tests how long the peer may wait before it responds."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.protocols.httpr.client.session import Session
from reliquary.protocols.httpr.codec.values import Capabilities


def test_an_empty_pull_waits_for_the_shorter_of_two_times() -> None:
    session = Session(agreed=Capabilities(max_wait_batch=20_000))
    assert session.longest_wait == 20 * SECOND
    assert session.longest_empty_wait == 10 * SECOND
