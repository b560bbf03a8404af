"""Encodes option extensions, RFC 3208 section 9: additions to the header of a packet.

    | OPT_LENGTH: 0, 4, length of all | option | option | ... the last has the bit OPT_END |
    option = | end, type | length | reserved, F, OPX | U, specific | value |

Receivers and sources ignore options that they do not know; the OPX bits concern only routers.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import msgspec

from reliquary.wire.packet.fields import Reader

SPEC: Final = "RFC 3208 9"
MOST_OPTIONS: Final = 16
MOST_LISTED: Final = 62
"""The largest number of sequence numbers in a NAK list, besides the one in the header."""

_LENGTH: Final = 0x00
_FRAGMENT: Final = 0x01
_NAK_LIST: Final = 0x02
_JOIN: Final = 0x03
_SYN: Final = 0x0D
_FIN: Final = 0x0E
_RST: Final = 0x0F
_END: Final = 0x80
_NO_NAKS: Final = 0x40
"""The N bit of OPT_RST."""
_ERROR: Final = 0x3F

_HEAD: Final = Struct(">BBBB")
_LENGTH_LAYOUT: Final = Struct(">BBH")
_FRAGMENT_LAYOUT: Final = Struct(">III")
_NUMBER: Final = Struct(">I")

SIZES: Final = {_FRAGMENT: 16, _JOIN: 8, _SYN: 4, _FIN: 4, _RST: 4}
"""The sizes in bytes of the options that have a fixed size."""
# DEPARTS from 2.1.3 (SR-006): OPT_FRAGMENT has 16 bytes, because its three numbers do not fit in the 12 that
# RFC 3208 9.2.4 gives it, and all implementations of PGM write 16.


class Fragment(msgspec.Struct, frozen=True, gc=False):
    """OPT_FRAGMENT, 9.2: a part of an APDU that is too large for one packet."""

    first: int
    """The number of the packet in which the APDU begins."""
    offset: int
    length: int
    """The number of bytes of the whole APDU."""


class Reset(msgspec.Struct, frozen=True, gc=False):
    """OPT_RST, 9.8: the source ends the session because of an error."""

    deaf: bool = True
    """N: the source will not answer NAKs."""
    error: int = 0
    """A code of 0 to 63; 0 is an unknown error."""


class Options(msgspec.Struct, frozen=True, gc=False):
    """The options of a packet that this code supports."""

    fragment: Fragment | None = None
    listed: tuple[int, ...] = ()
    """The sequence numbers of OPT_NAK_LIST."""
    join: int | None = None
    """OPT_JOIN: a receiver that joins late may request all packets from this number on."""
    syn: bool = False
    fin: bool = False
    reset: Reset | None = None

    def encode(self) -> bytes:
        """Return the encoded options, those for routers first; empty without options."""
        raw: list[bytearray] = []
        if self.listed:
            raw.append(_option(_NAK_LIST, b"".join(map(_NUMBER.pack, self.listed))))
        if self.fragment is not None:
            part = self.fragment
            raw.append(_option(_FRAGMENT, _FRAGMENT_LAYOUT.pack(part.first, part.offset, part.length)))
        if self.join is not None:
            raw.append(_option(_JOIN, _NUMBER.pack(self.join)))
        if self.syn:
            raw.append(_option(_SYN))
        if self.fin:
            raw.append(_option(_FIN))
        if self.reset is not None:
            specific = (_NO_NAKS if self.reset.deaf else 0) | self.reset.error & _ERROR
            raw.append(_option(_RST, specific=specific))
        if not raw:
            return b""
        raw[-1][0] |= _END
        together = b"".join(raw)
        return (
            _LENGTH_LAYOUT.pack(_LENGTH, _LENGTH_LAYOUT.size, _LENGTH_LAYOUT.size + len(together)) + together
        )

    @classmethod
    def decode(cls, reader: Reader) -> Options:
        """Return the options at the current offset."""
        reader.begin(SPEC)
        kind, size, total = reader.unpack(_LENGTH_LAYOUT, "OPT_LENGTH")
        if (kind, size) != (_LENGTH, _LENGTH_LAYOUT.size):
            raise reader.fault("the first option is not OPT_LENGTH")
        end = reader.start + total
        found: dict[str, object] = {}
        for _ in range(MOST_OPTIONS):
            at = reader.at
            kind, size, _, specific = reader.unpack(_HEAD, "an option")
            known = kind & ~_END
            if size < _HEAD.size or SIZES.get(known, size) != size or at + size > end:
                raise reader.fault(f"option {known:#04x} has {size} bytes", at)
            name, value = _meaning(known, specific, reader.take(size - _HEAD.size, "an option"), reader, at)
            if name in found:
                raise reader.fault(f"option {known:#04x} comes twice", at)
            if name:
                found[name] = value
            if kind & _END:
                break
        else:
            raise reader.fault(f"there are more than {MOST_OPTIONS} options, or none is the last")
        if reader.at != end:
            raise reader.fault(f"the options have {reader.at - reader.start} bytes and say {total}")
        return cls(**found)  # type: ignore[arg-type]


def _option(kind: int, value: bytes = b"", specific: int = 0) -> bytearray:
    return bytearray(_HEAD.pack(kind, _HEAD.size + len(value), 0, specific) + value)


def _meaning(kind: int, specific: int, value: bytes, reader: Reader, at: int) -> tuple[str, object]:
    """Return the name and the value of an option; an unknown option has no name."""
    if kind == _FRAGMENT:
        return "fragment", Fragment(*_FRAGMENT_LAYOUT.unpack(value))
    if kind == _NAK_LIST:
        if not value or len(value) % _NUMBER.size or len(value) > MOST_LISTED * _NUMBER.size:
            raise reader.fault(f"a NAK list has 1 to {MOST_LISTED} numbers, not {len(value)} bytes", at)
        return "listed", tuple(number for (number,) in _NUMBER.iter_unpack(value))  # OpenPGM: in any order
    if kind == _JOIN:
        return "join", _NUMBER.unpack(value)[0]
    if kind == _SYN:
        return "syn", True
    if kind == _FIN:
        return "fin", True
    if kind == _RST:
        return "reset", Reset(bool(specific & _NO_NAKS), specific & _ERROR)
    if kind == _LENGTH:
        raise reader.fault("OPT_LENGTH comes twice", at)
    return "", None


NO_OPTIONS: Final = Options()
