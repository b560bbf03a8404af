"""What the queue manager and the machines that carry its messages tell each other.

    manager                          carrier (the loop-back, and each protocol that registers one)
       | ConnectionWanted --------------> |   a message waits, and there is no connection
       | <------------ ConnectionChanged  |   begun, connected, failed, gone
       | SendUserMessage ---------------> |   at most `at_once` of them in progress for a queue
       | <------------- TransferAccepted  |   the peer has it and will say later what became of it
       | <----------- DestinationReached  |   it is in its queue there; only who read it is to be told
       | <---------------- TransferEnded  |   delivered, refused for good, or try again later
       | <----------------- ResendWanted  |   what was accepted goes again, in its order
       | MessageWithdrawn --------------> |   it left by itself: expired, purged, taken out
       | <--------------- MessageArrived  |   the other direction: a message from elsewhere
       | ArrivalJudged -----------------> |
       | <---------------- StreamResumed  |   numbers before it were lost with a store that was restored
       | ReceiptDue --------------------> |   a message that a carrier brought left its queue
       | ListenersChanged --------------> |   queues listen to these multicast addresses
       | <--------------- AddressesKnown  |   under these authorities a URL means this manager

A carrier that moves whole batches takes messages itself, and brings them in batches:

    manager                          carrier
       | MessagesWaiting ---------------> |   in an outgoing queue, or in one that the carrier watches
       | <----------------- QueuesWatched |
       | <------------------- HoldWanted  |   give me some of them; they stay, and nobody else gets them
       | MessagesHeld ------------------> |   in the same turn; the hold is on disk, and outlives us
       | <------------------- HoldsEnded  |   they are there, or never will be: gone; or not: they wait again
       | <----------------- BatchArrived  |   the other direction: all of these, or none
       | BatchJudged -------------------> |
       | <------------- DuplicatesDropped |   what came was known already

A carrier that promises room to its peers hears how much there is:

    manager                          carrier
       | <-------------------- RoomWatched |   these queues
       | RoomKnown ----------------------> |   at once, and in each turn in which it changed

What the manager says of one destination, message or batch names the carrier that it is for
(`DirectedSignal.to`); EraBegan, ListenersChanged and ManagerOnline go to all.  All of it happens inside
turns, so facts of both sides join one write.
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
from reliquary.queueing.model.travel.link import ConnectionStatus, Happening, OutgoingTransfer


class Outcome(Enum):
    """How a transfer ended."""

    DELIVERED = "delivered"
    REFUSED = "refused"
    """For good: the reason says why."""
    TRY_LATER = "try-later"


HoldKey = tuple[int, int]
"""A carrier's own name for a batch that it holds: its channel, and the number of the batch there."""


class HoldRefusal(Enum):
    """Why nothing can be held, now or ever."""

    NO_QUEUE = "no-queue"
    NOT_ALLOWED = "not-allowed"
    TOO_LARGE = "too-large"
    """The first message is larger than the carrier can take."""
    NOT_NOW = "not-now"
    """The manager is not ready or offline, or the queue is on hold or locked."""


# -- the manager speaks


class EraBegan(Signal, frozen=True):
    """The store was restored from a backup: what peers saw after the backup is forgotten here (`era`)."""

    era: Era


class ConnectionWanted(DirectedSignal, frozen=True):
    """A message waits for this destination."""

    queue: int
    destination: str
    manager: UUID = NO_GUID
    """Our own lineage, which is not that of a message that came from elsewhere and goes on."""


class SendUserMessage(DirectedSignal, frozen=True):
    """Send User Message Wrapper, raised by Dispatch Send Message, 3.1.7.3.9."""

    queue: int
    lookup_id: int
    destination: str
    message: Message
    of_older_era: bool = False
    """It waited when the backup was made from which the store was restored: it may have been delivered."""


class QueuePaused(DirectedSignal, frozen=True):
    """Pause Queue, 3.1.7.2.3."""

    queue: int


class QueueResumed(DirectedSignal, frozen=True):
    """Resume Queue, 3.1.7.2.4."""

    queue: int


class ManagerOnline(Signal, frozen=True):
    """ConnectionActive is another now, 3.1.4.12 and 3.1.4.13."""

    online: bool


