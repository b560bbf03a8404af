"""The requests to the queue manager and its answers, in the order of [MS-MQDMPR] 3.1.4 and 3.1.7.1.

Each request names its caller in `to`; the answer is an effect `Reply(to, ...)`, in that turn or, for a read
that waits, in a later one.  `queue` is a path name or the handle of an open queue: with a name, the queue is
opened for this request only.
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
"""The time-out of a read or a lease that never ends: iTimeout Infinite (DM-200)."""


class Access(Enum):
    """QueueAccessType (DM-070): what an application opens a queue for."""

    RECEIVE = "receive"
    SEND = "send"
    PEEK = "peek"
    MOVE = "move"
    RECEIVE_ADMIN = "receive-admin"
    PEEK_ADMIN = "peek-admin"


class Share(Enum):
    """QueueShareMode (DM-070): whether others may receive from a queue while it is open."""

    DENY_NONE = "deny-none"
    DENY_RECEIVE = "deny-receive"


class Seek(Enum):
    """MessageSeekAction (DM-070): which message is read, relative to a LookupIdentifier."""

    FIRST = "first"
    PREVIOUS = "previous"
    CURRENT = "current"
    NEXT = "next"
    LAST = "last"


class AccessChange(Enum):
    """The kinds of change to an access list."""

    GRANT = "grant"
    DENY = "deny"
    REVOKE = "revoke"
    OWNER = "owner"


class Request(Event, frozen=True, kw_only=True):
    """A request of a user whose rights are checked."""

    by: Principal = MANAGER


# -- 3.1.4: from the higher layers, in the order of the specification


class StartManager(Event, frozen=True):
    """Start the queue manager: Queue Manager Started, 3.1.4.1, and Initialization, 3.1.3."""

    computer_name: str
    qualified_computer_name: str = ""
    quota: int | None = None
    """The new QueueManagerQuota; None leaves it unchanged."""
    hardened_security: bool | None = None
    """The new HardenedSecurity; None leaves it unchanged."""
    http_support: bool | None = None
    """Whether messages can come over HTTP, [MC-MQSRM]; None leaves it unchanged."""
    dns_domain: str = ""
    """FQDNDomain: the domain part of the computer's qualified name."""
    machine_domain: UUID | None = None
    """MachineDomainId: the domain that the computer belongs to."""
    directory: Integration | None = None
    """The settings of a manager that takes part in a directory; None for one that does not."""
    first_list: bytes = b""
    """The manager's security descriptor until another one is set; empty allows everything to everyone."""
    anonymous_may: AnonymousAct = EVERY_ACT
    """The acts of anonymous clients that are allowed and that no access list decides."""
    signs: bool = False
    """The manager has a key for XML signatures of messages that leave by HTTP."""
    in_doubt_wait: Duration = Duration(0)
    """Not 0: the start waits this long for the outcomes of prepared transactions, and then fails."""
    restoration: Restoration | None = None
    """The description of the restoration, when the store was restored from a backup."""
    to: int = 0
    """The caller, who is answered when the manager is ready or the start has failed."""


class StopManager(Event, frozen=True):
    """Stop the queue manager: Queue Manager Stopped, 3.1.4.2."""


class PrepareTransaction(Request, frozen=True):
    """Prepare an internal transaction: Transaction Prepare, 3.1.4.3."""

    to: int
    transaction: UUID
    single_phase: bool = True


class CommitTransaction(Request, frozen=True):
    """Commit a transaction: Transaction Commit, 3.1.4.4."""

    to: int
    transaction: UUID
    decided_by: str = ""
    """The name of the administrator who decides in place of the coordinator; empty for none."""


class AbortTransaction(Request, frozen=True):
    """Abort a transaction: Transaction Abort, 3.1.4.5."""

    to: int
    transaction: UUID
    decided_by: str = ""
    """The name of the administrator who decides in place of the coordinator; empty for none."""


class DtcPrepare(Request, frozen=True):
    """The coordinator asks to prepare a transaction: DTC Transaction Prepare, 3.1.4.6."""

    to: int
    transaction: UUID
    single_phase: bool = False
    """fSinglePhase: this manager is the only participant, so the transaction is committed at once."""


class DtcCommit(Request, frozen=True):
    """The coordinator asks to commit a prepared transaction: DTC Transaction Commit, 3.1.4.7."""

    to: int
    transaction: UUID


class DtcAbort(Request, frozen=True):
    """The coordinator asks to abort a transaction: DTC Transaction Abort, 3.1.4.8."""

    to: int
    transaction: UUID


class DtcReenlistmentCommit(Request, frozen=True):
    """Commit a transaction that was in doubt at the start: DTC Reenlistment Commit, 3.1.4.9."""

    to: int
    transaction: UUID


class DtcReenlistmentAbort(Request, frozen=True):
    """Abort a transaction that was in doubt at the start: DTC Reenlistment Abort, 3.1.4.10."""

    to: int
    transaction: UUID


