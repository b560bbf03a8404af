"""Defines the state of the client: links to other managers, and requests of applications.

    Link          one opened queue of another manager; RemoteOpenQueueEntry, 3.2.1.3
    RemoteQueue   the numbers and handles that its server gave it
    Task          one request of an application that has no answer
    PendingRead   one read that was begun and not ended; PendingRemoteReadEntry, 3.2.1.1
    Receipt       messages that an application received and did not acknowledge
    Ending        messages whose reads are being ended at the request of an application
    Call          one call that has no response

Only the doubts are durable.  All other state is lost with the process, and the servers run it down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final
from uuid import UUID

from reliquary.base.rows import Rows, every
from reliquary.base.time import Duration, Instant
from reliquary.protocols.mqqp.client.phases import LinkPhase, TaskPhase
from reliquary.protocols.mqqp.client.tables import DOUBTS, Doubt
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.events import FOREVER_WAIT, Access, Answer, Delivered, Request, Share
from reliquary.queueing.model.message import ObjectId
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.travel.remote import ReadElsewhere
from reliquary.wire.security import Sid

HIGHEST: Final = 0xFFFF_FFFF
"""The highest number of a call, and of dwRequestID."""


class Purpose(Enum):
    """The purpose of a call."""

    OPEN = "open"
    PORT = "port"
    VERSION = "version"
    ENTER = "enter"
    """RemoteQMOpenQueue, after qmcomm has opened the queue."""
    FORGET = "forget"
    """R_QMCloseRemoteQueueContext, because qm2qm has opened the queue."""
    READ = "read"
    DROP = "drop"
    """RemoteQMEndReceive for a message that was delivered before."""
    SETTLE = "settle"
    """RemoteQMEndReceive for a message that is delivered after the response."""
    END = "end"
    """RemoteQMEndReceive because an application acknowledged a message or returned it."""
    RETURN = "return"
    """RemoteQMEndReceive for a message that no reader wants; the response changes nothing."""
    CANCEL = "cancel"
    OPEN_CURSOR = "open-cursor"
    CLOSE_CURSOR = "close-cursor"
    PURGE = "purge"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Call:
    """A call that has no response."""

    number: int
    link: int
    purpose: Purpose
    task: int = 0
    ending: int = 0
    read: int = 0
    """The request number of the read that it begins or ends."""


@dataclass(slots=True)
class RemoteQueue:
    """The numbers and handles that the server returned when it opened the queue; later calls name them.

    `opening` writes it, each field at its step; all other modules only read it.
    """

    port: int = 0
    """The port of qm2qm; 0 as long as it is not known."""
    old: bool = False
    """The server has neither RemoteQMStartReceive2 nor RemoteQMStartReceiveByLookupId (QP-150)."""
    opened: UUID = NO_HANDLE
    """The context handle of qmcomm."""
    session: UUID = NO_HANDLE
    """RRSessionHandle, which the server gave for this session."""
    queue: int = 0
    """phQueue, the number that the server gave the opened queue."""
    queue_again: int = 0
    """dwpQueue, which old servers give another value."""
    context: int = 0
    """pdwContext, by which RemoteQMOpenQueue finds the queue."""


@dataclass(slots=True)
class Link:
    """One opened queue of another manager."""

    number: int
    server: str
    """The host, as the name of the queue has it."""
    name: str
    """The direct name of the queue, as the application wrote it."""
    key: str
    """The key that all names of a queue share."""
    access: Access
    share: Share
    by: Principal
    handle: int = 0
    """The handle of the application; 0 for a queue that was opened by name for single requests."""
    to: int = 0
    """The caller who waits until the queue is open."""
    lease: Duration = FOREVER_WAIT
    phase: LinkPhase = LinkPhase.OPENING
    remote: RemoteQueue = field(default_factory=RemoteQueue)
    cursors: dict[int, int] = field(default_factory=dict)
    """hCursor of the server, by the application's number."""
    tasks: dict[int, Task] = field(default_factory=dict)
    endings: dict[int, Ending] = field(default_factory=dict)
    receipts: dict[int, Receipt] = field(default_factory=dict)
    reads: dict[int, PendingRead] = field(default_factory=dict)
    """Reads that were begun and have not ended, by their request numbers (QP-143)."""
    calls: set[int] = field(default_factory=set)

    @property
    def busy(self) -> bool:
        """Whether an application waits for an answer, or has messages under a receipt."""
        return bool(self.tasks or self.endings or self.receipts or self.reads)


