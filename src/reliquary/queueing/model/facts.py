"""The facts by which the queue manager changes durable state, and its signals to other machines.

Only `changes.apply` changes the state and the rows for a fact; recovery reads the rows.
"""

from __future__ import annotations

from enum import Enum
from uuid import UUID

from reliquary.base.turn import Fact, Signal
from reliquary.queueing.model.directory.objects import DirectoryObject, ObjectKind
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import Queue, QueueManagerRecord
from reliquary.queueing.model.tables import Copy, Outcome, PreparedTransaction
from reliquary.queueing.model.travel.transfer import ReservationKey


class ManagerNamed(Fact, frozen=True):
    """The attributes of this manager were set at the first start, or have changed."""

    record: QueueManagerRecord


class QueueCreated(Fact, frozen=True):
    """A queue was created, local or outgoing."""

    queue: Queue


class QueueChanged(Fact, frozen=True):
    """The attributes of a queue have changed."""

    queue: Queue


class QueueDeleted(Fact, frozen=True):
    """A queue was deleted after all its messages."""

    number: int


class _OnPositions(Fact, frozen=True):
    """A fact about some positions of one queue."""

    queue: int
    positions: tuple[Position, ...]

    @property
    def volatile(self) -> bool:
        """Return whether all its messages are express messages, which are kept in memory only (DM-046)."""
        for position in self.positions:  # noqa: SIM110 - faster, and asked in every turn
            if not position.express:
                return False
        return True


class MessagesStored(_OnPositions, frozen=True):
    """Messages were stored in a queue."""

    messages: tuple[Message, ...]
    prepared: bool = False
    """Their transaction was prepared, so their rows exist and now become visible."""


class PositionCopied(Fact, frozen=True):
    """A stored message was copied to one more queue, such as a journal."""

    queue: int
    position: Position

    @property
    def volatile(self) -> bool:
        """Return whether all its messages are express messages, which are kept in memory only (DM-046)."""
        return self.position.express


class PositionMoved(Fact, frozen=True):
    """A message was moved from one queue to another."""

    source: int
    target: int
    position: Position
    reason: MessageClass

    @property
    def volatile(self) -> bool:
        """Return whether all its messages are express messages, which are kept in memory only (DM-046)."""
        return self.position.express


class PositionsRemoved(_OnPositions, frozen=True):
    """Messages were removed from a queue."""

    reason: MessageClass


class PositionsHandedOut(_OnPositions, frozen=True):
    """A receive has locked available positions; they have counted this try (`Position.handed_out`)."""


class PositionsMarked(_OnPositions, frozen=True):
    """The counters or the purge mark of locked positions have changed; the positions stay in the queue."""


class PositionsDelayed(_OnPositions, frozen=True):
    """Positions of a queue are delayed: readers do not see them until the moment `due`."""


class PositionsDue(_OnPositions, frozen=True):
    """The delay of these positions is over; `positions` still have their old values."""


class PieceKept(Fact, frozen=True):
    """One more piece of a large body was stored that no message owns yet."""

    spool: int
    data: bytes

    @property
    def volatile(self) -> bool:
        """Always True, because pieces need not survive a crash until a message owns them."""
        return True


class SpoolsDropped(Fact, frozen=True):
    """Large bodies that no message owns were deleted."""

    spools: tuple[int, ...]

    @property
    def volatile(self) -> bool:
        """Always True, because the next start deletes those that a crash brings back."""
        return True


class TransactionPrepared(Fact, frozen=True):
    """A transaction was prepared: its messages are stored, and readers do not see them yet."""

    identifier: UUID
    record: PreparedTransaction
    messages: tuple[Message, ...]


class TransactionEnded(Fact, frozen=True):
    """A prepared transaction was committed or aborted; other facts of this turn change its messages."""

    identifier: UUID
    outcome: Outcome


class OutcomesForgotten(Fact, frozen=True):
    """The outcomes of these transactions were forgotten."""

    identifiers: tuple[UUID, ...]


class PreparedMessageDropped(Fact, frozen=True):
    """A message of a prepared transaction was deleted: the transaction was aborted, or the queue is gone."""

    queue: int
    position: Position


class ReservationBegun(Fact, frozen=True):
    """A carrier has reserved messages of a queue: they stay in it, and no other reader gets them."""

    holder: str
    key: ReservationKey
    queue: int
    positions: tuple[Position, ...]

    @property
    def volatile(self) -> bool:
        """Return whether all its messages are express messages, which are kept in memory only (DM-046)."""
        return all(position.express for position in self.positions)


class ReservationsOver(Fact, frozen=True):
    """Reservations of a carrier have ended; other facts of this turn record what happened to the messages."""

    holder: str
    keys: tuple[ReservationKey, ...]


class DirectoryObjectWritten(Fact, frozen=True):
    """An object of the directory was created or changed."""

    subject: DirectoryObject


class DirectoryObjectRemoved(Fact, frozen=True):
    """An object of the directory was deleted."""

    kind: ObjectKind
    identifier: UUID


class CopyLost(Fact, frozen=True):
    """A copy, an acknowledgement or a report of a message was wanted and could not be stored."""

    queue: int
    """The number of the message's queue; 0 for a queue that does not exist."""
    copy: Copy
    why: str


class ChangeOperation(Enum):
    """The kinds of changes in a change notification, [MS-MQCN] 3.3.4.1."""

    QUEUE_CREATION = "queue-creation"
    QUEUE_DELETION = "queue-deletion"
    QUEUE_UPDATE = "queue-update"
    QUEUE_MANAGER_UPDATE = "queue-manager-update"


class ChangeNotified(Signal, frozen=True):
    """An object of the directory changes or has changed: Send Change Notification."""

    operation: ChangeOperation
    subject: DirectoryObject


class DirectoryServersWanted(Signal, frozen=True):
    """The manager needs directory servers; the resolver of names answers with DirectoryServersFound."""


class PositionAvailable(Signal, frozen=True):
    """A message can be read in a queue: Message Position Available, 3.1.7.2.2."""

    queue: int
    lookup_id: int


class PositionDeleted(Signal, frozen=True):
    """A message was removed from a queue: Message Position Deleted, 3.1.7.2.1."""

    queue: int
    position: Position
    reason: MessageClass
