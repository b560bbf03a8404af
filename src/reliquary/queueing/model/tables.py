"""Where the queue manager's state lies on disk.

manager       one row                          who we are
sequence      one row                          numbers that are spoken for, the oldest expiry
queues        queue                            a queue's attributes
counters      queue                            how many, how many bytes, where each lane begins
positions     queue, LookupIdentifier          a queue is a key range in the order of its messages
delayed       queue, LookupIdentifier          positions that nobody sees yet
messages      message                          each message once
shares        message                          how many positions show it, when more than one
spools        spool                            large bodies that the next start throws away
pieces        spool, index                     large bodies, bit by bit
expiry        moment, queue, LookupIdentifier  when a message expires, is due, or was purged
transactions  transaction                      prepared and not yet decided
directory     type, identifier                 what is known of other managers, queues and sites
outcomes      transaction                      how the last prepared ones ended
holds         carrier, channel, batch          messages that a carrier has, and has not told the outcome of
consumers     queue, name                      how far each reader of a feed has come
late          queue, arrival                   positions that became visible later than their number says
retained      queue, arrival                   positions that left, and that a consumer has yet to read
stages        stage                            parts of a batch that will be published as a whole
staged        stage, index                     the messages of such a part, some hundred a row
ledger        query                            the last batch that each query published
writers       writer                           the query that writes under this name
history       first event                      what happened to messages, until it is exported
history_mark  one row                          how far it is exported, and whether something is missing
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct as Layout
from typing import Any, Final
from uuid import UUID

import msgspec

from reliquary.base.rows import Table
from reliquary.queueing.model.directory.objects import DirectoryObject, Kind
from reliquary.queueing.model.history.records import HistoryMark, HistoryRow
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import Queue, QueueManagerRecord

LANES: Final = 8
"""One lane for each priority; the highest priority is lane 0 and comes first."""
LANE_SHIFT: Final = 56
SEQUENCE_MASK: Final = (1 << LANE_SHIFT) - 1
LAST_ID: Final = (LANES << LANE_SHIFT) - 1


class Copy(IntEnum):
    """What may be kept or sent beside a message; the numbers are places in `Counters.lost`."""

    JOURNAL = 0
    """In the journal of the queue it was received from."""
    SOURCE_JOURNAL = 1
    """In `system$;journal`."""
    DEAD_LETTER = 2
    ACKNOWLEDGEMENT = 3
    REPORT = 4

    @property
    def word(self) -> str:
        """For a person."""
        return self.name.lower().replace("_", "-")


class Sequence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Numbers up to `ceiling` may have been given out; no expiry lies before `expiry_floor`."""

    ceiling: int = 0
    expiry_floor: int = 0
    last_queue: int = 0
    """The highest number that a queue ever had: dead letters still name queues that are gone."""
    lost: tuple[int, ...] = ()
    """As `Counters.lost`, for messages of queues that are gone."""


