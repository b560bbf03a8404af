"""Tests that the packets do not depend on how a stream is split, and that invalid bytes end the stream."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.wire.packet.base import SIZE_LIMIT
from reliquary.wire.packet.framing import LEAST_USER, Framer
from reliquary.wire.packet.internal import ConnectionParameters, EstablishConnection, SessionAck
from reliquary.wire.packet.session import SessionHeader
from tests.protocols.mqqb.codec.frames import COMPOSED
from tests.wire.packet.both_ways import changed

ACK = SessionAck(SessionHeader(1)).encode()
PACKETS = [
    EstablishConnection().encode(),
    ConnectionParameters().encode(),
    COMPOSED["V7"],
    COMPOSED["V8"],
    ACK,
    changed(ACK, 8, to=b"\x14"),
]
STREAM = b"".join(PACKETS)
HEAD = COMPOSED["V7"][:16]


def whole(framer: Framer, pieces: list[bytes]) -> list[bytes]:
    return [packet for piece in pieces for packet in framer.feed(piece)]


@pytest.mark.spec("QB-005", "QB-011")
@pytest.mark.mqqb("T-10")
def test_a_cut_at_every_byte_and_no_cut_give_the_packets() -> None:
    for cut in range(len(STREAM) + 1):
        framer = Framer()
        assert whole(framer, [STREAM[:cut], STREAM[cut:]]) == PACKETS
        assert not framer.buffered
        assert framer.fault is None


def test_single_bytes_give_the_packets() -> None:
    assert whole(Framer(), [bytes([each]) for each in STREAM]) == PACKETS


@pytest.mark.mqqb("T-14")
@given(st.lists(st.integers(0, len(STREAM)), max_size=8), st.binary(max_size=40))
def test_any_pieces_and_any_rest_give_the_complete_packets(cuts: list[int], rest: bytes) -> None:
    data = STREAM + rest
    edges = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(edges)]
    at_once, in_pieces = Framer(), Framer()
    assert whole(in_pieces, pieces) == at_once.feed(data)
    assert str(in_pieces.fault) == str(at_once.fault)
    assert in_pieces.fault is not None or in_pieces.buffered == at_once.buffered


def test_half_a_packet_is_held_and_counted() -> None:
    framer = Framer()
    assert framer.feed(STREAM[:600]) == PACKETS[:1]
    assert framer.buffered == 600 - 572


@pytest.mark.spec("QB-010", "QB-012", "QB-029", "QB-030")
@pytest.mark.mqqb("T-11")
@pytest.mark.parametrize(
    ("head", "offset"),
    [
        pytest.param(changed(HEAD, 0, to=b"\x11"), 0, id="version"),
        pytest.param(changed(HEAD, 4, to=b"LION"), 4, id="signature"),
        pytest.param(changed(HEAD, 4, to=b"ROIL"), 4, id="signature in the other order"),
        pytest.param(changed(HEAD, 8, to=(15).to_bytes(4, "little")), 8, id="15 bytes"),
        pytest.param(changed(HEAD, 8, to=(LEAST_USER - 1).to_bytes(4, "little")), 8, id="too small"),
        pytest.param(changed(HEAD, 8, to=(SIZE_LIMIT + 1).to_bytes(4, "little")), 8, id="too large"),
        pytest.param(changed(PACKETS[0][:16], 8, to=b"\x3b"), 8, id="a request of 571 bytes"),
        pytest.param(changed(ACK[:16], 2, to=b"\x0b"), 2, id="an acknowledgement without a session header"),
        pytest.param(b"GET / HTTP/1.0\r\n", 0, id="HTTP"),
        pytest.param(b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(5), 0, id="TLS"),
    ],
)
def test_what_is_no_packet_ends_the_stream_and_keeps_what_came_before(head: bytes, offset: int) -> None:
    framer = Framer()
    assert framer.feed(STREAM + head + STREAM) == PACKETS
    assert framer.fault is not None
    assert framer.fault.offset == offset
    assert framer.feed(STREAM) == []


@pytest.mark.spec("QB-029")
@pytest.mark.parametrize(
    ("beginning", "needed", "offset"),
    [
        pytest.param(b"\r\n\r\n", 1, 0, id="empty lines"),
        pytest.param(b"\0\0\0\x85\xffSMB", 1, 0, id="SMB"),
        pytest.param(b"\x10\x0c\0\4MQTT", 8, 4, id="MQTT has this version byte"),
    ],
)
def test_a_wrong_beginning_ends_the_stream_before_its_header_is_whole(
    beginning: bytes, needed: int, offset: int
) -> None:
    framer = Framer()
    assert framer.feed(STREAM + beginning[: needed - 1]) == PACKETS
    before = framer.fault
    assert before is None
    assert framer.feed(beginning[needed - 1 : needed]) == []
    assert framer.fault is not None
    assert framer.fault.offset == offset
    at_once = Framer()
    assert at_once.feed(STREAM + beginning) == PACKETS
    assert str(at_once.fault) == str(framer.fault)


def test_the_beginning_of_a_packet_waits_for_the_rest() -> None:
    for size in range(1, 16):
        framer = Framer()
        assert framer.feed(HEAD[:size]) == []
        assert (framer.buffered, framer.fault) == (size, None)


def test_the_largest_packet_is_taken_and_a_smaller_limit_holds() -> None:
    largest = changed(HEAD, 8, to=SIZE_LIMIT.to_bytes(4, "little")) + bytes(SIZE_LIMIT - 16)
    assert Framer().feed(largest) == [largest]
    framer = Framer(largest=200)
    assert framer.feed(COMPOSED["V7"]) == []
    assert framer.fault is not None
