"""What the queue manager states about durable state, and what it tells other machines.

Only `State.apply(fact)` changes what is kept; recovery reads the rows that the same lines staged.
"""

from __future__ import annotations

from enum import Enum
from uuid import UUID

from reliquary.base.turn import Fact, Signal
from reliquary.queueing.model.directory.objects import DirectoryObject, Kind
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import Queue, QueueManagerRecord
from reliquary.queueing.model.tables import Copy, Outcome, PreparedTransaction
from reliquary.queueing.model.travel.transfer import HoldKey


class ManagerNamed(Fact, frozen=True):
    """This is who we are; stated once, at the first start, and again when an attribute changes."""

    record: QueueManagerRecord


class QueueCreated(Fact, frozen=True):
    """A queue exists."""

    queue: Queue


class QueueChanged(Fact, frozen=True):
    """A queue has other attributes now."""

    queue: Queue


class QueueDeleted(Fact, frozen=True):
    """A queue is gone, with nothing left in it."""

    number: int


class MessagesStored(Fact, frozen=True):
    """Messages are in a queue."""

    queue: int
    positions: tuple[Position, ...]
    messages: tuple[Message, ...]
    prepared: bool = False
    """Their transaction was prepared, so their rows are there and only now show."""

    @property
    def volatile(self) -> bool:
        """An express message is kept in memory only (DM-046)."""
        return all(position.express for position in self.positions)


class PositionCopied(Fact, frozen=True):
    """A stored message is in one more queue."""

    queue: int
    position: Position

    @property
    def volatile(self) -> bool:
        """An express message is kept in memory only (DM-046)."""
        return self.position.express


class PositionMoved(Fact, frozen=True):
    """A message is in another queue now, and no longer in the first."""

    source: int
    target: int
    position: Position
    reason: MessageClass

    @property
    def volatile(self) -> bool:
        """An express message is kept in memory only (DM-046)."""
        return self.position.express


class PositionsRemoved(Fact, frozen=True):
    """Messages are no longer in a queue."""

    queue: int
    positions: tuple[Position, ...]
    reason: MessageClass

    @property
    def volatile(self) -> bool:
        """An express message is kept in memory only (DM-046)."""
        return all(position.express for position in self.positions)


class PositionsMarked(Fact, frozen=True):
    """Positions that somebody has are counted once more, or purged; they stay where they are."""

    queue: int
    positions: tuple[Position, ...]

    @property
    def volatile(self) -> bool:
        """An express message is kept in memory only (DM-046)."""
        return all(position.express for position in self.positions)


class PositionsDelayed(Fact, frozen=True):
    """Positions of a queue are not to be seen until their moment comes."""

    queue: int
    positions: tuple[Position, ...]

    @property
    def volatile(self) -> bool:
        """An express message is kept in memory only (DM-046)."""
        return all(position.express for position in self.positions)


class PositionsDue(Fact, frozen=True):
    """The delay of positions is over; they are told as they were until now."""

    queue: int
    positions: tuple[Position, ...]

    @property
    def volatile(self) -> bool:
        """An express message is kept in memory only (DM-046)."""
        return all(position.express for position in self.positions)


class PieceKept(Fact, frozen=True):
    """A loose body has one more piece."""

    spool: int
    data: bytes

    @property
    def volatile(self) -> bool:
        """Until a message has them, nobody was promised that pieces outlive a crash."""
        return True


class SpoolsDropped(Fact, frozen=True):
    """Loose bodies are gone."""

    spools: tuple[int, ...]

    @property
    def volatile(self) -> bool:
        """Those that a crash brings back are dropped at the next start."""
        return True


class TransactionPrepared(Fact, frozen=True):
    """A transaction waits for its outcome; its messages are stored, and nobody sees them yet."""

    identifier: UUID
    record: PreparedTransaction
    messages: tuple[Message, ...]


class TransactionEnded(Fact, frozen=True):
    """A prepared transaction has its outcome; what it did is in the facts beside this one."""

    identifier: UUID
    outcome: Outcome


class OutcomesForgotten(Fact, frozen=True):
    """How these transactions ended is remembered no longer."""

    identifiers: tuple[UUID, ...]


class PreparedMessageDropped(Fact, frozen=True):
    """A message of a prepared transaction will never be."""

    queue: int
    position: Position


class HoldBegun(Fact, frozen=True):
    """A carrier holds messages of a queue: they stay there, and nobody else gets them."""

    holder: str
    key: HoldKey
    queue: int
    positions: tuple[Position, ...]

    @property
    def volatile(self) -> bool:
        """An express message is kept in memory only (DM-046)."""
        return all(position.express for position in self.positions)


class HoldsOver(Fact, frozen=True):
    """A carrier holds no longer what it held; what became of the messages is in the facts beside this."""

    holder: str
    keys: tuple[HoldKey, ...]


class DirectoryObjectWritten(Fact, frozen=True):
    """The directory has this object, as it is here."""

    subject: DirectoryObject


class DirectoryObjectRemoved(Fact, frozen=True):
    """The directory no longer has an object."""

    kind: Kind
    identifier: UUID


class CopyLost(Fact, frozen=True):
    """Somebody asked for a copy of a message, or for news of it, and it could not be stored."""

    queue: int
    """Whose message it was; 0 for a queue that is gone or never was."""
    copy: Copy
    why: str


class ChangeOperation(Enum):
    """What a change notification tells of, [MS-MQCN] 3.3.4.1."""

    QUEUE_CREATION = "queue-creation"
    QUEUE_DELETION = "queue-deletion"
    QUEUE_UPDATE = "queue-update"
    QUEUE_MANAGER_UPDATE = "queue-manager-update"


class ChangeNotified(Signal, frozen=True):
    """Send Change Notification: what the directory is about to be told, or was."""

    operation: ChangeOperation
    subject: DirectoryObject


class DirectoryServersWanted(Signal, frozen=True):
    """Whoever resolves names is to look for directory servers, and say DirectoryServersFound."""


class PositionAvailable(Signal, frozen=True):
    """Message Position Available, 3.1.7.2.2."""

    queue: int
    lookup_id: int


class PositionDeleted(Signal, frozen=True):
    """Message Position Deleted, 3.1.7.2.1."""

    queue: int
    position: Position
    reason: MessageClass
