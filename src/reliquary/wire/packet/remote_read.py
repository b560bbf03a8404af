"""Encodes the headers after a message in the answer to a remote read, [MS-MQRR] 2.2.5.

| UserMessage | Extension | Subqueue | DeadLetter? | ExtendedAddress |

Extension          | 12 | bytes that follow | flags | 3 reserved |
Subqueue           | 148 | TM, class | aborts | moves | last move | name, 64 | target, 64 |
DeadLetter         | bytes | wide string | padding |
ExtendedAddress    | 28 | address bytes | kind | scope | address, 16 |
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import Reader, padded, wide
from reliquary.wire.packet.user_message import UserMessage, decode_leading

EXTENSION_SPEC: Final = "MS-MQRR 2.2.5.2"
SUBQUEUE_SPEC: Final = "MS-MQRR 2.2.5.3"
DEAD_LETTER_SPEC: Final = "MS-MQRR 2.2.5.4"
ADDRESS_SPEC: Final = "MS-MQRR 2.2.5.5"

NO_ADDRESS: Final = 0
IPV4: Final = 1
IPV6: Final = 6
_ADDRESS_SIZES: Final = {NO_ADDRESS: 0, IPV4: 4, IPV6: 16}

_DEAD_LETTER: Final = 0x01
_SUBQUEUE: Final = 0x02
_INVALID: Final = 0x08
_ADDRESS: Final = 0x10

_NAME_SIZE: Final = 64
_SIZE: Final = Struct("<I")
_EXTENSION: Final = Struct("<IIB3x")
_SUBQUEUE_LAYOUT: Final = Struct("<IIIII64s64s")
_ADDRESS_LAYOUT: Final = Struct("<IHHI16s")


class SubqueueHeader(msgspec.Struct, frozen=True, gc=False):
    """The subqueue and the moves of the message; without a name the header has no meaning."""

    name: str = ""
    target: str = ""
    """The target of a move that has no outcome yet."""
    acknowledgement_class: int = 0
    aborts: int = 0
    moves: int = 0
    last_move: int = 0

    def encode(self) -> bytes:
        """Return the header as bytes."""
        return _SUBQUEUE_LAYOUT.pack(
            _SUBQUEUE_LAYOUT.size,
            self.acknowledgement_class << 1,
            self.aborts,
            self.moves,
            self.last_move,
            _fixed_name(self.name),
            _fixed_name(self.target),
        )

    @classmethod
    def decode(cls, reader: Reader) -> SubqueueHeader:
        """Return the header at the current offset."""
        reader.begin(SUBQUEUE_SPEC)
        size, bits, aborts, moves, last_move, _, _ = reader.unpack(_SUBQUEUE_LAYOUT, "a subqueue header")
        if size != _SUBQUEUE_LAYOUT.size:
            raise reader.fault(f"a subqueue header has {_SUBQUEUE_LAYOUT.size} bytes, not {size}")
        if bits & 1:
            raise reader.fault("the reserved bit TM is set", reader.start + 4)
        names = Reader(reader.data, reader.start + 20, reader.at)
        names.begin(SUBQUEUE_SPEC)
        name = _decode_name(names, "the subqueue's name")
        target = _decode_name(names, "the target's name")
        return cls(name, target, bits >> 1 & 0xFFFF, aborts, moves, last_move)


class ExtendedAddressHeader(msgspec.Struct, frozen=True, gc=False):
    """The host that sent the message."""

    kind: int = NO_ADDRESS
    address: bytes = b""
    scope: int = 0

    def encode(self) -> bytes:
        """Return the header as bytes."""
        if _ADDRESS_SIZES.get(self.kind) != len(self.address):
            raise UsageError(f"{len(self.address)} bytes are no address of kind {self.kind}")
        return _ADDRESS_LAYOUT.pack(
            _ADDRESS_LAYOUT.size, len(self.address), self.kind, self.scope, self.address
        )

    @classmethod
    def decode(cls, reader: Reader) -> ExtendedAddressHeader:
        """Return the header; if its kind is 0, the other fields are ignored."""
        reader.begin(ADDRESS_SPEC)
        size, length, kind, scope, address = reader.unpack(_ADDRESS_LAYOUT, "an extended address header")
        if size != _ADDRESS_LAYOUT.size:
            raise reader.fault(f"an extended address header has {_ADDRESS_LAYOUT.size} bytes, not {size}")
        if kind == NO_ADDRESS:
            return cls()
        if _ADDRESS_SIZES.get(kind) != length:
            raise reader.fault(f"{length} bytes are no address of kind {kind}", reader.start + 4)
        return cls(kind, address[:length], scope)


class Extension(msgspec.Struct, frozen=True, gc=False):
    """ExtensionHeader and the headers that it announces."""

    subqueue: SubqueueHeader = SubqueueHeader()
    address: ExtendedAddressHeader = ExtendedAddressHeader()
    dead_letter: str | None = None
    """The dead-letter queue that the application chose."""
    dead_letter_invalid: bool = False

    def encode(self) -> bytes:
        """Return the bytes of the extension header and the headers after it."""
        flags = (
            _SUBQUEUE
            | _ADDRESS
            | (_DEAD_LETTER if self.dead_letter is not None else 0)
            | (_INVALID if self.dead_letter_invalid else 0)
        )
        dead_letter = b"" if self.dead_letter is None else _encode_dead_letter(self.dead_letter)
        following = self.subqueue.encode() + dead_letter + self.address.encode()
        return _EXTENSION.pack(_EXTENSION.size, len(following), flags) + following

    @classmethod
    def decode(cls, reader: Reader) -> Extension:
        """Return the extension header and the headers after it."""
        reader.begin(EXTENSION_SPEC)
        size, following, flags = reader.unpack(_EXTENSION, "an extension header")
        at = reader.start
        if size != _EXTENSION.size:
            raise reader.fault(f"an extension header has {_EXTENSION.size} bytes, not {size}")
        if not flags & _SUBQUEUE or not flags & _ADDRESS:
            raise reader.fault("the subqueue header or the address header is missing", at + 8)
        if reader.at + following != reader.end:
            raise reader.fault(f"the headers that follow have {following} bytes, it says", at + 4)
        subqueue = SubqueueHeader.decode(reader)
        dead_letter = _decode_dead_letter(reader) if flags & _DEAD_LETTER else None
        address = ExtendedAddressHeader.decode(reader)
        if reader.at != reader.end:
            raise reader.fault(f"{reader.end - reader.at} bytes follow the last header", reader.at)
        return cls(subqueue, address, dead_letter, bool(flags & _INVALID))


class ReadPacket(msgspec.Struct, frozen=True, gc=False):
    """A message and its extension."""

    message: UserMessage = UserMessage()
    extension: Extension = Extension()

    def encode(self) -> bytes:
        """Return the bytes of the answer."""
        try:
            return self.message.encode() + self.extension.encode()
        except struct.error as why:
            raise UsageError(f"a number does not fit into its field of the packet: {why}") from why


def decode_read_packet(data: bytes) -> ReadPacket:
    """Return the message in the answer to a remote read; all bytes must belong to it."""
    message, used = decode_leading(data)
    return ReadPacket(message, Extension.decode(Reader(data, used, len(data))))


def _encode_dead_letter(path: str) -> bytes:
    raw = padded(wide(path, "a dead-letter queue's name"))
    return _SIZE.pack(_SIZE.size + len(raw)) + raw


def _decode_dead_letter(reader: Reader) -> str:
    reader.begin(DEAD_LETTER_SPEC)
    what = "the dead-letter queue's name"
    (size,) = reader.unpack(_SIZE, "a dead-letter header")
    if size < _SIZE.size + 2:
        raise reader.fault(f"a dead-letter header of {size} bytes has no room for a name")
    end = reader.start + size
    if end > reader.end:
        raise reader.fault(f"a dead-letter header of {size} bytes does not fit")
    path = reader.wide_to_zero(end, what)
    reader.at = end
    return path


def _fixed_name(name: str) -> bytes:
    raw = wide(name, "a subqueue's name")
    if len(raw) > _NAME_SIZE:
        most = _NAME_SIZE // 2 - 1
        raise UsageError(f"a subqueue's name has at most {most} UTF-16 units in a packet: {name[:80]}")
    return raw


def _decode_name(reader: Reader, what: str) -> str:
    end = reader.at + _NAME_SIZE
    name = reader.wide_to_zero(end, what)
    reader.at = end
    return name
