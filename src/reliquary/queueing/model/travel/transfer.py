"""Defines the signals between the queue manager and the protocol machines that carry its messages (carriers).

    manager                          carrier (the loop-back, and each protocol that registers one)
       | ConnectionWanted --------------> |   a message waits, and there is no connection
       | <------------ ConnectionChanged  |   the connection was begun, made, failed or closed
       | SendUserMessage ---------------> |   at most `at_once` of them in progress for a queue
       | <------------- TransferAccepted  |   the peer has messages and reports their outcomes later
       | <----------- DestinationReached  |   the message is in its queue there; only its read is still open
       | <---------------- TransferEnded  |   delivered, refused for good, or try again later
       | <----------------- ResendWanted  |   accepted messages are sent again, in their order
       | MessageWithdrawn --------------> |   a message left without its carrier: expired, purged, removed
       | <--------------- MessageArrived  |   the other direction: a message from another manager
       | ArrivalJudged -----------------> |   whether that message was accepted
       | <---------------- StreamResumed  |   earlier numbers were lost when the store was restored
       | ReceiptDue --------------------> |   a message that a carrier brought left its queue
       | ListenersChanged --------------> |   queues listen to these multicast addresses
       | IdentityKnown -----------------> |   the manager is ready, and has these identifiers
       | <--------------- AddressesKnown  |   under these authorities a URL means this manager

A carrier that moves whole batches takes messages itself, and brings them in batches.  A *reservation* locks
the messages of a batch: they stay in their queue, and no other reader gets them.

    manager                          carrier
       | MessagesWaiting ---------------> |   in an outgoing queue, or in one that the carrier watches
       | <----------------- QueuesWatched |   the carrier watches these local queues
       | <------------- ReservationWanted |   the carrier asks to reserve some messages
       | MessagesReserved --------------> |   in that turn; it is on disk, and survives a restart
       | <------------- ReservationsEnded |   the messages are removed, or they wait again
       | <----------------- BatchArrived  |   the other direction: all messages are stored, or none
       | BatchJudged -------------------> |   whether that batch was accepted
       | <------------- DuplicatesDropped |   messages that came were known already

A carrier that announces free room to its peers is notified of it:

    manager                          carrier
       | <-------------------- RoomWatched |   the carrier watches these queues
       | RoomKnown ----------------------> |   at once, and in each turn in which the room changed

A signal of the manager about one destination, message or batch names the carrier that it is for
(`DirectedSignal.to`); EraBegan, IdentityKnown, ListenersChanged and ManagerOnline go to all carriers.
Signals are exchanged inside a turn, so the facts of both machines are stored in one write.
"""

from __future__ import annotations

from enum import Enum
from uuid import UUID

from reliquary.base.time import Duration
from reliquary.base.turn import DirectedSignal, Signal
from reliquary.queueing.model.message import NO_GUID, Message, MessageClass, ObjectId
from reliquary.queueing.model.names.formats import DirectName
from reliquary.queueing.model.queue import Era
from reliquary.queueing.model.security.principals import ANONYMOUS, MANAGER, Principal
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent, OutgoingTransfer


class Outcome(Enum):
    """The outcome of a transfer to another manager."""

    DELIVERED = "delivered"
    REFUSED = "refused"
    """The peer will never take the message; the reason says why."""
    TRY_LATER = "try-later"


ReservationKey = tuple[int, int]
"""The name that a carrier gives to a reservation: its channel, and the number of the batch there."""


class ReservationRefusal(Enum):
    """The reason why the manager reserves no messages for a carrier."""

    NO_QUEUE = "no-queue"
    NOT_ALLOWED = "not-allowed"
    TOO_LARGE = "too-large"
    """The first message is larger than the carrier accepts."""
    NOT_NOW = "not-now"
    """The manager is not ready or is offline, or the queue is in state OnHold or Locked."""


# -- signals from the manager to carriers


class EraBegan(Signal, frozen=True):
    """The store was restored from a backup, so this manager has lost what it did after the backup (`era`)."""

    era: Era


