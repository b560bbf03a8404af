"""What the queue manager is asked, and what it answers.

Each request names the caller in `to`; the answer is an effect `Reply(to, ...)`, in the same turn
or, for a read that waits, in a later one.  `queue` is a path name or the handle of an open queue:
with a name, the queue is opened for just this request.
"""

from __future__ import annotations

from enum import Enum
from uuid import UUID

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.restoration import Restoration
from reliquary.base.time import Duration
from reliquary.base.turn import Event
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.message import Message, MessageClass, ObjectId, Position
from reliquary.queueing.model.queue import Queue, QueueSettings
from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.wire.security import Sid

FOREVER_WAIT = Duration(-1)
"""iTimeout Infinite (DM-200)."""


class Access(Enum):
    """QueueAccessType (DM-070)."""

    RECEIVE = "receive"
    SEND = "send"
    PEEK = "peek"
    MOVE = "move"
    RECEIVE_ADMIN = "receive-admin"
    PEEK_ADMIN = "peek-admin"


class Share(Enum):
    """QueueShareMode (DM-070)."""

    DENY_NONE = "deny-none"
    DENY_RECEIVE = "deny-receive"


class Seek(Enum):
    """MessageSeekAction (DM-070)."""

    FIRST = "first"
    PREVIOUS = "previous"
    CURRENT = "current"
    NEXT = "next"
    LAST = "last"


class AccessChange(Enum):
    """What becomes of an access list."""

    GRANT = "grant"
    DENY = "deny"
    REVOKE = "revoke"
    OWNER = "owner"


class Request(Event, frozen=True, kw_only=True):
    """What somebody asks, who may not be allowed to."""

    by: Principal = MANAGER


# -- 3.1.4: from the higher layers, in the order of the specification


class StartManager(Event, frozen=True):
    """Queue Manager Started, 3.1.4.1, and Initialization, 3.1.3."""

    computer_name: str
    qualified_computer_name: str = ""
    quota: int | None = None
    """QueueManagerQuota, where it is to be other than it was."""
    hardened_security: bool | None = None
    """HardenedSecurity, where it is to be other than it was."""
    http_support: bool | None = None
    """Whether messages come over HTTP, [MC-MQSRM], where it is to be other than it was."""
    dns_domain: str = ""
    """FQDNDomain: the computer's qualified name is made with it."""
    machine_domain: UUID | None = None
    """MachineDomainId."""
    directory: Integration | None = None
    """Not None where the manager takes part in a directory."""
    first_list: bytes = b""
    """The manager's security descriptor as long as it was given no other; empty allows everybody all."""
    anonymous_may: AnonymousAct = EVERY_ACT
    """What anonymous clients may do that no access list decides."""
    signs: bool = False
    """There is a key for XML signatures of messages that leave by HTTP."""
    in_doubt_wait: Duration = Duration(0)
    """Not 0: the start waits so long for the outcomes of prepared transactions, and fails without."""
    restoration: Restoration | None = None
    """Not None where the store was restored from a backup."""
    to: int = 0
    """Answered when the manager is ready, or cannot be."""


class StopManager(Event, frozen=True):
    """Queue Manager Stopped, 3.1.4.2."""


class PrepareTransaction(Request, frozen=True):
    """Transaction Prepare, 3.1.4.3."""

    to: int
    transaction: UUID
    single_phase: bool = True


class CommitTransaction(Request, frozen=True):
    """Transaction Commit, 3.1.4.4."""

    to: int
    transaction: UUID
    decided_by: str = ""
    """The person who decides in place of the coordinator."""


class AbortTransaction(Request, frozen=True):
    """Transaction Abort, 3.1.4.5."""

    to: int
    transaction: UUID
    decided_by: str = ""
    """The person who decides in place of the coordinator."""


class DtcPrepare(Request, frozen=True):
    """DTC Transaction Prepare, 3.1.4.6."""

    to: int
    transaction: UUID
    single_phase: bool = False
    """fSinglePhase: nobody else takes part, so it commits at once."""


class DtcCommit(Request, frozen=True):
    """DTC Transaction Commit, 3.1.4.7."""

    to: int
    transaction: UUID


class DtcAbort(Request, frozen=True):
    """DTC Transaction Abort, 3.1.4.8."""

    to: int
    transaction: UUID


class DtcReenlistmentCommit(Request, frozen=True):
    """DTC Reenlistment Commit, 3.1.4.9: what was in doubt at the start is committed."""

    to: int
    transaction: UUID


class DtcReenlistmentAbort(Request, frozen=True):
    """DTC Reenlistment Abort, 3.1.4.10."""

    to: int
    transaction: UUID


