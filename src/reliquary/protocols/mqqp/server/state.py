"""Defines the state of the server, none of which is on disk.

    Association --- Connection      one TCP connection of the client, with its peer and interfaces
        |--- Context                PCTX_OPENREMOTE_HANDLE_TYPE: a queue that qmcomm opened
        |--- Session                PCTX_RRSESSION_HANDLE_TYPE: an OpenQueueEntry
        |--- Held                   PCTX_REMOTEREAD_HANDLE_TYPE: a message that was handed out, locked
        '--- Read                   a waiting RemoteReadEntry (rRemoteReadEntryCollection)

    OpenedQueue                     an OpenQueueDescriptor: identified by a DWORD for clients, and
                                    by its own handle; contexts, sessions, reads and locks refer to it

The two collections of the specification are the reads and the sessions of all associations (QP-030, QP-033).
One event is taken at a time, so that no two of them work on a collection at once (QP-031, QP-032, QP-034).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec.qm2qm import ReadDescriptor
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.phases import Phase
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.events import Access, Share
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal


class Asked:
    """A request to the queue manager; each type has a rule for the answer (`rules.ANSWERED`)."""

    __slots__ = ()


class Ending(Enum):
    """The reason why a waiting read is ended before a message came."""

    BY_CLIENT = "RemoteQMCancelReceive, or the session is over"
    CALL_CANCELLED = "the client cancelled the call"
    UNWANTED = "no caller waits for the response"


@dataclass(slots=True, eq=False)
class OpenedQueue:
    """OpenQueueDescriptor: a queue that a remote reader has opened."""

    number: int
    """The DWORD by which clients identify it: pdwContext, dwpQueue and phQueue (H-16)."""
    descriptor: int
    """The handle at the queue manager, which is also the receipt of the messages that are handed out."""
    name: str
    """The name of the queue at the queue manager."""
    access: Access
    share: Share
    by: Principal
    """The user that opened it; to all others its number is unknown."""
    since: Instant
    computer: str = ""
    """The name of this computer that the client uses."""
    phase: Phase = Phase.OPENED
    session: Session | None = None
    cursors: dict[int, int] = field(default_factory=dict)
    """The cursors at the queue manager, by the DWORDs of the clients."""
    pending: dict[int, Read] = field(default_factory=dict)
    """The waiting reads, by dwRequestID."""
    held: dict[UUID, Held] = field(default_factory=dict)
    """The messages that are handed out."""


@dataclass(slots=True, eq=False)
class ContextHandle:
    """A context handle, which is valid only in the association that got it."""

    handle: UUID
    association: Association
    queue: OpenedQueue
    since: Instant


@dataclass(slots=True, eq=False)
class Context(ContextHandle):
    """RemoteQueueOpenContextHandle, [MS-MQMP] 3.1.1.8: a queue opened through qmcomm."""


@dataclass(slots=True, eq=False)
class Session(ContextHandle):
    """OpenQueueEntry, [MS-MQQP] 3.1.1.4: the session of a client on an opened queue."""

    client: UUID
    """The manager that reads; the specification calls it ClientId."""


@dataclass(slots=True, eq=False)
class Held(ContextHandle):
    """RemoteReadEntry of a message that was handed out: it is locked until RemoteQMEndReceive."""

    lookup_id: int
    request: int
    """dwRequestID of the call that took it."""


@dataclass(slots=True, eq=False)
class Read(Asked):
    """RemoteReadEntry, [MS-MQQP] 3.1.1.2, of a call that has no response yet."""

    called: ClientCalled
    connection: Connection
    queue: OpenedQueue
    descriptor: ReadDescriptor
    receives: bool
    """Whether the message is locked; a peek does not lock it."""
    since: Instant
    caller: int = 0
    """The number of the request to the queue manager."""
    ending: Ending | None = None
    """Not None: the read is being ended, and gets no message."""


@dataclass(slots=True, eq=False)
class Connection:
    """One connection of an association."""

    number: int
    association: Association
    peer: str
    interfaces: set[str] = field(default_factory=set)
    reads: dict[int, Read] = field(default_factory=dict)
    """The calls that wait for a message, by the numbers of the calls."""


@dataclass(slots=True, eq=False)
class Association:
    """A client: the connections that share context handles (C706 9.3.2)."""

    number: int
    peer: str = ""
    """The address of its first connection."""
    by: Principal = ANONYMOUS
    """The user of its latest call."""
    connections: dict[int, Connection] = field(default_factory=dict)
    contexts: dict[UUID, Context] = field(default_factory=dict)
    sessions: dict[UUID, Session] = field(default_factory=dict)
    held: dict[UUID, Held] = field(default_factory=dict)
    reads: dict[int, Read] = field(default_factory=dict)
    """Waiting reads, by the numbers of their requests to the queue manager."""

    @property
    def load(self) -> int:
        """How many reads wait or have a message locked (`MqqpSettings.pending`)."""
        return len(self.reads) + len(self.held)


class ServerState:
    """The clients, with their queues, handles and requests."""

    def __init__(self, settings: MqqpSettings) -> None:
        self.settings = settings
        self.associations: dict[int, Association] = {}
        self.connections: dict[int, Connection] = {}
        self.queues: dict[int, OpenedQueue] = {}
        """Opened queues by the DWORDs that clients send, without those that are ENDING."""
        self.handles: dict[UUID, ContextHandle] = {}
        self.asked: dict[int, Asked] = {}
        """Requests to the queue manager that have no answer yet, by their numbers."""
        self.taken = 0
        """Messages that clients have acknowledged since the start, and that are removed."""
        self.last_caller = 0
        self.last_handle = 0
        """The number of handles and DWORDs that were made."""
