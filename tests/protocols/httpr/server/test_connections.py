"""The newest connection of a channel ends older ones, 3.8."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.codec.values import Command, ErrorNumber, SessionMark
from reliquary.protocols.httpr.events import RequestArrived, RequestBegun
from tests.protocols.httpr.client_harness import (
    COMMIT,
    Client,
    ends,
    error,
    pair,
)
from tests.protocols.httpr.httpr_harness import HttprBench


@pytest.mark.spec("HR-084")
def test_a_batch_behind_one_that_could_not_be_read_is_not_taken() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=4)
    client.push(1, b"a")
    unreadable = client.bench.new_caller()
    client.bench.handle(RequestArrived(unreadable, client.connection, "orders", None, fault=ErrorNumber(520)))
    assert error(client.push(3, b"c")) == 528
    assert client.bench.bodies() == [b"a"]


@pytest.mark.spec("HR-013", "HR-041")
@pytest.mark.httpr("T31")
def test_a_later_connection_ends_the_older_one_and_what_waits_there() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3, max_wait_batch=5000)
    older = client.connection
    stuck = client.pull_later(0)
    behind = client.ask_later(Command.PUSH, b"x", transaction_id=1)
    client.connect()
    assert pair(client.report(last_pushed_id=1)) == (COMMIT, 0)
    assert client.bench.cuts == [older]
    for caller in (stuck, behind):
        answer = client.answer_to(caller)
        assert answer is not None
        assert (error(answer), pair(answer)) == (529, (None, None))
    late = client.push(2, b"late", connection=older)
    assert (error(late), pair(late)) == (529, (None, None))
    assert client.bench.cuts == [older, older]
    assert client.bench.bodies() == []
    assert pair(client.push(3, b"x")) == (COMMIT, 3), "the session goes on over the later one"


@pytest.mark.spec("HR-041")
@pytest.mark.httpr("T31")
def test_the_header_alone_ends_older_connections() -> None:
    client = Client(HttprBench())
    client.begin()
    older = client.connection
    client.connect()
    begun = client.header(Command.PUSH, transaction_id=1)
    client.bench.handle(RequestBegun(client.connection, "orders", begun))
    assert client.bench.cuts == [older]
    client.bench.handle(RequestBegun(older, "orders", begun))
    assert client.bench.cuts == [older, older]
    assert error(client.push(1, b"a", connection=older)) == 529
    assert pair(client.push(1, b"a")) == (COMMIT, 1)


def test_a_header_of_a_channel_that_is_not_known_ends_nothing() -> None:
    client = Client(HttprBench())
    client.bench.handle(RequestBegun(1, "orders", client.header(Command.PUSH)))
    client.bench.handle(RequestBegun(1, "orders", client.header(Command.PUSH, session_id="NOBODY")))
    assert client.bench.cuts == []


def test_a_lost_connection_is_not_cut() -> None:
    client = Client(HttprBench())
    client.push(1, b"a")
    older = client.connection
    client.hang_up()
    client.connect()
    client.push(2, b"b")
    assert client.bench.cuts == []
    assert error(client.push(3, b"c", connection=older)) == 529


@pytest.mark.spec("HR-117")
@pytest.mark.httpr("T09", "T29")
def test_a_connection_that_breaks_leaves_the_session_and_no_request() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3, max_wait_batch=5000)
    client.pull_later(0)
    client.ask_later(Command.PUSH, b"x", transaction_id=1)
    client.hang_up()
    assert not client.server_channel.requests
    assert client.bench.bodies() == []
    client.connect()
    answer = client.report(last_pushed_id=1, session=SessionMark.END)
    assert (pair(answer), ends(answer)) == ((COMMIT, 0), True)


def test_lost_connections_are_forgotten() -> None:
    client = Client(HttprBench())
    for batch in range(1, 20):
        client.push(batch, b"a")
        client.hang_up()
        client.connect()
    assert client.bench.httpr.state.server.connections == {}


def test_two_channels_may_share_a_connection() -> None:
    bench = HttprBench()
    p, q = Client(bench), Client(bench, channel="q")
    q.connection = p.connection
    p.push(1, b"p")
    q.push(1, b"q")
    p.connect()
    p.push(2, b"p")
    assert bench.cuts == [q.connection]
    assert pair(q.push(2, b"q")) == (COMMIT, 2)