class DtcReenlistmentTimeout(Event, frozen=True):
    """DTC Reenlistment Timeout, 3.1.4.11: nobody knows the outcomes, and the start fails."""


class TakeOffline(Request, frozen=True):
    """Take Offline, 3.1.4.12: nothing more goes to other managers, or comes from them."""

    to: int


class BringOnline(Request, frozen=True):
    """Bring Online, 3.1.4.13."""

    to: int


class PauseQueue(Request, frozen=True):
    """Pause Queue, 3.1.4.14; an outgoing queue is named by its destination."""

    to: int
    destination: str


class ResumeQueue(Request, frozen=True):
    """Resume Queue, 3.1.4.15."""

    to: int
    destination: str


# -- 3.1.7.1: from protocols and applications, in the order of the specification


class OpenCursor(Request, frozen=True):
    """Open Cursor, 3.1.7.1.1."""

    to: int
    handle: int


class CloseCursor(Request, frozen=True):
    """Close Cursor, 3.1.7.1.2."""

    to: int
    cursor: int


class CreateQueue(Request, frozen=True):
    """Create Queue, 3.1.7.1.3."""

    to: int
    path: str
    settings: QueueSettings = QueueSettings()
    skip_directory: bool = False
    """iSkipDirectory: a public queue does not enter the directory (DM-144)."""


class ChangeQueue(Request, frozen=True):
    """Give a queue other settings; `changes` holds only what changes."""

    to: int
    path: str
    changes: dict[str, object]


class ChangeAccess(Request, frozen=True):
    """Change who may do what with a queue, or with the manager itself where `path` is empty."""

    to: int
    path: str
    change: AccessChange
    sid: Sid
    rights: int = 0
    """A mask; what a new owner needs none of."""


class DeleteQueue(Request, frozen=True):
    """Delete Queue, 3.1.7.1.4."""

    to: int
    path: str
    skip_directory: bool = False
    """iSkipDirectory: a public queue stays in the directory."""


class OpenQueue(Request, frozen=True):
    """Open Queue, 3.1.7.1.5."""

    to: int
    path: str
    access: Access
    share: Share = Share.DENY_NONE
    lease: Duration = FOREVER_WAIT
    """How long it stays open without being used."""


class CloseQueue(Request, frozen=True):
    """Close Queue, 3.1.7.1.6."""

    to: int
    handle: int


class PurgeQueue(Request, frozen=True):
    """Purge Queue, 3.1.7.1.7."""

    to: int
    path: str


class BeginTransaction(Request, frozen=True):
    """Create Transaction, 3.1.7.1.8."""

    to: int
    timeout: Duration = FOREVER_WAIT
    """An active transaction is aborted when nobody touched it for so long."""
    identifier: UUID | None = None
    """Somebody else's, who decides its outcome: the transaction is external."""
    owner: str = ""
    """The application that will ask for it after a crash."""


class SendMessages(Request, frozen=True):
    """Enqueue Message, 3.1.7.1.9, for one message or many: all of them or none.

    Only a message whose own time to reach the queue has run out is left out alone.
    """

    to: int
    queue: int | str
    messages: tuple[Message, ...]
    transaction: UUID | None = None


class ReceiveMessages(Request, frozen=True):
    """Dequeue Message, 3.1.7.1.10, and Dequeue Message Begin, 3.1.7.1.11, for one message or many."""

    to: int
    queue: int | str
    count: int = 1
    timeout: Duration = Duration(0)
    transaction: UUID | None = None
    hold: Duration = Duration(0)
    """Not 0: only lock the messages (iTwoPhaseRead); they come back when the time runs out.

    With FOREVER_WAIT they come back only when the queue is closed.
    """
    acknowledge: int = 0
    """A receipt whose messages are done with: Dequeue Message End is run first."""
    cursor: int = 0
    tag: int = 0


class EndRead(Request, frozen=True):
    """Dequeue Message End, 3.1.7.1.12, for some messages of a receipt, or for all of them."""

    to: int
    receipt: int
    delete: bool
    lookup_ids: tuple[int, ...] = ()
    reject: bool = False
    """They are gone, and were refused by their reader: NackReceiveRejected."""
    unseen: bool = False
    """With `delete` False: nobody has tried these, so that no counter grows."""


class LookUpMessage(Request, frozen=True):
    """Read Message By Lookup Identifier, 3.1.7.1.13."""

    to: int
    queue: int | str
    lookup_id: int
    seek: Seek = Seek.CURRENT
    peek: bool = True
    transaction: UUID | None = None
    hold: Duration = Duration(0)