class Counters(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a queue's rows add up to, so that no one has to count them."""

    count: int = 0
    size: int = 0
    floors: tuple[int, ...] = ()
    """For each lane a LookupIdentifier below which the lane has no row."""
    lost: tuple[int, ...] = ()
    """How many copies of each kind could not be kept; empty stands for none at all."""
    delayed: int = 0
    """Positions that are not in `count` because nobody sees them yet; `size` has their bytes."""
    retained: int = 0
    """Positions that left, and that a consumer has yet to read; neither in `count` nor in `size`."""
    retained_size: int = 0


class Shares(msgspec.Struct, frozen=True):
    """How many positions show one message."""

    count: int


class Spool(msgspec.Struct, frozen=True):
    """The key says it all: whose body this is, nobody will know after a crash."""


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A part of a body that is too large for one row."""

    data: bytes


class Expiry(msgspec.Struct, frozen=True):
    """The key says it all."""


class Operation(msgspec.Struct, frozen=True, omit_defaults=True):
    """TransactionalOperation, 3.1.1.13 (DM-064)."""

    kind: str
    """enqueue, dequeue or move."""
    queue: int
    position: Position
    target: int = 0
    """TargetQueueReference of a move."""
    reason: MessageClass = MessageClass.ACK_RECEIVE
    """DequeueReason."""


class PreparedTransaction(msgspec.Struct, frozen=True):
    """A transaction that waits for its outcome (DM-065)."""

    operations: tuple[Operation, ...]
    single_phase: bool
    prepared: int
    """When, microseconds since 1970."""
    begun: int = 0
    """When it was begun."""
    owner: str = ""
    """The application that will ask for it after a crash."""
    external: bool = False
    """Somebody else gave it its identifier, and decides."""
    user: str = ""
    """The SID of the user who began it; empty when the manager did."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a prepared transaction ended, for those whose answer was lost."""

    committed: bool
    ended: int
    """When, microseconds since 1970."""
    owner: str = ""
    by: str = ""
    """The person who decided in place of the coordinator."""


class Hold(msgspec.Struct, frozen=True):
    """Messages of one queue that a carrier holds; on disk without the express ones."""

    queue: int
    lookup_ids: tuple[int, ...]


class Consumer(msgspec.Struct, frozen=True):
    """Somebody reads the feed of a queue, and wants all of it."""

    cursor: int
    """All that arrived up to here is read; what came later is kept for him, wherever else it goes."""
    created: int
    """When, microseconds since 1970."""
    moved: int
    """When the cursor moved last."""


class Late(msgspec.Struct, frozen=True, gc=False):
    """Where a position lies whose arrival is not its own number."""

    lookup_id: int


class Stage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a batch, as one attempt of one task wrote it; nobody sees it before it is published."""

    query: str
    batch: int
    part: int
    attempt: str
    begun: int
    """When, microseconds since 1970."""
    written: int = 0
    """When something was added last."""
    user: str = ""
    """The SID of the user who wrote it; empty when the manager did."""
    complete: bool = False
    dropped: bool = False
    """Nobody will publish it: it goes, some messages at a time."""
    messages: int = 0
    size: int = 0
    chunks: int = 0
    """Rows in `staged`."""
    queues: dict[int, str] = {}
    """Where its messages go: the numbers of the queues, and the names that were given for them."""


class StagedChunk(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Messages for one queue, in their order; their positions are made when they are published."""

    queue: int
    first: int
    """The number of the first message; the others follow."""
    sizes: tuple[int, ...]
    lanes: bytes = b"\0"
    """The lane of each in its queue; one byte where it is the same for all."""
    marks: bytes = b""
    """What else is known of each, in the bits of `staging.stage`; empty where there is nothing to say."""


class Published(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last batch of a query."""

    batch: int
    writer: str
    messages: int
    moment: int
    """When, microseconds since 1970."""
    total: int = 0
    """Messages of all its batches."""
    user: str = ""
    """The SID of the user whose query it is; empty when it is the manager's."""
    era: int = 0
    """In which era of the manager: the moment at which it began; 0 for a store that was never restored."""


class Writer(msgspec.Struct, frozen=True):
    """Only this query may publish under the writer's name."""

    query: str


class DirectoryRow(msgspec.Struct, frozen=True):
    """An object of the directory; its type is written with it."""

    object: DirectoryObject


MANAGER: Final = Table("manager", QueueManagerRecord)
SEQUENCE: Final = Table("sequence", Sequence)
QUEUES: Final = Table("queues", Queue)
COUNTERS: Final = Table("counters", Counters)
POSITIONS: Final = Table("positions", Position)
DELAYED: Final = Table("delayed", Position)
MESSAGES: Final = Table("messages", Message)
SHARES: Final = Table("shares", Shares)
SPOOLS: Final = Table("spools", Spool)
PIECES: Final = Table("pieces", Piece)
EXPIRY: Final = Table("expiry", Expiry)
TRANSACTIONS: Final = Table("transactions", PreparedTransaction)
DIRECTORY: Final = Table("directory", DirectoryRow)
OUTCOMES: Final = Table("outcomes", Outcome)
HOLDS: Final = Table("holds", Hold)
CONSUMERS: Final = Table("consumers", Consumer)
LATE: Final = Table("late", Late)
RETAINED: Final = Table("retained", Position)
STAGES: Final = Table("stages", Stage)
STAGED: Final = Table("staged", StagedChunk)
LEDGER: Final = Table("ledger", Published)
WRITERS: Final = Table("writers", Writer)
HISTORY: Final = Table("history", HistoryRow)
HISTORY_MARK: Final = Table("history_mark", HistoryMark)

_ALL: Final[tuple[Table[Any], ...]] = (
    MANAGER, SEQUENCE, QUEUES, COUNTERS, POSITIONS, DELAYED, MESSAGES, SHARES, SPOOLS, PIECES, EXPIRY,
    TRANSACTIONS, DIRECTORY, OUTCOMES, HOLDS, CONSUMERS, LATE, RETAINED, STAGES, STAGED, LEDGER, WRITERS,
    HISTORY, HISTORY_MARK,
)  # fmt: skip
TABLES: Final[tuple[str, ...]] = tuple(table.name for table in _ALL)

ONLY: Final = b"\0"
"""The key of a table with one row."""
PAST_THE_END: Final = b"\xff" * 24
"""Above every key of every table."""

_queue_layout = Layout(">I")
_position_layout = Layout(">IQ")
_message_layout = Layout(">Q")
_piece_layout = Layout(">QI")
_expiry_layout = Layout(">QIQ")
_hold_layout = Layout(">QQ")

queue_key = _queue_layout.pack
position_key = _position_layout.pack
message_key = _message_layout.pack
spool_key = _message_layout.pack
piece_key = _piece_layout.pack
expiry_key = _expiry_layout.pack
arrival_key = _position_layout.pack
stage_key = _message_layout.pack
staged_key = _piece_layout.pack
history_key = _message_layout.pack


def expiry_of(key: bytes) -> tuple[int, int, int]:
    """The moment, the queue and the LookupIdentifier of an expiry row."""
    moment, queue, lookup_id = _expiry_layout.unpack(key)
    return moment, queue, lookup_id


def spool_number(key: bytes) -> int:
    """The number of a row in `spools`."""
    return int.from_bytes(key)


def transaction_key(identifier: UUID) -> bytes:
    """The key of a prepared transaction."""
    return identifier.bytes


def consumer_key(queue: int, name: str) -> bytes:
    """The key of one reader of a queue's feed."""
    return queue_key(queue) + name.encode()


def hold_key(holder: str, key: tuple[int, int]) -> bytes:
    """The key of what a carrier holds under a name of its own: channel and batch."""
    return holder.encode() + _hold_layout.pack(*key)


_KIND_BYTES: Final = {kind: bytes([place]) for place, kind in enumerate(Kind)}


def directory_key(kind: Kind, identifier: UUID) -> bytes:
    """The key of an object of the directory."""
    return _KIND_BYTES[kind] + identifier.bytes


def lane_start(lane: int) -> int:
    """The first LookupIdentifier a lane can hold."""
    return lane << LANE_SHIFT
