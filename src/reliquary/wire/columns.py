"""Defines the names and types of the columns in which feeds send messages and batches bring them.

One list for both ends: the server makes Arrow streams of it, Spark its schema.  Every column may be null; a
column that is written and missing or null means the default of its attribute.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class ColumnType(Enum):
    """The type of a column."""

    STRING = "string"
    STRINGS = "array<string>"
    BINARY = "binary"
    BOOL = "boolean"
    INT = "int"
    LONG = "bigint"
    DOUBLE = "double"
    TIMESTAMP = "timestamp"


class Use(Enum):
    """The origin of a column, and whether a sink takes it."""

    POSITION = "position"
    """A property of the position in the queue: read without the message. A sink ignores the column."""
    MESSAGE = "message"
    """A property of the message, set by the manager. A sink ignores the column."""
    WRITTEN = "written"
    """A property of the message that a sink takes."""


class Column(NamedTuple):
    """The name, type and description of one column of the feed."""

    name: str
    kind: ColumnType
    use: Use
    about: str
    """One line for the reference page."""


_P, _M, _W = Use.POSITION, Use.MESSAGE, Use.WRITTEN

COLUMNS: Final[tuple[Column, ...]] = (
    Column(
        "queue", ColumnType.STRING, _P, "the queue; a sink puts the row there in place of its option `queue`"
    ),
    Column("feed_id", ColumnType.LONG, _P, "the place in the feed of the queue; offsets count these"),
    Column(
        "lookup_id", ColumnType.LONG, _P, "LookupIdentifier: the place in the queue, by priority and time"
    ),
    Column("arrived", ColumnType.TIMESTAMP, _P, "ArrivalTime"),
    Column("expires_at", ColumnType.TIMESTAMP, _P, "when its time to be received ends; null is never"),
    Column("due", ColumnType.TIMESTAMP, _P, "when it is handed out again, for one whose retry is delayed"),
    Column("size", ColumnType.LONG, _P, "what it counts against quotas, in bytes"),
    Column("reason", ColumnType.STRING, _P, "why it is here, in a journal or dead-letter queue"),
    Column("origin", ColumnType.STRING, _P, "the queue it came from, in a journal or dead-letter queue"),
    Column(
        "handed_out", ColumnType.INT, _P, "how often it was handed out with a receipt or in a transaction"
    ),
    Column("aborted", ColumnType.INT, _P, "how often it came back"),
    Column("moved", ColumnType.INT, _P, "how often it was moved"),
    Column("id", ColumnType.STRING, _M, "its identifier, GUID\\NUMBER, equal at every manager"),
    Column("source", ColumnType.STRING, _M, "the manager that it was sent at"),
    Column("sent", ColumnType.TIMESTAMP, _M, "SentTime, in whole seconds"),
    Column("class", ColumnType.STRING, _M, "what it is: normal, report, or an acknowledgement"),
    Column("body_size", ColumnType.LONG, _M, "bytes of the body"),
    Column("body", ColumnType.BINARY, _W, "the body; a sink takes text too, as UTF-8"),
    Column("body_type", ColumnType.LONG, _W, "BodyType, a number of the application's own"),
    Column("label", ColumnType.STRING, _W, "up to 249 characters"),
    Column("priority", ColumnType.INT, _W, "0 to 7; 3 by default; without meaning in a transactional queue"),
    Column("durable", ColumnType.BOOL, _W, "recoverable; express messages are not in feeds"),
    Column("expires", ColumnType.LONG, _W, "TimeToBeReceived in seconds; null is for ever"),
    Column("reach", ColumnType.LONG, _W, "TimeToReachQueue in seconds"),
    Column("delay", ColumnType.DOUBLE, _W, "seconds after which it is seen"),
    Column("correlation", ColumnType.STRING, _W, "the identifier of another message"),
    Column("tag", ColumnType.LONG, _W, "ApplicationTag"),
    Column("extension", ColumnType.BINARY, _W, "up to 1 MiB beside the body"),
    Column("acknowledgements", ColumnType.STRINGS, _W, "which acknowledgements are asked for"),
    Column("journal", ColumnType.BOOL, _W, "a copy is kept at the source when it is delivered"),
    Column("deadletter", ColumnType.BOOL, _W, "it is kept as a dead letter when it fails"),
    Column("deadletter_queue", ColumnType.STRING, _W, "where, if not in the manager's own"),
    Column("peek_when_locked", ColumnType.BOOL, _W, "AllowPeekWhenLocked"),
    Column("tracing_queue", ColumnType.STRING, _W, "the queue that reports go to, a GUID"),
    Column("traceparent", ColumnType.STRING, _W, "the trace that it belongs to, by W3C Trace Context"),
    Column("tracestate", ColumnType.STRING, _W, "what tracing systems have added to it"),
    Column("response_queue", ColumnType.STRING, _W, "where answers are wanted"),
    Column("response_queues", ColumnType.STRINGS, _M, "the values as a list"),
    Column("destination_queue", ColumnType.STRING, _M, "where it was sent"),
    Column("destination_queues", ColumnType.STRINGS, _M, "all the places of a message to several"),
    Column("administration_queue", ColumnType.STRING, _W, "where acknowledgements go"),
    Column("administration_queues", ColumnType.STRINGS, _M, "the values as a list"),
    Column("multiple_destination_signature", ColumnType.BINARY, _M, "of a message to several queues"),
    Column("privacy", ColumnType.STRING, _M, "how its body was sealed on the way"),
    Column(
        "authentication", ColumnType.STRING, _W, "how it is signed: none or xmlsig; or was, on the way here"
    ),
    Column("hash_algorithm", ColumnType.STRING, _M, "of the signature"),
    Column("encryption_algorithm", ColumnType.STRING, _M, "of the sealed body"),
    Column("destination_manager", ColumnType.STRING, _M, "the manager that it was sent to"),
    Column("destination_kind", ColumnType.STRING, _M, "DestinationQueueType"),
    Column("administration_kind", ColumnType.STRING, _M, "AdministrationQueueType"),
    Column("response_kind", ColumnType.STRING, _M, "ResponseQueueType"),
    Column("sender", ColumnType.BINARY, _M, "SenderIdentifier"),
    Column("sender_kind", ColumnType.STRING, _M, "SenderIdentifierType"),
    Column("sender_certificate", ColumnType.BINARY, _M, "with which it was signed"),
    Column("connector_type", ColumnType.STRING, _M, "a GUID"),
    Column("connector_manager", ColumnType.STRING, _M, "a GUID"),
    Column("transaction_status_queue", ColumnType.STRING, _M, "of a connector"),
    Column("symmetric_key", ColumnType.BINARY, _M, "of a sealed body"),
    Column("signature", ColumnType.BINARY, _M, "as it came"),
    Column("authentication_provider_type", ColumnType.LONG, _M, "of the signature"),
    Column("authentication_provider_name", ColumnType.STRING, _M, "of the signature"),
    Column("sequence_ordinal", ColumnType.LONG, _M, "of its stream; null outside any"),
    Column("sequence_timestamp", ColumnType.LONG, _M, "of its stream"),
    Column("sequence_number", ColumnType.LONG, _M, "its place in its stream"),
    Column("previous_sequence_number", ColumnType.LONG, _M, "the place of the one before"),
    Column("transaction", ColumnType.STRING, _M, "under which it was sent, a GUID"),
    Column("final_ack_required", ColumnType.BOOL, _M, "the source waits for the end of it"),
    Column("first_in_transaction", ColumnType.BOOL, _M, "of several that were sent together"),
    Column("last_in_transaction", ColumnType.BOOL, _M, "of several that were sent together"),
    Column("soap_envelope", ColumnType.STRING, _M, "with which it came by SRMP"),
    Column("soap_compound_message", ColumnType.STRING, _M, "the whole of what came by SRMP"),
    Column("soap_header", ColumnType.STRING, _M, "the application's part of the SOAP header"),
    Column("soap_body", ColumnType.STRING, _M, "the application's part of the SOAP body"),
    Column("httpr_header", ColumnType.STRING, _M, "the header with which it came by HTTPR"),
)

BY_NAME: Final = {column.name: column for column in COLUMNS}
NAMES: Final = tuple(BY_NAME)
WRITTEN: Final = frozenset(column.name for column in COLUMNS if column.use is Use.WRITTEN) | {"queue"}
"""Columns that a sink takes; it ignores the other columns of this list, and refuses any other name."""