class PeekMessage(Request, frozen=True):
    """Peek Message, 3.1.7.1.15, or with `next` Peek Next Message, 3.1.7.1.14."""

    to: int
    queue: int | str
    timeout: Duration = Duration(0)
    cursor: int = 0
    next: bool = False


class BrowseMessages(Request, frozen=True):
    """Peek at up to so many messages behind a place, without a cursor."""

    to: int
    queue: int | str
    after: int = -1
    limit: int = 100


class MoveMessage(Request, frozen=True):
    """Move Message, 3.1.7.1.16."""

    to: int
    queue: int | str
    lookup_id: int
    target: str
    transaction: UUID | None = None


class CancelRead(Request, frozen=True):
    """Cancel Waiting Message Read Request, 3.1.7.1.17."""

    to: int
    queue: int | str
    tag: int


class CallerGone(Event, frozen=True):
    """Whoever waits under this number no longer listens."""

    caller: int


class GetQueuePath(Request, frozen=True):
    """Get Queue Path, 3.1.7.1.26."""

    to: int
    format_name: str


# -- bodies that are too large for one request


class StorePiece(Event, frozen=True):
    """Keep a piece of a body that comes bit by bit; a message may have it as its `stored_body` later."""

    to: int
    spool: int = 0
    """The number that the answer to the first piece gave; 0 begins a new body."""
    data: bytes | memoryview = b""


class DropSpool(Event, frozen=True):
    """A body that was begun belongs to no message and never will; one that does is left alone."""

    spool: int


# -- 3.1.7.2: of which protocols learn too


class FlowControl(Event, frozen=True):
    """Begin and End Flow Control, 3.1.7.2.5 and 3.1.7.2.6."""

    throttled: bool
    why: str = ""
    """What senders are told; empty when only the store is behind."""


# -- the disk


class AwaitDisk(Event, frozen=True):
    """A question that changes nothing: it is answered when all that could be seen is on disk."""

    to: int


# -- answers


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The status, and a sentence where the status alone does not say enough."""

    status: HResult
    why: str = ""


class Opened(Answer, frozen=True, gc=False):
    """A handle or a cursor."""

    handle: int = 0


class QueueAnswer(Answer, frozen=True):
    """A queue as it is now."""

    queue: Queue | None = None


class PathAnswer(Answer, frozen=True, gc=False):
    """What a format name says in words; empty where it says nothing (DM-258)."""

    path: str = ""
    machine: str = ""


class Purged(Answer, frozen=True, gc=False):
    """How many messages went."""

    count: int = 0


class Sent(Answer, frozen=True, gc=False):
    """Where the messages went, in the order they were given."""

    lookup_ids: tuple[int, ...] = ()
    lineage: UUID | None = None

    def identifiers(self) -> list[ObjectId]:
        """The Identifiers of messages that brought none of their own."""
        assert self.lineage is not None
        return [ObjectId(self.lineage, lookup_id & 0xFFFFFFFF) for lookup_id in self.lookup_ids]


class PieceStored(Answer, frozen=True, gc=False):
    """How much of a body is there by now; a crash takes it all, unless a message has it."""

    spool: int = 0
    pieces: int = 0
    size: int = 0


class Delivered(msgspec.Struct, frozen=True, gc=False):
    """A message and its place."""

    position: Position
    message: Message


class Received(Answer, frozen=True, gc=False):
    """Messages, with the receipt under which they are held, if they are."""

    messages: tuple[Delivered, ...] = ()
    receipt: int = 0


class Begun(Answer, frozen=True, gc=False):
    """A new transaction."""

    transaction: UUID | None = None


class EnlistmentMessage(Enum):
    """What a resource manager tells the coordinator: TXUSER_ENLISTMENT_MTAG_..."""

    PREPARE_DONE = "PREPAREREQDONE"
    COMMIT_DONE = "COMMITREQDONE"
    ABORT_DONE = "ABORTREQDONE"


class Enlisted(Answer, frozen=True, gc=False):
    """What the coordinator is told; nothing where that would not be true."""

    message: EnlistmentMessage | None = None


# -- what the manager asks itself


class EmptyQueue(Event, frozen=True):
    """Go on with a purge or a delete that is too long for one turn."""

    to: int
    number: int
    reason: MessageClass
    until: int
    """Messages with a higher sequence number came after the request and stay."""
    place: int = -1
    delayed_place: int = -1
    count: int = 0
    outcome: HResult = HResult.OK
    """What the directory said to a delete."""


class DispatchMessages(Event, frozen=True):
    """Go on with outgoing messages: the transfer of some ended in an earlier turn."""
