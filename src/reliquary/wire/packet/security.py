"""Encodes SecurityHeader, [MS-MQMQ] 2.2.20.6: the sender, its signature and the key of the body.

    0       2              4               6                8                12                 16
    | flags | sender bytes | key bytes     | signature bytes | certificate bytes | provider bytes |
    | sender | encryption key | signature | certificate | provider |      each padded, none if empty

The sizes decide whether the data is there, and not the flag AI: the published packet has the
data and not the flag.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import layouts
from reliquary.wire.packet.fields import Reader, padded, wide

SPEC: Final = layouts.SECURITY.spec
NO_SENDER: Final = 0
SID: Final = 1
QUEUE_MANAGER: Final = 2
SIGNATURE_LEVELS: Final = frozenset({0, 1, 3, 5, 9})
"""The levels in this order: none, MSMQ 1.0, 2.0, 3.0, XML."""
SHORT_LIMIT: Final = 0xFFFF
CERTIFICATE_LIMIT: Final = 0xFFFF

_SENDER_KIND: Final = 0x000F
_AUTHENTICATED: Final = 0x0010
_ENCRYPTED: Final = 0x0020
_DEFAULT_PROVIDER: Final = 0x0040
_DATA: Final = 0x0080

_LAYOUT: Final = layouts.SECURITY.struct
_TYPE: Final = Struct("<I")


class ProviderInfo(msgspec.Struct, frozen=True, gc=False):
    """The cryptographic provider that made the signature."""

    kind: int = 1
    name: str = ""

    def encode(self) -> bytes:
        """Return the type, and the name with its zero."""
        return _TYPE.pack(self.kind) + wide(self.name, "a provider's name")

    @classmethod
    def decode(cls, reader: Reader, size: int) -> ProviderInfo:
        """Decode the provider from `size` bytes."""
        what = "the provider's information"
        if size < 4:
            raise reader.fault(f"{what} has {size} bytes, which is no type and name", reader.at)
        (kind,) = reader.unpack(_TYPE, what)
        return cls(kind, reader.wide(size - 4, "the provider's name") if size > 4 else "")


class SecurityHeader(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """SecurityHeader: the sender, its signature and the encryption key."""

    sender_kind: int = NO_SENDER
    """ST: NO_SENDER, SID or QUEUE_MANAGER."""
    authenticated: bool = False
    """AU: not set by a sender; a receiver ignores the value that a peer claims."""
    encrypted: bool = False
    """EB: the body is encrypted."""
    default_provider: bool = False
    """DE: the messaging system itself signed."""
    data_flag: bool = False
    """AI: the specification uses it for headers with data; this code uses the sizes."""
    signature_level: int = 0
    """AS: ignored by a receiver, as `authenticated` is."""
    sender: bytes = b""
    encryption_key: bytes = b""
    signature: bytes = b""
    certificate: bytes = b""
    provider: ProviderInfo | None = None

    @property
    def is_sid_only(self) -> bool:
        """Return whether the header has only the SID of a user, as in most packets of Windows."""
        return self == SecurityHeader(sender_kind=SID, data_flag=self.data_flag, sender=self.sender)

    def encode(self) -> bytes:
        """Return the header as bytes."""
        provider = b"" if self.provider is None else self.provider.encode()
        parts = (self.sender, self.encryption_key, self.signature, self.certificate, provider)
        self._check(parts)
        flags = (
            self.sender_kind
            | (_AUTHENTICATED if self.authenticated else 0)
            | (_ENCRYPTED if self.encrypted else 0)
            | (_DEFAULT_PROVIDER if self.default_provider else 0)
            | (_DATA if self.data_flag else 0)
            | self.signature_level << 8
        )
        return _LAYOUT.pack(flags, *map(len, parts)) + b"".join(map(padded, parts))

    def _check(self, parts: tuple[bytes, ...]) -> None:
        if wrong := _wrong_sender(self.sender_kind, len(self.sender)):
            raise UsageError(wrong)
        if self.signature_level not in SIGNATURE_LEVELS:
            raise UsageError(f"{self.signature_level} is no level of signature")
        if not any(parts):
            raise UsageError("a security header must have data")
        longest = max(len(self.sender), len(self.encryption_key), len(self.signature))
        if longest > SHORT_LIMIT:
            raise UsageError(
                f"a sender, a key and a signature have at most {SHORT_LIMIT} bytes each, not {longest}"
            )
        if len(self.certificate) > CERTIFICATE_LIMIT:
            raise UsageError(
                f"a certificate has at most {CERTIFICATE_LIMIT} bytes, not {len(self.certificate)}"
            )

    @classmethod
    def decode(cls, reader: Reader) -> SecurityHeader:
        """Return the header.  Reserved bits are ignored."""
        reader.begin(SPEC)
        flags, sender, key, signature, certificate, provider = reader.unpack(_LAYOUT, "a security header")
        sender_kind = flags & _SENDER_KIND
        level = flags >> 8 & 0xF
        if wrong := _wrong_sender(sender_kind, sender):
            raise reader.fault(wrong)
        if level not in SIGNATURE_LEVELS:
            raise reader.fault(f"{level} is no level of signature")
        if not (sender or key or signature or certificate or provider):
            raise reader.fault("the security header has no data at all", reader.start + 2)
        if certificate > CERTIFICATE_LIMIT:
            why = f"a certificate has at most {CERTIFICATE_LIMIT} bytes, not {certificate}"
            raise reader.fault(why, reader.start + 8)
        return cls(
            sender_kind=sender_kind,
            authenticated=bool(flags & _AUTHENTICATED),
            encrypted=bool(flags & _ENCRYPTED),
            default_provider=bool(flags & _DEFAULT_PROVIDER),
            data_flag=bool(flags & _DATA),
            signature_level=level,
            sender=_part(reader, sender, "the sender"),
            encryption_key=_part(reader, key, "the encryption key"),
            signature=_part(reader, signature, "the signature"),
            certificate=_part(reader, certificate, "the certificate"),
            provider=_provider(reader, provider) if provider else None,
        )


def _wrong_sender(kind: int, size: int) -> str:
    if kind > QUEUE_MANAGER:
        return f"{kind} is no kind of sender"
    if kind == NO_SENDER and size:
        return "there is a sender, and its kind is none"
    if kind == QUEUE_MANAGER and size != 16:
        return f"a manager's identifier has 16 bytes, not {size}"
    return ""


def _part(reader: Reader, size: int, what: str) -> bytes:
    part = reader.take(size, what)
    reader.pad()
    return part


def _provider(reader: Reader, size: int) -> ProviderInfo:
    provider = ProviderInfo.decode(reader, size)
    reader.pad()
    return provider
