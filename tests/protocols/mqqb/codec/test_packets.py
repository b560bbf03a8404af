"""Tests any packet of a session: the codec and a decoder that shares no code with it read it alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.mqqb.codec.packets import MOST_HOPS, Packet, decode_packet, with_session
from reliquary.wire.packet.addresses import Address, AddressKind
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.internal import ConnectionParameters, EstablishConnection, SessionAck
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.user_message import UserMessage
from tests.protocols.mqqb.codec import second_decoder
from tests.protocols.mqqb.codec.frames import COMPOSED, SAMPLE
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed
from tests.wire.packet.test_internal import packets as internal_packets

AT_FLAGS = 60
messages = strategies.packets().filter(lambda each: each.envelope is None and each.user.hops <= MOST_HOPS)


def as_fields(packet: Packet) -> dict[str, Any]:
    """Return a packet in the words of the second decoder."""
    match packet:
        case EstablishConnection():
            return {
                "kind": "EstablishConnection",
                "CS": packet.refused,
                "ClientGuid": str(packet.client),
                "ServerGuid": str(packet.server),
                "TimeStamp": packet.timestamp,
                "OperatingSystem": packet.operating_system,
            }
        case ConnectionParameters():
            return {
                "kind": "ConnectionParameters",
                "CS": packet.refused,
                "RecoverableAckTimeout": packet.recoverable_ack_timeout,
                "AckTimeout": packet.ack_timeout,
                "WindowSize": packet.window,
            }
        case SessionAck(header):
            return {"kind": "SessionAck", **session_fields(header)}
        case UserMessage():
            return message_fields(packet)


def session_fields(header: SessionHeader) -> dict[str, int]:
    return {
        "AckSequenceNumber": header.ack,
        "RecoverableMsgAckSeqNumber": header.recoverable_ack,
        "RecoverableMsgAckFlags": header.recoverable_set,
        "UserMsgSequenceNumber": header.sent,
        "RecoverableMsgSeqNumber": header.recoverable_sent,
        "WindowSize": header.window,
    }


def message_fields(packet: UserMessage) -> dict[str, Any]:
    user, transaction = packet.user, packet.transaction
    found: dict[str, Any] = {
        "kind": "UserMessage",
        "PR": packet.base.priority,
        "TimeToReachQueue": packet.base.time_to_reach_queue,
        "SourceQueueManager": str(user.source),
        "QueueManagerAddress": str(user.address),
        "TimeToBeReceived": user.time_to_be_received,
        "SentTime": user.sent_time,
        "MessageID": user.message_id,
        "RC": user.hops,
        "DM": int(user.recoverable),
        "JN": user.dead_letter,
        "JP": user.journal,
        "DQ": int(user.destination.kind),
        "DestinationQueue": address_of(user.destination),
        "MessageClass": packet.properties.message_class,
        "Label": packet.properties.label,
        "Body": packet.properties.body,
    }
    if transaction is not None:
        found["TxSequenceID"] = transaction.ordinal, transaction.timestamp
        found["TxSequenceNumber"] = transaction.number
        found["PreviousTxSequenceNumber"] = transaction.previous
    if packet.session is not None:
        found["SessionHeader"] = session_fields(packet.session)
    return found


def address_of(address: Address) -> object:
    match address.kind:
        case AddressKind.DIRECT:
            return address.direct
        case AddressKind.PUBLIC:
            return str(address.guid)
        case AddressKind.PRIVATE_ON_DESTINATION:
            return address.number
        case _:
            return None


def read_twice(data: bytes) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return what both decoders read; None stands for a refusal."""
    try:
        first: dict[str, Any] | None = as_fields(decode_packet(data))
    except PacketFault:
        first = None
    try:
        second: dict[str, Any] | None = second_decoder.packet(data)
    except (second_decoder.Bad, UnicodeDecodeError):
        second = None
    return first, second


@pytest.mark.spec("QB-007", "QB-022")
@pytest.mark.mqqb("T-14")
@given(st.one_of(internal_packets, messages))
def test_the_decoders_read_any_packet_alike(packet: Packet) -> None:
    first, second = read_twice(packet.encode())
    assert first is not None
    assert first == second


@pytest.mark.mqqb("T-13")
@pytest.mark.parametrize("name", [name for name in COMPOSED if name not in {"V12", "V13"}])
def test_composed_packets_are_written_as_they_are_read(name: str) -> None:
    packet = decode_packet(COMPOSED[name])
    assert packet.encode() == COMPOSED[name]
    first, second = read_twice(COMPOSED[name])
    assert first is not None
    assert first == second


@pytest.mark.mqqb("T-14")
@given(st.sampled_from(sorted({**SAMPLE, **COMPOSED}.items())), st.integers(0, 600), st.binary(max_size=3))
def test_a_packet_that_the_codec_takes_reads_alike_after_any_change(
    named: tuple[str, bytes], at: int, to: bytes
) -> None:
    data = named[1][:at] + to + named[1][at + len(to) :]
    first, second = read_twice(data)
    assert first is None or first == second


@pytest.mark.spec("QB-016", "QB-030")
@pytest.mark.mqqb("T-12")
def test_headers_of_srmp_are_never_parsed() -> None:
    with pytest.raises(PacketFault, match="SRMP") as caught:
        decode_packet(changed(COMPOSED["V7"], 63, to=b"\2"))
    assert caught.value.offset == AT_FLAGS


@pytest.mark.spec("QB-015", "QB-030")
@pytest.mark.mqqb("T-11")
@pytest.mark.parametrize(
    ("flags", "why"),
    [
        *(pytest.param(kind << 10, "destination", id=f"DQ {kind}") for kind in (1, 2, 4, 6)),
        *(pytest.param(kind << 13, "administration", id=f"AQ {kind}") for kind in (1, 4)),
        pytest.param(2 << 5, "delivery", id="DM 2"),
        pytest.param(0x1E, "hops", id="30 hops"),
    ],
)
def test_flags_that_mean_nothing_are_refused(flags: int, why: str) -> None:
    cleared = int.from_bytes(COMPOSED["V7"][60:64], "little")
    cleared &= ~{"destination": 7 << 10, "administration": 7 << 13, "delivery": 3 << 5, "hops": 0x1F}[why]
    with pytest.raises(PacketFault, match=why):
        decode_packet(changed(COMPOSED["V7"], 60, to=(cleared | flags).to_bytes(4, "little")))


@pytest.mark.spec("QB-011", "QB-218")
def test_a_session_header_is_put_behind_a_message_without_being_counted() -> None:
    header = SessionHeader(ack=5, recoverable_ack=2, recoverable_set=1, sent=9, recoverable_sent=8)
    assert with_session(COMPOSED["V7"], header) == COMPOSED["V8"]
    packet = decode_packet(COMPOSED["V8"])
    assert isinstance(packet, UserMessage)
    assert packet.session == header


@pytest.mark.parametrize("size", [0, 15, 16, 19, 63])
def test_bytes_too_short_for_any_packet_are_refused(size: int) -> None:
    with pytest.raises(PacketFault):
        decode_packet(COMPOSED["V7"][:size])
