"""Describes the fixed parts of packets as tables: names, sizes and meanings of their fields.

The codecs take their `struct` formats from these tables, and `tools/dissector.py` makes the Wireshark
dissector of them.  So a field that is wrong here is wrong in both, and the published sample shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from struct import Struct
from types import MappingProxyType
from typing import Final, NamedTuple

NO_VALUES: Final[Mapping[int, str]] = MappingProxyType({})


class FieldKind(Enum):
    """How the bytes of a field are displayed."""

    NUMBER = "number"
    HEX = "hex"
    TIME = "time"
    """A moment in seconds since 1970."""
    GUID = "guid"
    BYTES = "bytes"


class Bits(NamedTuple):
    """Bits of a number that have a name of their own."""

    name: str
    mask: int
    values: Mapping[int, str] = NO_VALUES


class Field(NamedTuple):
    """One field: its name in the specification, and its size in the notation of `struct`."""

    name: str
    code: str
    kind: FieldKind = FieldKind.NUMBER
    bits: tuple[Bits, ...] = ()

    @property
    def size(self) -> int:
        """Return the number of bytes of the field."""
        return Struct("<" + self.code).size


class Layout(NamedTuple):
    """Fields that follow each other without a gap; all numbers are little-endian (QB-009)."""

    name: str
    spec: str
    fields: tuple[Field, ...]

    @property
    def struct(self) -> Struct:
        """Return the `Struct` that packs and unpacks all fields."""
        return Struct("<" + "".join(field.code for field in self.fields))

    def offset(self, name: str) -> int:
        """Return the offset of a field."""
        names = [field.name for field in self.fields]
        return sum(field.size for field in self.fields[: names.index(name)])


QUEUE_KINDS: Final = MappingProxyType(
    {
        0: "none",
        1: "as the administration queue",
        2: "private, on the source",
        3: "private, on the destination",
        4: "private, on the host of the administration queue",
        5: "public",
        6: "private",
        7: "direct",
    }
)
PACKET_TYPES: Final = MappingProxyType({1: "SessionAck", 2: "EstablishConnection", 3: "ConnectionParameters"})

BASE: Final = Layout(
    "BaseHeader",
    "MS-MQMQ 2.2.19.1",
    (
        Field("VersionNumber", "B", FieldKind.HEX),
        Field("Reserved", "B", FieldKind.HEX),
        Field(
            "Flags",
            "H",
            FieldKind.HEX,
            (
                Bits("PR", 0x0007),
                Bits("IN", 0x0008),
                Bits("SH", 0x0010),
                Bits("DH", 0x0020),
                Bits("TR", 0x0100),
            ),
        ),
        Field("Signature", "I", FieldKind.HEX),
        Field("PacketSize", "I"),
        Field("TimeToReachQueue", "I"),
    ),
)
INTERNAL: Final = Layout(
    "InternalHeader",
    "MS-MQQB 2.2.1",
    (
        Field("Reserved", "H", FieldKind.HEX),
        Field("Flags", "H", FieldKind.HEX, (Bits("PT", 0x000F, PACKET_TYPES), Bits("CS", 0x0010))),
    ),
)
ESTABLISH_CONNECTION: Final = Layout(
    "EstablishConnection",
    "MS-MQQB 2.2.3",
    (
        Field("ClientGuid", "16s", FieldKind.GUID),
        Field("ServerGuid", "16s", FieldKind.GUID),
        Field("TimeStamp", "I"),
        Field(
            "OperatingSystem",
            "H",
            FieldKind.HEX,
            (Bits("RE", 0x00FF), Bits("SE", 0x0100), Bits("OS", 0x0200), Bits("QS", 0x0400)),
        ),
        Field("Reserved", "H", FieldKind.HEX),
        Field("Padding", "512s", FieldKind.BYTES),
    ),
)
CONNECTION_PARAMETERS: Final = Layout(
    "ConnectionParameters",
    "MS-MQQB 2.2.2",
    (
        Field("RecoverableAckTimeout", "I"),
        Field("AckTimeout", "I"),
        Field("Reserved", "H", FieldKind.HEX),
        Field("WindowSize", "H"),
    ),
)
SESSION: Final = Layout(
    "SessionHeader",
    "MS-MQMQ 2.2.20.4",
    (
        Field("AckSequenceNumber", "H"),
        Field("RecoverableMsgAckSeqNumber", "H"),
        Field("RecoverableMsgAckFlags", "I", FieldKind.HEX),
        Field("UserMsgSequenceNumber", "H"),
        Field("RecoverableMsgSeqNumber", "H"),
        Field("WindowSize", "H"),
        Field("Reserved", "H", FieldKind.HEX),
    ),
)
USER: Final = Layout(
    "UserHeader",
    "MS-MQMQ 2.2.19.2",
    (
        Field("SourceQueueManager", "16s", FieldKind.GUID),
        Field("QueueManagerAddress", "16s", FieldKind.GUID),
        Field("TimeToBeReceived", "I"),
        Field("SentTime", "I", FieldKind.TIME),
        Field("MessageID", "I"),
        Field(
            "Flags",
            "I",
            FieldKind.HEX,
            (
                Bits("RC", 0x0000001F),
                Bits("DM", 0x00000060, MappingProxyType({0: "express", 1: "recoverable"})),
                Bits("JN", 0x00000100),
                Bits("JP", 0x00000200),
                Bits("DQ", 0x00001C00, QUEUE_KINDS),
                Bits("AQ", 0x0000E000, QUEUE_KINDS),
                Bits("RQ", 0x00070000, QUEUE_KINDS),
                Bits("SH", 0x00080000),
                Bits("TH", 0x00100000),
                Bits("MP", 0x00200000),
                Bits("CT", 0x00400000),
                Bits("MQ", 0x00800000),
                Bits("AH", 0x02000000),
                Bits("HH", 0x10000000),
            ),
        ),
    ),
)
TRANSACTION: Final = Layout(
    "TransactionHeader",
    "MS-MQMQ 2.2.20.5",
    (
        Field(
            "Flags",
            "I",
            FieldKind.HEX,
            (
                Bits("CG", 0x00000001),
                Bits("FA", 0x00000002),
                Bits("FM", 0x00000004),
                Bits("LM", 0x00000008),
                Bits("ID", 0x00FFFFF0),
            ),
        ),
        Field("TxSequenceID.Ordinal", "I"),
        Field("TxSequenceID.TimeStamp", "I"),
        Field("TxSequenceNumber", "I"),
        Field("PreviousTxSequenceNumber", "I"),
    ),
)
SECURITY: Final = Layout(
    "SecurityHeader",
    "MS-MQMQ 2.2.20.6",
    (
        Field(
            "Flags",
            "H",
            FieldKind.HEX,
            (
                Bits("ST", 0x000F),
                Bits("AU", 0x0010),
                Bits("EB", 0x0020),
                Bits("DE", 0x0040),
                Bits("AI", 0x0080),
                Bits("AS", 0x0F00),
            ),
        ),
        Field("SenderIdSize", "H"),
        Field("EncryptionKeySize", "H"),
        Field("SignatureSize", "H"),
        Field("SenderCertSize", "I"),
        Field("ProviderInfoSize", "I"),
    ),
)
PROPERTIES: Final = Layout(
    "MessagePropertiesHeader",
    "MS-MQMQ 2.2.19.3",
    (
        Field(
            "Flags",
            "B",
            FieldKind.HEX,
            (Bits("PA", 0x01), Bits("PR", 0x02), Bits("NA", 0x04), Bits("NR", 0x08)),
        ),
        Field("LabelLength", "B"),
        Field("MessageClass", "H", FieldKind.HEX),
        Field("CorrelationID", "20s", FieldKind.BYTES),
        Field("BodyType", "I"),
        Field("ApplicationTag", "I"),
        Field("MessageSize", "I"),
        Field("AllocationBodySize", "I"),
        Field("PrivacyLevel", "I"),
        Field("HashAlgorithm", "I", FieldKind.HEX),
        Field("EncryptionAlgorithm", "I", FieldKind.HEX),
        Field("ExtensionSize", "I"),
    ),
)
ORDER_BODY: Final = Layout(
    "OrderAck body",
    "MS-MQQB 2.2.4.1",
    (
        Field("TxSequenceID.Ordinal", "I"),
        Field("TxSequenceID.TimeStamp", "I"),
        Field("TxSequenceNumber", "I"),
        Field("TxPreviousSequenceNumber", "I"),
        Field("Reserved", "20s", FieldKind.BYTES),
    ),
)
FINAL_BODY: Final = Layout(
    "FinalAck body",
    "MS-MQQB 2.2.5.1",
    (
        Field("TxSequenceID.Ordinal", "I"),
        Field("TxSequenceID.TimeStamp", "I"),
        Field("TxSequenceNumber", "I"),
        Field("TxPreviousSequenceNumber", "I"),
        Field("SourceGUID", "16s", FieldKind.GUID),
        Field("MessageID", "I"),
    ),
)
PING: Final = Layout(
    "Ping",
    "MS-MQQB 2.2.7",
    (
        Field("Flags", "H", FieldKind.HEX, (Bits("RC", 0x0001), Bits("RF", 0x0002))),
        Field("Signature", "H", FieldKind.HEX),
        Field("Cookie", "I"),
        Field("QMGuid", "16s", FieldKind.GUID),
    ),
)
