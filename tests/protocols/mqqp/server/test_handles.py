"""Handles cannot be guessed, are never reused, and are good only for the client that got them."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge, Request
from reliquary.protocols.mqqp.server.handles import new_handle, new_number
from reliquary.protocols.mqqp.server.state import ServerState
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.wire.rpc.statuses import FaultStatus
from tests.protocols.mqqp.server.server_harness import HERE, Client, Open, ServerBench, user

INVALID_HANDLE, INVALID_PARAMETER = 0xC00E0007, 0xC00E0006


def test_handles_follow_from_the_seed_the_moment_and_how_many_there_were() -> None:
    def some(seed: bytes, now: int) -> list[object]:
        server = ServerState(MqqpSettings(seed=seed))
        return [new_handle(server, Instant(now)), new_number(server, {}, Instant(now))] * 2

    assert some(b"a", 1) == some(b"a", 1)
    assert len({str(some(seed, now)) for seed in (b"a", b"b", b"") for now in (1, 2)}) == 6


def test_numbers_are_32_bits_not_zero_and_none_of_those_in_use() -> None:
    server = ServerState(MqqpSettings(seed=b"a"))
    numbers = dict.fromkeys(new_number(server, {}, Instant(0)) for _ in range(1000))
    assert all(0 < number < 2**32 for number in numbers)
    again = ServerState(MqqpSettings(seed=b"a"))
    assert new_number(again, dict.fromkeys(numbers, 0), Instant(0)) not in numbers


def test_a_seed_of_any_length_will_do() -> None:
    server = ServerState(MqqpSettings(seed=b"x" * 100))
    assert new_handle(server, Instant(0)) != NO_HANDLE


# -- context handles


def requests_with(handle: UUID) -> dict[str, Request]:
    return {
        "end": qm2qm.EndReceive(handle, Acknowledge.ACK),
        "close": qm2qm.CloseQueue(handle),
        "close context": qmcomm.CloseRemoteQueueContext(handle),
    }


def opened_with_message(client: Client) -> tuple[Open, dict[str, UUID]]:
    """Return a queue, and a context handle of each type, by the method that takes it."""
    client.bench.send("orders", b"m")
    queue = client.open()
    return queue, {
        "end": client.receive(queue).handle,
        "close": queue.session,
        "close context": queue.context,
    }


@pytest.mark.spec("QP-077", "QP-095")
@pytest.mark.mqqp("T27")
def test_a_null_handle_is_refused_where_there_is_a_status() -> None:
    client = ServerBench().client()
    assert client.call(requests_with(NO_HANDLE)["end"]) == qm2qm.HandleReturned(NO_HANDLE, INVALID_HANDLE)
    assert client.call(requests_with(NO_HANDLE)["close"]) == qm2qm.HandleReturned(NO_HANDLE, INVALID_HANDLE)
    assert client.call(requests_with(NO_HANDLE)["close context"]) == qmcomm.ContextClosed(NO_HANDLE)


@pytest.mark.mqqp("T27")
@pytest.mark.parametrize("method", ["end", "close", "close context"])
@pytest.mark.parametrize("of", ["end", "close", "close context"])
def test_a_handle_is_good_for_the_method_of_its_type_alone(method: str, of: str) -> None:
    bench = ServerBench()
    client = bench.client()
    _, handles = opened_with_message(client)
    before = dict(bench.server.handles)
    answer = client.call(requests_with(handles[of])[method])
    if method == of:
        assert getattr(answer, "status", 0) == 0
        assert answer.handle == NO_HANDLE
    else:
        assert answer == FaultStatus.CONTEXT_MISMATCH
        assert bench.server.handles == before


@pytest.mark.parametrize("method", ["end", "close", "close context"])
def test_a_handle_of_another_client_is_unknown(method: str) -> None:
    bench = ServerBench()
    _, handles = opened_with_message(bench.client())
    before = dict(bench.server.handles)
    other = bench.client()
    assert other.call(requests_with(handles[method])[method]) == FaultStatus.CONTEXT_MISMATCH
    assert bench.server.handles == before


def test_all_connections_of_a_client_may_use_its_handles() -> None:
    client = ServerBench().client()
    _, handles = opened_with_message(client)
    second = client.connect()
    place = client.begin(requests_with(handles["end"])["end"], second)
    assert client.answer(place) == qm2qm.HandleReturned(NO_HANDLE, 0)


@pytest.mark.mqqp("T27", "T46")
def test_a_handle_that_was_used_up_is_unknown_and_changes_nothing() -> None:
    bench = ServerBench()
    client = bench.client()
    _, handles = opened_with_message(client)
    bench.send("orders", b"n")
    assert client.end(handles["end"]).status == 0
    assert client.end(handles["end"]) == FaultStatus.CONTEXT_MISMATCH
    assert client.end(handles["end"], Acknowledge.NACK) == FaultStatus.CONTEXT_MISMATCH
    assert bench.bodies() == [b"n"]


# -- numbers


def requests_about(number: int) -> dict[str, Request]:
    read = qm2qm.ReadDescriptor(number, 0, 0, 1, queue_again=number)
    return {
        "open": qm2qm.OpenQueue(HERE, 0, number, number, number),
        "receive": qm2qm.StartReceive(read),
        "cancel": qm2qm.CancelReceive(number, number, 1),
        "close cursor": qm2qm.CloseCursor(number, 1),
        "create cursor": qmcomm.CreateRemoteCursor(number),
        "purge": qm2qm.PurgeQueue(number),
        "look up": qm2qm.StartReceiveByLookupId(1, qm2qm.ReadDescriptor(number, 0x40000010, 0, 1)),
    }


@pytest.mark.parametrize("method", requests_about(1))
def test_a_number_of_another_user_is_as_unknown_as_one_that_never_was(method: str) -> None:
    bench = ServerBench()
    ann, bob = bench.client(user("ann")), bench.client(user("bob"))
    queue = ann.open()
    never = (queue.number + 1) & 0xFFFF_FFFF or 1
    refusal = bob.call(requests_about(never)[method])
    status = refusal if isinstance(refusal, int) else refusal.status
    assert status in (INVALID_HANDLE, INVALID_PARAMETER)
    found = bob.call(requests_about(queue.number)[method])
    assert (found if isinstance(found, int) else found.status) == status
    assert ann.receive(queue).status == 0xC00E001B


def test_another_client_of_one_user_may_use_a_number() -> None:
    bench = ServerBench()
    first, second = bench.client(user("ann")), bench.client(user("ann"))
    opened = first.open_remote()
    session = second.call(qm2qm.OpenQueue(HERE, 0, 0, opened.queue, opened.context))
    assert session.status == 0
    assert second.receive(Open(opened.queue, NO_HANDLE)).status == 0xC00E001B
