"""Makes the heads of history events from a queue and the attributes of messages."""

from __future__ import annotations

from uuid import UUID

import msgspec

from reliquary.queueing.model.history.records import Head
from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.queueing.model.queue import Queue, QueueType
from reliquary.wire.history import HistoryEvent

HeadKey = tuple[
    HistoryEvent, int, int, tuple[str, str, str], str, int, UUID | None, SequenceId | None, UUID | None
]
"""The event's kind, the queue's number or 0, the reason, the Initiator, the other queue, the shape, the
lineage where it is named, the stream, and the transaction: events with equal keys share a head."""


class KnownHead(msgspec.Struct, gc=False):
    """A head that was used before, and its index among the heads of the batch that used it last."""

    head: Head
    batch: int = 0
    place: int = 0


def kind_of(queue: Queue) -> str:
    """Return the kind of a queue, as the history names it."""
    if queue.outgoing is not None:
        return "outgoing"
    if queue.is_journal:
        return "journal"
    if queue.kind is not QueueType.SYSTEM:
        return "local"
    name = queue.pathname.rpartition(";")[2].casefold()
    return {"journal": "journal", "deadletter": "dead-letter", "deadxact": "dead-letter"}.get(name, "system")


def make_head(queue: Queue | None, key: HeadKey) -> Head:
    """Return the head of the events in a queue that have this key."""
    event, _, reason, (by, peer, batch), other, shape, lineage, sequence, transaction = key
    ordinal, timestamp = (0, 0) if sequence is None else (sequence.ordinal, sequence.timestamp)
    name, kind = ("", "") if queue is None else (short_path(queue.pathname), kind_of(queue))
    return Head(
        event=int(event),
        queue=name,
        kind=kind,
        shape=shape,
        reason=int(reason),
        by=by,
        other=other,
        peer=peer,
        batch=batch,
        lineage=lineage,
        ordinal=ordinal,
        timestamp=timestamp,
        transaction=transaction,
    )