class IdentityKnown(Signal, frozen=True):
    """The manager is ready; a protocol whose packets name their manager uses these identifiers."""

    identifier: UUID
    """QueueManager.Identifier, by which names of queues mean this manager."""
    lineage: UUID
    """The identifier in messages of this manager; it differs from `identifier` after a restore (`era`)."""
    computer_name: str


class ConnectionWanted(DirectedSignal, frozen=True):
    """A message waits for this destination, and its outgoing queue has no connection."""

    queue: int
    destination: str
    manager: UUID = NO_GUID
    """The lineage of this manager; a message that is only passed on has the lineage of another manager."""


class SendUserMessage(DirectedSignal, frozen=True):
    """The carrier is to send this message: Send User Message Wrapper, of Dispatch Send Message, 3.1.7.3.9."""

    queue: int
    lookup_id: int
    destination: str
    message: Message
    of_older_era: bool = False
    """The message was waiting when the backup was made, so the lost manager may have delivered it."""


class QueuePaused(DirectedSignal, frozen=True):
    """An administrator paused an outgoing queue: Pause Queue, 3.1.7.2.3."""

    queue: int


class QueueResumed(DirectedSignal, frozen=True):
    """An administrator resumed an outgoing queue: Resume Queue, 3.1.7.2.4."""

    queue: int


class ManagerOnline(Signal, frozen=True):
    """The manager was taken offline or brought online (ConnectionActive), 3.1.4.12 and 3.1.4.13."""

    online: bool


class ArrivalJudged(DirectedSignal, frozen=True):
    """The manager accepted or refused a message; `ticket` repeats the one of `MessageArrived`."""

    ticket: tuple[int, int]
    outcome: Outcome
    reason: MessageClass


class RunJudged(DirectedSignal, frozen=True):
    """The manager took all messages of a run, or none; `ticket` repeats the one of `RunArrived`."""

    ticket: int
    taken: bool
    """Whether all messages are stored; else the carrier hands them over one by one."""


class MessageWithdrawn(DirectedSignal, frozen=True):
    """Messages expired, were purged, or were removed by an administrator while they waited to be sent.

    The manager does not remember whether they were handed to the carrier before; the carrier does.
    """

    queue: int
    lookup_ids: tuple[int, ...]
    reason: MessageClass


class ReceiptDue(DirectedSignal, frozen=True):
    """A message that a carrier brought left its queue, and its sender asked to be notified (DM-063).

    The protocol decides whether this reason is reported, and how: [MC-MQSRM] 3.1.7.3.
    """

    queue: int
    message: Message
    reason: MessageClass


class MessagesWaiting(DirectedSignal, frozen=True):
    """Messages wait in an outgoing queue whose carrier takes batches, or in a queue that a carrier watches.

    It is sent once, and again only after the carrier asked to reserve messages of this queue.
    """

    queue: int
    destination: str
    """The format name of an outgoing queue's destination; empty for a local queue."""


class MessagesReserved(DirectedSignal, frozen=True):
    """The messages that a carrier has reserved, in the order of their queue; empty if none was available."""

    key: ReservationKey
    queue: int = 0
    """The number of their queue; without messages, the first queue that was found, or 0."""
    messages: tuple[Message, ...] = ()
    """A message with a large body has `stored_body` set, and its body is not read."""
    refusal: ReservationRefusal | None = None
    of_older_era: bool = False
    """All of them were waiting when the backup was made, so the lost manager may have delivered them."""


class BatchJudged(DirectedSignal, frozen=True):
    """A batch was stored or refused; `place` is the index of the message that was the cause, or -1."""

    ticket: int
    outcome: Outcome
    reason: MessageClass = MessageClass.ACK_REACH_QUEUE
    place: int = -1
    why: str = ""


class RoomKnown(DirectedSignal, frozen=True):
    """The number of unread messages in a queue, and the bytes that still fit into it."""

    destination: str
    """The name of the queue, as the carrier gave it in `RoomWatched`."""
    unread: int = 0
    """Messages that were not received yet; messages in transactions that have not ended count too."""
    free: int | None = None
    """Bytes that the queue's quota still allows; None for no limit, or for a queue of another manager."""


