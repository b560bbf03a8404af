"""Encodes MQUSERSIGNCERTS, [MS-MQMQ] 2.2.21 and 2.2.22: the certificates of a user in a directory.

    MQUSERSIGNCERTS  | how many: 4 | MQUSERSIGNCERT ...
    MQUSERSIGNCERT   | MD5 of the certificate: 16 | identifier: 16 | its bytes: 4 | certificate, X.509 |

The code that verifies a signature decides whether its certificate is valid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from struct import Struct as Layout
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import PeerFault
from reliquary.base.hresult import HResult

_COUNT: Final = Layout("<I")
_ENTRY: Final = Layout("<16s16sI")


class Certificate(msgspec.Struct, frozen=True):
    """A certificate in DER, and the name that the user gave it at registration."""

    identifier: UUID
    encoded: bytes

    @property
    def digest(self) -> bytes:
        """Return the entry of the certificate in CertificateDigestList (DM-037)."""
        return digest_of(self.encoded)


def digest_of(encoded: bytes) -> bytes:
    """Return the MD5 of a certificate, which finds it in a list and protects nothing."""
    return hashlib.md5(encoded, usedforsecurity=False).digest()


def encode_certificates(certificates: Sequence[Certificate]) -> bytes:
    """Return a list of certificates as MQUSERSIGNCERTS."""
    entries = (
        _ENTRY.pack(each.digest, each.identifier.bytes_le, len(each.encoded)) + each.encoded
        for each in certificates
    )
    return _COUNT.pack(len(certificates)) + b"".join(entries)


def decode_certificates(data: bytes) -> tuple[Certificate, ...]:
    """Return the certificates of an MQUSERSIGNCERTS."""
    if len(data) < _COUNT.size:
        raise _fault(0, "the list of certificates ends early")
    (count,) = _COUNT.unpack_from(data)
    certificates, place = [], _COUNT.size
    for _ in range(count):
        certificate, place = _read(data, place)
        certificates.append(certificate)
    if place != len(data):
        raise _fault(place, f"{len(data) - place} bytes follow the last certificate")
    return tuple(certificates)


def _read(data: bytes, at: int) -> tuple[Certificate, int]:
    start = at + _ENTRY.size
    if start > len(data):
        raise _fault(at, "a certificate ends early")
    digest, identifier, size = _ENTRY.unpack_from(data, at)
    if not size:
        raise _fault(at, "a certificate is empty")
    if start + size > len(data):
        raise _fault(at, f"a certificate of {size} bytes does not fit")
    certificate = Certificate(UUID(bytes_le=identifier), data[start : start + size])
    if certificate.digest != digest:
        raise _fault(at, f"the digest {digest.hex()} is not that of the certificate")
    return certificate, start + size


def _fault(at: int, why: str) -> PeerFault:
    return PeerFault(HResult.INVALID_PARAMETER, f"at byte {at}: {why}", spec="[MS-MQMQ] 2.2.21")
