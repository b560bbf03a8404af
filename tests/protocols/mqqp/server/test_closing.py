"""A queue is closed with its session, or with its context while no session took it over."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge
from reliquary.protocols.mqqp.server.phases import Phase
from reliquary.wire.rpc.statuses import FaultStatus
from tests.protocols.mqqp.server.server_harness import HERE, ServerBench

CLOSED = qm2qm.HandleReturned(NO_HANDLE, 0)
CONTEXT_CLOSED = qmcomm.ContextClosed(NO_HANDLE)


@pytest.mark.spec("QP-097", "QP-098")
@pytest.mark.mqqp("T28")
@pytest.mark.parametrize("acknowledge", Acknowledge)
def test_reads_end_with_the_session_and_a_locked_message_still_answers(acknowledge: Acknowledge) -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    queue = client.open()
    handle = client.receive(queue).handle
    waits = [client.begin_reading(queue) for _ in range(2)]
    assert client.close(queue) == CLOSED
    assert [client.answer(place).status for place in waits] == [0x400E03E9] * 2
    assert client.receive(queue).status == 0xC00E0006  # the number is unknown from now on
    assert client.call(qmcomm.CreateRemoteCursor(queue.number)).status == 0xC00E0007
    assert bench.bodies() == []
    (held,) = bench.server.associations[client.association].held.values()
    phases = [held.queue.phase]
    assert client.end(handle, acknowledge) == CLOSED
    assert bench.bodies() == ([] if acknowledge is Acknowledge.ACK else [b"m"])
    assert [*phases, held.queue.phase] == [Phase.ENDING, Phase.CLOSED]
    assert not bench.state.open.handles


def test_the_queue_is_closed_at_the_manager_with_the_last_of_its_messages() -> None:
    bench = ServerBench()
    bench.send("orders", b"a", b"b")
    client = bench.client()
    queue = client.open(share=1)
    handles = [client.receive(queue).handle for _ in range(2)]
    client.close(queue)
    assert client.end(handles[0]) == CLOSED
    assert client.open_remote().status == 0xC0000043
    assert client.end(handles[1]) == CLOSED
    assert client.open_remote().status == 0


@pytest.mark.spec("QP-095")
def test_a_session_is_closed_once() -> None:
    client = ServerBench().client()
    queue = client.open()
    assert client.close(queue) == CLOSED
    assert client.close(queue) == FaultStatus.CONTEXT_MISMATCH


def test_a_context_that_no_session_took_over_closes_the_queue() -> None:
    bench = ServerBench()
    client = bench.client()
    opened = client.open_remote()
    client.call(qmcomm.CreateRemoteCursor(opened.queue))
    assert client.call(qmcomm.CloseRemoteQueueContext(opened.handle)) == CONTEXT_CLOSED
    assert not bench.state.open.handles
    assert not bench.state.open.cursors
    refused = client.call(qm2qm.OpenQueue(HERE, 0, 0, opened.queue, opened.context))
    assert refused.status == 0xC00E0006
    again = client.call(qmcomm.CloseRemoteQueueContext(opened.handle))
    assert again == FaultStatus.CONTEXT_MISMATCH


def test_a_context_that_a_session_took_over_closes_nothing() -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    assert client.call(qmcomm.CloseRemoteQueueContext(queue.context)) == CONTEXT_CLOSED
    assert client.receive(queue).status == 0xC00E001B
    assert client.close(queue) == CLOSED
    assert not bench.state.open.handles


def test_a_context_may_be_closed_behind_its_session() -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    assert client.close(queue) == CLOSED
    assert client.call(qmcomm.CloseRemoteQueueContext(queue.context)) == CONTEXT_CLOSED
    client.lose()
    assert bench.is_idle
