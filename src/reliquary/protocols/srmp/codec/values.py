"""Defines the content of an SRMP message, [MC-MQSRM] 2.2, as values.

Moments are seconds since 1970.  An absent element is None, or empty if both have one meaning.
"""

from __future__ import annotations

from enum import Enum
from uuid import UUID

import msgspec

from reliquary.queueing.model.message import Message, ObjectId


class Value(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A part of a message."""


class CommitmentRequest(Value, frozen=True, kw_only=True):
    """The sender requests a receipt that reports whether the message was read, 2.2.5.2.3.

    It is the element `services/commitmentReceiptRequest`.
    """

    send_to: str
    positive: bool = False
    """`positiveOnly`: the sender wants to know when the message was read."""
    negative: bool = False
    """`negativeOnly`: the sender wants to know when the message was not read in time."""


class StreamPosition(Value, frozen=True, kw_only=True):
    """The element `stream`, 2.2.5.3: the position of a message in its stream."""

    identifier: str
    r"""The element streamId as text: `uid:GUID\\number`."""
    sender: UUID
    number: int
    """The stream's number: its time in the high half, its ordinal in the low one."""
    current: int
    previous: int
    """The number of the previous message; `current - 1` if the element is absent."""
    receipts_to: str = ""
    """`start/sendReceiptsTo`; only the first message has it, and must have it."""
    unconfirmed_to: str = ""
    """`unconfirmed/sendReceiptsTo` of Reliquary: no number before this one will come; receipts go there.

    A receiver that was restored from a backup has forgotten both.
    """


class DeliveryReceipt(Value, frozen=True, kw_only=True):
    """The header block `deliveryReceipt`, 2.2.5.4."""

    received_at: int
    id: str


class CommitmentReceipt(Value, frozen=True, kw_only=True):
    """The header block `commitmentReceipt`, 2.2.5.5."""

    decided_at: int
    positive: bool
    id: str


class StreamReceipt(Value, frozen=True, kw_only=True):
    """The header block `streamReceipt`, 2.2.5.6."""

    identifier: str
    """The identifier of the stream: `streamId`."""
    last: int
    """The ordinal of the last message that was received: `lastOrdinal`."""


class Msmq(Value, frozen=True, kw_only=True):
    """The header block `Msmq`, 2.2.6: properties of MSMQ messages."""

    message_class: int
    priority: int
    journal: bool = False
    dead_letter: bool = False
    correlation: ObjectId | None = None
    trace: bool = False
    connector_type: UUID | None = None
    application_tag: int | None = None
    """The element App; 0 means absent, and Windows writes it."""
    body_type: int = 0
    hash_algorithm: int | None = None
    first: bool = False
    """Whether the message is the first of its transaction: `Eod/First`."""
    last: bool = False
    """Whether the message is the last of its transaction: `Eod/Last`."""
    connector_manager: UUID | None = None
    """The GUID of the connector's manager: `Eod/ConnectorId`."""
    provider_type: int | None = None
    provider_name: str = ""
    source: UUID
    """The GUID of the manager that sent the message: `SourceQmGuid`."""
    destinations: tuple[str, ...] = ()
    administration_queues: tuple[str, ...] = ()
    response_queues: tuple[str, ...] = ()
    reach_by: int
    """The time until which the message may reach its queue: `TTrq`."""


class Envelope(Value, frozen=True, kw_only=True):
    """The content of the header of an envelope."""

    action: str
    to: str
    id: str
    """The text of `id`; a receipt repeats it."""
    identifier: ObjectId
    """The value of `id`; NULL GUID and 1 without `Msmq` (SR-167)."""
    via: str = ""
    """`rev/via`; empty for no response queue."""
    expires_at: int
    sent_at: int | None = None
    durable: bool = False
    delivery_to: str = ""
    """`deliveryReceiptRequest/sendTo`; empty when none is requested."""
    commitment: CommitmentRequest | None = None
    stream: StreamPosition | None = None
    delivery_receipt: DeliveryReceipt | None = None
    commitment_receipt: CommitmentReceipt | None = None
    stream_receipt: StreamReceipt | None = None
    msmq: Msmq | None = None
    signature: str = ""
    """The `Signature` element as text, for `wire.xmldsig`; empty without one."""


class Arrived(Value, frozen=True, kw_only=True):
    """A message as it came: SoapCompoundMessage, cut into its parts."""

    envelope: Envelope
    text: str
    """The envelope as it came: SoapEnvelope."""
    body: bytes = b""
    extension: bytes = b""
    has_body: bool = False
    """Whether there was a part for the body, even an empty one."""
    has_extension: bool = False
    hops: int = 0
    """How many managers have forwarded the message, by the HTTP header."""
    trace_context: str = ""
    """The trace of the message, from the header of HTTP."""
    repeated: Message | None = None
    """The attributes that the envelope gives its message, if an earlier envelope gave equal ones."""


class Compound(Value, frozen=True, kw_only=True):
    """A message of an application, before it is sent."""

    content_type: str
    body: bytes


class MessageKind(Enum):
    """The kind of a message, 3.1.5.1.5."""

    USER_MESSAGE = "user-message"
    DELIVERY_RECEIPT = "delivery-receipt"
    COMMITMENT_RECEIPT = "commitment-receipt"
    STREAM_RECEIPT = "stream-receipt"
    FINAL_STREAM_RECEIPT = "final-stream-receipt"
    UNKNOWN = "unknown"
    """None of the other kinds: the message is ignored (SR-194)."""

    __hash__ = object.__hash__  # members are equal only to themselves; the hash of Enum is slower
