"""Encodes the queue names of the UserHeader, [MS-MQMQ] 2.2.18.1.5 and 2.2.18.1.7.

0  NONE                      nothing
1  SAME_AS_ADMIN             nothing
2  PRIVATE_ON_SOURCE         | number |
3  PRIVATE_ON_DESTINATION    | number |
4  PRIVATE_ON_ADMIN          | number |
5  PUBLIC                    | GUID |
6  PRIVATE                   | GUID | number |
7  DIRECT                    | bytes | wide string | padding |
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from struct import Struct
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import NO_GUID, Reader, guid_bytes, padded, wide

_NUMBER: Final = Struct("<I")
_COUNT: Final = Struct("<H")
_DIRECT: Final = re.compile(r"[^\x00-\x1f,]+")
"""A format name without commas and control characters, because a comma would split it into two names."""


class AddressKind(IntEnum):
    """Values of the bit fields Flags.DQ, Flags.AQ and Flags.RQ."""

    NONE = 0
    SAME_AS_ADMIN = 1
    PRIVATE_ON_SOURCE = 2
    PRIVATE_ON_DESTINATION = 3
    PRIVATE_ON_ADMIN = 4
    PUBLIC = 5
    PRIVATE = 6
    DIRECT = 7

    __hash__ = int.__hash__  # that of enumerations is a function of Python, and tables are keyed by kinds


class Address(msgspec.Struct, frozen=True, gc=False):
    """A queue; only the fields of its kind are set."""

    kind: AddressKind = AddressKind.NONE
    number: int = 0
    guid: UUID = NO_GUID
    direct: str = ""
    r"""A direct name without `DIRECT=`: `OS:host\private$\orders`."""

    def content(self) -> bytes:
        """Return the field without its padding."""
        match self.kind:
            case AddressKind.NONE | AddressKind.SAME_AS_ADMIN:
                return b""
            case AddressKind.PUBLIC:
                return guid_bytes(self.guid)
            case AddressKind.PRIVATE:
                return guid_bytes(self.guid) + _NUMBER.pack(self.number)
            case AddressKind.DIRECT:
                return _direct_content(self.direct)
            case _:
                return _NUMBER.pack(self.number)

    def encode(self) -> bytes:
        """Return the field as bytes, padded to 4; no bytes for an absent queue."""
        return b"" if self.kind == AddressKind.NONE else padded(self.content())

    @classmethod
    def decode(cls, reader: Reader, kind: AddressKind, what: str) -> Address:
        """Return the address of a kind that the flags of the header name."""
        match kind:
            case AddressKind.NONE:
                return NOWHERE
            case AddressKind.SAME_AS_ADMIN:
                return cls(kind)
            case AddressKind.PUBLIC:
                return cls(kind, guid=reader.guid(what))
            case AddressKind.PRIVATE:
                guid = reader.guid(what)
                return cls(kind, reader.unpack(_NUMBER, what)[0], guid)
            case AddressKind.DIRECT:
                return _decode_direct(reader, what)
            case _:
                return cls(kind, reader.unpack(_NUMBER, what)[0])


NOWHERE: Final = Address()

KNOWN_NAMES: Final = 4096
"""The number of direct names that are cached by their bytes: a sender uses few names for many messages."""
LONGEST_KNOWN: Final = 1024
"""The largest size of a cached name in bytes, so that long names of a hostile sender take no memory."""
_known: Final[dict[bytes, Address]] = {}


def _decode_direct(reader: Reader, what: str) -> Address:
    (size,) = reader.unpack(_COUNT, what)
    at = reader.at
    raw = reader.take(size, what)
    address = _known.get(raw)
    if address is None:
        reader.at = at
        direct = reader.wide(size, what)
        if not _DIRECT.fullmatch(direct):
            raise reader.fault(f"{what} is no direct name", at)
        address = Address(AddressKind.DIRECT, direct=direct)
        if size <= LONGEST_KNOWN:
            if len(_known) >= KNOWN_NAMES:
                _known.clear()
            _known[raw] = address
    reader.pad()
    return address


@lru_cache(maxsize=KNOWN_NAMES)
def _direct_content(direct: str) -> bytes:
    """Return the field of a direct name without its padding."""
    check_direct(direct)
    text = wide(direct, "a direct name")
    return _COUNT.pack(len(text)) + text


def check_direct(text: str) -> None:
    """Raise UsageError for a text that cannot be a direct name."""
    if not is_direct(text):
        raise UsageError(f"{text!r} is no direct name: it is empty, or has a comma or a control character")


def is_direct(text: str) -> bool:
    """Return whether a text can be a direct name."""
    return _DIRECT.fullmatch(text) is not None
