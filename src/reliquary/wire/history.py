"""Defines the kinds of events of the history and the columns of its files.

    FOLDER/day=2026-11-15/hour=22/00000000000000000001-00000000000000000417.parquet

One list for both ends: the store writes files of it, pipelines read them.  docs/reference/history.md shows
both tables, and a test holds it against this page.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from reliquary.wire.columns import Column, ColumnType, Use

VERSION: Final = 1
"""The version of the columns. A file of a higher version may have columns of another meaning."""
VERSION_KEY: Final = "reliquary.history.version"
MANAGER_KEY: Final = "reliquary.history.manager"
"""The key of the manager's GUID in the metadata of a file."""


class HistoryEvent(IntEnum):
    """The kinds of events; the numbers are on disk and never change their meaning."""

    ACCEPTED = 1
    ARRIVED = 2
    QUEUED = 3
    DELAYED = 4
    DUE = 5
    HANDED_OUT = 6
    RETURNED = 7
    HELD = 8
    RELEASED = 9
    SENT = 10
    DELIVERED = 11
    RECEIVED = 12
    EXPIRED = 13
    PURGED = 14
    REJECTED = 15
    MOVED = 16
    JOURNALED = 17
    DEAD_LETTERED = 18
    POISONED = 19
    PREPARED = 20
    COMMITTED = 21
    ABORTED = 22
    DUPLICATE = 23
    REFUSED = 24
    ACKNOWLEDGED = 25
    GAP = 26
    RESUMED = 27

    @property
    def word(self) -> str:
        """Return the name of the event in the column `event`."""
        return self.name.lower().replace("_", "-")


ABOUT: Final[dict[HistoryEvent, str]] = {
    HistoryEvent.ACCEPTED: "an application's message, or one that the manager wrote, is in a queue here",
    HistoryEvent.ARRIVED: "a message came from another manager and is in its queue",
    HistoryEvent.QUEUED: "a message waits in an outgoing queue; `protocol` says who brought it",
    HistoryEvent.DELAYED: "it is invisible until its moment comes",
    HistoryEvent.DUE: "that moment has come",
    HistoryEvent.HANDED_OUT: "it is handed out with a receipt or in a transaction, for the `attempt`th time",
    HistoryEvent.RETURNED: "it came back from there",
    HistoryEvent.HELD: "a carrier sends it in a batch, in doubt until it is released, delivered or received",
    HistoryEvent.RELEASED: "that batch did not get there: it waits again",
    HistoryEvent.SENT: "the peer has it, and reports the end later",
    HistoryEvent.DELIVERED: "it left an outgoing queue because the next manager has it",
    HistoryEvent.RECEIVED: "an application took it, or a carrier from a queue of ours",
    HistoryEvent.EXPIRED: "its time ran out, `reason` says which",
    HistoryEvent.PURGED: "its queue was purged",
    HistoryEvent.REJECTED: "it left its queue unread for another `reason`",
    HistoryEvent.MOVED: "it is in `other_queue` now",
    HistoryEvent.JOURNALED: "it, or a copy, is in a journal; `other_queue` is where it came from",
    HistoryEvent.DEAD_LETTERED: (
        "it is in a dead-letter queue; `other_queue` is where it came from or was to go"
    ),
    HistoryEvent.POISONED: "it was handed out too often and is in `other_queue` now",
    HistoryEvent.PREPARED: "it was sent in a transaction that is in doubt until it is committed or aborted",
    HistoryEvent.COMMITTED: "that transaction was committed: it is in its queue",
    HistoryEvent.ABORTED: "that transaction was aborted: the message does not exist",
    HistoryEvent.DUPLICATE: "it came once more, was known, and was dropped",
    HistoryEvent.REFUSED: "it came, or was sent, and was not taken; `reason` says why",
    HistoryEvent.ACKNOWLEDGED: "another manager reported its outcome; `reason` names it",
    HistoryEvent.GAP: "`message` events are missing: there was no room, or it was off; null is any number",
    HistoryEvent.RESUMED: "with it a stream goes on without the numbers in `batch`, which a restore has lost",
}
"""One line for each event, for the reference page."""

