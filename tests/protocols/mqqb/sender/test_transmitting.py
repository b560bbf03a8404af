"""Packets leave as far as windows and bytes allow."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.codec.packets import decode_packet
from reliquary.protocols.mqqb.effects import SendPackets, SendStored
from reliquary.protocols.mqqb.sender import packets, transmitting
from reliquary.protocols.mqqb.sessions import links
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Entry, SessionQueue, State
from reliquary.streams.outgoing import Sent
from reliquary.wire.packet.user_message import UserMessage
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench, Peer, place_of, waiting


def test_large_packets_are_limited_by_their_bytes() -> None:
    bench = MqqbBench(settings=MqqbSettings(most_bytes=3000))
    bench.send(ELSEWHERE, *(bytes(1000) for _ in range(10)))
    peer = bench.dialled()
    assert len(peer.bodies) == 3
    peer.ack(3, first=1, bits=0b111)
    assert len(peer.bodies) == 6


def with_second_too_large(
    state: State, outgoing: SessionQueue, entry: Entry, sent: Sent, number: int
) -> bytes:
    """Return the packet of a message; that of the second one is larger than a packet may be."""
    return bytes(1 << 23) if number == 2 else packets.stream_packet(state, outgoing, entry, sent, number)


def of_turn(bench: MqqbBench, peer: Peer) -> list[tuple[type, list[bytes]]]:
    """Return the effects of the last turn for a peer, and the bodies in them."""
    effects = [each for each in bench.out if isinstance(each, SendPackets) and each.session == peer.session]
    bench.out.clear()
    packets = [(type(each), [decode_packet(data) for data in each.packets]) for each in effects]
    return [
        (kind, [each.properties.body for each in found if isinstance(each, UserMessage)])
        for kind, found in packets
    ]


@pytest.mark.spec("QB-283")
def test_a_message_that_was_on_disk_before_does_not_wait_for_the_removal_of_others() -> None:
    bench = MqqbBench(settings=MqqbSettings(window=1))
    bench.send(ELSEWHERE, b"a", b"b", b"c")
    peer = bench.dialled()
    assert of_turn(bench, peer)[-1] == (SendPackets, [b"a"])  # its own sync is not over yet
    peer.ack(1, first=1, bits=1)
    assert of_turn(bench, peer) == [(SendStored, [b"b"])]


def test_a_message_waits_for_the_sync_when_the_one_before_it_was_given_up_in_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = MqqbBench(settings=MqqbSettings(window=1))
    monkeypatch.setattr(links, "AHEAD", 3)
    for body in (b"1", b"2", b"3"):
        bench.transact(ELSEWHERE, body)
    monkeypatch.setattr(transmitting, "stream_packet", with_second_too_large)
    peer = bench.dialled()
    bench.out.clear()
    peer.ack(1, first=1, bits=1)
    assert of_turn(bench, peer) == [(SendPackets, [b"3"])]  # that 2 is passed over is not on disk yet


def test_recoverable_packets_without_a_bit_are_limited() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    entry = peer.state.unstored[1]
    for number in range(2, transmitting.MOST_UNSTORED + 1):
        peer.state.unstored[number] = entry
    bench.send(ELSEWHERE, b"b")
    assert peer.bodies == [b"a"]


def test_a_message_that_does_not_fit_into_a_packet_is_refused_and_its_number_bridged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = MqqbBench()
    for body in (b"1", b"2", b"3"):
        bench.transact(ELSEWHERE, body)
    monkeypatch.setattr(transmitting, "stream_packet", with_second_too_large)
    peer = bench.dialled()
    assert [place_of(each) for each in peer.messages] == [(1, 0), (3, 1)]
    assert waiting(bench) == 2
    assert bench.bodies("system$;deadxact") == [b"2"]
