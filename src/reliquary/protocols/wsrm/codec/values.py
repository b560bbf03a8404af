"""The values of WS-ReliableMessaging, whatever version, SOAP and addressing they are written in.

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
    """The reference parameters (and properties), as XML elements one behind the other."""
    properties: bytes = b""
    """The ReferenceProperties of WS-Addressing 2004/08, in that form."""


class SequenceHeader(msgspec.Struct, frozen=True, gc=False):
    """The place of an application message."""

    identifier: str
    number: int
    """The number, from 1; a decoder hands on what a peer wrote, so a rule checks it."""
    last: bool = False
    """Whether the message is the last one: LastMessage of WS-RM 1.0."""


class Acknowledgement(msgspec.Struct, frozen=True, gc=False):
    """The header block SequenceAcknowledgement: which messages have arrived."""

    identifier: str
    ranges: tuple[tuple[int, int], ...] = ()
    """Disjoint and sorted; none of them where nothing is acknowledged (`None` in 1.1, 0..0 in 1.0)."""
    nacks: tuple[int, ...] = ()
    final: bool = False
    buffer: int = NO_BUFFER
    """BufferRemaining; NO_BUFFER where there is none."""


class Incomplete(Enum):
    """IncompleteSequenceBehavior: what becomes of a sequence that ends with gaps."""

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
    """None where it does not say, or for PT0S: the sequence does not expire."""
    offer: Offer | None = None


class CreateSequenceResponse(msgspec.Struct, frozen=True, gc=False):
    """Body of the response that accepts a new sequence."""

    identifier: str
    expires: Duration | None = None
    incomplete: Incomplete | None = None
    """Not written in WS-RM 1.0."""
    accept: Reference | None = None
    """AcksTo of the offered sequence, which is accepted if this is here."""


class CloseSequence(msgspec.Struct, frozen=True, gc=False):
    """No new messages follow; WS-RM 1.1."""

    identifier: str
    last: int = 0
    """LastMsgNumber; 0 where no message was sent, or where it does not say."""


class CloseSequenceResponse(msgspec.Struct, frozen=True, gc=False):
    """Body of the response that confirms that a sequence is closed."""

    identifier: str


class TerminateSequence(msgspec.Struct, frozen=True, gc=False):
    """Body of the request that ends a sequence."""

    identifier: str
    last: int = 0
    """The number of the last message: LastMsgNumber of WS-RM 1.1."""


class TerminateSequenceResponse(msgspec.Struct, frozen=True, gc=False):
    """The sequence has ended; WS-RM 1.1."""

    identifier: str


class MakeConnection(msgspec.Struct, frozen=True, gc=False):
    """A client that cannot be reached asks for a message that waits for it."""

    address: str = ""
    identifier: str = ""
    """A sequence, which only WS-MakeConnection 1.0 can select by."""
    unsupported: str = ""
    """The name of a selection that we do not know, `{namespace}name`; empty where there is none."""


class Fault(msgspec.Struct, frozen=True, gc=False):
    """A SOAP fault, ours or a peer's."""

    code: FaultCode
    reason: str = ""
    """Empty: the sentence of the specification."""
    identifier: str = ""
    """The sequence it is about, as far as the fault says."""
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
    """The content of Body as it came, with the namespace declarations that it needs; empty for an
    empty Body.
    """
    attachments: tuple[Attachment, ...] = ()
    start_type: str = ""
    """Not empty: the envelope is a part of type application/xop+xml (MTOM), and this is its `type`."""


class Properties(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Properties of a queue message that WS-Addressing does not have: a header block of our own."""

    label: str | None = None
    """Not None where the label is not the Action."""
    priority: int = 3
    body_type: int = 0
    application_tag: int = 0
    express: bool = False
    sent_time: int = 0
    time_to_be_received: int | None = None
    """The time in seconds; None for no limit."""
    correlation: str = ""
    """`uuid:number@guid`, where the correlation is not RelatesTo."""
    response_queue: str = ""
    """A format name, where ReplyTo does not say it."""
    administration_queue: str = ""
    acknowledgements: tuple[str, ...] = ()
    """The words of `Acknowledgement` in the queue manager."""
    message_class: int = 0
    dead_letter: bool = False
    """Whether the receiver keeps the message in a dead-letter queue if no application takes it."""
    hops: int = 0
    """How many managers have forwarded the message."""
    trace_context: str = ""
    """The trace that the message belongs to, as `wire.trace_context` writes it."""


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
    """Empty: that of the body, of an acknowledgement alone or of an AckRequested alone, in this order."""
    to: Reference | None = None
    """The destination; for an envelope that arrived, only the address."""
    message_id: str = ""
    relates_to: str = ""
    reply_to: Reference | None = None
    fault_to: Reference | None = None
    sequence: SequenceHeader | None = None
    acknowledgements: tuple[Acknowledgement, ...] = ()
    ack_requests: tuple[str, ...] = ()
    """Identifiers of the sequences whose acknowledgement is asked for."""
    uses_str: bool = False
    uses_ssl: bool = False
    """Whether the header UsesSequenceSSL is there; `uses_str` means UsesSequenceSTR."""
    pending: bool | None = None
    """MessagePending of MakeConnection; None where it is not written."""
    properties: Properties | None = None
    foreign: tuple[str, ...] = ()
    """For an envelope that arrived: header blocks for us that must be understood and are not known, as
    `{namespace}name`. A fault MustUnderstand names them.
    """
    malformed_buffers: int = 0
    """For an envelope that arrived: BufferRemaining elements that are treated as absent (H-18)."""
    body: Body = Payload()


class Encoded(msgspec.Struct, frozen=True, gc=False):
    """An envelope as it goes over HTTP."""

    content_type: str
    action: str
    """For the SOAPAction header of SOAP 1.1; empty where the header is not written."""
    data: bytes
