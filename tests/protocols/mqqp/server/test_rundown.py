"""A client that goes away leaves nothing behind: what it had locked is available again."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import Action
from reliquary.protocols.mqqp.events import AssociationLost, ConnectionLost
from reliquary.queueing.model import events
from reliquary.queueing.model.travel.asking import RequestMade
from reliquary.wire.rpc.statuses import FaultStatus
from tests.protocols.mqqp.server.server_harness import HERE, Open, ServerBench, body_of


@pytest.mark.spec("QP-140")
@pytest.mark.mqqp("T34")
@pytest.mark.parametrize("action", [Action.RECEIVE, Action.PEEK_CURRENT])
def test_a_client_that_is_lost_while_it_waits_takes_nothing(action: Action) -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open(share=1)
    client.cursor(queue)
    place = client.begin_reading(queue, action)
    client.lose()
    assert client.answer(place) is None
    assert bench.is_idle
    bench.send("orders", b"m")
    assert bench.bodies() == [b"m"]
    assert bench.client().open_remote(share=1).status == 0


@pytest.mark.spec("QP-141", "QP-142")
@pytest.mark.mqqp("T35")
def test_messages_that_a_lost_client_had_locked_go_to_the_next_reader() -> None:
    bench = ServerBench()
    bench.send("orders", b"a", b"b")
    client, other = bench.client(), bench.client()
    first = client.call(qm2qm.StartReceive2(client.read(client.open())))
    client.lose()
    assert bench.bodies() == [b"a", b"b"]
    again = other.call(qm2qm.StartReceive2(other.read(other.open())))
    assert body_of(again) == body_of(first) == b"a"
    assert again.sequential == first.sequential
    other.lose()
    assert bench.is_idle


@pytest.mark.spec("QP-141", "QP-142")
def test_messages_that_a_lost_client_had_locked_go_to_a_waiting_reader() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client, other = bench.client(), bench.client()
    client.receive(client.open())
    place = other.begin_reading(other.open())
    client.lose()
    assert body_of(other.answer(place)) == b"m"


@pytest.mark.mqqp("T28")
def test_a_message_that_outlived_its_session_comes_back_with_the_connection() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    queue = client.open()
    client.receive(queue)
    client.close(queue)
    assert bench.bodies() == []
    client.lose()
    assert bench.bodies() == [b"m"]
    assert bench.is_idle


def test_the_loss_of_one_connection_ends_its_reads_and_nothing_else() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    queue = client.open()
    handle = client.receive(queue).handle
    second = client.connect("qm2qm")
    dies = client.begin(qm2qm.StartReceive(client.read(queue, timeout=9999)), second)
    lives = client.begin_reading(queue)
    bench.handle(ConnectionLost(second))
    assert client.answer(dies) is client.answer(lives) is None
    assert len(bench.server.associations[client.association].reads) == 1
    bench.send("orders", b"n")
    assert body_of(client.answer(lives)) == b"n"
    assert client.end(handle).status == 0


def test_a_call_of_a_lost_connection_is_a_fault() -> None:
    bench = ServerBench()
    client = bench.client()
    (connection,) = client.connections
    bench.handle(ConnectionLost(connection))
    assert client.call(qm2qm.GetVersion()) == FaultStatus.PROTOCOL


def test_a_session_of_another_client_keeps_the_queue_of_a_context_that_is_run_down() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    opener, reader = bench.client(), bench.client()
    opened = opener.open_remote()
    session = reader.call(qm2qm.OpenQueue(HERE, 0, 0, opened.queue, opened.context))
    opener.lose()
    queue = Open(opened.queue, opened.handle, session.handle)
    assert body_of(reader.receive(queue)) == b"m"
    reader.lose()
    assert bench.is_idle
    assert bench.bodies() == [b"m"]


def test_a_context_without_a_session_closes_its_queue_when_it_is_run_down() -> None:
    bench = ServerBench()
    client = bench.client()
    client.call(qmcomm.CreateRemoteCursor(client.open_remote().queue))
    client.lose()
    assert bench.is_idle


def test_reads_of_another_client_end_with_the_session_and_get_nothing_that_comes_back() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    owner, guest = bench.client(), bench.client()
    queue = owner.open()
    owner.receive(queue)
    waits = guest.begin_reading(queue)
    owner.lose()
    assert guest.answer(waits).status == 0x400E03E9
    assert bench.bodies() == [b"m"]
    assert [position.handed_out for position in bench.queue().order.some(-1, 2)] == [1]
    guest.lose()
    assert bench.is_idle


def test_an_association_may_end_before_its_connections_are_known_to_be_lost() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    queue = client.open()
    client.receive(queue)
    place = client.begin_reading(queue)
    bench.handle(AssociationLost(client.association))
    assert not bench.server.connections
    assert client.answer(place) is None
    bench.handle(ConnectionLost(client.connections[0]))
    bench.handle(AssociationLost(client.association))
    assert bench.is_idle
    assert bench.bodies() == [b"m"]


def test_a_client_that_called_nothing_leaves_nothing() -> None:
    bench = ServerBench()
    client = bench.client()
    assert bench.server.associations[client.association].peer == f"10.0.0.{client.association}"
    assert bench.server.connections[client.connections[0]].interfaces == {"qmcomm", "qm2qm"}
    client.lose()
    assert bench.is_idle


def test_handles_are_run_down_in_their_order() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    queue, _ = client.open(), client.open_remote()
    client.receive(queue)
    client.begin_reading(queue)
    bench.turns.clear()
    bench.handle(AssociationLost(client.association))
    asked = [type(signal.request) for signal in bench.signals if isinstance(signal, RequestMade)]
    assert asked == [events.CallerGone, events.EndRead, events.CloseQueue, events.CloseQueue]