class ArrivalJudged(DirectedSignal, frozen=True):
    """What became of a message that arrived; the words of `MessageArrived` say which."""

    ticket: tuple[int, int]
    outcome: Outcome
    reason: MessageClass


class MessageWithdrawn(DirectedSignal, frozen=True):
    """Messages left an outgoing queue without their carrier: expired, purged, taken by an administrator.

    Whether they were handed out before is not remembered; their carrier knows.
    """

    queue: int
    lookup_ids: tuple[int, ...]
    reason: MessageClass


class ReceiptDue(DirectedSignal, frozen=True):
    """A message that a carrier brought left its queue, and its sender wants to hear how (DM-063).

    How that goes over the wire, and whether for this reason, is for the protocol: [MC-MQSRM] 3.1.7.3.
    """

    queue: int
    message: Message
    reason: MessageClass


class MessagesWaiting(DirectedSignal, frozen=True):
    """Messages can be held in a queue whose carrier holds batches, or in one that is watched.

    Told once; the next time after a hold of this queue was wanted.
    """

    queue: int
    destination: str
    """Of an outgoing queue, its format name; else empty."""


class MessagesHeld(DirectedSignal, frozen=True):
    """What a carrier holds now, in the queue's order; no messages where there are none."""

    key: HoldKey
    queue: int = 0
    """The queue they are in; where none has any, the first that was found; 0 for none."""
    messages: tuple[Message, ...] = ()
    """Large bodies are not read: they have `stored_body`."""
    refusal: HoldRefusal | None = None
    of_older_era: bool = False
    """All of them waited when the backup was made from which the store was restored, or none did."""


class BatchJudged(DirectedSignal, frozen=True):
    """What became of a batch; `place` is the message for which it was refused, -1 for none of them."""

    ticket: int
    outcome: Outcome
    reason: MessageClass = MessageClass.ACK_REACH_QUEUE
    place: int = -1
    why: str = ""


class RoomKnown(DirectedSignal, frozen=True):
    """How much a queue holds, and how much it can still take."""

    destination: str
    """The name by which the carrier watches it."""
    unread: int = 0
    """Messages that nobody has received; those in transactions that have not ended are among them."""
    free: int | None = None
    """Bytes that still fit by the quota of the queue; None for no limit, or for a queue that is elsewhere."""


class ListenersChanged(Signal, frozen=True):
    """The multicast addresses, `ip:port`, that queues of this manager listen to: all of them."""

    addresses: frozenset[str]


# -- a carrier speaks


class ConnectionChanged(Signal, frozen=True):
    """The connection of an outgoing queue is in another state."""

    queue: int
    happening: Happening
    status: ConnectionStatus
    error: int = 0
    """An HRESULT; 0 for none."""
    addresses: tuple[str, ...] = ()
    """NextHops, where they are known."""
    at_once: int = 1
    """How many sends may be in progress on a connection that was made."""
    rest: Duration | None = None
    """How long to rest after a failure; None leaves it to the manager."""


class TransferProgressed(Signal, frozen=True):
    """How far the stream of an outgoing queue got."""

    queue: int
    transfer: OutgoingTransfer


class TransferAccepted(Signal, frozen=True):
    """The peer has a message and will tell later what became of it; it stays, and another may go."""

    queue: int
    lookup_id: int


class DestinationReached(Signal, frozen=True):
    """Messages are in their queue there: they do not go again, and their time to get there is no matter.

    They stay until `TransferEnded` tells how they left that queue.
    """

    queue: int
    lookup_ids: tuple[int, ...]


class TransferEnded(Signal, frozen=True):
    """Messages that were handed out to be sent have their outcome."""

    queue: int
    lookup_ids: tuple[int, ...]
    outcome: Outcome
    reason: MessageClass = MessageClass.ACK_REACH_QUEUE
    """Of a refusal, a Nack."""
    rest: Duration | None = None
    """Of TRY_LATER: how long to rest; None leaves it to the manager."""
    why: str = ""
    """Of a refusal, in the words of the peer."""
    by_receipt: bool = False
    """A receipt says so: it counts also for messages that are not under way now."""


class ResendWanted(Signal, frozen=True):
    """No receipt came: what was accepted from this queue goes again, in its order."""

    queue: int


