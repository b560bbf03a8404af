"""Encodes MessagePropertiesHeader, [MS-MQMQ] 2.2.19.3: the properties that an application sets, with the
body.

    0       1       2       4             24         28    32            36              40
    | flags | label | class | correlation | BodyType | tag | MessageSize | AllocationBodySize |
    40             44              48                    52              56
    | PrivacyLevel | HashAlgorithm | EncryptionAlgorithm | ExtensionSize |
    | label | extension | body | slack | padding |        extension and body are not aligned

The body has room for AllocationBodySize bytes; what is beyond MessageSize is `slack`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import layouts
from reliquary.wire.packet.fields import Reader, padded, wide

SPEC: Final = layouts.PROPERTIES.spec
LABEL_LIMIT: Final = 0xFA
"""The largest number of UTF-16 units of a label, with its zero."""

ACK_POS_ARRIVAL: Final = 1
ACK_POS_RECEIVE: Final = 2
ACK_NEG_ARRIVAL: Final = 4
ACK_NEG_RECEIVE: Final = 8

NOT_PRIVATE: Final = 0
PRIVATE_BASE: Final = 1
PRIVATE_ENHANCED: Final = 3
PRIVATE_ADVANCED: Final = 5

MD2: Final = 0x8001
MD4: Final = 0x8002
MD5: Final = 0x8003
SHA1: Final = 0x8004
SHA_256: Final = 0x800C
SHA_512: Final = 0x800E

RC2: Final = 0x6602
RC4: Final = 0x6801
AES128: Final = 0x660E
AES192: Final = 0x660F
AES256: Final = 0x6610

NO_CORRELATION: Final = bytes(20)

_LAYOUT: Final = layouts.PROPERTIES.struct


class PropertiesHeader(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The message itself.  An algorithm may be any number: only who needs it can refuse it."""

    acknowledgements: int = 0
    """The bits of the acknowledgements that the sender requests: `ACK_`."""
    label: str = ""
    message_class: int = 0
    correlation: bytes = NO_CORRELATION
    body_type: int = 0
    application_tag: int = 0
    privacy: int = NOT_PRIVATE
    hash_algorithm: int = SHA1
    encryption_algorithm: int = RC4
    extension: bytes = b""
    body: bytes = b""
    slack: bytes = b""

    def encode(self) -> bytes:
        """Return the header as bytes."""
        label = self.label_bytes
        if len(label) > 2 * LABEL_LIMIT:
            raise UsageError(
                f"a label has at most {LABEL_LIMIT - 1} UTF-16 units, this one has {len(label) // 2 - 1}"
            )
        if len(self.correlation) != 20:
            raise UsageError(f"a correlation has 20 bytes, not {len(self.correlation)}")
        fixed = _LAYOUT.pack(
            self.acknowledgements & 0x0F,
            len(label) // 2,
            self.message_class,
            self.correlation,
            self.body_type,
            self.application_tag,
            len(self.body),  # DM-279
            len(self.body) + len(self.slack),
            self.privacy,
            self.hash_algorithm,
            self.encryption_algorithm,
            len(self.extension),
        )
        return padded(b"".join((fixed, label, self.extension, self.body, self.slack)))

    @property
    def label_bytes(self) -> bytes:
        """Return the label as the packet has it: no bytes for an empty label, otherwise the text with its
        zero."""
        return wide(self.label, "a label") if self.label else b""

    @classmethod
    def decode(cls, reader: Reader) -> PropertiesHeader:
        """Return the header.  Reserved bits are ignored."""
        reader.begin(SPEC)
        (
            flags,
            label,
            message_class,
            correlation,
            body_type,
            tag,
            size,
            allocated,
            privacy,
            hash_algorithm,
            encryption_algorithm,
            extension,
        ) = reader.unpack(_LAYOUT, "a message properties header")
        if label > LABEL_LIMIT:
            raise reader.fault(f"a label has at most {LABEL_LIMIT} units, not {label}", reader.start + 1)
        if allocated < size:
            raise reader.fault(f"a body of {size} bytes has room for {allocated}", reader.start + 36)
        header = cls(
            acknowledgements=flags & 0x0F,
            label=reader.wide(2 * label, "the label") if label else "",
            message_class=message_class,
            correlation=correlation,
            body_type=body_type,
            application_tag=tag,
            privacy=privacy,
            hash_algorithm=hash_algorithm,
            encryption_algorithm=encryption_algorithm,
            extension=reader.take(extension, "the extension"),
            body=reader.take(size, "the body"),
            slack=reader.take(allocated - size, "the body's room"),
        )
        reader.pad()
        return header
