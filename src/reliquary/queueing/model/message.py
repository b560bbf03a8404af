"""Message and MessagePosition, [MS-MQDMPR] 3.1.1.11 and 3.1.1.12, with their ranges and sizes.

    Queue --- Position --- Message        a message is stored once and never changes;
    Queue --- Position ---'  |            a move, a journal copy or a dead letter is another position
                             '--- Attributes, only for a message that has a rare attribute

A Position has the attributes of a message in one queue: LookupIdentifier, ArrivalTime, the reason why the
message came there.  A Message has all other attributes, under Python spellings of the specification's
names: the few that every message has in itself, the others in `attributes.Attributes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from uuid import UUID

import msgspec
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.base.time import LAST_SECOND, SECOND, Instant
from reliquary.queueing.model.attributes import (
    EXPRESS,
    NO_GUID,
    NO_OBJECT,
    RECOVERABLE,
    USUAL,
    Acknowledgement,
    AdministrationKind,
    Attributes,
    AuthenticationLevel,
    Delivery,
    DestinationKind,
    EncryptionAlgorithm,
    HashAlgorithm,
    MessageClass,
    MessagePrivacy,
    ObjectId,
    ResponseKind,
    SenderKind,
    SequenceId,
    StoredBody,
)

__all__ = [
    "ATTRIBUTES",
    "BODY_LIMIT",
    "DEFAULT_PRIORITY",
    "EXPRESS",
    "EXTENSION_LIMIT",
    "FOREVER",
    "HOP_LIMIT",
    "LABEL_LIMIT",
    "LONGEST_DELAY",
    "MOST_HOPS",
    "NO_GUID",
    "NO_OBJECT",
    "OWN",
    "PACKET_HEADERS",
    "PRIORITY_LIMIT",
    "RECOVERABLE",
    "USUAL",
    "Acknowledgement",
    "AdministrationKind",
    "Attributes",
    "AuthenticationLevel",
    "Delivery",
    "DestinationKind",
    "EncryptionAlgorithm",
    "HashAlgorithm",
    "Message",
    "MessageClass",
    "MessagePrivacy",
    "ObjectId",
    "Position",
    "ResponseKind",
    "SenderKind",
    "SequenceId",
    "StoredBody",
    "check",
    "rare_part",
    "size_of",
]

FOREVER: Final = 0xFFFFFFFF
"""The value of a time or a quota that has no limit."""

LABEL_LIMIT: Final = 249
PRIORITY_LIMIT: Final = 7
DEFAULT_PRIORITY: Final = 3
BODY_LIMIT: Final = 100_000_000
"""The largest size of a body in bytes, which is also announced to peers (HR-098)."""
EXTENSION_LIMIT: Final = 1024 * 1024
LONGEST_DELAY: Final = FOREVER * SECOND
HOP_LIMIT: Final = 15
"""The largest number of managers that pass on a message; more means that it goes in a circle."""
MOST_HOPS: Final = 0x1D
"""The largest hop count that a message has when it comes from another manager (G-61)."""

Value = TypeVar("Value")

if TYPE_CHECKING:

    class _Rare(Generic[Value]):
        """A property whose type is the result of its function, so that a line states a rare attribute."""

        def __init__(self, read: Callable[[Message], Value]) -> None: ...
        def __get__(self, message: Message, owner: type[Message]) -> Value: ...

else:
    _Rare = property


class Message(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A message, 3.1.1.12.  Its label, tag, body and extension are never interpreted (DM-054).

    It is stored as an array of the fields that every message has, and a map of the rare ones, or nil.
    """

    identifier: ObjectId = NO_OBJECT
    body: bytes = b""
    label: str = ""
    priority: int = DEFAULT_PRIORITY
    delivery: Delivery = Delivery.EXPRESS
    sent_time: int = 0
    """SentTime, in seconds since 1970."""
    time_to_be_received: int = FOREVER
    """TimeToBeReceived in seconds after SentTime (DM-058)."""
    body_type: int = 0
    more: Attributes | None = None
    """The rare attributes; None if all of them have their default."""

    @classmethod
    def of(cls, **attributes: Any) -> Message:
        """Return a message with these attributes, of either kind; a name that is unknown is a TypeError."""
        own = {name: attributes.pop(name) for name in OWN if name in attributes}
        rare = rare_part(Attributes(**attributes), own.get("identifier", NO_OBJECT)) if attributes else None
        return cls(**own, more=rare)

    def changed(self, **attributes: Any) -> Message:
        """Return the message with other values of these attributes, of either kind.

        A source that is not set follows the identifier.
        """
        own = {name: attributes.pop(name) for name in OWN if name in attributes}
        if attributes or (self.more is not None and "identifier" in own):
            rare = replace(self.more or USUAL, **attributes)
            own["more"] = rare_part(rare, own.get("identifier", self.identifier))
        return replace(self, **own)

    @property
    def source_machine(self) -> UUID:
        """Return SourceMachineIdentifier; usually it is the lineage of the identifier."""
        if self.more is None or self.more.source_machine is None:
            return self.identifier.lineage
        return self.more.source_machine

    message_class = _Rare(lambda message: (message.more or USUAL).message_class)
    time_to_reach_queue = _Rare(lambda message: (message.more or USUAL).time_to_reach_queue)
    delay = _Rare(lambda message: (message.more or USUAL).delay)
    correlation = _Rare(lambda message: (message.more or USUAL).correlation)
    application_tag = _Rare(lambda message: (message.more or USUAL).application_tag)
    extension = _Rare(lambda message: (message.more or USUAL).extension)
    acknowledgements = _Rare(lambda message: (message.more or USUAL).acknowledgements)
    positive_journaling = _Rare(lambda message: (message.more or USUAL).positive_journaling)
    negative_journaling = _Rare(lambda message: (message.more or USUAL).negative_journaling)
    discard_refused = _Rare(lambda message: (message.more or USUAL).discard_refused)
    application_deadletter_queue = _Rare(lambda message: (message.more or USUAL).application_deadletter_queue)
    allow_peek_when_locked = _Rare(lambda message: (message.more or USUAL).allow_peek_when_locked)
    tracing_requested = _Rare(lambda message: (message.more or USUAL).tracing_requested)
    tracing_queue = _Rare(lambda message: (message.more or USUAL).tracing_queue)
    response_queue = _Rare(lambda message: (message.more or USUAL).response_queue)
    response_queues = _Rare(lambda message: (message.more or USUAL).response_queues)
    destination_queue = _Rare(lambda message: (message.more or USUAL).destination_queue)
    destination_queues = _Rare(lambda message: (message.more or USUAL).destination_queues)
    administration_queue = _Rare(lambda message: (message.more or USUAL).administration_queue)
    administration_queues = _Rare(lambda message: (message.more or USUAL).administration_queues)
    multiple_destination_signature = _Rare(
        lambda message: (message.more or USUAL).multiple_destination_signature
    )
    privacy = _Rare(lambda message: (message.more or USUAL).privacy)
    authentication = _Rare(lambda message: (message.more or USUAL).authentication)
    hash_algorithm = _Rare(lambda message: (message.more or USUAL).hash_algorithm)
    encryption_algorithm = _Rare(lambda message: (message.more or USUAL).encryption_algorithm)
    destination_manager = _Rare(lambda message: (message.more or USUAL).destination_manager)
    destination_kind = _Rare(lambda message: (message.more or USUAL).destination_kind)
    administration_kind = _Rare(lambda message: (message.more or USUAL).administration_kind)
    response_kind = _Rare(lambda message: (message.more or USUAL).response_kind)
    sender = _Rare(lambda message: (message.more or USUAL).sender)
    sender_kind = _Rare(lambda message: (message.more or USUAL).sender_kind)
    sender_certificate = _Rare(lambda message: (message.more or USUAL).sender_certificate)
    connector_type = _Rare(lambda message: (message.more or USUAL).connector_type)
    connector_manager = _Rare(lambda message: (message.more or USUAL).connector_manager)
    transaction_status_queue = _Rare(lambda message: (message.more or USUAL).transaction_status_queue)
    symmetric_key = _Rare(lambda message: (message.more or USUAL).symmetric_key)
    signature = _Rare(lambda message: (message.more or USUAL).signature)
    authentication_provider_type = _Rare(lambda message: (message.more or USUAL).authentication_provider_type)
    authentication_provider_name = _Rare(lambda message: (message.more or USUAL).authentication_provider_name)
    sequence = _Rare(lambda message: (message.more or USUAL).sequence)
    sequence_number = _Rare(lambda message: (message.more or USUAL).sequence_number)
    previous_sequence_number = _Rare(lambda message: (message.more or USUAL).previous_sequence_number)
    transaction = _Rare(lambda message: (message.more or USUAL).transaction)
    final_ack_required = _Rare(lambda message: (message.more or USUAL).final_ack_required)
    first_in_transaction = _Rare(lambda message: (message.more or USUAL).first_in_transaction)
    last_in_transaction = _Rare(lambda message: (message.more or USUAL).last_in_transaction)
    soap_envelope = _Rare(lambda message: (message.more or USUAL).soap_envelope)
    soap_compound_message = _Rare(lambda message: (message.more or USUAL).soap_compound_message)
    soap_header = _Rare(lambda message: (message.more or USUAL).soap_header)
    soap_body = _Rare(lambda message: (message.more or USUAL).soap_body)
    carrier_header = _Rare(lambda message: (message.more or USUAL).carrier_header)
    stored_body = _Rare(lambda message: (message.more or USUAL).stored_body)
    hops = _Rare(lambda message: (message.more or USUAL).hops)
    trace_context = _Rare(lambda message: (message.more or USUAL).trace_context)

    @property
    def is_express(self) -> bool:
        """Return whether the message is kept in memory only (DM-046)."""
        return self.delivery is Delivery.EXPRESS

    @property
    def spool(self) -> int:
        """Return the number of its large body in the table of pieces, or 0."""
        stored = (self.more or USUAL).stored_body
        return 0 if stored is None else stored.spool

    @property
    def body_size(self) -> int:
        """Return the number of bytes of its body, also of a body in pieces."""
        stored = (self.more or USUAL).stored_body
        return len(self.body) if stored is None else stored.size

    @property
    def is_transactional(self) -> bool:
        """Return whether it was sent in a transaction, at this manager or at the manager that sent
        it here."""
        more = self.more
        return more is not None and (more.transaction is not None or more.sequence is not None)

    def deadline(self, now: Instant) -> int:
        """Return the moment at which TimeToBeReceived ends, or 0 for never."""
        # DEPARTS from 3.1.2.4 (AN-07): the timer runs from SentTime where there is one, as 3.1.1.12 defines
        # the attribute, because a message from another manager would otherwise expire too late.
        if self.time_to_be_received == FOREVER:  # DM-077
            return 0
        start = self.sent_time * SECOND if 0 < self.sent_time < LAST_SECOND else now
        return max(start + self.time_to_be_received * SECOND, 1)

    def reach_deadline(self, now: Instant) -> int:
        """Return the first moment after TimeToReachQueue, or 0 for never ([MC-MQSRM] 3.1.7.2.1)."""
        life = (self.more or USUAL).time_to_reach_queue
        if life == FOREVER:
            return 0
        start = self.sent_time * SECOND if 0 < self.sent_time < LAST_SECOND else now
        return start + life * SECOND + 1

    def due(self, now: Instant) -> int:
        """Return the moment at which its delay ends, or 0 when it has ended."""
        if not self.delay:
            return 0
        moment = (self.sent_time * SECOND if 0 < self.sent_time < LAST_SECOND else now) + self.delay
        return moment if moment > now else 0


