"""Packets that arrive are processed one after another, for any division of the bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.mqqb import arrivals
from reliquary.protocols.mqqb.events import PacketsArrived
from reliquary.protocols.mqqb.sessions.phases import PacketAction
from reliquary.protocols.mqqb.state import Count
from tests.protocols.mqqb.mqqb_harness import MqqbBench


def test_every_step_but_the_close_has_a_rule() -> None:
    assert set(arrivals.HANDLED) == set(PacketAction) - {PacketAction.CLOSE}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=8))
def test_messages_of_one_read_are_judged_in_their_order(sizes: list[int]) -> None:
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    peer = bench.accepted()
    number = 0
    for size in sizes:
        packets = []
        for _ in range(size):
            number += 1
            made = peer.made(b"%d" % number, to="TCP:10.0.0.2\\private$\\ledger", stream=(number, number - 1))
            packets.append(made.encode())
        bench.handle(PacketsArrived(peer.session, tuple(packets)))
    assert bench.bodies("ledger") == [b"%d" % each for each in range(1, number + 1)]
    assert bench.mqqb.counts[Count.OUT_OF_TURN] == 0


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_packets_never_stop_the_machine(data: st.DataObject) -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    packet = bytearray(peer.made(b"body", stream=(1, 0)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(packet) - 1))
        packet[at] = data.draw(st.integers(0, 255))
    bench.handle(PacketsArrived(peer.session, (bytes(packet),)))
    other = bench.accepted("10.0.0.5")
    other.user(b"fine")
    assert bench.bodies("orders")[-1] == b"fine"


def test_a_packet_behind_one_that_closes_the_session_is_not_processed() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    good = peer.made(b"good").encode()
    peer.send(b"\x10" + bytes(20), good)
    assert peer.hung_up
    assert bench.bodies("orders") == []


@pytest.mark.spec("QB-213")
def test_packets_behind_an_acknowledgement_wait_until_it_has_left() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    bench.patient = True
    peer.send(*(peer.made(b"%d" % number) for number in range(50)))
    assert (len(bench.bodies("orders")), len(peer.state.inbox), len(peer.acks)) == (32, 18, 1)
    peer.user(b"50")
    assert len(peer.state.inbox) == 19
    bench.go_on()
    assert bench.bodies("orders") == [b"%d" % number for number in range(51)]


def test_a_peer_that_keeps_to_no_window_is_not_waited_for() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    bench.patient = True
    peer.send(*(peer.made(b"x") for _ in range(32 + 64 + 1)))
    assert len(peer.state.inbox) <= 64
    for _ in range(4):
        peer.send(*(peer.made(b"x") for _ in range(64)))
        assert len(peer.state.inbox) <= 64
    bench.go_on()
    assert len(bench.bodies("orders")) == 32 + 64 + 1 + 256
