"""RemoteQMEndReceive removes the message, or makes it available again."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.codec import qm2qm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge
from reliquary.protocols.mqqp.effects import Respond
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.ending import EndingRead
from reliquary.queueing.model.events import EndRead, PurgeQueue
from reliquary.queueing.model.message import Delivery
from reliquary.wire.rpc.statuses import FaultStatus
from tests.protocols.mqqp.server.server_harness import ServerBench, body_of

OK = qm2qm.HandleReturned(NO_HANDLE, 0)


@pytest.mark.spec("QP-074", "QP-075", "QP-079", "QP-080")
@pytest.mark.mqqp("T14", "T42")
def test_an_acknowledged_message_is_removed_before_the_response_leaves() -> None:
    bench = ServerBench()
    bench.send("orders", b"a", b"b")
    client = bench.client()
    handle = client.receive(client.open()).handle
    place = (client.connections[0], 99)
    bench.core.close()
    bench.core.take_at_once()
    turn = bench.core.turn(
        ClientCalled(client.association, *place, qm2qm.EndReceive(handle, Acknowledge.ACK)), bench.now
    )
    assert turn.facts
    batch = bench.core.close()
    assert batch.applied
    assert [getattr(effect, "response", None) for effect in batch.after_sync] == [OK]
    assert not [effect for effect in bench.core.take_at_once() if isinstance(effect, Respond)]
    assert bench.server.taken == 1
    bench.disk.sync()
    bench.restart(crash=True)  # the response was lost, and the message stays removed
    assert bench.bodies() == [b"b"]


@pytest.mark.spec("QP-073", "QP-079", "QP-080")
@pytest.mark.mqqp("T25")
def test_a_message_that_is_refused_comes_back_and_goes_to_a_reader_that_waits() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    first, second = bench.client(), bench.client()
    started = first.receive(first.open())
    waits = second.begin_reading(second.open())
    assert second.answer(waits) is None
    assert first.end(started.handle, Acknowledge.NACK) == OK
    again = second.answer(waits)
    assert body_of(again) == b"m"
    assert again.handle != started.handle
    assert again.read.packet == started.read.packet
    assert bench.server.taken == 0


@pytest.mark.spec("QP-073")
def test_a_message_that_is_refused_comes_back_to_its_old_place() -> None:
    bench = ServerBench()
    bench.send("orders", b"a", b"b", b"c")
    client = bench.client()
    queue = client.open()
    handles = [client.receive(queue).handle for _ in range(3)]
    assert client.end(handles[1], Acknowledge.NACK) == OK
    assert client.end(handles[0], Acknowledge.NACK) == OK
    assert client.end(handles[2], Acknowledge.ACK) == OK
    assert bench.bodies() == [b"a", b"b"]


@pytest.mark.mqqp("T30")
@pytest.mark.parametrize("acknowledge", Acknowledge)
def test_a_message_that_was_purged_while_it_was_locked_is_removed_in_both_cases(
    acknowledge: Acknowledge,
) -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    handle = client.receive(client.open()).handle
    bench.ask(PurgeQueue(0, "orders"))
    assert client.end(handle, acknowledge) == OK
    assert bench.bodies() == []
    assert not bench.queue().order.locked


@pytest.mark.spec("QP-075")
def test_a_lost_lock_is_a_failure_and_ends_the_handle() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    handle = client.receive(client.open()).handle
    (held,) = bench.server.associations[client.association].held.values()
    bench.ask(EndRead(0, held.queue.descriptor, delete=False))
    assert client.end(handle) == qm2qm.HandleReturned(NO_HANDLE, HResult.TRANSACTION_SEQUENCE)
    assert client.end(handle) == FaultStatus.CONTEXT_MISMATCH
    assert bench.bodies() == [b"m"]


def test_a_manager_that_is_not_ready_has_done_nothing_and_the_handle_stays() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    handle = client.receive(client.open()).handle
    bench.stop()
    assert client.end(handle) == qm2qm.HandleReturned(handle, HResult.SERVICE_NOT_AVAILABLE)
    bench.start()
    assert client.end(handle) == OK
    assert bench.bodies() == []


@pytest.mark.mqqp("T40")
def test_a_restart_unlocks_what_was_handed_out_and_old_handles_are_unknown() -> None:
    bench = ServerBench()
    bench.send("orders", b"a")
    bench.send("orders", b"express", delivery=Delivery.EXPRESS)
    client = bench.client()
    queue = client.open()
    handle = client.receive(queue).handle
    bench.flush()
    bench.restart(crash=True)
    assert bench.bodies() == [b"a"]
    assert bench.is_idle
    again = bench.client()
    assert again.end(handle) == FaultStatus.CONTEXT_MISMATCH
    assert again.receive(queue).status == 0xC00E0006
    assert body_of(again.receive(again.open())) == b"a"


def test_handles_of_two_processes_with_one_seed_differ() -> None:
    bench = ServerBench()
    old = bench.client().open()
    bench.restart()
    bench.advance(0.001)
    new = bench.client().open()
    assert not {old.number, old.context, old.session} & {new.number, new.context, new.session}


def test_each_end_is_remembered_with_its_call_until_the_manager_answers() -> None:
    assert EndingRead.__slots__ == ("called", "held", "deletes")
