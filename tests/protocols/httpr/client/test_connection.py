"""Tests what the pending requests of a connection are."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.httpr.client.connection import Connection, SentRequest
from reliquary.protocols.httpr.codec.values import Command

START = Instant(0)


def test_requests_that_fetch_are_counted() -> None:
    connection = Connection(START)
    assert connection.pending_fetches == 0
    connection.pending.append(SentRequest(1, Command.PULL, True, START))
    connection.pending.append(SentRequest(2, Command.PUSH, False, START, batch=7))
    assert connection.pending_fetches == 1


def test_the_newest_request_decides_whether_a_batch_was_sent_last() -> None:
    connection = Connection(START)
    seen = [connection.newest_sends]
    connection.pending.append(SentRequest(1, Command.PUSH, False, START, batch=7))
    seen.append(connection.newest_sends)
    connection.pending.append(SentRequest(2, Command.PULL, True, START))
    seen.append(connection.newest_sends)
    assert seen == [False, True, False]
