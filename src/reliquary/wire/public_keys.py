"""Encodes MQDSPUBLICKEY and MQDSPUBLICKEYS, [MS-MQMQ] 2.2.1 and 2.2.2: the keys of a manager in a directory.

    MQDSPUBLICKEY   | key bytes: 4 | provider bytes: 4 | provider type: 4 | provider, UTF-16 | key |
    MQDSPUBLICKEYS  | bytes of all: 4 | how many: 4 | MQDSPUBLICKEY ...

The key is a PUBLICKEYBLOB of RSA: a head of 8 bytes, "RSA1", the bits, the exponent, and the modulus
with its lowest byte first.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from struct import Struct as Layout
from typing import Final

import msgspec

from reliquary.base.faults import PeerFault
from reliquary.base.hresult import HResult

_ENTRY: Final = Layout("<III")
_LIST: Final = Layout("<II")
_BLOB: Final = Layout("<BBHIIII")

PUBLIC_KEY: Final = 0x06
BLOB_VERSION: Final = 0x02
RSA1: Final = 0x31415352


class Purpose(IntEnum):
    """The purpose of a key: CALG_RSA_KEYX or CALG_RSA_SIGN."""

    ENCRYPTION = 0x0000A400
    SIGNATURE = 0x00002400


class Provider(msgspec.Struct, frozen=True):
    """A cryptographic service provider of Windows, which determines the use of a key."""

    name: str
    type: int


PROVIDERS: Final = (
    Provider("Microsoft Base Cryptographic Provider v1.0", 1),
    Provider("Microsoft Enhanced Cryptographic Provider v1.0", 1),
    Provider("Microsoft Enhanced RSA and AES Cryptographic Provider", 0x18),
)
"""The providers; a manager has one key for each of them (DM-088)."""


class PublicKey(msgspec.Struct, frozen=True):
    """An RSA key and its provider."""

    provider: Provider
    purpose: Purpose
    modulus: int
    exponent: int

    @property
    def bits(self) -> int:
        """Return the length of the modulus in bits."""
        return self.modulus.bit_length()


def encode_key(key: PublicKey) -> bytes:
    """Write one MQDSPUBLICKEY as bytes."""
    head = _BLOB.pack(PUBLIC_KEY, BLOB_VERSION, 0, key.purpose, RSA1, key.bits, key.exponent)
    blob = head + key.modulus.to_bytes((key.bits + 7) // 8, "little")
    provider = f"{key.provider.name}\0".encode("utf-16-le")
    return _ENTRY.pack(len(blob), len(provider), key.provider.type) + provider + blob


def decode_key(data: bytes) -> PublicKey:
    """Read one MQDSPUBLICKEY; no bytes may follow it."""
    key, end = _read_key(data, 0)
    if end != len(data):
        raise _fault(end, f"{len(data) - end} bytes follow the key")
    return key


def encode_keys(keys: Sequence[bytes]) -> bytes:
    """Return MQDSPUBLICKEYS with keys that are already encoded."""
    body = b"".join(keys)
    return _LIST.pack(_LIST.size + len(body), len(keys)) + body


def decode_keys(data: bytes) -> tuple[PublicKey, ...]:
    """Return the keys of the list MQDSPUBLICKEYS."""
    if len(data) < _LIST.size:
        raise _fault(0, "the list of keys ends early")
    length, count = _LIST.unpack_from(data)
    if length != len(data):
        raise _fault(0, f"the list says that it has {length} bytes, and it has {len(data)}")
    keys, place = [], _LIST.size
    for _ in range(count):
        key, place = _read_key(data, place)
        keys.append(key)
    if place != len(data):
        raise _fault(place, f"{len(data) - place} bytes follow the last key")
    return tuple(keys)


def _read_key(data: bytes, at: int) -> tuple[PublicKey, int]:
    if at + _ENTRY.size > len(data):
        raise _fault(at, "a key ends early")
    key_size, name_size, kind = _ENTRY.unpack_from(data, at)
    start = at + _ENTRY.size
    end = start + name_size + key_size
    if end > len(data):
        raise _fault(at, f"a key of {name_size + key_size} bytes does not fit")
    provider = Provider(_read_name(data[start : start + name_size], start), kind)
    return _read_blob(data[start + name_size : end], start + name_size, provider), end


def _read_name(data: bytes, at: int) -> str:
    try:
        name = data.decode("utf-16-le")
    except UnicodeDecodeError as why:
        raise _fault(at, "the provider's name is not UTF-16") from why
    if not name.endswith("\0") or "\0" in name[:-1]:
        raise _fault(at, "the provider's name ends with a zero")
    return name[:-1]


def _read_blob(data: bytes, at: int, provider: Provider) -> PublicKey:
    if len(data) < _BLOB.size:
        raise _fault(at, "the public key ends early")
    kind, version, _, purpose, magic, bits, exponent = _BLOB.unpack_from(data)
    if (kind, version, magic) != (PUBLIC_KEY, BLOB_VERSION, RSA1):
        raise _fault(at, "this is no public key of RSA")
    if purpose not in set(Purpose):
        raise _fault(at, f"a key is for encryption or signatures, not {purpose:#x}")
    modulus = int.from_bytes(data[_BLOB.size :], "little")
    if modulus.bit_length() != bits or len(data) != _BLOB.size + (bits + 7) // 8:
        raise _fault(at, f"the key says that it has {bits} bits, and it has {modulus.bit_length()}")
    return PublicKey(provider, Purpose(purpose), modulus, exponent)


def _fault(at: int, why: str) -> PeerFault:
    return PeerFault(HResult.INVALID_PARAMETER, f"at byte {at}: {why}", spec="[MS-MQMQ] 2.2.1")
