"""Defines the tables in which the queue manager stores its state, with their rows and keys.

Table         Key                              A row contains
manager       one row                          the attributes of this manager
sequence      one row                          the numbers that may be in use, and the oldest expiry
queues        queue                            the attributes of a queue
counters      queue                            number and size of its messages, and where each lane begins
positions     queue, LookupIdentifier          a place of a queue, in the order of the queue, and its message
hand_outs     hand-out                         the places that one receive has locked, and their tries
delayed       queue, LookupIdentifier          a position that readers do not see yet
messages      message                          a message that is large, or has moved, or has several places
shares        message                          the number of its positions, when there is more than one
spools        spool                            marks a large body that the next start deletes
pieces        spool, index                     a piece of a large body
expiry        moment, queue, LookupIdentifier  when a message expires, is due, or was purged
transactions  transaction                      a transaction that is prepared and not decided
directory     type, identifier                 an object of the directory: a manager, a queue, a site ...
outcomes      transaction                      the outcome of a transaction that was prepared
holds         carrier, channel, batch          messages that a carrier sends, with unknown outcome
consumers     queue, name                      the progress of a reader of the queue's feed
keeps         queue                            how much is kept for readers of the queue's feed
moments       one row                          the highest number of all feeds at some moments
late          queue, arrival                   a position whose arrival number is not its sequence number
retained      queue, arrival                   a removed position that a consumer has not read
stages        stage                            a part of a batch that is published as a whole
staged        stage, index                     some hundred messages of a part
ledger        query                            the last batch that a query published
writers       writer                           the query that writes under this name
history       first event                      events of messages that are not exported yet
history_mark  one row                          how far events are exported, and whether some are missing
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from struct import Struct as Layout
from typing import Any, Final
from uuid import UUID

import msgspec

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import FRAME, Table, UndecodedTable
from reliquary.queueing.model.directory.objects import DirectoryObject, ObjectKind
from reliquary.queueing.model.history.records import HistoryMark, HistoryRow
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import Queue, QueueManagerRecord

LANES: Final = 8
"""One lane for each priority; the highest priority is lane 0 and comes first."""
LANE_SHIFT: Final = 56
SEQUENCE_MASK: Final = (1 << LANE_SHIFT) - 1
LAST_ID: Final = (LANES << LANE_SHIFT) - 1


class Copy(IntEnum):
    """The kinds of copies and reports of a message; the values are indexes into `Counters.lost`."""

    JOURNAL = 0
    """A copy in the journal of the queue from which the message was received."""
    SOURCE_JOURNAL = 1
    """A copy in the manager's journal, `system$;journal`."""
    DEAD_LETTER = 2
    ACKNOWLEDGEMENT = 3
    REPORT = 4

    @property
    def word(self) -> str:
        """Return the name of this kind, as administrators read it."""
        return self.name.lower().replace("_", "-")


class Sequence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Numbers up to `ceiling` may be in use, and no row of `expiry` has a moment before `expiry_floor`."""

    ceiling: int = 0
    expiry_floor: int = 0
    last_queue: int = 0
    """The highest number that a queue ever had, because dead letters still name deleted queues."""
    lost: tuple[int, ...] = ()
    """Lost copies as in `Counters.lost`, for messages of deleted queues."""


class Counters(msgspec.Struct, frozen=True, omit_defaults=True):
    """The sums of a queue's rows, so that they need not be counted."""

    count: int = 0
    size: int = 0
    floors: tuple[int, ...] = ()
    """For each lane, a LookupIdentifier below which the lane has no row."""
    lost: tuple[int, ...] = ()
    """The number of copies of each kind (`Copy`) that could not be stored; empty stands for none."""
    delayed: int = 0
    """Delayed positions, which `count` does not include; `size` includes their bytes."""
    retained: int = 0
    """Removed positions that a consumer has not read; neither `count` nor `size` includes them."""
    retained_size: int = 0


