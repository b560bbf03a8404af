"""Tests RemoteQMStartReceive and its two sisters: checks in their order, peeks, receives, waits, lookups."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.protocols.mqqp.codec import qm2qm
from reliquary.protocols.mqqp.codec.qm2qm import FOREVER, LAST, NO_HANDLE, Acknowledge, Action
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.reading import ACTIONS, ENDS, SEEKS, SEQUENTIAL
from reliquary.protocols.mqqp.server.state import Ending
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.events import DeleteQueue, Seek
from reliquary.queueing.model.message import ObjectId, Position
from reliquary.wire.packet.base import SIZE_LIMIT
from reliquary.wire.rpc.statuses import FaultStatus
from tests.protocols.mqqp.server.server_harness import Client, Open, ServerBench, body_of, message_of
from tests.queueing.manager_harness import NOON

INVALID_PARAMETER, INVALID_HANDLE, TIMEOUT = 0xC00E0006, 0xC00E0007, 0xC00E001B
NO_SUCH_CURSOR = 0xC000000D
PLAIN = [qm2qm.StartReceive, qm2qm.StartReceive2]


def opened(*bodies: bytes) -> tuple[ServerBench, Client, Open]:
    bench = ServerBench()
    if bodies:
        bench.send("orders", *bodies)
    client = bench.client()
    return bench, client, client.open()


def lookup_ids(bench: ServerBench) -> list[int]:
    return [position.lookup_id for position in bench.queue().order.some(-1, 100)]


def test_each_action_belongs_to_one_group_of_methods() -> None:
    assert set(ACTIONS).isdisjoint(SEEKS)
    assert {*ACTIONS, *SEEKS} == set(Action)
    assert set(ENDS.values()) == {Seek.FIRST, Seek.LAST}


# -- opnums 0 and 9: what is refused, in the order of the rules


@pytest.mark.parametrize("method", PLAIN)
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        pytest.param({"queue_again": 1}, INVALID_PARAMETER, id="dwQueue is another",
                     marks=[pytest.mark.spec("QP-054"), pytest.mark.mqqp("T12")]),
        pytest.param({"queue_again": 0}, INVALID_PARAMETER, id="dwQueue is 0",
                     marks=[pytest.mark.spec("QP-054"), pytest.mark.mqqp("T12")]),
        pytest.param({"queue": 0, "queue_again": 0}, INVALID_PARAMETER, id="both are 0",
                     marks=pytest.mark.spec("QP-054")),
        pytest.param({"action": Action.PEEK_NEXT}, NO_SUCH_CURSOR, id="next without a cursor",
                     marks=[pytest.mark.spec("QP-056"), pytest.mark.mqqp("T20")]),
        pytest.param({"queue": 1, "queue_again": 1}, INVALID_PARAMETER, id="an unknown queue",
                     marks=[pytest.mark.spec("QP-057", "QP-058")]),
        pytest.param({"queue": 1, "queue_again": 1, "action": Action.PEEK_NEXT}, NO_SUCH_CURSOR,
                     id="the cursor comes before the queue", marks=pytest.mark.spec("QP-056")),
        pytest.param({"cursor": 5}, NO_SUCH_CURSOR, id="an unknown cursor",
                     marks=[pytest.mark.spec("QP-059"), pytest.mark.mqqp("T19")]),
        pytest.param({"cursor": 5, "action": 77}, NO_SUCH_CURSOR, id="the cursor comes before the action"),
        pytest.param({"action": 1}, INVALID_PARAMETER, id="an unknown action", marks=pytest.mark.mqqp("T33")),
        pytest.param({"action": Action.LOOKUP_PEEK_NEXT}, INVALID_PARAMETER, id="an action of opnum 10",
                     marks=pytest.mark.mqqp("T33")),
    ],
)  # fmt: skip
@pytest.mark.spec("QP-047", "QP-051", "QP-126")
def test_wrong_requests_are_refused_and_change_nothing(
    method: type[Any], changes: dict[str, int], status: int
) -> None:
    bench, client, queue = opened(b"m")
    read = msgspec.structs.replace(client.read(queue), **changes)
    answer = client.call(method(read))
    assert (answer.handle, answer.read, answer.status) == (NO_HANDLE, read, status)
    assert bench.bodies() == [b"m"]
    assert not bench.server.associations[client.association].load


@pytest.mark.spec("QP-057", "QP-058")
@pytest.mark.mqqp("T11")
def test_a_queue_that_only_qmcomm_opened_cannot_be_read() -> None:
    bench = ServerBench()
    client = bench.client()
    number = client.open_remote().queue
    assert client.receive(Open(number, NO_HANDLE)).status == INVALID_PARAMETER


@pytest.mark.spec("QP-053", "QP-125", "QP-130")
@pytest.mark.mqqp("T26")
def test_a_null_pointer_is_refused() -> None:
    client = ServerBench().client()
    refused = qm2qm.ReadStarted2(NO_HANDLE, None, 0, INVALID_HANDLE)
    assert client.call(qm2qm.StartReceive2(None)) == refused
    assert client.call(qm2qm.StartReceiveByLookupId(1, None)) == refused


@pytest.mark.spec("QP-023", "QP-025")
@pytest.mark.mqqp("T12")
def test_reserved_is_not_looked_at() -> None:
    _, client, queue = opened(b"m")
    assert client.receive(queue, reserved=77, arrived=5).read.reserved == 1


@pytest.mark.spec("QP-030", "QP-055", "QP-060", "QP-064")
@pytest.mark.mqqp("T22")
def test_a_request_id_is_used_once_at_a_time_and_queue() -> None:
    bench = ServerBench("orders", "other")
    client = bench.client()
    queue, other = client.open(), client.open(r"DIRECT=OS:bench\private$\other")
    waits = client.begin_reading(queue, request=7)
    assert client.receive(queue, request=7, timeout=1000).status == INVALID_PARAMETER
    elsewhere = client.begin_reading(other, request=7)
    assert client.answer(waits) is client.answer(elsewhere) is None
    bench.send("orders", b"m")
    assert client.answer(waits).status == 0
    again = client.begin_reading(queue, request=7)  # the first has left the collection
    assert client.answer(again) is None


# -- peek and receive


@pytest.mark.spec("QP-024", "QP-026", "QP-043", "QP-047", "QP-062", "QP-063", "QP-065")
@pytest.mark.mqqp("T13", "T15")
def test_a_peek_shows_the_packet_and_leaves_the_message_alone() -> None:
    bench, client, queue = opened(b"m")
    wanted = client.read(queue, Action.PEEK_CURRENT, timeout=9)
    first, second = (client.call(qm2qm.StartReceive(wanted)) for _ in range(2))
    assert first == second
    assert first.handle == NO_HANDLE
    packet = first.read.packet
    assert int.from_bytes(packet[8:12], "little") == len(packet)
    arrived = NOON // 1_000_000
    assert first.read == msgspec.structs.replace(wanted, reserved=1, arrived=arrived, packet=packet)
    assert body_of(first) == b"m"
    assert bench.bodies() == [b"m"]
    assert not bench.server.associations[client.association].load


@pytest.mark.spec("QP-046", "QP-051", "QP-060", "QP-061", "QP-063", "QP-065", "QP-074", "QP-079", "QP-080")
@pytest.mark.mqqp("T14")
@pytest.mark.parametrize("method", PLAIN)
def test_a_receive_locks_the_message_until_it_is_acknowledged(method: type[Any]) -> None:
    bench, client, queue = opened(b"a", b"b")
    started = client.call(method(client.read(queue)))
    assert body_of(started) == b"a"
    assert started.handle != NO_HANDLE
    (held,) = bench.server.associations[client.association].held.values()
    assert [held.lookup_id] == list(bench.queue().order.locked)
    assert held.queue.number == queue.number
    assert bench.bodies() == [b"b"]


@pytest.mark.spec("QP-027", "QP-122", "QP-123", "QP-164")
@pytest.mark.mqqp("T26")
@pytest.mark.parametrize("priority", [0, 3, 7])
def test_the_newer_method_returns_the_low_seven_bytes_of_the_lookup_identifier(priority: int) -> None:
    bench = ServerBench()
    bench.send("orders", b"m", priority=priority)
    (lookup_id,) = lookup_ids(bench)
    client = bench.client()
    queue = client.open()
    started = client.call(qm2qm.StartReceive2(client.read(queue)))
    assert started.sequential == lookup_id & SEQUENTIAL
    assert lookup_id >> 56 == 7 - priority
    assert started.handle != NO_HANDLE


def test_the_reader_gets_the_message_in_the_queue() -> None:
    bench = ServerBench()
    correlation = ObjectId(UUID(int=9), 5)
    bench.send("orders", b"\0" * 5, label="l", application_tag=7, correlation=correlation)
    client = bench.client()
    found = message_of(client.receive(client.open()))
    assert (found.body, found.label, found.application_tag) == (b"\0" * 5, "l", 7)
    assert found.correlation == correlation


# -- time


@pytest.mark.spec("QP-035", "QP-036", "QP-044", "QP-047")
@pytest.mark.mqqp("T16")
@pytest.mark.parametrize("action", [Action.RECEIVE, Action.PEEK_CURRENT])
@pytest.mark.parametrize("timeout", [1, 200, 5000])
def test_a_read_waits_as_long_as_it_says_and_not_longer(action: Action, timeout: int) -> None:
    bench, client, queue = opened()
    wanted = client.read(queue, action, timeout=timeout)
    place = client.begin(qm2qm.StartReceive(wanted))
    bench.advance((timeout - 0.5) / 1000)
    assert client.answer(place) is None
    bench.advance(0.0005)
    assert client.answer(place) == qm2qm.ReadStarted(NO_HANDLE, wanted, TIMEOUT)
    bench.send("orders", b"m")
    assert bench.bodies() == [b"m"]
    assert not bench.server.asked


@pytest.mark.spec("QP-035", "QP-044")
@pytest.mark.parametrize("action", [Action.RECEIVE, Action.PEEK_CURRENT])
def test_a_read_without_time_does_not_wait(action: Action) -> None:
    bench, client, queue = opened()
    assert client.peek(queue, action).status == TIMEOUT
    assert not bench.timers


@pytest.mark.spec("QP-035", "QP-044")
@pytest.mark.mqqp("T17")
@pytest.mark.parametrize("timeout", [FOREVER, FOREVER - 1])
def test_a_read_that_waits_is_served_when_a_message_comes(timeout: int) -> None:
    bench, client, queue = opened()
    place = client.begin_reading(queue, timeout=timeout)
    assert bool([name for name in bench.timers if name[0] == "wait"]) is (timeout != FOREVER)
    bench.advance(86_400)
    assert client.answer(place) is None
    bench.send("orders", b"m")
    assert body_of(client.answer(place)) == b"m"
    assert client.answer(place).read.timeout == timeout
    assert bench.bodies() == []


@pytest.mark.mqqp("T18")
def test_readers_that_wait_are_served_in_their_order() -> None:
    bench = ServerBench()
    clients = [bench.client() for _ in range(3)]
    places = [client.begin_reading(client.open()) for client in clients]
    for number in range(3):
        bench.send("orders", b"%d" % number)
        answers = [client.answer(place) for client, place in zip(clients, places, strict=True)]
        assert [answer is not None for answer in answers] == [each <= number for each in range(3)]
        assert body_of(answers[number]) == b"%d" % number


def test_a_peek_that_waits_takes_nothing_from_a_receive_that_waits() -> None:
    bench, client, queue = opened()
    peeks = client.begin_reading(queue, Action.PEEK_CURRENT)
    receives = client.begin_reading(queue)
    bench.send("orders", b"m")
    assert body_of(client.answer(peeks)) == body_of(client.answer(receives)) == b"m"


def test_a_queue_that_is_deleted_ends_its_reads() -> None:
    bench, client, queue = opened(b"m")
    held = client.receive(queue).handle
    place = client.begin_reading(queue)
    bench.ask(DeleteQueue(0, "orders"))
    assert client.answer(place).status == 0xC00E004B
    assert client.receive(queue).status == 0xC00E004B
    assert client.end(held) == qm2qm.HandleReturned(NO_HANDLE, 0xC00E004B)
    client.lose()
    assert bench.is_idle


def test_a_manager_that_stops_ends_its_reads() -> None:
    bench, client, queue = opened()
    place = client.begin_reading(queue)
    bench.stop()
    assert client.answer(place).status == 0xC00E0008
    assert client.receive(queue).status == 0xC00E000B


@pytest.mark.parametrize("action", [Action.RECEIVE, Action.LOOKUP_RECEIVE_NEXT])
def test_a_lock_lasts_until_its_reader_says_otherwise(action: Action) -> None:
    bench, client, queue = opened(b"m")
    started = client.receive(queue) if action is Action.RECEIVE else client.look_up(queue, 0, action)
    bench.advance(86_400 * 400)
    assert bench.bodies() == []
    assert client.end(started.handle).status == 0


def test_a_message_that_comes_for_a_read_that_is_being_ended_is_given_back() -> None:
    bench, client, queue = opened()
    place = client.begin_reading(queue)
    (read,) = bench.server.associations[client.association].reads.values()
    read.ending = Ending.BY_CLIENT  # as in the turn that ends it
    bench.send("orders", b"m")
    assert client.answer(place).status == 0x400E03E9
    assert bench.bodies() == [b"m"]
    assert [counters(position) for position in bench.queue().order.some(-1, 2)] == [(0, 0)]
    assert not bench.server.asked


# -- limits


@pytest.mark.parametrize("receives", [True, False])
def test_the_reads_of_a_client_that_wait_or_have_a_message_are_limited(*, receives: bool) -> None:
    bench = ServerBench(settings=MqqpSettings(pending=2))
    bench.send("orders", b"m")
    client, other = bench.client(), bench.client()
    queue = client.open()
    held = client.receive(queue).handle
    waits = client.begin_reading(queue)
    action = Action.RECEIVE if receives else Action.PEEK_CURRENT
    assert client.peek(queue, action).status == 0xC00E0027
    assert client.look_up(queue, 1, Action.LOOKUP_PEEK_CURRENT).status == 0xC00E0027
    assert other.receive(other.open()).status == TIMEOUT
    client.end(held)
    assert client.peek(queue, action).status == TIMEOUT
    assert client.answer(waits) is None


def test_a_call_number_that_is_in_use_is_a_fault() -> None:
    bench, client, queue = opened()
    waits = client.begin_reading(queue)
    bench.handle(ClientCalled(client.association, *waits, qm2qm.StartReceive(client.read(queue, timeout=5))))
    assert client.answer(waits) == FaultStatus.PROTOCOL
    assert len(bench.server.associations[client.association].reads) == 1


# -- what does not fit into a packet


@pytest.mark.spec("QP-019")
@pytest.mark.mqqp("T36")
@pytest.mark.parametrize("action", [Action.RECEIVE, Action.PEEK_CURRENT])
def test_a_message_that_is_too_large_stays_and_the_largest_is_handed_out(action: Action) -> None:
    empty = len(opened_packet(b""))
    bench, client, queue = opened(bytes(SIZE_LIMIT - empty + 1), bytes(SIZE_LIMIT - empty))
    wanted, asked = client.read(queue, action), bench.server.last_caller
    assert client.call(qm2qm.StartReceive(wanted)) == qm2qm.ReadStarted(NO_HANDLE, wanted, 0xC00E0001)
    assert asked - bench.server.last_caller == (2 if action is Action.RECEIVE else 1)  # it is given back
    first, second = lookup_ids(bench)
    assert [counters(position) for position in bench.queue().order.some(-1, 2)] == [(0, 0), (0, 0)]
    assert not bench.server.handles.keys() - {queue.context, queue.session}
    assert client.look_up(queue, first, Action.LOOKUP_RECEIVE_CURRENT).status == 0xC00E0001
    started = client.look_up(queue, second, Action.LOOKUP_RECEIVE_CURRENT)
    assert len(started.read.packet) == SIZE_LIMIT
    assert lookup_ids(bench) == [first]


def counters(position: Position) -> tuple[int, int]:
    return position.handed_out, position.aborted


def opened_packet(body: bytes) -> bytes:
    _, client, queue = opened(body)
    packet: bytes = client.peek(queue).read.packet
    return packet


# -- opnum 10


@pytest.mark.spec("QP-133", "QP-134", "QP-164")
@pytest.mark.mqqp("T31")
@pytest.mark.parametrize("receives", [False, True])
@pytest.mark.parametrize(
    ("seek", "at", "expected"),
    [
        pytest.param("CURRENT", 1, 1, id="current"),
        pytest.param("NEXT", 0, 1, id="next"),
        pytest.param("PREVIOUS", 2, 1, id="previous"),
        pytest.param("NEXT", "zero", 0, id="the first"),
        pytest.param("PREVIOUS", "max", 2, id="the last"),
        pytest.param("NEXT", 2, None, id="behind the last"),
        pytest.param("PREVIOUS", 0, None, id="before the first"),
        pytest.param("CURRENT", "none", None, id="an unknown message"),
    ],
)
def test_messages_are_found_by_their_lookup_identifiers(
    seek: str, at: Any, expected: int | None, *, receives: bool
) -> None:
    bench, client, queue = opened(b"0", b"1", b"2")
    known = lookup_ids(bench)
    lookup_id = {"zero": 0, "max": LAST, "none": known[2] + 99}.get(at) if isinstance(at, str) else known[at]
    assert lookup_id is not None
    action = Action[f"LOOKUP_{'RECEIVE' if receives else 'PEEK'}_{seek}"]
    started = client.look_up(queue, lookup_id, action)
    if expected is None:
        assert (started.handle, started.status) == (NO_HANDLE, 0xC00E0088)
        assert started.read.packet is None
        assert len(bench.bodies()) == 3
        return
    assert body_of(started) == b"%d" % expected
    assert started.sequential == known[expected] & SEQUENTIAL
    assert (started.handle != NO_HANDLE) is receives
    assert len(bench.bodies()) == (2 if receives else 3)
    if receives:  # H-06: it is locked, and comes back
        assert client.end(started.handle, Acknowledge.NACK).status == 0
        assert bench.bodies() == [b"0", b"1", b"2"]


@pytest.mark.parametrize(
    ("lookup_id", "changes"),
    [
        pytest.param(1, {"queue": 0}, id="hRemoteQueue 0", marks=pytest.mark.spec("QP-131")),
        pytest.param(1, {"timeout": 1}, id="a time-out", marks=pytest.mark.spec("QP-131")),
        pytest.param(1, {"cursor": 1}, id="a cursor", marks=pytest.mark.spec("QP-131")),
        pytest.param(1, {"queue": 5}, id="not open", marks=pytest.mark.spec("QP-132")),
        pytest.param(0, {}, id="current 0"),
        pytest.param(0, {"action": Action.LOOKUP_RECEIVE_PREVIOUS}, id="previous 0"),
        pytest.param(1, {"action": Action.RECEIVE}, id="an action of opnum 0"),
        pytest.param(1, {"action": 0x40000013}, id="an unknown action"),
    ],
)
@pytest.mark.mqqp("T31")
def test_a_lookup_that_is_wrong_is_refused(lookup_id: int, changes: dict[str, int]) -> None:
    bench, client, queue = opened(b"m")
    wanted = client.read(queue, Action.LOOKUP_PEEK_CURRENT)
    wanted = msgspec.structs.replace(wanted, **changes)
    answer = client.call(qm2qm.StartReceiveByLookupId(lookup_id, wanted, 3))
    assert answer == qm2qm.ReadStarted2(NO_HANDLE, wanted, 3, INVALID_PARAMETER)
    assert not bench.server.associations[client.association].load


def test_a_lookup_does_not_look_at_the_second_number_nor_at_request_ids() -> None:
    bench, client, queue = opened()
    waits = client.begin_reading(queue, request=7)
    bench.send("orders", b"a", b"b")
    assert client.answer(waits).status == 0
    waits = client.begin_reading(queue, Action.PEEK_CURRENT, timeout=0, request=7)
    wanted = msgspec.structs.replace(
        client.read(queue, Action.LOOKUP_PEEK_NEXT, request=7), queue_again=12345
    )
    assert client.call(qm2qm.StartReceiveByLookupId(0, wanted)).status == 0


def test_a_lookup_with_the_number_of_a_read_that_waits_does_not_disturb_it() -> None:
    bench = ServerBench("orders", "other")
    client = bench.client()
    queue = client.open()
    waits = client.begin_reading(queue, request=7)
    assert client.look_up(queue, 5, Action.LOOKUP_PEEK_CURRENT, request=7).status == 0xC00E0088
    assert client.call(qm2qm.CancelReceive(queue.number, queue.number, 7)).status == 0
    assert client.answer(waits).status == 0x400E03E9
