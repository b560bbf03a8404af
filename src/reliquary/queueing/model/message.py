"""Message and MessagePosition, [MS-MQDMPR] 3.1.1.11 and 3.1.1.12, with their ranges and sizes.

    Queue --- Position --- Message        a message is stored once and never changes;
    Queue --- Position ---'               a move, a journal copy or a dead letter is another position

A Position has what belongs to one place in one queue: LookupIdentifier, ArrivalTime, the reason why the
message came there.  A Message has all other attributes, under Python spellings of the specification's names.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import LAST_SECOND, SECOND, Instant
from reliquary.wire.stored_names import STORED_NAMES

NO_GUID: Final = UUID(int=0)
FOREVER: Final = 0xFFFFFFFF
"""The value of a time or a quota that has no limit."""

LABEL_LIMIT: Final = 249
PRIORITY_LIMIT: Final = 7
BODY_LIMIT: Final = 100_000_000
"""The largest size of a body in bytes, which is also announced to peers (HR-098)."""
EXTENSION_LIMIT: Final = 1024 * 1024
LONGEST_DELAY: Final = FOREVER * SECOND
HOP_LIMIT: Final = 15
"""The largest number of managers that pass on a message; more means that it goes in a circle."""


class MessageClass(IntEnum):
    """Message.Class, with the values of the packet, 3.1.7.1.31."""

    NORMAL = 0x0000
    REPORT = 0x0001
    ACK_REACH_QUEUE = 0x0002
    ORDER_ACK = 0x00FF
    ACK_RECEIVE = 0x4000
    NACK_BAD_DEST_QUEUE = 0x8000
    NACK_PURGED = 0x8001
    NACK_REACH_QUEUE_TIMEOUT = 0x8002
    NACK_QUEUE_EXCEED_QUOTA = 0x8003
    NACK_ACCESS_DENIED = 0x8004
    NACK_HOP_COUNT_EXCEEDED = 0x8005
    NACK_BAD_SIGNATURE = 0x8006
    NACK_BAD_ENCRYPTION = 0x8007
    NACK_COULD_NOT_ENCRYPT = 0x8008
    NACK_NOT_TRANSACTIONAL_QUEUE = 0x8009
    NACK_NOT_TRANSACTIONAL_MESSAGE = 0x800A
    NACK_UNSUPPORTED_CRYPTO_PROVIDER = 0x800B
    NACK_SOURCE_COMPUTER_GUID_CHANGED = 0x800C
    NACK_QUEUE_DELETED = 0xC000
    NACK_QUEUE_PURGED = 0xC001
    NACK_RECEIVE_TIMEOUT = 0xC002
    NACK_RECEIVE_TIMEOUT_AT_SENDER = 0xC003
    NACK_RECEIVE_REJECTED = 0xC004

    @property
    def is_failure(self) -> bool:
        """Whether the class says that the message did not reach a reader."""
        return self >= MessageClass.NACK_BAD_DEST_QUEUE


class Delivery(Enum):
    """Message.DeliveryGuarantee: whether a message is kept in memory or on disk."""

    EXPRESS = "express"
    RECOVERABLE = "recoverable"


class MessagePrivacy(Enum):
    """Message.PrivacyLevel: how the body is encrypted while it is sent (DM-044)."""

    NONE = "none"
    BASE = "base"
    ENHANCED = "enhanced"
    ADVANCED = "advanced"


class AuthenticationLevel(Enum):
    """Message.AuthenticationLevel: how the message is signed while it is sent (DM-045)."""

    NONE = "none"
    SIG10 = "sig10"
    SIG20 = "sig20"
    SIG30 = "sig30"
    XML_SIG = "xmlsig"


class Acknowledgement(Enum):
    """Message.AcknowledgementsRequested: which acknowledgements the sender wants (DM-056)."""

    POS_ARRIVAL = "pos-arrival"
    POS_RECEIVE = "pos-receive"
    NEG_ARRIVAL = "neg-arrival"
    NEG_RECEIVE = "neg-receive"
    NACK_REACH_QUEUE = "nack-reach-queue"
    FULL_REACH_QUEUE = "full-reach-queue"
    NACK_RECEIVE = "nack-receive"
    FULL_RECEIVE = "full-receive"


class HashAlgorithm(Enum):
    """Message.HashAlgorithm: the hash of a signature (DM-059)."""

    MD2 = "md2"
    MD4 = "md4"
    MD5 = "md5"
    SHA1 = "sha1"
    SHA = "sha"
    SHA_256 = "sha256"
    SHA_512 = "sha512"


class EncryptionAlgorithm(Enum):
    """Message.EncryptionAlgorithm: the cipher of an encrypted body (DM-060)."""

    RSA = "rsa"
    DSS = "dss"
    RSA_KEYS = "rsa-keys"
    DES = "des"
    RC2 = "rc2"
    AES256 = "aes256"
    AES128 = "aes128"
    AES192 = "aes192"
    RC4 = "rc4"
    SEAL = "seal"


class DestinationKind(Enum):
    """Message.DestinationQueueType: the form of the destination's name (DM-061)."""

    PRIVATE = "private"
    PUBLIC = "public"
    DIRECT = "direct"