class QueueRow(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A row of a queue: a position, and its message if that is stored here (`Position.inline_in`)."""

    position: Position
    message: Message | None = None


class UndecodedQueueRow(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A `QueueRow` whose message is not decoded."""

    position: Position
    message: msgspec.Raw


_decode_row = msgspec.msgpack.Decoder(UndecodedQueueRow).decode


def undecoded_rows(rows: Iterable[Any]) -> list[UndecodedQueueRow]:
    """Return rows of `positions` from their values, whose checksums were compared; others are decoded."""
    begin, decode = FRAME, _decode_row
    try:
        return [decode(row[begin:]) if type(row) is bytes else row for row in rows]
    except msgspec.MsgspecError as why:
        raise StoreDamage(f"a row of positions does not decode: {why}") from why


class HandOut(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The positions of one queue that one receive has locked, for a receipt or a transaction."""

    queue: int
    lookup_ids: tuple[int, ...]
    tries: tuple[int, ...]
    """The number of attempts of each position, this one included; one number if all are equal."""


class Shares(msgspec.Struct, frozen=True):
    """The number of positions that refer to one message."""

    count: int


class Spool(msgspec.Struct, frozen=True):
    """An empty row, whose key is the number of a body that the next start deletes."""


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A piece of a body that is too large for one row."""

    data: bytes


class Expiry(msgspec.Struct, frozen=True):
    """An empty row, whose key has the moment, the queue and the LookupIdentifier."""


class Operation(msgspec.Struct, frozen=True, omit_defaults=True):
    """TransactionalOperation, 3.1.1.13 (DM-064): one send, receive or move in a transaction."""

    kind: str
    """The operation: `enqueue`, `dequeue` or `move`."""
    queue: int
    position: Position
    target: int = 0
    """TargetQueueReference: the number of the queue to which a message is moved."""
    reason: MessageClass = MessageClass.ACK_RECEIVE
    """DequeueReason: why the message is removed."""


class PreparedTransaction(msgspec.Struct, frozen=True):
    """A transaction that is prepared and waits for its outcome (DM-065)."""

    operations: tuple[Operation, ...]
    single_phase: bool
    prepared: int
    """The moment when it was prepared, microseconds since 1970."""
    begun: int = 0
    """The moment when it was begun, microseconds since 1970."""
    owner: str = ""
    """The application that looks for this transaction after a crash."""
    external: bool = False
    """A coordinator gave it its identifier and decides its outcome."""
    user: str = ""
    """The SID of the user who began it; empty for the manager itself."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of a prepared transaction, for a caller that did not get the answer."""

    committed: bool
    ended: int
    """The moment of the decision, microseconds since 1970."""
    owner: str = ""
    by: str = ""
    """The name of the administrator who decided in place of the coordinator; empty for none."""


class Reservation(msgspec.Struct, frozen=True):
    """Messages of one queue that a carrier has reserved; express messages are not in the stored row."""

    queue: int
    lookup_ids: tuple[int, ...]


class Loss(msgspec.Struct, frozen=True):
    """Messages that a consumer lost because more was kept for it than its limit allows."""

    after: int
    """Its cursor before the loss."""
    until: int
    """The last arrival number that it lost."""
    messages: int
    bytes: int
    moment: int
    """The moment when it last lost one of them, microseconds since 1970."""


class Consumer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reader of the feed of a queue, for which messages are kept until it has read them."""

    cursor: int
    """The last arrival number that it has read; later messages are kept, even if they leave the queue."""
    created: int
    """The moment of its creation, microseconds since 1970."""
    moved: int
    """The moment when the cursor last moved, microseconds since 1970."""
    keep: Keep | None = None
    """The limit of what is kept for it; None if that of the queue or of the settings applies."""
    paused: bool = False
    """The consumer is paused: its reader is asked to begin no new batch."""
    loss: Loss | None = None
    """The last messages that it lost; consecutive losses are added up."""
    lost: int = 0
    """All messages that it ever lost."""
    lost_bytes: int = 0


class Moments(msgspec.Struct, frozen=True):
    """The highest numbers of feeds at several times.

    Time is counted here only while a manager runs, in microseconds, and a calendar that jumps does not change
    it: what could not be read while the server was off does not get older meanwhile.
    """

    elapsed: int = 0
    marks: tuple[tuple[int, int], ...] = ()
    """A time, and the highest number of a message in any feed at that time."""


class Late(msgspec.Struct, frozen=True, gc=False):
    """The LookupIdentifier of a position whose arrival number is not its sequence number."""

    lookup_id: int


class Stage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a batch, as one attempt of one task wrote it; readers see it when it is published."""

    query: str
    batch: int
    part: int
    attempt: str
    begun: int
    """The moment when the part was begun, microseconds since 1970."""
    written: int = 0
    """The moment when messages were last added, microseconds since 1970."""
    user: str = ""
    """The SID of the user who wrote it; empty for the manager itself."""
    complete: bool = False
    dropped: bool = False
    """It will not be published; its messages are deleted, some in each turn."""
    messages: int = 0
    size: int = 0
    chunks: int = 0
    """The number of its rows in `staged`."""
    queues: dict[int, str] = {}
    """The queues of its messages: their numbers, with the names that the writer gave for them."""


class StagedChunk(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Messages for one queue, in their order; they get positions when they are published."""

    queue: int
    first: int
    """The number of the first message; the numbers of the others follow it."""
    sizes: tuple[int, ...]
    lanes: bytes = b"\0"
    """The lane of each message in its queue; a single byte when all have one lane."""
    marks: bytes = b""
    """Flags of each message, as the bits of `model.staging`; empty when no message has any."""


class Published(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last batch that a query has published."""

    batch: int
    writer: str
    messages: int
    moment: int
    """The moment of publication, microseconds since 1970."""
    total: int = 0
    """The number of messages in all batches of the query."""
    user: str = ""
    """The SID of the user who owns the query; empty for the manager itself."""
    era: int = 0
    """The era of the manager, as the moment when it began; 0 for a store that was never restored."""
    spread: str = ""
    """The distribution of the rows of the batch over managers; empty if this was the only one."""


class Publishing(msgspec.Struct, frozen=True, omit_defaults=True):
    """A batch that gets its places in several turns; no reader sees its messages before the last turn."""

    query: str
    batch: int
    writer: str
    stages: tuple[int, ...]
    first: int
    """The first of the sequence numbers that are reserved for its messages."""
    messages: int
    moment: int
    """The ArrivalTime of its messages, microseconds since 1970: the moment when the first turn began."""
    user: str = ""
    """The SID of the user who publishes it; empty for the manager itself."""
    spread: str = ""
    """The distribution of the rows of the batch over managers."""
    placed: int = 0
    """The number of its chunks that earlier turns have worked on."""


class Writer(msgspec.Struct, frozen=True):
    """The one query that may publish under the name of a writer."""

    query: str


class Released(msgspec.Struct, frozen=True):
    """A query that may continue in a restored store although batches of it may be lost, as an administrator
    decided."""

    era: int
    """The era in which this holds, as the moment when it began."""


class DirectoryRow(msgspec.Struct, frozen=True):
    """An object of the directory, stored together with its type."""

    object: DirectoryObject


MANAGER: Final = Table("manager", QueueManagerRecord)
SEQUENCE: Final = Table("sequence", Sequence)
QUEUES: Final = Table("queues", Queue)
COUNTERS: Final = Table("counters", Counters)
POSITIONS: Final = Table("positions", QueueRow)
POSITIONS_ALONE: Final = Table("positions", UndecodedQueueRow)
"""The table of positions, for readers that need no messages."""
POSITION_ROWS: Final = UndecodedTable("positions", UndecodedQueueRow)
"""The table of positions, for readers of long ranges."""
HAND_OUTS: Final = Table("hand_outs", HandOut)
DELAYED: Final = Table("delayed", Position)
MESSAGES: Final = Table("messages", Message)
SHARES: Final = Table("shares", Shares)
SPOOLS: Final = Table("spools", Spool)
PIECES: Final = Table("pieces", Piece)
EXPIRY: Final = Table("expiry", Expiry)
TRANSACTIONS: Final = Table("transactions", PreparedTransaction)
DIRECTORY: Final = Table("directory", DirectoryRow)
OUTCOMES: Final = Table("outcomes", Outcome)
RESERVATIONS: Final = Table("holds", Reservation)
CONSUMERS: Final = Table("consumers", Consumer)
KEEPS: Final = Table("keeps", Keep)
MOMENTS: Final = Table("moments", Moments)
LATE: Final = Table("late", Late)
RETAINED: Final = Table("retained", Position)
STAGES: Final = Table("stages", Stage)
STAGED: Final = Table("staged", StagedChunk)
LEDGER: Final = Table("ledger", Published)
WRITERS: Final = Table("writers", Writer)
PUBLISHING: Final = Table("publishing", Publishing)
RELEASED: Final = Table("released", Released)
HISTORY: Final = Table("history", HistoryRow)
HISTORY_MARK: Final = Table("history_mark", HistoryMark)

_ALL: Final[tuple[Table[Any], ...]] = (
    MANAGER, SEQUENCE, QUEUES, COUNTERS, POSITIONS, HAND_OUTS, DELAYED, MESSAGES, SHARES, SPOOLS, PIECES,
    EXPIRY, TRANSACTIONS, DIRECTORY, OUTCOMES, RESERVATIONS, CONSUMERS, LATE, RETAINED, STAGES, STAGED,
    LEDGER, WRITERS, HISTORY, HISTORY_MARK, KEEPS, MOMENTS, PUBLISHING, RELEASED,
)  # fmt: skip
TABLES: Final[tuple[str, ...]] = tuple(table.name for table in _ALL)

ONLY: Final = b"\0"
"""The key of the row in a table that has only one."""
PAST_THE_END: Final = b"\xff" * 24
"""A key that is higher than every key of every table."""

_queue_layout = Layout(">I")
_position_layout = Layout(">IQ")
_message_layout = Layout(">Q")
_piece_layout = Layout(">QI")
_expiry_layout = Layout(">QIQ")
_reservation_layout = Layout(">QQ")

queue_key = _queue_layout.pack
position_key = _position_layout.pack
message_key = _message_layout.pack
hand_out_key = _message_layout.pack
spool_key = _message_layout.pack
piece_key = _piece_layout.pack
expiry_key = _expiry_layout.pack
arrival_key = _position_layout.pack
stage_key = _message_layout.pack
staged_key = _piece_layout.pack
history_key = _message_layout.pack


def expiry_of(key: bytes) -> tuple[int, int, int]:
    """Return the moment, the queue and the LookupIdentifier in the key of an expiry row."""
    moment, queue, lookup_id = _expiry_layout.unpack(key)
    return moment, queue, lookup_id


def spool_number(key: bytes) -> int:
    """Return the number of the body in the key of a row of `spools`."""
    return int.from_bytes(key)


def transaction_key(identifier: UUID) -> bytes:
    """Return the key of a prepared transaction and of its outcome."""
    return identifier.bytes


def consumer_key(queue: int, name: str) -> bytes:
    """Return the key of one reader of a queue's feed."""
    return queue_key(queue) + name.encode()


def reservation_key(holder: str, key: tuple[int, int]) -> bytes:
    """Return the key of a carrier's reservation, which the carrier names by channel and batch."""
    return holder.encode() + _reservation_layout.pack(*key)


_KIND_BYTES: Final = {kind: bytes([place]) for place, kind in enumerate(ObjectKind)}


def directory_key(kind: ObjectKind, identifier: UUID) -> bytes:
    """Return the key of an object of the directory."""
    return _KIND_BYTES[kind] + identifier.bytes


def lane_start(lane: int) -> int:
    """Return the lowest LookupIdentifier of a lane."""
    return lane << LANE_SHIFT
