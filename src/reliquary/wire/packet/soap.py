"""Encodes the further headers of a message from HTTP, [MS-MQRR] 2.2.5.1.2 and [MS-MQMQ] 2.2.20.7.

    Envelope   | id | 0 | units | wide string |                          8 bytes, then data
    Compound   | id | 0 | bytes | body bytes | body offset | data |     16 bytes, then data
    Soap       | 0x0320 | 0 | units | wide string |, | 0x0384 | 0 | units | wide string |

The two ids of the first are not published: any is read, and ours is written.  Each string is padded;
that the text does not say, but headers begin at multiples of four.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import Reader, padded, wide

ENVELOPE_SPEC: Final = "MS-MQRR 2.2.5.1.2.1"
COMPOUND_SPEC: Final = "MS-MQRR 2.2.5.1.2.2"
SOAP_SPEC: Final = "MS-MQMQ 2.2.20.7"
ENVELOPE_ID: Final = 0x01F4
COMPOUND_ID: Final = 0x0258
SOAP_HEADER_ID: Final = 0x0320
SOAP_BODY_ID: Final = 0x0384

_STRING: Final = Struct("<HHI")
_COMPOUND: Final = Struct("<HHIII")


class EnvelopeHeader(msgspec.Struct, frozen=True, gc=False):
    """SRMPEnvelopeHeader: carries the SOAP envelope of an SRMP message."""

    envelope: str = ""
    identifier: int = ENVELOPE_ID

    def encode(self) -> bytes:
        """Return the header as bytes."""
        return _encode_string(self.identifier, self.envelope, "an envelope")

    @classmethod
    def decode(cls, reader: Reader) -> EnvelopeHeader:
        """Return the header at the current offset."""
        reader.begin(ENVELOPE_SPEC)
        identifier, text = _decode_string(reader, "the envelope")
        return cls(text, identifier)


class CompoundHeader(msgspec.Struct, frozen=True, gc=False):
    """CompoundMessageHeader: the whole HTTP request, and the offset and size of the body in it."""

    data: bytes = b""
    body_size: int = 0
    body_offset: int = 0
    identifier: int = COMPOUND_ID

    def encode(self) -> bytes:
        """Return the header as bytes."""
        if self.body_offset + self.body_size > len(self.data):
            raise UsageError("the body of a compound message must lie within it")
        fixed = _COMPOUND.pack(self.identifier, 0, len(self.data), self.body_size, self.body_offset)
        return fixed + padded(self.data)

    @classmethod
    def decode(cls, reader: Reader) -> CompoundHeader:
        """Return the header at the current offset."""
        reader.begin(COMPOUND_SPEC)
        identifier, _, size, body_size, body_offset = reader.unpack(_COMPOUND, "a compound message header")
        if body_offset + body_size > size:
            raise reader.fault("the body of the compound message lies outside it", reader.start + 8)
        data = reader.take(size, "the compound message")
        reader.pad()
        return cls(data, body_size, body_offset, identifier)


class SoapHeader(msgspec.Struct, frozen=True, gc=False):
    """The parts of the SOAP envelope's header and body that the application wrote."""

    header: str = ""
    body: str = ""

    def encode(self) -> bytes:
        """Return the header as bytes."""
        return _encode_string(SOAP_HEADER_ID, self.header, "a SOAP header") + _encode_string(
            SOAP_BODY_ID, self.body, "a SOAP body"
        )

    @classmethod
    def decode(cls, reader: Reader) -> SoapHeader:
        """Return the header at the current offset."""
        reader.begin(SOAP_SPEC)
        return cls(
            _decode_section(reader, SOAP_HEADER_ID, "the SOAP header"),
            _decode_section(reader, SOAP_BODY_ID, "the SOAP body"),
        )


def _encode_string(identifier: int, text: str, what: str) -> bytes:
    raw = wide(text, what)
    return _STRING.pack(identifier, 0, len(raw) // 2) + padded(raw)


def _decode_string(reader: Reader, what: str) -> tuple[int, str]:
    identifier, _, units = reader.unpack(_STRING, what)
    text = reader.wide(2 * units, what) if units else ""
    reader.pad()
    return identifier, text


def _decode_section(reader: Reader, expected: int, what: str) -> str:
    at = reader.at
    identifier, text = _decode_string(reader, what)
    if identifier != expected:
        raise reader.fault(f"{what} has the id {identifier:#06x}, not {expected:#06x}", at)
    return text
