"""Tests the whole packet: the published one, random ones, and packets with wrong sizes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from reliquary.base.faults import UsageError
from reliquary.wire.packet.base import SIZE_LIMIT, BaseHeader
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.properties import PropertiesHeader
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.soap import EnvelopeHeader
from reliquary.wire.packet.user import UserHeader
from reliquary.wire.packet.user_message import UserMessage, decode_leading, decode_user_message
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed
from tests.wire.packet.vector import HEADERS, PACKET


def refused(data: bytes) -> PacketFault:
    with pytest.raises(PacketFault) as caught:
        decode_user_message(data)
    return caught.value


@pytest.mark.spec("DM-269", "DM-282")
def test_the_published_packet_is_read_and_written_to_equal_bytes() -> None:
    assert (len(HEADERS), len(PACKET)) == (222, 0x8B0)
    packet = decode_user_message(PACKET)
    present = {name for name in UserMessage.__struct_fields__ if getattr(packet, name) is not None}
    assert present == {"base", "user", "security", "properties"}
    assert packet.properties.label == "mqsender label"
    assert packet.encode() == PACKET


@pytest.mark.spec("DM-269", "DM-282")
@settings(max_examples=60)
@given(strategies.packets())
def test_any_packet_is_read_as_it_was_written_and_counts_all_but_the_session(packet: UserMessage) -> None:
    raw = packet.encode()
    assert decode_user_message(raw) == packet
    session = 16 if packet.session is not None else 0
    assert int.from_bytes(raw[8:12], "little") == len(raw) - session
    assert len(raw) % 4 == 0


def test_a_packet_without_anything_has_three_headers() -> None:
    raw = UserMessage().encode()
    assert len(raw) == 16 + 48 + 56
    assert decode_user_message(raw) == UserMessage()


@settings(max_examples=30)
@given(strategies.packets())
def test_a_packet_cut_anywhere_is_refused(packet: UserMessage) -> None:
    raw = packet.encode()
    for size in range(0, len(raw), 7):
        assert refused(raw[:size]).offset <= size


def test_a_packet_that_claims_more_than_came_is_refused() -> None:
    fault = refused(PACKET[:-1])
    assert fault.offset == 8
    assert "2224 bytes, and 2223 came" in fault.why


def test_a_packet_that_claims_less_than_its_headers_is_refused() -> None:
    assert refused(changed(PACKET, 8, to=b"\xac")).offset == 0xDE


def test_bytes_after_the_last_header_are_refused() -> None:
    assert refused(changed(PACKET + bytes(4), 8, to=b"\xb4")).offset == len(PACKET)


def test_bytes_after_the_packet_are_refused_or_left() -> None:
    assert refused(PACKET + b"more").offset == len(PACKET)
    assert decode_leading(PACKET + b"more") == (decode_user_message(PACKET), len(PACKET))


def test_a_session_header_that_is_announced_has_to_come() -> None:
    raw = UserMessage(session=SessionHeader()).encode()
    assert refused(raw[:-16]).offset == len(raw) - 16
    assert refused(raw[:-1]).offset == len(raw) - 16


def test_the_content_of_padding_is_ignored() -> None:
    assert decode_user_message(PACKET[:-2] + b"\xde\xad") == decode_user_message(PACKET)


def test_a_packet_has_at_most_four_megabytes() -> None:
    room = SIZE_LIMIT - 16 - 48 - 56
    largest = UserMessage(properties=PropertiesHeader(body=bytes(room)))
    assert decode_user_message(largest.encode()) == largest
    with pytest.raises(UsageError, match="at most 4194304 bytes, this one would have 4194308"):
        UserMessage(properties=PropertiesHeader(body=bytes(room + 1))).encode()


@pytest.mark.parametrize(
    ("packet", "why"),
    [
        (UserMessage(user=UserHeader(sent_time=1 << 32)), "does not fit"),
        (UserMessage(user=UserHeader(message_id=-1)), "does not fit"),
        (UserMessage(properties=PropertiesHeader(message_class=0x10000)), "does not fit"),
        (UserMessage(base=BaseHeader(time_to_reach_queue=1 << 32)), "does not fit"),
        (UserMessage(envelope=EnvelopeHeader()), "come together"),
    ],
)
def test_what_cannot_be_written_is_the_callers_mistake(packet: UserMessage, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        packet.encode()
