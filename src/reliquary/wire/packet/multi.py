"""Encodes MultiQueueFormatHeader, [MS-MQMQ] 2.2.20.1: all queues that a message was sent to.

    | destinations | administration queues | response queues | signature |

    a list       | bytes | id | 0 | count | elements | padding |      bytes count the padding
    an element   | 1 | GUID |   | 2 | GUID | number |   | 3 | wide string |   | 6 | GUID |
    signature    | 0x015E | 0 | bytes | data | padding |

GUIDs begin at multiples of four, elements at multiples of two.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet.addresses import check_direct, is_direct
from reliquary.wire.packet.fields import NO_GUID, Reader, padded, wide

SPEC: Final = "MS-MQMQ 2.2.20.1"
DESTINATION_ID: Final = 0x0064
ADMIN_ID: Final = 0x00C8
RESPONSE_ID: Final = 0x012C
SIGNATURE_ID: Final = 0x015E
NAMES_LIMIT: Final = 1000
"""More names than any message has; more names would keep the reader of a packet busy for seconds."""

_LIST: Final = Struct("<IHHI")
_SIGNATURE: Final = Struct("<HHI")
_KIND: Final = Struct("<H")
_NUMBER: Final = Struct("<I")


class ListedKind(IntEnum):
    """The kinds of queue names in a list: the values of MQFFormatNameElement.FormatType."""

    PUBLIC = 1
    PRIVATE = 2
    DIRECT = 3
    DISTRIBUTION_LIST = 6


_KINDS: Final = {int(kind): kind for kind in ListedKind}


class ListedQueue(msgspec.Struct, frozen=True, gc=False):
    """One of several queues; only the fields of its kind are set."""

    kind: ListedKind
    guid: UUID = NO_GUID
    number: int = 0
    direct: str = ""

    def content(self) -> bytes:
        """Return the bytes after the kind and its padding."""
        match self.kind:
            case ListedKind.DIRECT:
                check_direct(self.direct)
                return wide(self.direct, "a direct name")
            case ListedKind.PRIVATE:
                return self.guid.bytes_le + _NUMBER.pack(self.number)
            case _:
                return self.guid.bytes_le

    @classmethod
    def decode(cls, reader: Reader, what: str) -> ListedQueue:
        """Return the element of a list at the current offset."""
        at = reader.at
        (number,) = reader.unpack(_KIND, what)
        kind = _KINDS.get(number)
        if kind is None:
            raise reader.fault(f"{number} is no kind of name in {what}", at)
        if kind is ListedKind.DIRECT:
            return cls(kind, direct=_decode_direct(reader, what))
        reader.pad()
        guid = reader.guid(what)
        return cls(kind, guid, reader.unpack(_NUMBER, what)[0] if kind is ListedKind.PRIVATE else 0)


class MultiQueueHeader(msgspec.Struct, frozen=True, gc=False):
    """The lists of queues, and the signature of all of them."""

    destinations: tuple[ListedQueue, ...] = ()
    admins: tuple[ListedQueue, ...] = ()
    responses: tuple[ListedQueue, ...] = ()
    signature: bytes = b""

    def encode(self) -> bytes:
        """Return the header as bytes."""
        return b"".join(
            (
                _encode_list(DESTINATION_ID, self.destinations),
                _encode_list(ADMIN_ID, self.admins),
                _encode_list(RESPONSE_ID, self.responses),
                _SIGNATURE.pack(SIGNATURE_ID, 0, len(self.signature)),
                padded(self.signature),
            )
        )

    @classmethod
    def decode(cls, reader: Reader) -> MultiQueueHeader:
        """Return the header at the current offset."""
        reader.begin(SPEC)
        destinations = _decode_list(reader, DESTINATION_ID, "the list of destinations")
        admins = _decode_list(reader, ADMIN_ID, "the list of administration queues")
        responses = _decode_list(reader, RESPONSE_ID, "the list of response queues")
        at = reader.at
        identifier, _, size = reader.unpack(_SIGNATURE, "the signature of several destinations")
        if identifier != SIGNATURE_ID:
            raise reader.fault(f"the signature has the id {identifier:#06x}, not {SIGNATURE_ID:#06x}", at)
        signature = reader.take(size, "the signature of several destinations")
        reader.pad()
        return cls(destinations, admins, responses, signature)


def name_list(queues: tuple[ListedQueue, ...]) -> bytes:
    """Return FormatNameList: the elements without the header of their list, not padded at the end."""
    out = bytearray()
    for queue in queues:
        out += _KIND.pack(queue.kind)
        if queue.kind is not ListedKind.DIRECT:
            out += bytes(-len(out) & 3)
        out += queue.content()
    return bytes(out)


def _encode_list(identifier: int, queues: tuple[ListedQueue, ...]) -> bytes:
    if len(queues) > NAMES_LIMIT:
        raise UsageError(f"a list has at most {NAMES_LIMIT} names, this one has {len(queues)}")
    elements = padded(name_list(queues))
    return _LIST.pack(_LIST.size + len(elements), identifier, 0, len(queues)) + elements


def _decode_list(reader: Reader, expected: int, what: str) -> tuple[ListedQueue, ...]:
    at = reader.at
    size, identifier, _, count = reader.unpack(_LIST, what)
    if identifier != expected:
        raise reader.fault(f"{what} has the id {identifier:#06x}, not {expected:#06x}", at + 4)
    if count > NAMES_LIMIT:
        raise reader.fault(f"{what} has {count} names, and at most {NAMES_LIMIT} are read", at + 8)
    packet_end, list_end = reader.end, at + size
    if not reader.at <= list_end <= packet_end:
        raise reader.fault(f"{what} says that it has {size} bytes", at)
    reader.end = list_end
    queues = tuple([ListedQueue.decode(reader, what) for _ in range(count)])
    if list_end - reader.at > 3:
        raise reader.fault(f"{what} has {list_end - reader.at} bytes after its {count} names", reader.at)
    reader.at, reader.end = list_end, packet_end
    reader.pad()
    return queues


def _decode_direct(reader: Reader, what: str) -> str:
    at = reader.at
    direct = reader.wide_to_zero(reader.end, f"a name in {what}")
    if not is_direct(direct):
        raise reader.fault(f"a name in {what} is no direct name", at)
    return direct
