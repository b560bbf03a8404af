"""Tests internal packets; the published ones are in tests/protocols/mqqb/codec/test_sample.py."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.internal import (
    NOT_PINGED,
    RELEASE,
    ConnectionParameters,
    EstablishConnection,
    InternalPacket,
    SessionAck,
    decode_internal,
)
from reliquary.wire.packet.session import SessionHeader
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed

ESTABLISH = EstablishConnection().encode()
PARAMETERS = ConnectionParameters().encode()
ACK = SessionAck(SessionHeader(1, 2, 3, 4, 5)).encode()

packets = st.one_of(
    st.builds(
        EstablishConnection,
        client=strategies.guid,
        server=strategies.guid,
        timestamp=strategies.long,
        operating_system=strategies.short,
        refused=st.booleans(),
    ),
    st.builds(
        ConnectionParameters,
        recoverable_ack_timeout=st.integers(500, 120_000),
        ack_timeout=st.integers(20_000, 120_000),
        window=strategies.short,
        refused=st.booleans(),
    ),
    st.builds(SessionAck, strategies.sessions),
)


@given(packets)
def test_any_packet_is_encoded_and_decoded(packet: InternalPacket) -> None:
    assert decode_internal(packet.encode()) == packet


@pytest.mark.spec("QB-013", "QB-031", "QB-036", "QB-041", "QB-056", "QB-057", "QB-058")
def test_what_has_no_meaning_is_written_as_the_text_wants() -> None:
    assert [len(raw) for raw in (ESTABLISH, PARAMETERS, ACK)] == [572, 32, 36]
    for raw in (ESTABLISH, PARAMETERS, ACK):
        assert raw[12:16] == b"\xff\xff\xff\xff"
        assert raw[16:18] == b"\0\0"
        assert raw[18] & ~0x1F == raw[19] == 0
    assert ESTABLISH[58:60] == PARAMETERS[28:30] == b"\0\0"
    assert ESTABLISH[60:] == b"\x5a" * 512


@pytest.mark.spec("QB-048", "QB-053", "QB-054")
def test_the_operating_system_has_its_release_and_says_that_there_was_no_ping() -> None:
    assert ESTABLISH[56:58] == b"\x10\x01"
    assert EstablishConnection().operating_system == RELEASE | NOT_PINGED


@pytest.mark.spec("QB-031", "QB-037", "QB-041", "QB-055", "QB-056", "QB-058")
@pytest.mark.parametrize(
    ("raw", "at", "to"),
    [
        pytest.param(ESTABLISH, 1, b"\xff", id="reserved of the base header"),
        pytest.param(ESTABLISH, 16, b"\xff\xff", id="reserved of the internal header"),
        pytest.param(ESTABLISH, 18, b"\xe2\xff", id="X5 to X15"),
        pytest.param(ESTABLISH, 58, b"\xff\xff", id="reserved of a request"),
        pytest.param(ESTABLISH, 60, bytes(512), id="padding"),
        pytest.param(PARAMETERS, 28, b"\xff\xff", id="reserved of parameters"),
        pytest.param(ACK, 34, b"\xff\xff", id="reserved of a session header"),
    ],
)
def test_what_has_no_meaning_is_ignored(raw: bytes, at: int, to: bytes) -> None:
    assert decode_internal(changed(raw, at, to=to)) == decode_internal(raw)


@pytest.mark.spec("QB-011", "QB-025", "QB-076")
@pytest.mark.mqqb("T-10")
def test_an_acknowledgement_may_leave_its_session_header_out_of_the_count() -> None:
    assert ACK[8:12] == (36).to_bytes(4, "little")
    assert decode_internal(changed(ACK, 8, to=b"\x14")) == decode_internal(ACK)


@pytest.mark.spec("QB-022", "QB-023", "QB-024", "QB-025", "QB-030", "QB-032", "QB-033", "QB-039", "QB-040")
@pytest.mark.mqqb("T-11", "T-22")
@pytest.mark.parametrize(
    ("raw", "at", "to", "offset"),
    [
        pytest.param(ESTABLISH, 0, b"\x11", 0, id="version"),
        pytest.param(ESTABLISH, 4, b"LION", 4, id="signature"),
        pytest.param(ESTABLISH, 2, b"\3", 2, id="a user's message"),
        pytest.param(ESTABLISH, 2, b"\x1b", 2, id="a session header that cannot be there"),
        pytest.param(ACK, 2, b"\x0b", 2, id="no session header"),
        pytest.param(ACK, 18, b"\x11", 18, id="an acknowledgement that refuses"),
        pytest.param(ESTABLISH, 8, b"\x3b", 8, id="one byte less than came"),
        pytest.param(
            changed(ESTABLISH, 20, to=PARAMETERS[20:28]), 18, b"\3", 32, id="parameters of 572 bytes"
        ),
        pytest.param(PARAMETERS, 18, b"\2", 20, id="a request of 32 bytes"),
        pytest.param(PARAMETERS, 20, (499).to_bytes(4, "little"), 20, id="499 ms"),
        pytest.param(PARAMETERS, 20, (120_001).to_bytes(4, "little"), 20, id="120,001 ms"),
        pytest.param(PARAMETERS, 24, (19_999).to_bytes(4, "little"), 24, id="19,999 ms"),
        pytest.param(ACK, 32, b"\0\0", 32, id="a window of nothing"),
        *(pytest.param(ESTABLISH, 18, bytes([kind]), 18, id=f"type {kind}") for kind in (0, *range(4, 16))),
    ],
)
def test_what_is_wrong_is_refused_with_its_offset(raw: bytes, at: int, to: bytes, offset: int) -> None:
    with pytest.raises(PacketFault) as caught:
        decode_internal(changed(raw, at, to=to))
    assert caught.value.offset == offset


@pytest.mark.spec("QB-042")
def test_a_window_of_a_connection_may_be_any_number() -> None:
    for window in (0, 1, 0xFFFF):
        assert decode_internal(ConnectionParameters(window=window).encode()) == ConnectionParameters(
            window=window
        )


@pytest.mark.parametrize(
    "packet",
    [
        ConnectionParameters(recoverable_ack_timeout=499),
        ConnectionParameters(ack_timeout=120_001),
        ConnectionParameters(window=0x10000),
        EstablishConnection(timestamp=1 << 32),
    ],
)
def test_what_cannot_be_written_is_the_callers_mistake(packet: InternalPacket) -> None:
    with pytest.raises(UsageError):
        packet.encode()
