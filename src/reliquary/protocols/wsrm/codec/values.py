"""Defines the values of WS-ReliableMessaging, for all versions of it, of SOAP and of WS-Addressing.

    bytes --decode--> Envelope --> the rules of source and destination --> Envelope --encode--> bytes

`rm10` and `rm11` hold the spelling of both versions; WS-RM 1.2 is written as 1.1.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

from reliquary.base.time import Duration
from reliquary.base.words import Word
from reliquary.protocols.wsrm.codec.faults import FaultCode

LAST_NUMBER: Final = 9223372036854775807
"""The highest message number of WS-RM 1.1; that of 1.0 is not lower."""
LARGEST_BUFFER: Final = 2147483647
"""The largest value of BufferRemaining (FC-008)."""
NO_BUFFER: Final = -1
"""The value that SEQ_ACK_RECEIVED gets for an acknowledgement without a usable BufferRemaining (FC-039)."""


class Version(Word):
    """The version of WS-ReliableMessaging that an envelope is written in."""

    RM10 = "1.0"
    """The version of February 2005."""
    RM11 = "1.1"
    """OASIS 1.1; 1.2 has its namespace and its spelling."""


class Soap(Word):
    """The version of SOAP that an envelope is written in."""

    SOAP11 = "1.1"
    SOAP12 = "1.2"


class Addressing(Word):
    """The version of WS-Addressing that an envelope is written in."""

    WSA2004 = "2004/08"
    WSA10 = "1.0"


class Dialect(msgspec.Struct, frozen=True, gc=False):
    """The versions of the standards that both ends of a sequence use from its creation to its end."""

    version: Version = Version.RM11
    """The version of WS-ReliableMessaging; 1.1 also means 1.2."""
    soap: Soap = Soap.SOAP12
    """The version of SOAP of the envelopes."""
    addressing: Addressing = Addressing.WSA10
    """The version of WS-Addressing of the envelopes."""


class Reference(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An endpoint reference of WS-Addressing."""

    address: str
    parameters: bytes = b""
    """The reference parameters (and properties), as consecutive XML elements."""
    properties: bytes = b""
    """The ReferenceProperties of WS-Addressing 2004/08, in that form."""


class SequenceHeader(msgspec.Struct, frozen=True, gc=False):
    """The position of an application message in its sequence."""

    identifier: str
    number: int
    """The number, from 1; a decoder does not check the number of a peer, so a rule does."""
    last: bool = False
    """Whether the message is the last one: LastMessage of WS-RM 1.0."""


class Acknowledgement(msgspec.Struct, frozen=True, gc=False):
    """The header block SequenceAcknowledgement: which messages have arrived."""

    identifier: str
    ranges: tuple[tuple[int, int], ...] = ()
    """Disjoint and sorted ranges; empty if no message is acknowledged (`None` in 1.1, 0..0 in 1.0)."""
    nacks: tuple[int, ...] = ()
    final: bool = False
    buffer: int = NO_BUFFER
    """The value of BufferRemaining; NO_BUFFER without one."""


class Incomplete(Enum):
    """IncompleteSequenceBehavior: the treatment of a sequence that ends with gaps."""

    NO_DISCARD = "NoDiscard"
    FOLLOWING = "DiscardFollowingFirstGap"
    ENTIRE = "DiscardEntireSequence"


class Offer(msgspec.Struct, frozen=True, gc=False):
    """The sequence that the creator offers for messages in the other direction."""

    identifier: str
    endpoint: Reference | None = None
    """The address that its messages are sent to; WS-RM 1.0 has none."""
    expires: Duration | None = None
    incomplete: Incomplete | None = None


class CreateSequence(msgspec.Struct, frozen=True, gc=False):
    """Body of a request for a new sequence."""

    acks_to: Reference
    expires: Duration | None = None
    """The time of expiry; None if it is absent or PT0S, so that the sequence does not expire."""
    offer: Offer | None = None


class CreateSequenceResponse(msgspec.Struct, frozen=True, gc=False):
    """Body of the response that accepts a new sequence."""

    identifier: str
    expires: Duration | None = None
    incomplete: Incomplete | None = None
    """The behavior for gaps; it is not written in WS-RM 1.0."""
    accept: Reference | None = None
    """AcksTo of the offered sequence; if it is present, the sequence is accepted."""


class CloseSequence(msgspec.Struct, frozen=True, gc=False):
    """Body of the request after which no new messages follow; WS-RM 1.1."""

    identifier: str
    last: int = 0
    """The value of LastMsgNumber; 0 if no message was sent, or if it is absent."""