class MessageArrived(Signal, frozen=True):
    """A message from elsewhere, for a queue of this manager; its carrier has verified what it claims."""

    carrier: str
    """Who brings it, and wants to be told."""
    ticket: tuple[int, int]
    """The carrier's own name for it."""
    destination: str
    """A path name or a format name."""
    message: Message
    expires: bool = True
    """Whether it is refused when its time to reach the queue is over."""
    peer: str = ""
    """Whom it comes from, as far as the carrier knows."""
    by_multicast: bool = False
    doubtful: bool = False
    """It may have come before the store was restored: it is put aside, whatever its SentTime is."""


class StreamResumed(Signal, frozen=True):
    """A stream goes on after numbers that were lost when the store was restored."""

    carrier: str
    destination: str
    identifier: ObjectId
    """Of the message with which it goes on."""
    skipped: str
    """Which stream and which numbers, as the history shows it in `batch`."""
    peer: str = ""


class AddressesKnown(Signal, frozen=True):
    """A URL with one of these schemes and authorities means this manager."""

    schemes: tuple[str, ...]
    """The words of `naming.schemes`."""
    authorities: frozenset[str]
    """`host` or `host:port`, in lower case."""
    under: str = ""
    """The URL's path begins with this."""

    def cover(self, name: DirectName) -> bool:
        """Whether a URL of one of the schemes means this manager."""
        known = self.authorities
        if not known or not (name.authority in known or name.address.casefold() in known):
            return False
        return name.path.startswith(self.under)


class QueuesWatched(Signal, frozen=True):
    """Tell this carrier `MessagesWaiting` also for these queues of the manager's own, and for no others."""

    carrier: str
    queues: frozenset[int]


class RoomWatched(Signal, frozen=True):
    """Tell this carrier `RoomKnown` for these queues, and for no others."""

    carrier: str
    destinations: frozenset[str]
    """Path names and format names, as in `BatchArrived`."""


class HoldWanted(Signal, frozen=True):
    """Hold messages of the first of these queues that has any; at least one, however many bytes it has.

    A key that is held already gets more of the same queue, if they are not too many bytes.
    """

    holder: str
    key: HoldKey
    queues: tuple[str | int, ...]
    """Path names, format names or numbers, in the order they are looked at."""
    most: int
    most_bytes: int
    by: Principal = MANAGER
    """For whom: of a queue of ours he needs the right to receive."""
    largest: int = 0
    """The hold ends before a body with more bytes than this; 0 for any."""


class HoldsEnded(Signal, frozen=True):
    """Batches have their outcome: DELIVERED takes their messages out, TRY_LATER gives them back.

    REFUSED takes them out too: to a dead-letter queue (`refusals`).  A hold that is not known
    is no error.
    """

    holder: str
    keys: tuple[HoldKey, ...]
    outcome: Outcome
    reason: MessageClass = MessageClass.ACK_REACH_QUEUE
    """Of a refusal, a Nack."""
    why: str = ""
    """Of a refusal, in the words of the peer."""
    rest: Duration | None = None
    """Of TRY_LATER: how long an outgoing queue rests; None for not at all."""


class BatchArrived(Signal, frozen=True):
    """Messages from elsewhere, for queues here or on the way; all of them are taken, or none.

    A transactional queue takes them too: a batch is a transaction of its carrier.
    """

    carrier: str
    ticket: int
    destinations: tuple[str, ...]
    """A path name or a format name for each message."""
    messages: tuple[Message, ...]
    transaction: UUID
    """What the messages get as TransactionIdentifier in a transactional queue."""
    by: Principal = ANONYMOUS
    checked: bool = False
    """Its carrier has seen that they are within their ranges."""
    once: bool = True
    """Its carrier promises that each comes once: one that may have come before a restore is put aside."""
    peer: str = ""
    """Whom they come from, as far as the carrier knows."""


class DuplicatesDropped(Signal, frozen=True):
    """Messages came once more and were known; nobody gets them a second time."""

    carrier: str
    destination: str
    """Where they were to go, as far as that is known."""
    identifiers: tuple[ObjectId, ...]
    """NO_OBJECT for one that has none."""
    peer: str = ""
    batch: str = ""
    """The carrier's own name for what brought them."""


class BodiesUnwanted(Signal, frozen=True):
    """Large bodies that were stored while they came belong to no message: their batch was refused."""

    spools: tuple[int, ...]
