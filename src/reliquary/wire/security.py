"""Encodes SID, ACE, ACL and SECURITY_DESCRIPTOR, [MS-DTYP] 2.4, in self-relative form.

    SECURITY_DESCRIPTOR    revision 1, 0, control u16, offsets u32: owner, group, SACL, DACL
    ACL                    revision, 0, size u16, count u16, 0 u16, then the ACEs
    ACE                    kind, flags, size u16, then for the two kinds we know: mask u32, SID
    SID                    revision 1, count, authority (6 bytes, big-endian), sub-authorities u32

All numbers but the authority are little-endian.  Other bytes are refused with
the offset of the first wrong one.
"""

from __future__ import annotations

import re
from enum import IntEnum
from struct import Struct as Layout
from typing import Any, Final

import msgspec

from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.hresult import HResult

SUB_AUTHORITY_LIMIT: Final = 15
INHERIT_ONLY: Final = 0x08
"""An ACE flag: the ACE applies to objects inside the container, not to the container itself."""

DACL_PRESENT: Final = 0x0004
SACL_PRESENT: Final = 0x0010
SELF_RELATIVE: Final = 0x8000
_DERIVED: Final = DACL_PRESENT | SACL_PRESENT | SELF_RELATIVE

_SID: Final = Layout("<BB6s")
_ACE: Final = Layout("<BBH")
_ACL: Final = Layout("<BBHHH")
_DESCRIPTOR: Final = Layout("<BBHIIII")
_U32: Final = Layout("<I")
_SID_TEXT: Final = re.compile(r"S-1-(0|[1-9]\d{0,14})((?:-(?:0|[1-9]\d{0,9})){0,15})", re.IGNORECASE)


# -- SID


class Sid(msgspec.Struct, frozen=True):
    """A security identifier of a user or a group: `S-1-5-7` is the anonymous user."""

    authority: int
    parts: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "-".join(("S-1", str(self.authority), *map(str, self.parts)))


def parse_sid(text: str) -> Sid:
    """Return the SID with this text form.

    >>> parse_sid("S-1-5-21-1-2-3-500").parts
    (21, 1, 2, 3, 500)
    """
    found = _SID_TEXT.fullmatch(text)
    if found is None:
        raise UsageError(f"a SID looks like S-1-5-21-1-2-3-1000, not like {text[:80]!r}")
    authority = int(found[1])
    parts = tuple(int(part) for part in found[2].split("-")[1:])
    if authority >= 1 << 48 or any(part >= 1 << 32 for part in parts):
        raise UsageError(f"a number in the SID {text!r} is too large")
    return Sid(authority, parts)


def encode_sid(sid: Sid) -> bytes:
    """Return a SID in its binary form."""
    head = _SID.pack(1, len(sid.parts), sid.authority.to_bytes(6, "big"))
    return head + b"".join(map(_U32.pack, sid.parts))


def decode_sid(data: bytes, at: int = 0) -> tuple[Sid, int]:
    """Return the SID at this offset, and the offset after it."""
    revision, count, authority = _read(_SID, data, at, "a SID")
    if revision != 1:
        raise _fault(at, f"a SID has the revision 1, not {revision}")
    if count > SUB_AUTHORITY_LIMIT:
        raise _fault(at + 1, f"a SID has at most {SUB_AUTHORITY_LIMIT} parts, not {count}")
    start = at + _SID.size
    parts = tuple(_read(_U32, data, start + 4 * n, "a SID")[0] for n in range(count))
    return Sid(int.from_bytes(authority, "big"), parts), start + 4 * count


# -- ACE


class AceKind(IntEnum):
    """The two kinds that decide about access; ACEs of other kinds are kept unchanged."""

    ALLOWED = 0
    DENIED = 1


class Ace(msgspec.Struct, frozen=True):
    """ACCESS_ALLOWED_ACE or ACCESS_DENIED_ACE: grants rights to one SID, or denies them."""

    kind: AceKind
    mask: int
    sid: Sid
    flags: int = 0


class OtherAce(msgspec.Struct, frozen=True):
    """An ACE of another kind (audit, object or label), which is not used to decide about access."""

    kind: int
    flags: int
    data: bytes


def encode_ace(ace: Ace | OtherAce) -> bytes:
    """Return an ACE in its binary form."""
    body = _U32.pack(ace.mask) + encode_sid(ace.sid) if isinstance(ace, Ace) else ace.data
    return _ACE.pack(ace.kind, ace.flags, _ACE.size + len(body)) + body