class ListenersChanged(Signal, frozen=True):
    """Queues listen to other multicast addresses now; `addresses` lists all of them as `ip:port`."""

    addresses: frozenset[str]


# -- signals from carriers to the manager


class ConnectionChanged(Signal, frozen=True):
    """The connection of an outgoing queue changed its state."""

    queue: int
    event: OutgoingEvent
    status: ConnectionStatus
    error: int = 0
    """An HRESULT; 0 for none."""
    addresses: tuple[str, ...] = ()
    """NextHops; empty when they are not known."""
    at_once: int = 1
    """The number of messages that may be sent at once on a new connection."""
    most_bytes: int = 0
    """The bytes of messages that may be sent at once, besides their number; 0 for any."""
    rest: Duration | None = None
    """The time before the next attempt after a failure; None lets the manager choose."""


class TransferProgressed(Signal, frozen=True):
    """The progress of the stream of an outgoing queue changed."""

    queue: int
    transfer: OutgoingTransfer


class TransferAccepted(Signal, frozen=True):
    """The peer has messages and reports their outcomes later.

    The messages stay in the outgoing queue, and the next ones can be sent.
    """

    queue: int
    lookup_ids: tuple[int, ...]


class DestinationReached(Signal, frozen=True):
    """Messages are in their destination queue: they are not sent again, and TimeToReachQueue is over.

    They stay in the outgoing queue until `TransferEnded` says how they left the destination queue.
    """

    queue: int
    lookup_ids: tuple[int, ...]


class TransferEnded(Signal, frozen=True):
    """The transfer of messages that a carrier got to send has ended."""

    queue: int
    lookup_ids: tuple[int, ...]
    outcome: Outcome
    reason: MessageClass = MessageClass.ACK_REACH_QUEUE
    """The message class of the negative acknowledgement, when the messages were refused."""
    rest: Duration | None = None
    """For TRY_LATER, the time before the next attempt; None lets the manager choose."""
    why: str = ""
    """The sentence of the peer that says why it refused."""
    by_receipt: bool = False
    """The outcome comes from a receipt, so it also counts for messages that are not being sent now."""


class ResendWanted(Signal, frozen=True):
    """No receipt came, so the accepted messages of this queue must be sent again, in their order."""

    queue: int


class MessageArrived(Signal, frozen=True):
    """A message came from another manager; its carrier has verified what the message says about itself."""

    carrier: str
    """The name of the carrier, which receives `ArrivalJudged`."""
    ticket: tuple[int, int]
    """The identifier that the carrier gave the message."""
    destination: str
    """The path name or format name of a queue of this manager."""
    message: Message
    expires: bool = True
    """Whether the message is refused when its TimeToReachQueue is over."""
    peer: str = ""
    """The sending manager, as far as the carrier knows it."""
    by_multicast: bool = False
    doubtful: bool = False
    """The lost manager may have received it before the restore, so it becomes a dead letter."""
    refusal: MessageClass = MessageClass.NORMAL
    """The reason why the carrier refuses the message; NORMAL if the manager is to decide."""
    silent: frozenset[MessageClass] = frozenset()
    """The reasons for which a refusal is not acknowledged to the administration queue of the message."""
    keep_if_full: bool = False
    """Whether a message that its queue has no room for becomes a dead letter here, if it asks for that."""
    only_here: bool = False
    """Whether the message is refused if the destination is no queue of this manager."""
    refusal_is_sent: bool = False
    """Whether the carrier reports a refusal by a message; without room for it the answer is TRY_LATER."""


class RunArrived(Signal, frozen=True):
    """Several messages came from another manager for one queue; to judge them together takes less time."""

    carrier: str
    """The name of the carrier, which receives `RunJudged`."""
    ticket: int
    destination: str
    """The path name or format name of a queue of this manager."""
    messages: tuple[Message, ...]
    """The messages in their order; each could also come in a `MessageArrived` with default attributes."""
    peer: str = ""