@dataclass(slots=True)
class PendingRead:
    """A read that was begun and has not ended."""

    request: int
    """dwRequestID, which no other read of this process has (QP-148)."""
    handle: UUID = NO_HANDLE
    """RemoteReadHandle, from the response that brought the message until the read is ended (QP-015)."""
    delivered: Delivered | None = None


@dataclass(slots=True)
class Task:
    """A request of an application that has no answer."""

    number: int
    link: int
    request: Request
    to: int
    """The caller; 0 if no caller waits for the answer any more."""
    opens: int = 0
    """The receipt or cursor that the answer will name; 0 for none."""
    deadline: Instant | None = None
    """Until then a read waits for a message; None for a read without a limit, and for other requests."""
    phase: TaskPhase = TaskPhase.WAITING
    read: int = 0
    """The request number of the read that was begun last."""
    call: int = 0
    """The call that began it."""
    came: list[PendingRead] = field(default_factory=list)
    """Messages that came, and whose reads are not ended."""
    done: list[Delivered] = field(default_factory=list)
    """The messages of the answer."""
    size: int = 0
    """The bytes of all messages in `came` and `done`."""
    failure: Answer | None = None
    """The reason why the last message could not be read."""


@dataclass(slots=True)
class Receipt:
    """Messages that an application received, and has to acknowledge or return."""

    number: int
    link: int
    by: Principal
    held: dict[int, PendingRead]
    """The messages that are not settled yet, by LookupIdentifier."""
    timed: bool
    """Whether a timer returns the messages to their queue."""


@dataclass(slots=True)
class Ending:
    """Reads that an application ended, and whose ends the server has not all confirmed."""

    number: int
    link: int
    to: int
    acknowledge: Acknowledge
    left: list[PendingRead]
    """The reads that are not ended; the call for the first one was sent."""
    note: str = ""
    """The note in the answer about an option that MQQP cannot express."""
    failure: Answer | None = None
    then: ReadElsewhere | None = None
    """The receive that required the end of an older receipt."""


class ClientState:
    """The state that the rules of the client read and write."""

    def __init__(self, rows: Rows, settings: MqqpSettings) -> None:
        self.settings = settings
        self.links: dict[int, Link] = {}
        self.calls: dict[int, Call] = {}
        self.handles: dict[int, Link] = {}
        """Open queues, by the application's handles (QP-144)."""
        self.shared: dict[tuple[str, Access, Sid], Link] = {}
        """Queues that were opened by name, which requests of one user share for a short time."""
        self.receipts: dict[int, Receipt] = {}
        self.waiting: dict[int, Link | Task | Ending] = {}
        """The object that each caller waits for."""
        self.requests: set[int] = set()
        """Request numbers of all reads that were begun and have not ended."""
        self.locked: dict[tuple[str, ObjectId], tuple[Link, PendingRead]] = {}
        """The link and the read of each message that was not returned, by its queue and identifier."""
        self.doubts: dict[tuple[str, ObjectId], Doubt] = {
            (each.queue, each.identifier): each for _, each in every(rows, DOUBTS)
        }
        self.taken = 0
        """Messages of other managers that applications have taken since the start."""
        self.sweeping = False
        """Whether a timer is set for the next doubt to end."""
        self._last = 0
        self._last_number = 0

    def next_number(self) -> int:
        """Return a number that no link, task or ending of this process has had."""
        self._last += 1
        return self._last

    def next_request(self) -> int:
        """Return a number of 32 bits that no call and no pending read has (QP-021, QP-022)."""
        while True:
            self._last_number = self._last_number % HIGHEST + 1
            if self._last_number not in self.calls and self._last_number not in self.requests:
                return self._last_number
