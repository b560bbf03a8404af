"""Encodes the packets of PGM: SPM, ODATA and RDATA, NAK, NNAK and NCF.

POLL, POLR, SPMR, ACK and parity packets belong to the appendices that [MC-MQSRM] 2.1.3 leaves out.  Parity
packets are refused; of the others `decode` says that they are not served, since their senders did no wrong.

The layout of the packets:

    0             2                  4      5         6          8             14       16
    | source port | destination port | type | options | checksum | global source id | TSDU length |
    | body, by type | option extensions? | TSDU, of data packets alone |

    SPM              | number | trail | lead | path |
    ODATA, RDATA     | number | trail |
    NAK, NNAK, NCF   | number | source | group |
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from struct import Struct
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import PacketFault, Reader
from reliquary.wire.pgm.options import NO_OPTIONS, Fragment, Options, Reset
from reliquary.wire.pgm.serial import HALF, MASK, distance

SPEC: Final = "RFC 3208 8"
LARGEST: Final = 0xFFFF
"""The largest number of bytes of a packet with all its headers."""

_HEADER: Final = Struct(">HHBBH6sH")
_SPM: Final = Struct(">III")
_DATA: Final = Struct(">II")
_NAK: Final = Struct(">I")
_AFI: Final = Struct(">HH")
_CHECKSUM: Final = Struct(">H")
_CHECKSUM_AT: Final = 6
_ADDRESS_SIZES: Final = {1: 4, 2: 16}
"""The number of bytes of an address by its family: IPv4, IPv6."""
_NO_WINDOW: Final = (0, 0x80000000)
"""The trail and lead of an SPM without a window."""

# DEPARTS from 2.1.3 (SR-006): the bits of Options are counted from the low end, because all implementations
# of PGM do so, though RFC 3208 8 counts them from the high end.
_HAS_OPTIONS: Final = 0x01
_FOR_ROUTERS: Final = 0x02
_PARITY: Final = 0xC0

DATA_HEADER: Final = _HEADER.size + _DATA.size
"""The number of bytes before the data of a packet without options."""


class PgmPacketType(IntEnum):
    """The types of packets that are supported."""

    SPM = 0x00
    ODATA = 0x04
    RDATA = 0x05
    NAK = 0x08
    NNAK = 0x09
    NCF = 0x0A


_NOT_SERVED: Final = {0x01: "POLL", 0x02: "POLR", 0x0C: "SPMR", 0x0D: "ACK"}
_KINDS: Final = {int(kind): kind for kind in PgmPacketType}
_DATA_KINDS: Final = frozenset({PgmPacketType.ODATA, PgmPacketType.RDATA})
_UPSTREAM: Final = frozenset({PgmPacketType.NAK, PgmPacketType.NNAK})


class NotServed(PacketFault):
    """Says that a packet is valid PGM and of a type that is not supported."""


class Tsi(msgspec.Struct, frozen=True, gc=False):
    """Transport Session Identifier, 3.1: the source of packets and one of its sessions."""

    source: bytes
    """The global source id of six bytes."""
    port: int
    """The port number of the source."""

    def __str__(self) -> str:
        return f"{self.source.hex()}.{self.port}"


class Spm(msgspec.Struct, frozen=True, gc=False):
    """Source Path Message, 8.1: announces the source and its window."""

    tsi: Tsi
    port: int
    """The port of the destination."""
    number: int
    """The number of the SPM; SPMs have numbers of their own."""
    trail: int
    lead: int
    path: str
    """The address to which receivers send NAKs."""
    join: int | None = None
    fin: bool = False
    reset: Reset | None = None

    @property
    def has_window(self) -> bool:
        """Return whether trail and lead have a meaning."""
        return (self.trail, self.lead) != _NO_WINDOW


class Data(msgspec.Struct, frozen=True, gc=False):
    """ODATA or RDATA, 8.2: a part of the application's data, sent for the first time or again."""

    tsi: Tsi
    port: int
    number: int
    trail: int
    payload: bytes
    repair: bool = False
    fragment: Fragment | None = None
    join: int | None = None
    syn: bool = False
    fin: bool = False


class Nak(msgspec.Struct, frozen=True, gc=False):
    """NAK, NNAK or NCF, 8.3: requests missing numbers, or confirms a request for them."""

    kind: PgmPacketType
    tsi: Tsi
    port: int
    """The destination port of the data packets that are meant."""
    numbers: tuple[int, ...]
    """The sequence numbers: the first is in the header, the others in OPT_NAK_LIST; OpenPGM does not sort
    them."""
    source: str
    group: str


Packet = Spm | Data | Nak


def encode(packet: Packet) -> bytes:
    """Return the bytes of the packet, with its checksum."""
    tsi, payload = packet.tsi, b""
    ports = (tsi.port, packet.port)
    if isinstance(packet, Data):
        kind = PgmPacketType.RDATA if packet.repair else PgmPacketType.ODATA
        body = _DATA.pack(packet.number, packet.trail)
        options = (
            NO_OPTIONS
            if packet.fragment is None and packet.join is None and not (packet.syn or packet.fin)
            else Options(packet.fragment, (), packet.join, packet.syn, packet.fin)
        )
        payload = packet.payload
    elif isinstance(packet, Spm):
        kind = PgmPacketType.SPM
        body = _SPM.pack(packet.number, packet.trail, packet.lead) + _address(packet.path)
        options = Options(join=packet.join, fin=packet.fin, reset=packet.reset)
    else:
        kind = packet.kind
        body = _NAK.pack(packet.numbers[0]) + _address(packet.source) + _address(packet.group)
        options = Options(listed=packet.numbers[1:])
        if kind in _UPSTREAM:
            ports = (packet.port, tsi.port)
    extensions = options.encode()
    flags = (_HAS_OPTIONS if extensions else 0) | (_FOR_ROUTERS if options.listed else 0)
    if len(body) + len(extensions) + len(payload) > LARGEST - _HEADER.size:
        raise UsageError(f"a PGM packet has at most {LARGEST} bytes, and the data alone has {len(payload)}")
    raw = bytearray(
        b"".join((_HEADER.pack(*ports, kind, flags, 0, tsi.source, len(payload)), body, extensions, payload))
    )
    _CHECKSUM.pack_into(raw, _CHECKSUM_AT, 0xFFFF - _sum(raw))
    return bytes(raw)