class StreamResumed(Signal, frozen=True):
    """A stream continues after numbers that were lost when the store was restored."""

    carrier: str
    destination: str
    identifier: ObjectId
    """The identifier of the message with which the stream continues."""
    skipped: str
    """The stream and the lost numbers, as the column `batch` of the history shows them."""
    peer: str = ""


class AddressesKnown(Signal, frozen=True):
    """The carrier names the URLs or hosts that mean this manager, by their schemes and authorities."""

    schemes: tuple[str, ...]
    """Words of `names.schemes`, such as HTTP."""
    authorities: frozenset[str]
    """Each one is `host` or `host:port`, in lower case; for a scheme without URLs it is a host or address."""
    under: str = ""
    """The text with which the path of the URL begins."""

    def cover(self, name: DirectName) -> bool:
        """Return whether the authority and the path of a name mean this manager; schemes are not compared."""
        known = self.authorities
        if not known or not (name.authority in known or name.address.casefold() in known):
            return False
        return name.path.startswith(self.under)


class QueuesWatched(Signal, frozen=True):
    """The carrier asks for `MessagesWaiting` for exactly these local queues, besides its outgoing queues."""

    carrier: str
    queues: frozenset[int]


class RoomWatched(Signal, frozen=True):
    """The carrier asks for `RoomKnown` for exactly these queues."""

    carrier: str
    destinations: frozenset[str]
    """Path names or format names, as in `BatchArrived`."""


class ReservationWanted(Signal, frozen=True):
    """The carrier asks to reserve messages of the first of these queues that has any.

    At least one message is reserved, however many bytes it has.  A key that exists gets more messages of its
    queue, as far as `most_bytes` allows.
    """

    holder: str
    key: ReservationKey
    queues: tuple[str | int, ...]
    """Path names, format names or numbers of queues, in the order in which they are searched."""
    most: int
    most_bytes: int
    by: Principal = MANAGER
    """The user for whom the carrier reads; a local queue must grant this user the right to receive."""
    largest: int = 0
    """The reservation takes no message whose body has more bytes than this; 0 for no limit."""


class ReservationsEnded(Signal, frozen=True):
    """Batches have their outcome: DELIVERED removes their messages, TRY_LATER makes them available again.

    REFUSED moves them to a dead-letter queue (`refusals`).  An unknown key is no error.
    """

    holder: str
    keys: tuple[ReservationKey, ...]
    outcome: Outcome
    reason: MessageClass = MessageClass.ACK_REACH_QUEUE
    """The message class of the negative acknowledgement, when the messages were refused."""
    why: str = ""
    """The sentence of the peer that says why it refused."""
    rest: Duration | None = None
    """For TRY_LATER, the time before the outgoing queue is tried again; None for at once."""


class BatchArrived(Signal, frozen=True):
    """A batch came from another manager, for local or outgoing queues; all its messages are stored, or none.

    A transactional queue takes them too, because a batch counts as a transaction of its carrier.
    """

    carrier: str
    ticket: int
    destinations: tuple[str, ...]
    """The path name or format name of the queue for each message."""
    messages: tuple[Message, ...]
    transaction: UUID
    """The TransactionIdentifier that the messages get in a transactional queue."""
    by: Principal = ANONYMOUS
    checked: bool = False
    """The carrier has checked that all attributes are within their ranges."""
    once: bool = True
    """The carrier promises to deliver each message once.

    A message that may have come before a restore then becomes a dead letter.
    """
    peer: str = ""
    """The sending manager, as far as the carrier knows it."""


class DuplicatesDropped(Signal, frozen=True):
    """The carrier dropped messages that it had already delivered."""

    carrier: str
    destination: str
    """The destination queue; empty when it is not known."""
    identifiers: tuple[ObjectId, ...]
    """The identifiers of the messages; NO_OBJECT for a message without one."""
    peer: str = ""
    batch: str = ""
    """The name of the batch or request that brought them."""


class BodiesUnwanted(Signal, frozen=True):
    """The batch of these stored large bodies was refused, so no message owns them and they can be deleted."""

    spools: tuple[int, ...]
