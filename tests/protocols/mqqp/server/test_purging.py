"""Tests RemoteQMPurgeQueue: what is available goes, what is locked goes when it comes back."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.codec import qm2qm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge
from reliquary.queueing.model.events import AccessChange, ChangeAccess, DeleteQueue
from reliquary.queueing.model.security.principals import EVERYONE
from reliquary.queueing.model.security.rights import QueueRight
from reliquary.queueing.model.state import Sizes
from tests.protocols.mqqp.server.server_harness import ServerBench, user

OK = qm2qm.StatusReturned(0)


@pytest.mark.spec("QP-112")
@pytest.mark.mqqp("T30")
def test_a_purge_takes_what_is_available_and_later_what_was_locked() -> None:
    bench = ServerBench()
    bench.send("orders", b"0", b"1", b"2", b"3", b"4")
    client = bench.client()
    queue = client.open()
    handle = client.receive(queue).handle
    assert client.call(qm2qm.PurgeQueue(queue.number)) == OK
    assert bench.bodies() == []
    assert len(bench.queue().order.locked) == 1
    assert client.end(handle, Acknowledge.NACK) == qm2qm.HandleReturned(NO_HANDLE, 0)
    assert bench.bodies() == []
    assert not bench.queue().order.locked


@pytest.mark.spec("QP-110", "QP-111", "QP-162")
@pytest.mark.mqqp("T29")
@pytest.mark.parametrize("half", [False, True])
def test_a_queue_without_a_session_is_not_purged(*, half: bool) -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    number = client.open_remote().queue if half else 77
    assert client.call(qm2qm.PurgeQueue(number)) == 0xC00E0007  # a fault with the HRESULT
    assert bench.bodies() == [b"m"]


@pytest.mark.spec("QP-111")
@pytest.mark.parametrize("right", [QueueRight.PEEK_MESSAGE, QueueRight.DELETE_MESSAGE])
def test_a_refusal_of_the_manager_is_raised(right: QueueRight) -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client(user("ann"))
    queue = client.open()
    bench.ask(ChangeAccess(0, "orders", AccessChange.REVOKE, EVERYONE, int(right)))
    assert client.call(qm2qm.PurgeQueue(queue.number)) == 0xC00E0025
    assert bench.bodies() == [b"m"]


def test_the_successor_of_a_queue_that_was_deleted_is_not_purged() -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    bench.ask(DeleteQueue(0, "orders"))
    assert client.call(qm2qm.PurgeQueue(queue.number)) == 0xC00E004B
    bench.create("orders")
    bench.send("orders", b"m")
    assert client.call(qm2qm.PurgeQueue(queue.number)) == 0xC00E004B
    assert bench.bodies() == [b"m"]


def test_a_long_purge_returns_when_it_is_complete() -> None:
    bench = ServerBench(sizes=Sizes(at_once=2))
    bench.send("orders", *[b"m"] * 5)
    client = bench.client()
    queue = client.open()
    bench.patient = True
    place = client.begin(qm2qm.PurgeQueue(queue.number))
    bench.go_on(1)
    assert client.answer(place) is None
    bench.go_on()
    assert client.answer(place) == OK
    assert bench.bodies() == []


def test_a_purge_is_completed_although_no_client_waits_for_it() -> None:
    bench = ServerBench(sizes=Sizes(at_once=2))
    bench.send("orders", *[b"m"] * 5)
    client = bench.client()
    queue = client.open()
    bench.patient = True
    place = client.begin(qm2qm.PurgeQueue(queue.number))
    client.cancel(place)
    client.lose()
    bench.go_on()
    assert bench.bodies() == []
    assert bench.is_idle
