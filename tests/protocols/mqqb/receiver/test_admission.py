"""Streams and senders of a client are limited, and a message beyond a limit stays with its sender."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reliquary.base.rows import every
from reliquary.protocols.mqqb import tables
from reliquary.protocols.mqqb.receiver.admission import LONGEST_NAME, NOT_ADMITTED
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Count
from reliquary.wire.packet.addresses import Address, AddressKind
from tests.protocols.mqqb.mqqb_harness import PEER_ADDRESS, STREAM, MqqbBench, Peer

LEDGER = "TCP:10.0.0.2\\private$\\ledger"
NOWHERE = "TCP:10.0.0.2\\private$\\nowhere"
ELSEWHERE = "10.0.0.66"


def bench_with(**limits: Any) -> MqqbBench:
    bench = MqqbBench(settings=MqqbSettings(**limits))
    bench.create("ledger", transactional=True)
    return bench


def rows(bench: MqqbBench) -> int:
    """Return how many incoming streams are stored."""
    return len(every(bench.rows, tables.STREAM_TABLES.incoming))


def outgoing(bench: MqqbBench) -> int:
    return len(bench.state.names.outgoing)


def crowd_of(bench: MqqbBench) -> Peer:
    """Return a session of the client that invents senders."""
    return bench.accepted(ELSEWHERE, UUID(int=999))


def invent(peer: Peer, senders: range, to: str = LEDGER) -> None:
    for number in senders:
        peer.user(b"invented", to=to, stream=(1, 0), source=UUID(int=number))


@pytest.mark.parametrize(
    ("limits", "setting"),
    [
        ({"streams": 3}, "streams"),
        ({"senders": 3}, "senders"),
        ({"streams_per_address": 3}, "streams_per_address"),
    ],
)
@pytest.mark.spec("QB-133", "QB-259")
def test_a_crowd_of_invented_senders_stays_within_a_limit_and_its_session_goes_on(
    limits: dict[str, int], setting: str
) -> None:
    bench = bench_with(**limits)
    honest, crowd = bench.accepted(), crowd_of(bench)
    honest.user(b"1", to=LEDGER, stream=(1, 0))
    invent(crowd, range(1, 51))
    kept = len(bench.mqqb.places)
    assert kept == rows(bench) <= 4
    assert bench.mqqb.counts[Count.NOT_ADMITTED] == 51 - kept
    (warning,) = [each for each in bench.warnings if each.what == NOT_ADMITTED]
    assert f"mqqb.{setting}" in warning.why
    assert not crowd.hung_up
    honest.user(b"2", to=LEDGER, stream=(2, 1))
    bench.advance(1)
    assert bench.bodies("ledger")[-1] == b"2"
    assert [each.body.number for each in honest.order_acks] == [2]


def test_an_address_cannot_use_the_streams_of_another() -> None:
    bench = bench_with(streams=10, streams_per_address=5)
    invent(bench.accepted(ELSEWHERE), range(1, 51))
    assert len(bench.mqqb.places) == 5
    bench.restart(crash=False)
    again = bench.accepted(ELSEWHERE)
    invent(again, range(51, 60))
    assert len(bench.mqqb.places) == 5
    bench.accepted().user(b"honest", to=LEDGER, stream=(1, 0))
    assert bench.bodies("ledger")[-1] == b"honest"


def test_a_message_beyond_a_limit_is_taken_once_there_is_room() -> None:
    """It has a session acknowledgement and no order acknowledgement, so its sender sends it again."""
    bench = bench_with(streams=1)
    invent(crowd_of(bench), range(1, 2))
    peer = bench.accepted()
    refused = [peer.made(b"%d" % each, to=LEDGER, stream=(each, each - 1)) for each in range(1, 6)]
    peer.send(*refused)
    bench.advance(60)
    assert (bench.bodies("ledger"), peer.order_acks) == ([b"invented"], [])
    assert peer.acks[-1].ack == 5
    bench.settings = MqqbSettings(streams=2)
    bench.restart(crash=False)
    again = bench.accepted()
    again.send(*refused)
    again.send(*refused)
    assert bench.bodies("ledger")[1:] == [b"1", b"2", b"3", b"4", b"5"]


def test_a_stream_that_comes_from_another_address_is_counted_there() -> None:
    bench = bench_with()
    bench.accepted().user(b"1", to=LEDGER, stream=(1, 0))
    bench.accepted(ELSEWHERE).user(b"2", to=LEDGER, stream=(2, 1))
    assert dict(bench.mqqb.streams_from) == {ELSEWHERE: 1}
    bench.accepted(ELSEWHERE).user(b"1", to=LEDGER, stream=(STREAM + 1, 1, 0))
    assert dict(bench.mqqb.streams_from) == {ELSEWHERE: 1}


def test_a_destination_that_no_queue_can_have_begins_no_stream() -> None:
    bench = bench_with()
    peer = bench.accepted()
    packet = peer.made(b"1", to=LEDGER, stream=(1, 0))
    name = Address(AddressKind.DIRECT, direct="OS:" + "x" * LONGEST_NAME + "\\private$\\ledger")
    peer.send(replace(packet, user=replace(packet.user, destination=name)))
    assert (rows(bench), bench.mqqb.counts[Count.NOT_ADMITTED]) == (0, 1)
    assert "names no queue" in bench.warnings[-1].why


@pytest.mark.spec("QB-244")
def test_refusals_that_no_sender_fetches_are_limited() -> None:
    bench = bench_with(refusals=5)
    crowd = crowd_of(bench)
    for sender in range(1, 4):
        for number in range(1, 21):
            crowd.user(b"", to=NOWHERE, stream=(number, number - 1), source=UUID(int=sender))
    waiting = sum(len(queue.order) + len(queue.order.locked) for queue in bench.state.names.outgoing.values())
    assert waiting == bench.mqqb.receiver.refusals.total == 5 + 2  # two more senders had one each
    assert outgoing(bench) == 3
    assert "mqqb.refusals" in bench.warnings[-1].why


def test_a_sender_that_fetches_its_refusals_goes_on_beside_a_crowd_that_does_not() -> None:
    bench = bench_with(refusals=5)
    crowd = crowd_of(bench)
    for number in range(1, 21):
        crowd.user(b"", to=NOWHERE, stream=(number, number - 1), source=UUID(int=1))
    honest = bench.accepted()
    for number in range(1, 4):
        honest.user(b"", to=NOWHERE, stream=(number, number - 1))
        bench.advance(1)
        honest.ack_all()
    bench.advance(15)
    assert [each.body.number for each in honest.final_acks] == [1, 2, 3]
    assert honest.order_acks[-1].body.number == 3
    honest.user(b"taken", to=LEDGER, stream=(STREAM, 1, 0))
    assert bench.bodies("ledger") == [b"taken"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 9), st.integers(0, 3), st.sampled_from([PEER_ADDRESS, ELSEWHERE, "10.0.0.7"])
        ),
        max_size=40,
    ),
    st.booleans(),
)
def test_the_counts_equal_those_of_the_rows_in_every_run(
    arrivals: list[tuple[int, int, str]], crash: bool
) -> None:
    bench = bench_with(streams=12, streams_per_address=5, senders=6)
    peers = {
        address: bench.accepted(address, UUID(int=1000)) for address in (PEER_ADDRESS, ELSEWHERE, "10.0.0.7")
    }
    last: dict[tuple[int, int], int] = {}
    for sender, queue, address in arrivals:
        number = last.get((sender, queue), 0) + 1
        to = f"TCP:10.0.0.{queue + 2}\\private$\\ledger"
        before = len(bench.bodies("ledger"))
        peers[address].user(b"", to=to, stream=(number, number - 1), source=UUID(int=sender))
        taken = len(bench.bodies("ledger")) - before
        assert taken or number == 1, "a stream that is kept always goes on"
        if taken:
            last[sender, queue] = number
    for _ in range(2):
        state = bench.mqqb
        assert len(state.places) == len(last) == rows(bench) <= 12
        assert sum(state.streams_from.values()) == sum(map(len, state.by_sender.values())) == len(last)
        assert {each for each, _ in last} == {sender.int for sender in state.by_sender}
        assert len(state.by_sender) <= 6
        bench.flush()
        bench.restart(crash=crash)
