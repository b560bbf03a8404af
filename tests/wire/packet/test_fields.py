"""Tests numbers, GUIDs, wide strings and padding."""

from __future__ import annotations

from struct import Struct
from uuid import UUID

import pytest
from hypothesis import given

from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.hresult import HResult
from reliquary.wire.packet.fields import NAME_LIMIT, NO_GUID, PacketFault, Reader, guid_of, padded, wide
from tests.wire.packet import strategies


def reader(data: bytes) -> Reader:
    made = Reader(data, 0, len(data))
    made.begin("MS-MQMQ 2.2.20")
    return made


def test_a_fault_is_the_peers_and_says_where() -> None:
    fault = PacketFault(12, "the label is not UTF-16", spec="MS-MQMQ 2.2.19.3")
    assert isinstance(fault, PeerFault)
    assert fault.offset == 12
    assert fault.why == "the label is not UTF-16 (at offset 12)"
    assert (fault.status, fault.spec) == (HResult.INVALID_PARAMETER, "MS-MQMQ 2.2.19.3")


def test_what_is_left_is_never_exceeded() -> None:
    at = reader(b"abcdef")
    assert at.take(4, "a word") == b"abcd"
    with pytest.raises(PacketFault, match="a word takes 4 bytes, and 2 are left") as caught:
        at.take(4, "a word")
    assert caught.value.offset == 4
    with pytest.raises(PacketFault, match="a number takes 8 bytes"):
        at.unpack(Struct("<Q"), "a number")
    assert at.take(2, "the rest") == b"ef"


def test_the_end_is_what_the_packet_claims_not_what_came() -> None:
    with pytest.raises(PacketFault):
        Reader(b"abcdef", 0, 3).take(4, "a word")


@given(strategies.guid)
def test_a_guid_is_encoded_and_decoded(guid: UUID) -> None:
    assert reader(guid.bytes_le).guid("a GUID") == guid


def test_the_guid_of_all_zeros_is_one_object() -> None:
    assert guid_of(bytes(16)) is NO_GUID


def test_the_first_groups_of_a_guid_are_little_endian() -> None:
    raw = bytes.fromhex("33221100 5544 7766 8899aabbccddeeff")
    assert str(guid_of(raw)) == "00112233-4455-6677-8899-aabbccddeeff"


@given(strategies.text)
def test_a_wide_string_is_encoded_and_decoded(text: str) -> None:
    raw = wide(text, "a name")
    assert reader(raw).wide(len(raw), "a name") == text
    assert reader(raw + b"more").wide_to_zero(len(raw) + 4, "a name") == text


@pytest.mark.parametrize(
    ("raw", "why", "offset"),
    [
        pytest.param(b"a\0b", "an odd number", 0, id="odd"),
        pytest.param(b"a\0b\0", "does not end with a zero", 0, id="endless"),
        pytest.param(b"", "does not end with a zero", 0, id="nothing"),
        pytest.param(b"a\0\0\0b\0\0\0", "zero before its end", 0, id="zero inside"),
        pytest.param(b"a\0\0\xd8\0\0", "not UTF-16", 2, id="half a pair"),
        pytest.param(b"a\0\0\xd8", "not UTF-16", 2, id="half a pair at the end"),
    ],
)
def test_what_is_no_wide_string_is_refused(raw: bytes, why: str, offset: int) -> None:
    with pytest.raises(PacketFault, match=why) as caught:
        reader(raw).wide(len(raw), "a name")
    assert caught.value.offset == offset


def test_a_zero_across_two_characters_ends_nothing() -> None:
    raw = "\u0100\u0001".encode("utf-16-le") + b"\0\0"
    assert raw == b"\0\1\1\0\0\0"
    assert reader(raw).wide_to_zero(6, "a name") == "\u0100\u0001"
    with pytest.raises(PacketFault, match="does not end"):
        reader(b"\1\0\0\1").wide_to_zero(4, "a name")


def test_an_end_is_looked_for_only_as_far_as_a_count_could_say() -> None:
    longest = ("x" * (NAME_LIMIT // 2 - 1) + "\0").encode("utf-16-le")
    assert len(reader(longest).wide_to_zero(len(longest), "a name")) == NAME_LIMIT // 2 - 1
    with pytest.raises(PacketFault, match="does not end"):
        reader(b"x\0" + longest).wide_to_zero(len(longest) + 2, "a name")


@pytest.mark.parametrize(("text", "why"), [("a\0b", "zero character"), ("a\ud800", "surrogate")])
def test_what_has_no_wide_form_is_the_callers_mistake(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"a label has .*{why}"):
        wide(text, "a label")


@pytest.mark.parametrize(("size", "whole"), [(0, 0), (1, 4), (3, 4), (4, 4), (5, 8)])
def test_padding_goes_to_the_next_multiple_of_four(size: int, whole: int) -> None:
    raw = b"x" * size
    assert padded(raw) == raw + bytes(whole - size)
    at = reader(raw + b"?" * (whole - size))
    at.take(size, "a part")
    at.pad()
    assert at.at == whole


def test_padding_is_counted_from_the_headers_beginning_and_has_to_be_there() -> None:
    at = Reader(b"abcdefg", 2, 7)
    at.begin("MS-MQMQ 2.2.20")
    at.take(1, "a part")
    at.pad()
    assert at.at == 6
    at.take(1, "a part")
    with pytest.raises(PacketFault, match="padding"):
        at.pad()
