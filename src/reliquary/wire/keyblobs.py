"""Encodes keys in the format of CryptoAPI, [MS-MQQB] 2.4; all numbers in them are little-endian.

SIMPLEBLOB      | 01 02 00 00 | algorithm   | 00 A4 00 00 | a session key, encrypted with RSA |
PUBLICKEYBLOB   | 06 02 00 00 | 00 A4 00 00 | RSA1 | bits | exponent | modulus |
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import Reader

SESSION_KEY_SPEC: Final = "MS-MQQB 2.4.2"
PUBLIC_KEY_SPEC: Final = "MS-MQQB 2.4.1"

_SESSION_KEY: Final = b"\x01\x02\0\0"
_PUBLIC_KEY: Final = b"\x06\x02\0\0"
_RSA: Final = b"\0\xa4\0\0"
_MAGIC: Final = b"RSA1"

_SIMPLE: Final = Struct("<4sI4s")
_PUBLIC: Final = Struct("<4s4s4sII")


class SessionKeyBlob(msgspec.Struct, frozen=True, gc=False):
    """SIMPLEBLOB: the key of a message body, encrypted for the destination (QB-093)."""

    algorithm: int
    encrypted: bytes
    """The encrypted key as RSA makes it, the highest byte first."""

    def encode(self) -> bytes:
        """Return the SIMPLEBLOB as bytes."""
        return _SIMPLE.pack(_SESSION_KEY, self.algorithm, _RSA) + self.encrypted[::-1]

    @classmethod
    def decode(cls, data: bytes) -> SessionKeyBlob:
        """Return the key in a blob; raise PacketFault for another kind of blob."""
        reader = Reader(data, 0, len(data))
        reader.begin(SESSION_KEY_SPEC)
        kind, algorithm, exchange = reader.unpack(_SIMPLE, "a session key")
        if kind != _SESSION_KEY:
            raise reader.fault("the blob is no session key", 0)
        if exchange != _RSA:
            raise reader.fault("the session key is not encrypted with RSA", 8)
        return cls(algorithm, data[:11:-1])


class PublicKeyBlob(msgspec.Struct, frozen=True, gc=False):
    """PUBLICKEYBLOB: the public key with which other managers encrypt messages for a manager (QB-092,
    QB-292)."""

    exponent: int
    modulus: int

    def encode(self) -> bytes:
        """Return the PUBLICKEYBLOB as bytes."""
        bits = self.modulus.bit_length()
        if not bits or bits % 8:
            raise UsageError(f"a modulus has whole bytes, not {bits} bits")
        head = _PUBLIC.pack(_PUBLIC_KEY, _RSA, _MAGIC, bits, self.exponent)
        return head + self.modulus.to_bytes(bits // 8, "little")

    @classmethod
    def decode(cls, data: bytes) -> PublicKeyBlob:
        """Return the key in a blob; raise PacketFault for another kind of blob."""
        reader = Reader(data, 0, len(data))
        reader.begin(PUBLIC_KEY_SPEC)
        kind, exchange, magic, bits, exponent = reader.unpack(_PUBLIC, "a public key")
        if (kind, exchange, magic) != (_PUBLIC_KEY, _RSA, _MAGIC):
            raise reader.fault("the blob is no public key for RSA", 0)
        if not bits or bits != 8 * (len(data) - reader.at):
            raise reader.fault(f"the key has {8 * (len(data) - reader.at)} bits and says {bits}", 12)
        return cls(exponent, int.from_bytes(data[reader.at :], "little"))