class AdministrationKind(Enum):
    """Message.AdministrationQueueType: the form of the administration queue's name (DM-061)."""

    NONE = "none"
    PRIVATE_ON_SOURCE = "private-on-source"
    PRIVATE_ON_DESTINATION = "private-on-destination"
    PUBLIC = "public"
    PRIVATE_ON_OTHER = "private-on-other"
    DIRECT = "direct"


class ResponseKind(Enum):
    """Message.ResponseQueueType: the form of the response queue's name (DM-061)."""

    NONE = "none"
    SAME_AS_ADMINISTRATION = "same-as-administration"
    PRIVATE_ON_DESTINATION = "private-on-destination"
    PRIVATE_ON_SOURCE = "private-on-source"
    PRIVATE_ON_ADMINISTRATION = "private-on-administration"
    PUBLIC = "public"
    PRIVATE_ON_OTHER = "private-on-other"
    DIRECT = "direct"


class SenderKind(Enum):
    """Message.SenderIdentifierType: what `sender` identifies (DM-061)."""

    NONE = "none"
    SID = "sid"
    QUEUE_MANAGER = "queue-manager"


class ObjectId(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """OBJECTID: the lineage of the manager that made a message, and a number that is unique there."""

    lineage: UUID = NO_GUID
    uniquifier: int = 0

    def __str__(self) -> str:
        return f"{self.lineage}\\{self.uniquifier}"


class SequenceId(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """TxSequenceId: the name of one stream of transactional messages; both parts only grow."""

    ordinal: int
    timestamp: int


NO_OBJECT: Final = ObjectId()


class StoredBody(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A reference to a body that is too large for one row and is stored in pieces in a table for bodies."""

    spool: int
    """The number of the body, with which the keys of its pieces begin."""
    size: int
    pieces: int


class Message(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename=STORED_NAMES):
    """A message, 3.1.1.12.  Its label, tag, body and extension are never interpreted (DM-054)."""

    identifier: ObjectId = NO_OBJECT
    body: bytes = b""
    body_type: int = 0
    label: str = ""
    priority: int = 3
    delivery: Delivery = Delivery.EXPRESS
    message_class: int = MessageClass.NORMAL
    """A MessageClass, or a value that an application defines (DM-043)."""
    sent_time: int = 0
    """SentTime, in seconds since 1970."""
    time_to_reach_queue: int = 0x54600
    """TimeToReachQueue in seconds after SentTime; the default is four days (DM-057)."""
    time_to_be_received: int = FOREVER
    """TimeToBeReceived in seconds after SentTime (DM-058)."""
    delay: int = 0
    """Microseconds after SentTime in which readers do not see the message; the specification has no delay."""
    correlation: ObjectId = NO_OBJECT
    application_tag: int = 0
    extension: bytes = b""
    acknowledgements: tuple[Acknowledgement, ...] = ()
    positive_journaling: bool = False
    negative_journaling: bool = False
    discard_refused: bool = False
    """The sender wants no dead letter, not even when a peer refuses the message."""
    application_deadletter_queue: str = ""
    allow_peek_when_locked: bool = False
    tracing_requested: bool = False
    tracing_queue: UUID = NO_GUID
    response_queue: str = ""
    response_queues: tuple[str, ...] = ()
    destination_queue: str = ""
    destination_queues: tuple[str, ...] = ()
    administration_queue: str = ""
    administration_queues: tuple[str, ...] = ()
    multiple_destination_signature: bytes = b""
    privacy: MessagePrivacy = MessagePrivacy.NONE
    authentication: AuthenticationLevel = AuthenticationLevel.NONE
    hash_algorithm: HashAlgorithm = HashAlgorithm.SHA1
    encryption_algorithm: EncryptionAlgorithm = EncryptionAlgorithm.RC4
    source_machine: UUID = NO_GUID
    destination_manager: UUID = NO_GUID
    destination_kind: DestinationKind = DestinationKind.PRIVATE
    administration_kind: AdministrationKind = AdministrationKind.NONE
    response_kind: ResponseKind = ResponseKind.NONE
    sender: bytes = b""
    sender_kind: SenderKind = SenderKind.SID
    sender_certificate: bytes = b""
    connector_type: UUID = NO_GUID  # DM-062
    connector_manager: UUID = NO_GUID
    transaction_status_queue: str = ""
    symmetric_key: bytes = b""
    signature: bytes = b""
    authentication_provider_type: int = 1
    authentication_provider_name: str = ""
    sequence: SequenceId | None = None
    """TransactionalMessageSequenceIdentifier; None for a message that is in no stream."""
    sequence_number: int = 0
    previous_sequence_number: int = 0
    transaction: UUID | None = None
    """TransactionIdentifier: the transaction in which it was sent."""
    final_ack_required: bool = False
    first_in_transaction: bool = False
    last_in_transaction: bool = False
    soap_envelope: str = ""
    soap_compound_message: str = ""
    soap_header: str = ""
    soap_body: str = ""
    carrier_header: str = ""
    """Header fields as the carrier wrote them that brought the message, for readers and for the next hop.

    In a message that is sent, the fields that its sender chose; the carrier tells the two apart.
    """
    stored_body: StoredBody | None = None
    """The place of a large body; `body` is empty then."""
    hops: int = 0
    """The number of managers that have passed on the message, to find one that goes in a circle."""

    @property
    def is_express(self) -> bool:
        """Whether the message is kept in memory only (DM-046)."""
        return self.delivery is Delivery.EXPRESS

    @property
    def spool(self) -> int:
        """The number of its large body in the table of pieces, or 0."""
        return 0 if self.stored_body is None else self.stored_body.spool

    @property
    def body_size(self) -> int:
        """The number of bytes of its body, whether it is in the message or in pieces."""
        return len(self.body) if self.stored_body is None else self.stored_body.size

    @property
    def is_transactional(self) -> bool:
        """Whether it was sent in a transaction, at this manager or at the one that it came from."""
        return self.transaction is not None or self.sequence is not None

    def deadline(self, now: Instant) -> int:
        """Return the moment at which TimeToBeReceived ends, or 0 for never."""
        # DEPARTS from 3.1.2.4 (AN-07): the timer runs from SentTime where there is one, as
        # 3.1.1.12 defines the attribute, because a message that travelled would live too long.
        if self.time_to_be_received == FOREVER:  # DM-077
            return 0
        start = self.sent_time * SECOND if 0 < self.sent_time < LAST_SECOND else now
        return max(start + self.time_to_be_received * SECOND, 1)

    def reach_deadline(self, now: Instant) -> int:
        """Return the first moment after TimeToReachQueue, or 0 for never ([MC-MQSRM] 3.1.7.2.1)."""
        if self.time_to_reach_queue == FOREVER:
            return 0
        start = self.sent_time * SECOND if 0 < self.sent_time < LAST_SECOND else now
        return start + self.time_to_reach_queue * SECOND + 1

    def due(self, now: Instant) -> int:
        """Return the moment at which its delay ends, or 0 when it has ended."""
        if not self.delay:
            return 0
        moment = (self.sent_time * SECOND if 0 < self.sent_time < LAST_SECOND else now) + self.delay
        return moment if moment > now else 0


class Position(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """MessagePosition, 3.1.1.11: the place of one message in one queue."""

    lookup_id: int  # DM-042
    """LookupIdentifier, by which the messages of a queue are ordered."""
    message: int
    """The number of the message in the store; copies of one message have one number."""
    size: int
    arrived: int
    """ArrivalTime: when the message came, in microseconds since 1970."""
    expires: int = 0
    """The moment when TimeToBeReceived ends, microseconds since 1970; 0 is never."""
    reason: MessageClass = MessageClass.NORMAL
    """The reason why the message is in a journal or dead-letter queue."""
    origin: int = 0
    """In a journal or dead-letter queue, the number of the queue from which the message came."""
    origin_path: str = ""
    """The path name of that queue, which may have been deleted."""
    shared: bool = False
    """Other positions refer to this message; the last one that is removed also removes the message."""
    express: bool = False
    peekable: bool = False
    """AllowPeekWhenLocked of its message: a peek also sees a locked position."""
    dead_letter: bool = False
    """NegativeJournalingRequested of its message: it becomes a dead letter when it fails."""
    asks: int = 0
    """The acknowledgements and reports that its message asks for, as bits of `acknowledge`; mostly 0."""
    handed_out: int = 0
    """How many times it was read in a transaction or locked by a read since it is in this queue."""
    aborted: int = 0
    """How many of these reads were undone; AbortCounter of [MS-MQQP]'s SubqueueHeader."""
    moved: int = 0
    """How many times it was moved to another queue; MoveCounter."""
    purged: int = 0
    """PurgePending: the moment when its queue was purged while the position was locked, or 0."""
    due: int = 0
    """The end of its delay, microseconds since 1970; readers do not see it before.  0 for no delay."""
    spool: int = 0
    """The number of its message's large body in the table of pieces, or 0."""
    arrival: int = 0
    """Its number in the feed of its queue (`changes.numbering`), or 0 when that is its sequence number."""


PACKET_HEADERS: Final = 222
"""The size of the headers of a message without strings, in bytes, as in the published packet."""


def size_of(message: Message) -> int:
    """Return the bytes that a message counts against quotas: headers and body, 3.1.7.2.2."""
    strings = (
        len(message.label)
        + len(message.destination_queue)
        + len(message.administration_queue)
        + len(message.response_queue)
    )
    as_text = len(message.soap_envelope) + len(message.soap_header) + len(message.carrier_header)
    body = len(message.body) if message.stored_body is None else message.stored_body.size
    return PACKET_HEADERS + 2 * strings + as_text + len(message.extension) + body


def check(message: Message) -> None:
    """Raise UsageError, with the limit and the value, for a message outside its ranges (DM-048, DM-055)."""
    if not 0 <= message.priority <= PRIORITY_LIMIT:
        raise UsageError(f"a priority is 0 to {PRIORITY_LIMIT}, not {message.priority}")
    if len(message.label) > LABEL_LIMIT:
        raise UsageError(f"a label has at most {LABEL_LIMIT} characters, this one has {len(message.label)}")
    if len(message.body) > BODY_LIMIT:
        raise UsageError(f"a body has at most {BODY_LIMIT} bytes, this one has {len(message.body)}")
    if len(message.extension) > EXTENSION_LIMIT:
        raise UsageError(
            f"an extension has at most {EXTENSION_LIMIT} bytes, this one has {len(message.extension)}"
        )
    if not (
        0 <= message.time_to_be_received <= FOREVER
        and 0 <= message.time_to_reach_queue <= FOREVER
        and 0 <= message.body_type <= FOREVER
        and 0 <= message.application_tag <= FOREVER
        and 0 <= message.sent_time <= FOREVER
        and 0 <= message.delay <= LONGEST_DELAY
        and 0 <= message.hops <= HOP_LIMIT
    ):
        _refuse_number(message)


def _refuse_number(message: Message) -> None:
    for name, value in (
        ("a time to reach the queue", message.time_to_reach_queue),
        ("a time to be received", message.time_to_be_received),
        ("a body type", message.body_type),
        ("an application tag", message.application_tag),
        ("a sent time", message.sent_time),
    ):
        if not 0 <= value <= FOREVER:
            raise UsageError(f"{name} is 0 to {FOREVER}, not {value}")
    if not 0 <= message.hops <= HOP_LIMIT:
        raise UsageError(f"a message makes at most {HOP_LIMIT} hops, not {message.hops}")
    raise UsageError(f"a delay is 0 to {LONGEST_DELAY} microseconds, not {message.delay}")
