"""Tests that packets by pattern equal those of the codec."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.wire.packet.base import SIZE_LIMIT
from reliquary.wire.packet.patterns import LONGEST_HEAD, Pattern, Varying, has_pattern, pattern_of
from reliquary.wire.packet.security import QUEUE_MANAGER, SID, ProviderInfo, SecurityHeader
from reliquary.wire.packet.transaction import TransactionHeader
from reliquary.wire.packet.user_message import UserMessage, decode_user_message
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed

DURABLE = replace(UserMessage().user, recoverable=True)
BODY = bytes(2 * LONGEST_HEAD)
NUMBERS = st.integers(0, 0xFFFFFFFF)
varyings = st.builds(
    Varying,
    NUMBERS,
    NUMBERS,
    st.binary(max_size=40),
    st.builds(
        TransactionHeader,
        st.integers(0, 0xFFFFF),
        NUMBERS,
        NUMBERS,
        NUMBERS,
        NUMBERS,
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
)


def without_rare(packet: UserMessage) -> UserMessage:
    """Return the packet without the headers that a pattern cannot have; a SecurityHeader keeps only
    its SID."""
    transaction, security = packet.transaction, packet.security
    if security is not None and security.sender:
        security = SecurityHeader(sender_kind=SID, data_flag=security.data_flag, sender=security.sender)
    else:
        security = None
    return replace(
        packet,
        base=replace(packet.base, tracing=False),
        transaction=None if transaction is None else replace(transaction, connector=None),
        properties=replace(packet.properties, slack=b""),
        security=security,
        **dict.fromkeys(("debug", "envelope", "compound", "soap", "multi", "session")),
    )


plain = strategies.packets().map(without_rare)


def filled(packet: UserMessage, varying: Varying) -> tuple[UserMessage, Varying]:
    """Return the packet with these fields; one outside streams has no position in one."""
    if packet.transaction is None:
        varying = replace(varying, transaction=None)
    return replace(
        packet,
        user=replace(packet.user, sent_time=varying.sent_time, message_id=varying.message_id),
        transaction=varying.transaction,
        properties=replace(packet.properties, body=varying.body),
    ), varying


@settings(max_examples=60)
@given(plain, varyings)
def test_a_packet_is_written_and_read_as_the_codec_does(packet: UserMessage, varying: Varying) -> None:
    pattern = Pattern(packet, packet.encode())
    expected, varying = filled(packet, varying)
    assert pattern.write(varying) == expected.encode()
    assert pattern.read(expected.encode()) == varying
    place = varying.transaction
    if place is not None:
        placed = pattern.at(replace(place, number=0, previous=0))
        written = placed.write_next(
            varying.sent_time, varying.message_id, varying.body, place.number, place.previous
        )
        assert written == expected.encode()


def test_a_pattern_is_for_packets_of_streams_or_for_others_and_not_for_both() -> None:
    """Else a packet would be malformed, or would have the place of an earlier message."""
    outside, inside = UserMessage(), UserMessage(user=DURABLE, transaction=TransactionHeader())
    with pytest.raises(AssertionError, match="no room for a place"):
        Pattern(outside, outside.encode()).write(Varying(0, 0, b"", TransactionHeader()))
    with pytest.raises(AssertionError, match="has a place in it"):
        Pattern(inside, inside.encode()).write(Varying(0, 0, b""))


def test_numbers_of_a_stream_that_do_not_fit_are_refused() -> None:
    packet = UserMessage(user=DURABLE, transaction=TransactionHeader())
    pattern = Pattern(packet, packet.encode())
    with pytest.raises(UsageError, match="does not fit"):
        pattern.at(TransactionHeader(ordinal=1 << 32))
    with pytest.raises(UsageError, match="does not fit"):
        pattern.at(TransactionHeader()).write_next(0, 0, b"", 1 << 32, 0)


@settings(max_examples=60)
@given(plain, st.data())
def test_what_a_pattern_reads_of_changed_bytes_is_what_the_codec_reads(
    packet: UserMessage, data: st.DataObject
) -> None:
    raw = packet.encode()
    pattern = Pattern(packet, raw)
    at = data.draw(st.integers(0, len(raw) - 1))
    other = changed(raw, at, to=data.draw(st.binary(min_size=1, max_size=1)))
    found = pattern.read(other)
    if found is not None:
        assert decode_user_message(other) == filled(packet, found)[0]


@settings(max_examples=30)
@given(plain)
def test_a_packet_that_is_cut_or_too_long_has_no_pattern(packet: UserMessage) -> None:
    raw = packet.encode()
    pattern = Pattern(packet, raw)
    assert [size for size in range(len(raw)) if pattern.read(raw[:size]) is not None] == []
    assert pattern.read(raw + bytes(4)) is None


SID_ALONE = SecurityHeader(sender_kind=SID, data_flag=True, sender=bytes(28))


@pytest.mark.parametrize(
    "more",
    [
        {"signature": b"s"},
        {"certificate": b"c"},
        {"encryption_key": b"k"},
        {"encrypted": True},
        {"authenticated": True},
        {"signature_level": 3},
        {"default_provider": True},
        {"provider": ProviderInfo()},
        {"sender_kind": QUEUE_MANAGER},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_security_header_with_more_than_a_sid_has_no_pattern(more: dict[str, Any]) -> None:
    assert has_pattern(UserMessage(security=SID_ALONE))
    assert not has_pattern(UserMessage(security=replace(SID_ALONE, **more)))


def test_a_packet_with_another_sid_is_not_read_by_the_pattern() -> None:
    packet = UserMessage(security=SID_ALONE)
    other = UserMessage(security=replace(SID_ALONE, sender=bytes(27) + b"x"))
    pattern = Pattern(packet, packet.encode())
    assert pattern.read(packet.encode()) is not None
    assert pattern.read(other.encode()) is None
    assert pattern.read(UserMessage().encode()) is None


def test_a_packet_with_a_rare_header_has_no_pattern() -> None:
    assert has_pattern(UserMessage())
    rare = UserMessage(transaction=TransactionHeader(connector=UserMessage().user.source))
    assert not has_pattern(rare)


def test_a_packet_with_long_headers_has_no_pattern_that_would_be_kept() -> None:
    for size, found in ((8, True), (LONGEST_HEAD, False)):
        packet = UserMessage(properties=replace(UserMessage().properties, extension=bytes(size), body=BODY))
        assert (pattern_of(packet, packet.encode()) is not None) is found


def test_a_number_that_does_not_fit_and_a_packet_that_is_too_large_are_refused() -> None:
    packet = UserMessage()
    pattern = Pattern(packet, packet.encode())
    with pytest.raises(UsageError, match="does not fit"):
        pattern.write(Varying(1 << 32, 0, b""))
    with pytest.raises(UsageError, match="at most"):
        pattern.write(Varying(0, 0, bytes(SIZE_LIMIT)))
