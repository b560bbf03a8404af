"""Waiting reads are ended by the client, by a cancel of the call, or because the connection is lost."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.codec import qm2qm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Action
from reliquary.protocols.mqqp.events import CallCancelled
from reliquary.wire.rpc.statuses import FaultStatus
from tests.protocols.mqqp.server.server_harness import Client, Open, ServerBench, body_of

CANCELLED = 0x400E03E9
READS = [Action.RECEIVE, Action.PEEK_CURRENT]


def cancel(client: Client, queue: Open, request: int, again: int | None = None) -> int:
    second = queue.number if again is None else again
    status: int = client.call(qm2qm.CancelReceive(queue.number, second, request)).status
    return status


@pytest.mark.spec("QP-064", "QP-107", "QP-108")
@pytest.mark.mqqp("T23", "T45")
@pytest.mark.parametrize("action", READS)
@pytest.mark.parametrize("method", [qm2qm.StartReceive, qm2qm.StartReceive2])
def test_a_cancel_ends_the_read_without_a_message(
    method: type[qm2qm.StartReceive] | type[qm2qm.StartReceive2], action: Action
) -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    wanted = client.read(queue, action, timeout=60_000, request=7)
    place = client.begin(method(wanted))
    assert cancel(client, queue, 7) == HResult.OK
    ended = client.answer(place)
    assert (ended.handle, ended.read, ended.status) == (NO_HANDLE, wanted, CANCELLED)
    assert not bench.server.associations[client.association].reads
    assert not [name for name in bench.timers if name[0] == "wait"]
    bench.send("orders", b"m")
    assert bench.bodies() == [b"m"]


@pytest.mark.spec("QP-104")
@pytest.mark.mqqp("T23")
@pytest.mark.parametrize("again", [0, 5])
def test_a_cancel_names_the_queue_twice(again: int) -> None:
    client = ServerBench().client()
    queue = client.open()
    place = client.begin_reading(queue, request=7)
    assert cancel(client, queue, 7, again) == HResult.INVALID_PARAMETER
    assert client.answer(place) is None


@pytest.mark.spec("QP-064", "QP-105", "QP-106")
@pytest.mark.mqqp("T24")
@pytest.mark.parametrize("others", [False, True])
def test_a_cancel_that_comes_too_late_changes_nothing(*, others: bool) -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    queue = client.open()
    started = client.receive(queue, request=7)
    waits = client.begin_reading(queue, request=8) if others else None
    assert cancel(client, queue, 7) == (0xC00E0001 if others else HResult.INVALID_HANDLE)
    assert waits is None or client.answer(waits) is None
    assert bench.bodies() == []
    assert client.end(started.handle).status == 0


@pytest.mark.spec("QP-105")
def test_reads_of_another_queue_do_not_count() -> None:
    bench = ServerBench("orders", "other")
    client = bench.client()
    queue, other = client.open(), client.open(r"DIRECT=OS:bench\private$\other")
    waits = client.begin_reading(other, request=7)
    assert cancel(client, queue, 7) == HResult.INVALID_HANDLE
    assert client.answer(waits) is None


@pytest.mark.mqqp("T44")
def test_two_clients_may_use_one_request_id() -> None:
    bench = ServerBench()
    clients = [bench.client(), bench.client()]
    queues = [client.open() for client in clients]
    places = [client.begin_reading(queue, request=7) for client, queue in zip(clients, queues, strict=True)]
    assert cancel(clients[0], queues[0], 7) == HResult.OK
    assert clients[0].answer(places[0]).status == CANCELLED
    assert clients[1].answer(places[1]) is None
    bench.send("orders", b"m")
    assert body_of(clients[1].answer(places[1])) == b"m"


# -- cancels of calls


@pytest.mark.parametrize("action", READS)
def test_a_call_that_is_cancelled_ends_with_a_fault(action: Action) -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    place = client.begin_reading(queue, action)
    client.cancel(place)
    assert client.answer(place) == FaultStatus.CANCELLED
    assert not bench.server.associations[client.association].reads
    bench.send("orders", b"m")
    assert bench.bodies() == [b"m"]


def test_a_call_that_is_forgotten_ends_without_a_word() -> None:
    bench = ServerBench()
    client = bench.client()
    place = client.begin_reading(client.open())
    client.cancel(place, forgotten=True)
    assert client.answer(place) is None
    assert not bench.server.associations[client.association].reads
    bench.send("orders", b"m")
    assert bench.bodies() == [b"m"]


def test_a_cancel_of_a_call_that_has_returned_changes_nothing() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    queue = client.open()
    place = client.begin_reading(queue)
    handle = client.answer(place).handle
    client.cancel(place)
    bench.handle(CallCancelled(12345, 1))
    assert client.answer(place).handle == handle
    assert client.end(handle).status == 0