class CloseSequenceResponse(msgspec.Struct, frozen=True, gc=False):
    """Body of the response that confirms that a sequence is closed."""

    identifier: str


class TerminateSequence(msgspec.Struct, frozen=True, gc=False):
    """Body of the request that ends a sequence."""

    identifier: str
    last: int = 0
    """The number of the last message: LastMsgNumber of WS-RM 1.1."""


class TerminateSequenceResponse(msgspec.Struct, frozen=True, gc=False):
    """Body of the response that confirms the end of a sequence; WS-RM 1.1."""

    identifier: str


class MakeConnection(msgspec.Struct, frozen=True, gc=False):
    """Body of the request with which a client without an address fetches a waiting message."""

    address: str = ""
    identifier: str = ""
    """A sequence, which only WS-MakeConnection 1.0 can select by."""
    unsupported: str = ""
    """The name of an unknown selection, `{namespace}name`; empty if there is none."""


class Fault(msgspec.Struct, frozen=True, gc=False):
    """A SOAP fault, of this manager or of a peer."""

    code: FaultCode
    reason: str = ""
    """The reason; empty for the sentence of the specification."""
    identifier: str = ""
    """The sequence of the fault, if the fault names it."""
    detail: bytes = b""
    """More of its detail, as XML elements."""


class Attachment(msgspec.Struct, frozen=True, gc=False):
    """A MIME part beside the envelope, SOAP with Attachments or MTOM."""

    content_type: str
    content_id: str
    """The Content-ID without angle brackets."""
    data: bytes


class Payload(msgspec.Struct, frozen=True, gc=False):
    """The Body of an application message."""

    content: bytes = b""
    """The content of Body as it came, with the required namespace declarations; empty for an empty Body.
    """
    attachments: tuple[Attachment, ...] = ()
    start_type: str = ""
    """Not empty: the envelope is a part of type application/xop+xml (MTOM), with this `type`."""


class Properties(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Properties of a queue message that WS-Addressing lacks: a header block of Reliquary."""

    label: str | None = None
    """The label; None if it is the Action."""
    priority: int = 3
    body_type: int = 0
    application_tag: int = 0
    express: bool = False
    sent_time: int = 0
    time_to_be_received: int | None = None
    """The time in seconds; None for no limit."""
    correlation: str = ""
    """The correlation as `uuid:number@guid`, if RelatesTo does not give it."""
    response_queue: str = ""
    """The response queue as a format name, if ReplyTo does not give it."""
    administration_queue: str = ""
    acknowledgements: tuple[str, ...] = ()
    """The words of `Acknowledgement` in the queue manager."""
    message_class: int = 0
    dead_letter: bool = False
    """Whether the receiver keeps the message in a dead-letter queue if no application takes it."""
    hops: int = 0
    """How many managers have forwarded the message."""
    trace_context: str = ""
    """The trace of the message, as `wire.trace_context` writes it."""


Body = (
    CreateSequence
    | CreateSequenceResponse
    | CloseSequence
    | CloseSequenceResponse
    | TerminateSequence
    | TerminateSequenceResponse
    | MakeConnection
    | Fault
    | Payload
)


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One SOAP message: its header blocks and its body."""

    dialect: Dialect
    action: str = ""
    """The action; empty: that of the body, of an acknowledgement or of an AckRequested, in this order."""
    to: Reference | None = None
    """The destination; for an envelope that arrived, only the address."""
    message_id: str = ""
    relates_to: str = ""
    reply_to: Reference | None = None
    fault_to: Reference | None = None
    sequence: SequenceHeader | None = None
    acknowledgements: tuple[Acknowledgement, ...] = ()
    ack_requests: tuple[str, ...] = ()
    """The identifiers of the sequences whose acknowledgement is requested."""
    uses_str: bool = False
    uses_ssl: bool = False
    """Whether the header UsesSequenceSSL is present; `uses_str` means UsesSequenceSTR."""
    pending: bool | None = None
    """MessagePending of MakeConnection; None if it is not written."""
    properties: Properties | None = None
    foreign: tuple[str, ...] = ()
    """For an envelope that arrived: unknown header blocks for this node that must be understood, as
    `{namespace}name`. A fault MustUnderstand names them.
    """
    malformed_buffers: int = 0
    """For an envelope that arrived: BufferRemaining elements that are treated as absent (H-18)."""
    body: Body = Payload()


class Encoded(msgspec.Struct, frozen=True, gc=False):
    """An envelope for sending over HTTP."""

    content_type: str
    action: str
    """The value of the SOAPAction header of SOAP 1.1; empty if the header is not written."""
    data: bytes
