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
        "queue",
        ColumnType.STRING,
        _P,
        "the queue of the message; a sink puts the row into it in place of its option `queue`",
    ),
    Column(
        "feed_id",
        ColumnType.LONG,
        _P,
        "the number of the message in the feed of the queue; offsets count these",
    ),
    Column(
        "lookup_id",
        ColumnType.LONG,
        _P,
        "LookupIdentifier: the position in the queue, ordered by priority and time",
    ),
    Column(
        "arrived", ColumnType.TIMESTAMP, _P, "ArrivalTime: the time at which the message came into the queue"
    ),
    Column("expires_at", ColumnType.TIMESTAMP, _P, "the time at which the message expires; null is never"),
    Column("due", ColumnType.TIMESTAMP, _P, "the time at which a delayed message becomes available"),
    Column("size", ColumnType.LONG, _P, "the bytes that the message counts against quotas"),
    Column("reason", ColumnType.STRING, _P, "why the message is in a journal or dead-letter queue"),
    Column(
        "origin",
        ColumnType.STRING,
        _P,
        "the queue from which the message came into a journal or dead-letter queue",
    ),
    Column(
        "handed_out",
        ColumnType.INT,
        _P,
        "how often the message was received with a receipt or in a transaction",
    ),
    Column("aborted", ColumnType.INT, _P, "how often the message was returned to the queue"),
    Column("moved", ColumnType.INT, _P, "how often the message was moved"),
    Column(
        "id", ColumnType.STRING, _M, "the identifier of the message, GUID\\NUMBER, equal at every manager"
    ),
    Column("source", ColumnType.STRING, _M, "the manager at which the message was sent"),
    Column(
        "sent", ColumnType.TIMESTAMP, _M, "SentTime: the time at which the message was sent, in whole seconds"
    ),
    Column("class", ColumnType.STRING, _M, "the class of the message: normal, report, or an acknowledgement"),
    Column("body_size", ColumnType.LONG, _M, "the number of bytes of the body"),
    Column("body", ColumnType.BINARY, _W, "the body; a sink takes text too, as UTF-8"),
    Column("body_type", ColumnType.LONG, _W, "BodyType: a number that the application chooses"),
    Column("label", ColumnType.STRING, _W, "the label, of up to 249 characters"),
    Column(
        "priority",
        ColumnType.INT,
        _W,
        "the priority, 0 to 7; 3 by default; without meaning in a transactional queue",
    ),
    Column(
        "durable",
        ColumnType.BOOL,
        _W,
        "whether the message is recoverable; express messages are not in feeds",
    ),
    Column("expires", ColumnType.LONG, _W, "TimeToBeReceived in seconds; null is no limit"),
    Column("reach", ColumnType.LONG, _W, "TimeToReachQueue in seconds"),
    Column("delay", ColumnType.DOUBLE, _W, "the seconds after which the message becomes available"),
    Column("correlation", ColumnType.STRING, _W, "the identifier of the message that this one answers"),
    Column("tag", ColumnType.LONG, _W, "ApplicationTag: a number that the application chooses"),
    Column("extension", ColumnType.BINARY, _W, "data of the application beside the body, of up to 1 MiB"),
    Column("acknowledgements", ColumnType.STRINGS, _W, "the acknowledgements that the sender asks for"),
    Column("journal", ColumnType.BOOL, _W, "whether the source keeps a copy of the delivered message"),
    Column(
        "deadletter", ColumnType.BOOL, _W, "whether a copy of the message is kept when it fails or expires"
    ),
    Column(
        "deadletter_queue",
        ColumnType.STRING,
        _W,
        "the queue for that copy; null is the manager's own dead-letter queue",
    ),
    Column(
        "peek_when_locked",
        ColumnType.BOOL,
        _W,
        "AllowPeekWhenLocked: whether the message can be peeked while a receive locks it",
    ),
    Column(
        "tracing_queue", ColumnType.STRING, _W, "the queue that reports of a traced message go to, a GUID"
    ),
    Column(
        "traceparent", ColumnType.STRING, _W, "the trace that the message belongs to, by W3C Trace Context"
    ),
    Column("tracestate", ColumnType.STRING, _W, "what tracing systems have added to the trace"),
    Column("response_queue", ColumnType.STRING, _W, "the queue that the sender wants answers in"),
    Column("response_queues", ColumnType.STRINGS, _M, "the response queues as a list"),
    Column("destination_queue", ColumnType.STRING, _M, "the queue that the message was sent to"),
    Column(
        "destination_queues",
        ColumnType.STRINGS,
        _M,
        "all addresses of a message that was sent to several queues",
    ),
    Column("administration_queue", ColumnType.STRING, _W, "the queue that acknowledgements go to"),
    Column("administration_queues", ColumnType.STRINGS, _M, "the administration queues as a list"),
    Column(
        "multiple_destination_signature",
        ColumnType.BINARY,
        _M,
        "the signature of a message that was sent to several queues",
    ),
    Column("privacy", ColumnType.STRING, _M, "how the body was encrypted in transit"),
    Column(
        "authentication",
        ColumnType.STRING,
        _W,
        "how the message is signed: none or xmlsig; on reading, how it was signed in transit",
    ),
    Column("hash_algorithm", ColumnType.STRING, _M, "the hash algorithm of the signature"),
    Column("encryption_algorithm", ColumnType.STRING, _M, "the algorithm of the encrypted body"),
    Column("destination_manager", ColumnType.STRING, _M, "the manager that the message was sent to"),
    Column(
        "destination_kind", ColumnType.STRING, _M, "DestinationQueueType: the type of the destination queue"
    ),
    Column(
        "administration_kind",
        ColumnType.STRING,
        _M,
        "AdministrationQueueType: the type of the administration queue",
    ),
    Column("response_kind", ColumnType.STRING, _M, "ResponseQueueType: the type of the response queue"),
    Column("sender", ColumnType.BINARY, _M, "SenderIdentifier: the identifier of the sending user"),
    Column("sender_kind", ColumnType.STRING, _M, "SenderIdentifierType: the type of that identifier"),
    Column("sender_certificate", ColumnType.BINARY, _M, "the certificate with which the message was signed"),
    Column("connector_type", ColumnType.STRING, _M, "the type of the connector application, a GUID"),
    Column("connector_manager", ColumnType.STRING, _M, "the manager of the connector application, a GUID"),
    Column(
        "transaction_status_queue",
        ColumnType.STRING,
        _M,
        "the queue of a connector for the status of transactions",
    ),
    Column("symmetric_key", ColumnType.BINARY, _M, "the encrypted key of an encrypted body"),
    Column("signature", ColumnType.BINARY, _M, "the signature, as it arrived"),
    Column(
        "authentication_provider_type",
        ColumnType.LONG,
        _M,
        "the type of the provider that made the signature",
    ),
    Column(
        "authentication_provider_name",
        ColumnType.STRING,
        _M,
        "the name of the provider that made the signature",
    ),
    Column(
        "sequence_ordinal",
        ColumnType.LONG,
        _M,
        "the order of the stream that the message belongs to; null without a stream",
    ),
    Column("sequence_timestamp", ColumnType.LONG, _M, "the time at which the stream began"),
    Column("sequence_number", ColumnType.LONG, _M, "the number of the message in its stream"),
    Column(
        "previous_sequence_number", ColumnType.LONG, _M, "the number of the message before it in its stream"
    ),
    Column("transaction", ColumnType.STRING, _M, "the transaction in which the message was sent, a GUID"),
    Column(
        "final_ack_required",
        ColumnType.BOOL,
        _M,
        "whether the source waits for the final acknowledgement of the message",
    ),
    Column(
        "first_in_transaction", ColumnType.BOOL, _M, "whether the message is the first of its transaction"
    ),
    Column("last_in_transaction", ColumnType.BOOL, _M, "whether the message is the last of its transaction"),
    Column("soap_envelope", ColumnType.STRING, _M, "the envelope with which the message arrived by SRMP"),
    Column("soap_compound_message", ColumnType.STRING, _M, "the whole MIME message that arrived by SRMP"),
    Column("soap_header", ColumnType.STRING, _M, "the application's part of the SOAP header"),
    Column("soap_body", ColumnType.STRING, _M, "the application's part of the SOAP body"),
    Column("httpr_header", ColumnType.STRING, _M, "the header with which the message arrived by HTTPR"),
)

BY_NAME: Final = {column.name: column for column in COLUMNS}
NAMES: Final = tuple(BY_NAME)
WRITTEN: Final = frozenset(column.name for column in COLUMNS if column.use is Use.WRITTEN) | {"queue"}
"""Columns that a sink takes; it ignores the other columns of this list, and refuses any other name."""