def decode(raw: bytes) -> Packet:
    """Return the packet; raise PacketFault for invalid bytes, NotServed for an unsupported type."""
    reader = Reader(raw, 0, len(raw))
    reader.begin(SPEC)
    sender, receiver, code, flags, checksum, source, size = reader.unpack(_HEADER, "the PGM header")
    kind = _KINDS.get(code)
    if kind is None and code not in _NOT_SERVED:
        raise reader.fault(f"packets of type {code:#04x} are not served", 4)
    if flags & _PARITY:
        raise reader.fault("parity packets are not served", 5)
    if not checksum and kind in _DATA_KINDS:
        raise reader.fault("a packet with data has no checksum", _CHECKSUM_AT)
    if checksum and _sum(raw):
        raise reader.fault("the checksum is wrong", _CHECKSUM_AT)
    if kind is None:
        raise NotServed(4, f"{_NOT_SERVED[code]} is not served", spec=SPEC)
    tsi = Tsi(source, receiver if kind in _UPSTREAM else sender)
    port = sender if kind in _UPSTREAM else receiver
    if kind in _DATA_KINDS:
        return _data(reader, kind, flags, tsi, port, size)
    if size:
        raise reader.fault(f"a packet of type {code:#04x} says that it has {size} bytes of data", 14)
    return (
        _spm(reader, flags, tsi, port) if kind is PgmPacketType.SPM else _nak(reader, kind, flags, tsi, port)
    )


def _data(reader: Reader, kind: PgmPacketType, flags: int, tsi: Tsi, port: int, size: int) -> Data:
    number, trail = reader.unpack(_DATA, "the data header")
    options = Options.decode(reader) if flags & _HAS_OPTIONS else NO_OPTIONS
    if options.listed or options.reset is not None:
        raise reader.fault("data has an option that does not belong there")
    at = reader.at
    if reader.end - at != size:
        raise reader.fault(f"there are {reader.end - at} bytes of data, and {size} are said to be", 14)
    if distance(trail, number) < 0:
        raise reader.fault(f"number {number} is not in its window, which begins with {trail}", 16)
    part = options.fragment
    if part is not None and (
        part.offset + size > part.length
        or (part.first == number) != (part.offset == 0)
        or distance(part.first, number) < 0
    ):
        raise reader.fault(f"{size} bytes at {part.offset} are no part of an APDU of {part.length}")
    return Data(
        tsi, port, number, trail, reader.data[at:], kind is PgmPacketType.RDATA, part, options.join,
        options.syn, options.fin,
    )  # fmt: skip


def _spm(reader: Reader, flags: int, tsi: Tsi, port: int) -> Spm:
    number, trail, lead = reader.unpack(_SPM, "an SPM")
    path = _address_of(reader)
    options = _options(reader, flags)
    if options.fragment is not None or options.listed or options.syn:
        raise reader.fault("an SPM has an option that does not belong there")
    if (trail, lead) != _NO_WINDOW and (lead + 1 - trail) & MASK >= HALF:
        raise reader.fault(f"the window from {trail} to {lead} goes backwards or is too large", 20)
    return Spm(tsi, port, number, trail, lead, path, options.join, options.fin, options.reset)


def _nak(reader: Reader, kind: PgmPacketType, flags: int, tsi: Tsi, port: int) -> Nak:
    (number,) = reader.unpack(_NAK, "a NAK")
    source = _address_of(reader)
    group = _address_of(reader)
    options = _options(reader, flags)
    if options.fragment is not None or options.syn or options.fin or options.reset is not None:
        raise reader.fault("a NAK has an option that does not belong there")
    return Nak(kind, tsi, port, (number, *options.listed), source, group)


def _options(reader: Reader, flags: int) -> Options:
    """Return the options of a packet without data, which nothing may follow."""
    options = Options.decode(reader) if flags & _HAS_OPTIONS else NO_OPTIONS
    if reader.at != reader.end:
        raise reader.fault(f"{reader.end - reader.at} bytes are left over", reader.at)
    return options


def _sum(raw: bytes | bytearray) -> int:
    """Return the one's complement sum of 16-bit words: the digit sum of a number in base 65536."""
    number = int.from_bytes(raw, "big")
    return (number << 8 if len(raw) & 1 else number) % 0xFFFF


@lru_cache(maxsize=1024)
def _address(text: str) -> bytes:
    """Return a network-layer address with its family."""
    try:
        address = ip_address(text)
    except ValueError:
        raise UsageError(f"{text!r} is not an IP address") from None
    return _AFI.pack(1 if address.version == 4 else 2, 0) + address.packed


def _address_of(reader: Reader) -> str:
    at = reader.at
    family, _ = reader.unpack(_AFI, "an address")
    size = _ADDRESS_SIZES.get(family)
    if size is None:
        raise reader.fault(f"addresses of family {family} are not known", at)
    return _text(reader.take(size, "an address"))


@lru_cache(maxsize=1024)
def _text(packed: bytes) -> str:
    return str(IPv4Address(packed) if len(packed) == 4 else IPv6Address(packed))