OWN: Final = tuple(name for name in Message.__struct_fields__ if name != "more")
"""The attributes that every message has in itself."""
ATTRIBUTES: Final = OWN + Attributes.__struct_fields__
"""The names of all attributes of a message."""


def rare_part(rare: Attributes, identifier: ObjectId) -> Attributes | None:
    """Return the rare attributes in the form for a message with this identifier, so that equal messages
    compare equal.

    The result is None if all have their default; the source is not set if the identifier says it.
    """
    if rare.source_machine is not None and rare.source_machine == identifier.lineage:
        rare = replace(rare, source_machine=None)
    return None if rare == USUAL else rare


_SHORT_NAMES: Final = {"lookup_id": "i", "message": "m", "size": "s", "arrived": "a", "inline_in": "h"}
"""The names, in a row, of the attributes that every position has; they are short because each message has
them."""


class Position(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename=_SHORT_NAMES):
    """MessagePosition, 3.1.1.11: one message in one queue."""

    lookup_id: int  # DM-042
    """LookupIdentifier, by which the messages of a queue are ordered."""
    message: int
    """The number of the message in the store; copies of one message have one number."""
    size: int
    arrived: int
    """ArrivalTime: when the message came, in microseconds since 1970."""
    inline_in: int = 0
    """The number of the queue in whose row the message is stored; 0 if the message has its own row."""
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
    """The number of reads that took it in a transaction or locked it since it is in this queue."""
    aborted: int = 0
    """The number of these reads that were undone; AbortCounter of [MS-MQQP]'s SubqueueHeader."""
    moved: int = 0
    """The number of times that it was moved to another queue; MoveCounter."""
    purged: int = 0
    """PurgePending: the moment when its queue was purged while the position was locked, or 0."""
    due: int = 0
    """The end of its delay, microseconds since 1970; until then readers do not see it. 0 for no delay."""
    spool: int = 0
    """The number of its message's large body in the table of pieces, or 0."""
    arrival: int = 0
    """Its number in the feed of its queue (`changes.numbering`), or 0 when that is its sequence number."""