class DtcReenlistmentTimeout(Event, frozen=True):
    """The outcomes did not come in time, so the start fails: DTC Reenlistment Timeout, 3.1.4.11."""


class TakeOffline(Request, frozen=True):
    """Take Offline, 3.1.4.12: stop sending messages to other managers and accepting messages from them."""

    to: int


class BringOnline(Request, frozen=True):
    """Bring Online, 3.1.4.13: exchange messages with other managers again."""

    to: int


class PauseQueue(Request, frozen=True):
    """Pause Queue, 3.1.4.14: stop sending from an outgoing queue, which is named by its destination."""

    to: int
    destination: str


class ResumeQueue(Request, frozen=True):
    """Resume Queue, 3.1.4.15: send from a paused outgoing queue again."""

    to: int
    destination: str


# -- 3.1.7.1: from protocols and applications, in the order of the specification


class OpenCursor(Request, frozen=True):
    """Open Cursor, 3.1.7.1.1, on an open queue."""

    to: int
    handle: int


class CloseCursor(Request, frozen=True):
    """Close Cursor, 3.1.7.1.2, by its handle."""

    to: int
    cursor: int


class CreateQueue(Request, frozen=True):
    """Create Queue, 3.1.7.1.3, under this path name."""

    to: int
    path: str
    settings: QueueSettings = QueueSettings()
    skip_directory: bool = False
    """iSkipDirectory: a public queue is not added to the directory (DM-144)."""


class ChangeQueue(Request, frozen=True):
    """Change settings of a queue; `changes` has only those that change."""

    to: int
    path: str
    changes: dict[str, object]


class ChangeAccess(Request, frozen=True):
    """Change the access list of a queue, or of the manager itself when `path` is empty."""

    to: int
    path: str
    change: AccessChange
    sid: Sid
    rights: int = 0
    """A mask of rights; 0 when the owner changes."""


class DeleteQueue(Request, frozen=True):
    """Delete Queue, 3.1.7.1.4, with all its messages."""

    to: int
    path: str
    skip_directory: bool = False
    """iSkipDirectory: a public queue is not removed from the directory."""


class OpenQueue(Request, frozen=True):
    """Open Queue, 3.1.7.1.5, for one kind of access."""

    to: int
    path: str
    access: Access
    share: Share = Share.DENY_NONE
    lease: Duration = FOREVER_WAIT
    """The time after which an unused handle is closed."""


class CloseQueue(Request, frozen=True):
    """Close Queue, 3.1.7.1.6, by its handle."""

    to: int
    handle: int


class PurgeQueue(Request, frozen=True):
    """Purge Queue, 3.1.7.1.7: remove all messages of a queue."""

    to: int
    path: str


class BeginTransaction(Request, frozen=True):
    """Create Transaction, 3.1.7.1.8: begin an internal or an external one."""

    to: int
    timeout: Duration = FOREVER_WAIT
    """The time after which an active transaction that is not used is aborted."""
    identifier: UUID | None = None
    """The identifier of an external transaction, which a coordinator decides; None for an internal one."""
    owner: str = ""
    """The application that asks for this transaction after a crash."""


class SendMessages(Request, frozen=True):
    """Enqueue Message, 3.1.7.1.9, for one message or many: all of them are accepted, or none.

    The one exception: a message whose TimeToReachQueue is over is left out alone.
    """

    to: int
    queue: int | str
    messages: tuple[Message, ...]
    transaction: UUID | None = None


class ReceiveMessages(Request, frozen=True):
    """Receive messages: Dequeue Message, 3.1.7.1.10, and Dequeue Message Begin, 3.1.7.1.11."""

    to: int
    queue: int | str
    count: int = 1
    timeout: Duration = Duration(0)
    transaction: UUID | None = None
    hold: Duration = Duration(0)
    """Not 0: only lock the messages (iTwoPhaseRead), and unlock them after this time.

    With FOREVER_WAIT they are unlocked only when the queue is closed.
    """
    acknowledge: int = 0
    """The receipt of an earlier read, whose messages are removed first by Dequeue Message End; 0 for none."""
    cursor: int = 0
    tag: int = 0


class EndRead(Request, frozen=True):
    """Dequeue Message End, 3.1.7.1.12: remove or unlock some messages of a receipt, or all of them."""

    to: int
    receipt: int
    delete: bool
    lookup_ids: tuple[int, ...] = ()
    reject: bool = False
    """With `delete`: the reader refused the messages, so their senders get NackReceiveRejected."""
    unseen: bool = False
    """Without `delete`: the reader did not try these messages, so the read does not count."""


class LookUpMessage(Request, frozen=True):
    """Peek at or receive one message: Read Message By Lookup Identifier, 3.1.7.1.13."""

    to: int
    queue: int | str
    lookup_id: int
    seek: Seek = Seek.CURRENT
    peek: bool = True
    transaction: UUID | None = None
    hold: Duration = Duration(0)


class PeekMessage(Request, frozen=True):
    """Read a message and leave it: Peek Message, 3.1.7.1.15, or with `next` Peek Next Message, 3.1.7.1.14."""

    to: int
    queue: int | str
    timeout: Duration = Duration(0)
    cursor: int = 0
    next: bool = False