def decode_ace(data: bytes, at: int = 0) -> tuple[Ace | OtherAce, int]:
    """Return the ACE at this offset, and the offset after it."""
    kind, flags, size = _read(_ACE, data, at, "an ACE")
    start, end = at + _ACE.size, at + size
    if size % 4 or not start <= end <= len(data):
        raise _fault(at + 2, f"the size of an ACE is a multiple of 4 inside its list, not {size}")
    if kind not in (AceKind.ALLOWED, AceKind.DENIED):
        return OtherAce(kind, flags, data[start:end]), end
    (mask,) = _read(_U32, data[:end], start, "an ACE")
    sid, last = decode_sid(data[:end], start + 4)
    if last != end:
        raise _fault(last, f"an ACE ends with its SID, but {end - last} bytes follow")
    return Ace(AceKind(kind), mask, sid, flags), end


# -- ACL

Acl = tuple[Ace | OtherAce, ...]

_PLAIN: Final = 2
_WITH_OBJECTS: Final = 4
_OBJECT_KINDS: Final = frozenset({5, 6, 7, 8, 11, 12, 15, 16})


def encode_acl(acl: Acl) -> bytes:
    """Return an access control list in its binary form."""
    body = b"".join(map(encode_ace, acl))
    revision = _WITH_OBJECTS if any(ace.kind in _OBJECT_KINDS for ace in acl) else _PLAIN
    return _ACL.pack(revision, 0, _ACL.size + len(body), len(acl), 0) + body


def decode_acl(data: bytes, at: int = 0) -> tuple[Acl, int]:
    """Return the access control list at this offset, and the offset after it."""
    revision, _, size, count, _ = _read(_ACL, data, at, "an ACL")
    if revision not in (_PLAIN, _WITH_OBJECTS):
        raise _fault(at, f"an ACL has the revision {_PLAIN} or {_WITH_OBJECTS}, not {revision}")
    end = at + size
    if not at + _ACL.size <= end <= len(data):
        raise _fault(at + 2, f"an ACL of {size} bytes does not fit")
    aces: list[Ace | OtherAce] = []
    place, inside = at + _ACL.size, data[:end]
    for _ in range(count):
        ace, place = decode_ace(inside, place)
        aces.append(ace)
    return tuple(aces), end


# -- SECURITY_DESCRIPTOR


class SecurityDescriptor(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of an object and the rights on it. Without a DACL, all users have all rights."""

    owner: Sid | None = None
    group: Sid | None = None
    sacl: Acl | None = None
    dacl: Acl | None = None
    control: int = 0
    """Control bits other than the bits for the parts that are present."""


def encode_descriptor(descriptor: SecurityDescriptor) -> bytes:
    """Return a descriptor in self-relative form."""
    control = descriptor.control & ~_DERIVED | SELF_RELATIVE
    control |= DACL_PRESENT if descriptor.dacl is not None else 0
    control |= SACL_PRESENT if descriptor.sacl is not None else 0
    members = (
        encode_sid(descriptor.owner) if descriptor.owner is not None else b"",
        encode_sid(descriptor.group) if descriptor.group is not None else b"",
        encode_acl(descriptor.sacl) if descriptor.sacl is not None else b"",
        encode_acl(descriptor.dacl) if descriptor.dacl is not None else b"",
    )
    place, offsets = _DESCRIPTOR.size, []
    for member in members:
        offsets.append(place if member else 0)
        place += len(member)
    return _DESCRIPTOR.pack(1, 0, control, *offsets) + b"".join(members)


def decode_descriptor(data: bytes) -> SecurityDescriptor:
    """Return the descriptor in these bytes, which are in self-relative form."""
    revision, _, control, owner, group, sacl, dacl = _read(_DESCRIPTOR, data, 0, "a security descriptor")
    if revision != 1:
        raise _fault(0, f"a security descriptor has the revision 1, not {revision}")
    if not control & SELF_RELATIVE:
        raise _fault(2, "the security descriptor is not in self-relative form")
    for place, offset in ((4, owner), (8, group), (12, sacl), (16, dacl)):
        if offset and offset < _DESCRIPTOR.size:
            raise _fault(place, f"the offset {offset} points into the head")
    return SecurityDescriptor(
        owner=decode_sid(data, owner)[0] if owner else None,
        group=decode_sid(data, group)[0] if group else None,
        sacl=decode_acl(data, sacl)[0] if sacl and control & SACL_PRESENT else None,
        dacl=decode_acl(data, dacl)[0] if dacl and control & DACL_PRESENT else None,
        control=control & ~_DERIVED,
    )


def _read(layout: Layout, data: bytes, at: int, what: str) -> tuple[Any, ...]:
    if at + layout.size > len(data):
        raise _fault(at, f"{what} ends early")
    return layout.unpack_from(data, at)


def _fault(at: int, why: str) -> PeerFault:
    return PeerFault(HResult.ILLEGAL_SECURITY_DESCRIPTOR, f"at byte {at}: {why}", spec="[MS-DTYP] 2.4")