INLINE_SIZE: Final = 4096
"""The size up to which a message is stored in the row of its position, as most messages are.

A queue reads many rows at once, which must fit into memory.
"""
PACKET_HEADERS: Final = 222
"""The size of the headers of a message without strings, in bytes, as in the published packet."""


def size_of(message: Message) -> int:
    """Return the bytes that a message counts against quotas: headers and body, 3.1.7.2.2."""
    size = PACKET_HEADERS + 2 * len(message.label) + len(message.body)
    more = message.more
    if more is None:
        return size
    names = len(more.destination_queue) + len(more.administration_queue) + len(more.response_queue)
    as_text = len(more.soap_envelope) + len(more.soap_header) + len(more.carrier_header)
    in_pieces = 0 if more.stored_body is None else more.stored_body.size
    return size + 2 * names + as_text + len(more.extension) + in_pieces


def check(message: Message) -> None:
    """Raise UsageError, with the limit and the value, for a message outside its ranges (DM-048, DM-055)."""
    if not 0 <= message.priority <= PRIORITY_LIMIT:
        raise UsageError(f"a priority is 0 to {PRIORITY_LIMIT}, not {message.priority}")
    if len(message.label) > LABEL_LIMIT:
        raise UsageError(f"a label has at most {LABEL_LIMIT} characters, this one has {len(message.label)}")
    if len(message.body) > BODY_LIMIT:
        raise UsageError(f"a body has at most {BODY_LIMIT} bytes, this one has {len(message.body)}")
    if message.time_to_be_received != FOREVER and not 0 <= message.time_to_be_received < FOREVER:
        raise _outside("a time to be received", message.time_to_be_received)
    if message.body_type and not 0 <= message.body_type <= FOREVER:
        raise _outside("a body type", message.body_type)
    if message.sent_time and not 0 <= message.sent_time <= FOREVER:
        raise _outside("a sent time", message.sent_time)
    more = message.more
    if more is not None and not (
        len(more.extension) <= EXTENSION_LIMIT
        and 0 <= more.time_to_reach_queue <= FOREVER
        and 0 <= more.application_tag <= FOREVER
        and 0 <= more.hops <= MOST_HOPS
        and 0 <= more.delay <= LONGEST_DELAY
    ):
        _refuse_rare(more)


def _refuse_rare(more: Attributes) -> None:
    if len(more.extension) > EXTENSION_LIMIT:
        raise UsageError(
            f"an extension has at most {EXTENSION_LIMIT} bytes, this one has {len(more.extension)}"
        )
    if not 0 <= more.time_to_reach_queue <= FOREVER:
        raise _outside("a time to reach the queue", more.time_to_reach_queue)
    if not 0 <= more.application_tag <= FOREVER:
        raise _outside("an application tag", more.application_tag)
    if not 0 <= more.hops <= MOST_HOPS:
        raise UsageError(f"a message makes at most {MOST_HOPS} hops, not {more.hops}")
    raise UsageError(f"a delay is 0 to {LONGEST_DELAY} microseconds, not {more.delay}")


def _outside(name: str, value: int) -> UsageError:
    return UsageError(f"{name} is 0 to {FOREVER}, not {value}")