class BrowseMessages(Request, frozen=True):
    """Peek at up to `limit` messages after a LookupIdentifier, without a cursor."""

    to: int
    queue: int | str
    after: int = -1
    limit: int = 100


class MoveMessage(Request, frozen=True):
    """Move Message, 3.1.7.1.16: move one message to another local queue."""

    to: int
    queue: int | str
    lookup_id: int
    target: str
    transaction: UUID | None = None


class CancelRead(Request, frozen=True):
    """Cancel Waiting Message Read Request, 3.1.7.1.17: end a read that waits, by its tag."""

    to: int
    queue: int | str
    tag: int


class CallerGone(Event, frozen=True):
    """The caller of this number is gone, so its waiting reads end."""

    caller: int


class GetQueuePath(Request, frozen=True):
    """Get Queue Path, 3.1.7.1.26: find the path name for a format name."""

    to: int
    format_name: str


# -- bodies that are too large for one request


class StorePiece(Event, frozen=True):
    """Store one piece of a large body, which a message can name later as its `stored_body`."""

    to: int
    spool: int = 0
    """The number of the body, from the answer to its first piece; 0 begins a new body."""
    data: bytes | memoryview = b""


class DropSpool(Event, frozen=True):
    """Delete the pieces of a body that no message owns; a body that a message owns stays."""

    spool: int


# -- 3.1.7.2: flow control


class FlowControl(Event, frozen=True):
    """Refuse or accept new messages: Begin and End Flow Control, 3.1.7.2.5 and 3.1.7.2.6."""

    throttled: bool
    why: str = ""
    """The sentence that senders get; empty when the store has to catch up."""


class RenewAccess(Event, frozen=True):
    """Apply other users and another access list of the manager while it runs."""

    to: int
    first_list: bytes
    """The access list of the manager until it is given one."""
    anonymous_may: AnonymousAct
    gone: frozenset[Principal] = frozenset()
    """Users that were removed or changed: their waiting reads end."""


# -- the disk


class AwaitDisk(Event, frozen=True):
    """Wait until everything that earlier turns changed is on disk; nothing is changed."""

    to: int


# -- answers


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The status of a request, with a sentence when the status alone does not say enough."""

    status: HResult
    why: str = ""


class Opened(Answer, frozen=True, gc=False):
    """The handle of an open queue or cursor."""

    handle: int = 0


class QueueAnswer(Answer, frozen=True):
    """The record of a queue after the request."""

    queue: Queue | None = None


class PathAnswer(Answer, frozen=True, gc=False):
    """The path name and the computer that a format name contains; empty when it has none (DM-258)."""

    path: str = ""
    machine: str = ""


class Purged(Answer, frozen=True, gc=False):
    """The number of messages that a purge or a delete removed."""

    count: int = 0


class Sent(Answer, frozen=True, gc=False):
    """The LookupIdentifiers of accepted messages, in the order of the request."""

    lookup_ids: tuple[int, ...] = ()
    lineage: UUID | None = None

    def identifiers(self) -> list[ObjectId]:
        """Return the Identifiers that the manager gave to messages without one."""
        assert self.lineage is not None
        return [ObjectId(self.lineage, lookup_id & 0xFFFFFFFF) for lookup_id in self.lookup_ids]


class PieceStored(Answer, frozen=True, gc=False):
    """The size of a large body so far; a crash deletes it, unless a message owns it."""

    spool: int = 0
    pieces: int = 0
    size: int = 0


class Delivered(msgspec.Struct, frozen=True, gc=False):
    """A message with its position in the queue."""

    position: Position
    message: Message


class Received(Answer, frozen=True, gc=False):
    """The messages of a read, with the receipt of the lock when they are locked (0 when not)."""

    messages: tuple[Delivered, ...] = ()
    receipt: int = 0


class Begun(Answer, frozen=True, gc=False):
    """The identifier of a new transaction."""

    transaction: UUID | None = None


class EnlistmentMessage(Enum):
    """The messages of a resource manager to the coordinator: TXUSER_ENLISTMENT_MTAG_..."""

    PREPARE_DONE = "PREPAREREQDONE"
    COMMIT_DONE = "COMMITREQDONE"
    ABORT_DONE = "ABORTREQDONE"


class Enlisted(Answer, frozen=True, gc=False):
    """The message for the coordinator; None when the operation did not succeed."""

    message: EnlistmentMessage | None = None


# -- requests that the manager makes to itself


class EmptyQueue(Event, frozen=True):
    """Continue a purge or a delete that is too long for one turn."""

    to: int
    number: int
    reason: MessageClass
    until: int
    """The last sequence number to remove; later messages came after the request and stay."""
    place: int = -1
    delayed_place: int = -1
    count: int = 0
    outcome: HResult = HResult.OK
    """The answer of the directory to a delete."""


class DispatchMessages(Event, frozen=True):
    """Send more outgoing messages, because transfers have ended in an earlier turn."""
