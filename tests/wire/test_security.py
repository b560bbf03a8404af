"""Tests security descriptors as bytes: written, read back, and refused where they are wrong."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.hresult import HResult
from reliquary.wire.security import (
    DACL_PRESENT,
    SACL_PRESENT,
    SELF_RELATIVE,
    Ace,
    AceKind,
    OtherAce,
    SecurityDescriptor,
    Sid,
    decode_ace,
    decode_acl,
    decode_descriptor,
    decode_sid,
    encode_ace,
    encode_acl,
    encode_descriptor,
    encode_sid,
    parse_sid,
)

EVERYONE = Sid(1, (0,))
ADMINISTRATORS = Sid(5, (32, 544))

u32 = st.integers(0, 2**32 - 1)
sids = st.builds(Sid, st.integers(0, 2**48 - 1), st.lists(u32, max_size=15).map(tuple))
known = st.builds(Ace, st.sampled_from(AceKind), u32, sids, st.integers(0, 255))
others = st.builds(
    OtherAce,
    st.integers(2, 255),
    st.integers(0, 255),
    st.binary(max_size=64).map(lambda data: data[: len(data) // 4 * 4]),
)
acls = st.lists(known | others, max_size=6).map(tuple)
descriptors = st.builds(
    SecurityDescriptor,
    owner=st.none() | sids,
    group=st.none() | sids,
    sacl=st.none() | acls,
    dacl=st.none() | acls,
    control=st.integers(0, 0xFFFF).map(lambda bits: bits & ~(DACL_PRESENT | SACL_PRESENT | SELF_RELATIVE)),
)

SAMPLE = bytes.fromhex(
    "01000480"  # revision 1, DACL present, self-relative
    "14000000"  # the owner follows the head
    "00000000"
    "00000000"
    "24000000"
    "01020000000000052000000020020000"  # S-1-5-32-544
    "02001c0001000000"  # a list of 28 bytes with one entry
    "000014003f000f00"  # allowed, 20 bytes, 0xF003F
    "010100000000000100000000"  # S-1-1-0
)


# -- written and read


def test_a_descriptor_is_the_bytes_of_the_specification() -> None:
    descriptor = SecurityDescriptor(owner=ADMINISTRATORS, dacl=(Ace(AceKind.ALLOWED, 0xF003F, EVERYONE),))
    assert encode_descriptor(descriptor) == SAMPLE
    assert decode_descriptor(SAMPLE) == descriptor


@given(descriptors)
def test_a_descriptor_is_read_as_it_was_written(descriptor: SecurityDescriptor) -> None:
    assert decode_descriptor(encode_descriptor(descriptor)) == descriptor


@given(sids)
def test_a_sid_is_read_as_it_was_written_in_bytes_and_in_text(sid: Sid) -> None:
    assert decode_sid(encode_sid(sid)) == (sid, 8 + 4 * len(sid.parts))
    assert parse_sid(str(sid)) == sid
    assert parse_sid(str(sid).lower()) == sid


@given(known | others)
def test_an_ace_is_read_as_it_was_written(ace: Ace | OtherAce) -> None:
    data = encode_ace(ace)
    assert decode_ace(b"...." + data, 4) == (ace, 4 + len(data))


@given(acls)
def test_a_list_is_read_as_it_was_written(acl: tuple[Ace | OtherAce, ...]) -> None:
    data = encode_acl(acl)
    assert decode_acl(data) == (acl, len(data))


def test_a_list_with_object_entries_says_so() -> None:
    assert encode_acl(())[0] == 2
    assert encode_acl((OtherAce(5, 0, b""),))[0] == 4


def test_no_list_and_an_empty_list_are_two_things() -> None:
    none, empty = SecurityDescriptor(), SecurityDescriptor(dacl=())
    assert decode_descriptor(encode_descriptor(none)).dacl is None
    assert decode_descriptor(encode_descriptor(empty)).dacl == ()


def test_the_parts_may_be_in_any_order() -> None:
    head, owner, acl = SAMPLE[:20], SAMPLE[20:36], SAMPLE[36:]
    moved = bytearray(head + acl + owner)
    moved[4], moved[16] = 20 + len(acl), 20
    assert decode_descriptor(bytes(moved)) == decode_descriptor(SAMPLE)


# -- refused


def fault_in(data: bytes) -> PeerFault | None:
    try:
        decode_descriptor(data)
    except PeerFault as fault:
        return fault
    return None


@given(st.integers(0, len(SAMPLE) - 1), st.binary(max_size=8))
def test_any_bytes_are_read_or_refused_with_the_place(place: int, bad: bytes) -> None:
    fault = fault_in(SAMPLE[:place] + bad + SAMPLE[place + len(bad) :])
    if fault is not None:
        assert fault.status == HResult.ILLEGAL_SECURITY_DESCRIPTOR
        assert re.match(r"at byte \d+: ", fault.why)


@given(st.integers(0, len(SAMPLE) - 1))
def test_a_descriptor_that_ends_early_is_refused(length: int) -> None:
    with pytest.raises(PeerFault):
        decode_descriptor(SAMPLE[:length])


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (0, 2, "at byte 0: a security descriptor has the revision 1, not 2"),
        (3, 0, "at byte 2: the security descriptor is not in self-relative form"),
        (4, 3, "at byte 4: the offset 3 points into the head"),
        (16, 19, "at byte 16: the offset 19 points into the head"),
        (4, 200, "at byte 200: a SID ends early"),
        (20, 3, "at byte 20: a SID has the revision 1, not 3"),
        (21, 16, "at byte 21: a SID has at most 15 parts, not 16"),
        (36, 3, "at byte 36: an ACL has the revision 2 or 4, not 3"),
        (38, 7, "at byte 38: an ACL of 7 bytes does not fit"),
        (38, 29, "at byte 38: an ACL of 29 bytes does not fit"),
        (40, 2, "at byte 64: an ACE ends early"),
        (46, 22, "at byte 46: the size of an ACE is a multiple of 4 inside its list, not 22"),
        (46, 24, "at byte 46: the size of an ACE is a multiple of 4 inside its list, not 24"),
        (46, 0, "at byte 46: the size of an ACE is a multiple of 4 inside its list, not 0"),
        (46, 4, "at byte 48: an ACE ends early"),
        (53, 0, "at byte 60: an ACE ends with its SID, but 4 bytes follow"),
    ],
)
def test_a_wrong_byte_is_refused_with_its_place(place: int, value: int, why: str) -> None:
    data = bytearray(SAMPLE)
    data[place] = value
    with pytest.raises(PeerFault) as refused:
        decode_descriptor(bytes(data))
    assert refused.value.why == why
    assert refused.value.spec == "[MS-DTYP] 2.4"


@pytest.mark.parametrize(
    "text", ["", "S-1", "S-2-5-7", "S-1-5-", "S-1-5-07", "S-1-5-x", " S-1-5-7", "S-1-5" + "-1" * 16]
)
def test_a_text_that_is_no_sid_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a SID looks like"):
        parse_sid(text)


@pytest.mark.parametrize("text", ["S-1-281474976710656-1", "S-1-5-4294967296"])
def test_a_number_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="too large"):
        parse_sid(text)