CAME: Final = (
    HistoryEvent.ACCEPTED,
    HistoryEvent.ARRIVED,
    HistoryEvent.QUEUED,
    HistoryEvent.COMMITTED,
)
"""A message is in a queue that it was not in before."""
LEFT: Final = (
    HistoryEvent.DELIVERED,
    HistoryEvent.RECEIVED,
    HistoryEvent.EXPIRED,
    HistoryEvent.PURGED,
    HistoryEvent.REJECTED,
)
"""The message is no longer in its queue; journal and dead-letter copies are recorded after it."""


def _column(name: str, kind: ColumnType, about: str) -> Column:
    return Column(name, kind, Use.MESSAGE, about)


HISTORY_COLUMNS: Final[tuple[Column, ...]] = (
    _column("version", ColumnType.INT, "the version of this table: 1"),
    _column(
        "event_id",
        ColumnType.LONG,
        "the number of the event: from 1, without a gap, in the order of the manager's events",
    ),
    _column("event", ColumnType.STRING, "what happened, a word of the table of events"),
    _column("time", ColumnType.TIMESTAMP, "the time of the event, by the manager's clock"),
    _column("manager", ColumnType.STRING, "the manager, a GUID"),
    _column("manager_name", ColumnType.STRING, "the computer name of the manager when the file was written"),
    _column(
        "queue",
        ColumnType.STRING,
        "the path name of the queue, or the destination of an outgoing queue; null for none",
    ),
    _column(
        "queue_kind", ColumnType.STRING, "local, outgoing, journal, dead-letter or system; null for none"
    ),
    _column(
        "message",
        ColumnType.LONG,
        "the number of the message at this manager, which joins its events; null for none",
    ),
    _column(
        "message_id",
        ColumnType.STRING,
        "the identifier of the message, GUID\\NUMBER, equal at every manager; null in later events",
    ),
    _column("lookup_id", ColumnType.LONG, "LookupIdentifier: the position in the queue; null for none"),
    _column("size", ColumnType.LONG, "the bytes that the message counts against quotas, when it arrives"),
    _column("priority", ColumnType.INT, "the priority, 0 to 7, when it arrives"),
    _column(
        "durable", ColumnType.BOOL, "false for an express message, which a crash deletes, when it arrives"
    ),
    _column("sent", ColumnType.TIMESTAMP, "SentTime in whole seconds, when it arrives"),
    _column(
        "deadline",
        ColumnType.TIMESTAMP,
        "the time at which the message expires in this queue; null is never, or a later event",
    ),
    _column(
        "stream",
        ColumnType.STRING,
        "the stream of the message, ORDINAL.TIMESTAMP, when it arrives; null without a stream",
    ),
    _column("stream_number", ColumnType.LONG, "the number of the message in its stream"),
    _column("previous_number", ColumnType.LONG, "the number of the message before it in its stream"),
    _column("transaction", ColumnType.STRING, "the transaction in which the message was sent, a GUID"),
    _column(
        "correlation",
        ColumnType.STRING,
        "the identifier of another message that the sender named, when it arrives",
    ),
    _column("reason", ColumnType.STRING, "a message class as a word, such as nack-purged; null for none"),
    _column("other_queue", ColumnType.STRING, "the queue that the message came from or goes to"),
    _column(
        "protocol",
        ColumnType.STRING,
        "api, srmp, httpr, wsrm, mqqp, mqqb, multicast, loopback, spark or manager",
    ),
    _column("peer", ColumnType.STRING, "the peer that the message came from or goes to, if it is known"),
    _column(
        "batch",
        ColumnType.STRING,
        "the batch or transaction that the message is part of; QUERY:BATCH for spark",
    ),
    _column(
        "attempt", ColumnType.INT, "how often the message was received with a receipt or in a transaction"
    ),
)
HISTORY_NAMES: Final = tuple(column.name for column in HISTORY_COLUMNS)
