"""Queues as the UserHeader names them, [MS-MQMQ] 2.2.18.1.5 and 2.2.18.1.7.

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
from struct import Struct
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import NO_GUID, Reader, padded, wide

_NUMBER: Final = Struct("<I")
_COUNT: Final = Struct("<H")
_DIRECT: Final = re.compile(r"[^\x00-\x1f,]+")
"""No format name has a comma or a control character, and a comma would make two names of one."""


class AddressKind(IntEnum):
    """Flags.DQ, .AQ and .RQ."""

    NONE = 0
    SAME_AS_ADMIN = 1
    PRIVATE_ON_SOURCE = 2
    PRIVATE_ON_DESTINATION = 3
    PRIVATE_ON_ADMIN = 4
    PUBLIC = 5
    PRIVATE = 6
    DIRECT = 7


class Address(msgspec.Struct, frozen=True, gc=False):
    """One queue; only what its kind has is set."""

    kind: AddressKind = AddressKind.NONE
    number: int = 0
    guid: UUID = NO_GUID
    direct: str = ""
    r"""A direct name without `DIRECT=`: `OS:host\private$\orders`."""

    def content(self) -> bytes:
        """The field without its padding."""
        match self.kind:
            case AddressKind.NONE | AddressKind.SAME_AS_ADMIN:
                return b""
            case AddressKind.PUBLIC:
                return self.guid.bytes_le
            case AddressKind.PRIVATE:
                return self.guid.bytes_le + _NUMBER.pack(self.number)
            case AddressKind.DIRECT:
                check_direct(self.direct)
                text = wide(self.direct, "a direct name")
                return _COUNT.pack(len(text)) + text
            case _:
                return _NUMBER.pack(self.number)

    def encode(self) -> bytes:
        """The field."""
        return padded(self.content())

    @classmethod
    def decode(cls, reader: Reader, kind: AddressKind, what: str) -> Address:
        """The field of a kind that the header's flags say."""
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
                (size,) = reader.unpack(_COUNT, what)
                at = reader.at
                direct = reader.wide(size, what)
                if not _DIRECT.fullmatch(direct):
                    raise reader.fault(f"{what} is no direct name", at)
                reader.pad()
                return cls(kind, direct=direct)
            case _:
                return cls(kind, reader.unpack(_NUMBER, what)[0])


NOWHERE: Final = Address()


def check_direct(text: str) -> None:
    """Refuse what cannot be a direct name."""
    if not is_direct(text):
        raise UsageError(f"{text!r} is no direct name: it is empty, or has a comma or a control character")


def is_direct(text: str) -> bool:
    """Whether this can be a direct name."""
    return _DIRECT.fullmatch(text) is not None
