"""Tests packets against a second decoder, and the packets that are refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.pgm import packets
from reliquary.wire.pgm.options import Fragment, Reset
from reliquary.wire.pgm.packets import Data, Nak, NotServed, Packet, PgmPacketType, Spm, Tsi
from tests.wire.pgm import plain_decoder, strategies

TSI = Tsi(bytes.fromhex("010203040506"), 0x1111)
SPM = bytes.fromhex("1111 2222 00 00 b9b8  010203040506 0000  00000001 00000002 00000003  0001 0000 0a000001")
ODATA = bytes.fromhex("1111 2222 04 00 5750  010203040506 0002  00000003 00000002  6869")
NAK = bytes.fromhex(
    "2222 1111 08 03 4493  010203040506 0000  00000003  0001 0000 0a000001  0001 0000 ea010101"
    "0004000c 82080000 00000009"
)


@pytest.mark.parametrize(
    ("packet", "raw"),
    [
        pytest.param(Spm(TSI, 0x2222, 1, 2, 3, "10.0.0.1"), SPM, id="SPM"),
        pytest.param(Data(TSI, 0x2222, 3, 2, b"hi"), ODATA, id="ODATA"),
        pytest.param(Nak(PgmPacketType.NAK, TSI, 0x2222, (3, 9), "10.0.0.1", "234.1.1.1"), NAK, id="NAK"),
    ],
)
@pytest.mark.spec("SR-006")
def test_each_field_is_at_its_place(packet: Packet, raw: bytes) -> None:
    assert packets.encode(packet).hex() == raw.hex()
    assert packets.decode(raw) == packet


@given(strategies.packets)
def test_any_packet_is_encoded_and_decoded(packet: Packet) -> None:
    assert packets.decode(packets.encode(packet)) == packet


@given(strategies.packets)
def test_a_second_reader_finds_equal_values_in_every_packet(packet: Packet) -> None:
    said = plain_decoder.fields(packets.encode(packet))
    ports = (packet.tsi.port, packet.port)
    if isinstance(packet, Spm):
        assert said["type"] == 0
        assert (said["sqn"], said["trail"], said["lead"]) == (packet.number, packet.trail, packet.lead)
        assert said["path"] == packet.path
        reset = None if packet.reset is None else packet.reset.deaf * 64 + packet.reset.error
        assert (said.get("join"), said.get("fin", False), said.get("rst")) == (
            packet.join,
            packet.fin,
            reset,
        )
    elif isinstance(packet, Data):
        assert said["type"] == 4 + packet.repair
        assert (said["sqn"], said["trail"], said["data"]) == (packet.number, packet.trail, packet.payload)
        part = packet.fragment
        assert said.get("fragment") == (None if part is None else (part.first, part.offset, part.length))
        assert (said.get("syn", False), said.get("fin", False)) == (packet.syn, packet.fin)
    else:
        assert said["type"] == packet.kind
        assert (said["sqn"], *said.get("list", [])) == packet.numbers  # type: ignore[misc]
        assert (said["src"], said["grp"]) == (packet.source, packet.group)
        assert said["network"] is (len(packet.numbers) > 1)
        ports = ports if packet.kind is PgmPacketType.NCF else ports[::-1]
    assert (said["sport"], said["dport"], said["gsi"]) == (*ports, packet.tsi.source.hex())


@given(strategies.packets, st.data())
def test_a_packet_with_a_changed_byte_is_refused(packet: Packet, choice: st.DataObject) -> None:
    raw = bytearray(packets.encode(packet))
    at = choice.draw(st.integers(0, len(raw) - 1).filter(lambda place: place not in (6, 7)))
    raw[at] ^= choice.draw(st.integers(1, 255))
    with pytest.raises(PacketFault):
        packets.decode(bytes(raw))


@settings(max_examples=300)
@given(st.binary(max_size=120))
def test_any_bytes_are_a_packet_or_are_refused(raw: bytes) -> None:
    with contextlib.suppress(PacketFault):
        packets.decode(raw)


@settings(max_examples=300)
@given(strategies.packets, st.data())
def test_a_changed_packet_with_a_true_checksum_is_a_packet_or_is_refused(
    packet: Packet, choice: st.DataObject
) -> None:
    raw = bytearray(packets.encode(packet))
    for _ in range(3):
        raw[choice.draw(st.integers(0, len(raw) - 1))] = choice.draw(st.integers(0, 255))
    raw = bytearray(raw[: choice.draw(st.integers(8, len(raw)))])
    with contextlib.suppress(PacketFault):
        packets.encode(packets.decode(signed(raw)))


def signed(raw: bytes | bytearray) -> bytes:
    """Return the bytes with a checksum that is right."""
    raw = bytearray(raw)
    raw[6:8] = b"\0\0"
    raw[6:8] = (0xFFFF - plain_decoder.ones_complement_sum(raw) or 0xFFFF).to_bytes(2, "big")
    return bytes(raw)


def changed(raw: bytes, at: int, to: str) -> bytes:
    new = bytes.fromhex(to)
    return signed(raw[:at] + new + raw[at + len(new) :])


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        pytest.param(ODATA[:10], "PGM header takes 16 bytes", id="cut off"),
        pytest.param(SPM[:4] + b"\x0c" + SPM[5:], "checksum is wrong", id="SPMR, wrong checksum"),
        pytest.param(changed(SPM, 4, "40"), "type 0x40 are not served", id="another version"),
        pytest.param(changed(ODATA, 5, "80"), "parity", id="parity"),
        pytest.param(ODATA[:6] + b"\0\0" + ODATA[8:], "has no checksum", id="data without a checksum"),
        pytest.param(ODATA[:6] + b"\0\1" + ODATA[8:], "checksum is wrong", id="wrong checksum"),
        pytest.param(signed(ODATA + b"!"), "3 bytes of data, and 2", id="more data than it says"),
        pytest.param(changed(ODATA, 14, "0003"), "2 bytes of data, and 3", id="less data than it says"),
        pytest.param(changed(ODATA, 16, "00000001"), "not in its window", id="number before its trail"),
        pytest.param(changed(SPM, 14, "0001"), "1 bytes of data", id="SPM with data"),
        pytest.param(changed(SPM, 28, "0003"), "family 3", id="unknown address family"),
        pytest.param(changed(SPM, 24, "00000000"), "goes backwards", id="window that goes backwards"),
        pytest.param(changed(SPM, 24, "80000003"), "too large", id="window of half of all numbers"),
        pytest.param(signed(SPM + b"\0"), "1 bytes are left over", id="SPM with more behind it"),
        pytest.param(signed(NAK[:5] + b"\0" + NAK[6:]), "12 bytes are left over", id="hidden options"),
    ],
)
@pytest.mark.spec("SR-006")
def test_what_is_no_packet_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(PacketFault, match=why):
        packets.decode(raw)


@pytest.mark.parametrize(
    ("code", "name"), [("01", "POLL"), ("02", "POLR"), ("0c", "SPMR"), ("0d", "ACK")], ids=str
)
@pytest.mark.spec("SR-006")
def test_packets_of_the_appendices_are_known_and_call_for_nothing(code: str, name: str) -> None:
    with pytest.raises(NotServed, match=f"{name} is not served"):
        packets.decode(changed(SPM, 4, code))


@pytest.mark.parametrize(
    ("packet", "option", "why"),
    [
        pytest.param(SPM, "00040008 8d040000", "does not belong", id="SPM with SYN"),
        pytest.param(SPM, "0004000c 82080000 00000009", "does not belong", id="SPM with a NAK list"),
        pytest.param(ODATA, "00040008 8f040000", "does not belong", id="data with RST"),
        pytest.param(NAK[:36], "00040008 8e040000", "does not belong", id="NAK with FIN"),
        pytest.param(ODATA, "00040014 81100000 00000003 00000000 00000001", "no part", id="past the APDU"),
        pytest.param(ODATA, "00040014 81100000 00000003 00000005 00000009", "no part", id="first, not at 0"),
        pytest.param(ODATA, "00040014 81100000 00000002 00000000 00000009", "no part", id="at 0, not first"),
        pytest.param(ODATA, "00040014 81100000 00000004 00000005 00000009", "no part", id="before the first"),
    ],
)
@pytest.mark.spec("SR-006")
def test_an_option_at_the_wrong_place_is_refused(packet: bytes, option: str, why: str) -> None:
    head = packet[:24] if packet is ODATA else packet
    raw = signed(head[:5] + b"\1" + head[6:] + bytes.fromhex(option) + packet[len(head) :])
    with pytest.raises(PacketFault, match=why):
        packets.decode(raw)


@pytest.mark.spec("SR-006")
def test_the_numbers_of_a_nak_may_come_in_any_order() -> None:
    """A NAK that OpenPGM 5.3 sent when repairs were lost."""
    raw = bytes.fromhex(
        "1f41e61d08039a8f9b198a5c73c100009a6c3733000100000a4d000100010000ea010101"
        "00040014821000009a6c377c9a6c37bf9a6c373a"
    )
    nak = packets.decode(raw)
    assert isinstance(nak, Nak)
    assert nak.numbers == (0x9A6C3733, 0x9A6C377C, 0x9A6C37BF, 0x9A6C373A)
    assert packets.encode(nak) == raw


def test_a_checksum_of_nothing_is_taken_where_it_may_be() -> None:
    assert packets.decode(SPM[:6] + b"\0\0" + SPM[8:]) == packets.decode(SPM)


def test_addresses_may_be_of_ipv6() -> None:
    spm = Spm(TSI, 1, 2, 3, 4, "2001:db8::1", reset=Reset())
    assert packets.decode(packets.encode(spm)) == spm


def test_an_spm_may_have_no_window() -> None:
    spm = Spm(TSI, 1, 2, 0, 0x80000000, "10.0.0.1")
    assert packets.decode(packets.encode(spm)) == spm
    assert not spm.has_window
    assert packets.decode(SPM).has_window  # type: ignore[union-attr]


def test_what_does_not_fit_in_a_packet_is_not_made() -> None:
    with pytest.raises(UsageError, match="65535"):
        packets.encode(Data(TSI, 1, 2, 2, bytes(65_520)))
    with pytest.raises(UsageError, match="not an IP address"):
        packets.encode(Spm(TSI, 1, 2, 3, 4, "here"))


def test_a_fragment_says_where_it_belongs() -> None:
    data = Data(TSI, 1, 12, 2, b"end", fragment=Fragment(10, 97, 100))
    assert packets.decode(packets.encode(data)) == data
    assert str(data.tsi) == "010203040506.4369"
