"""Positions and their messages as columns.

    positions --> those that are wanted --> columns of the place
                        '--> records, only if a column asks for them --> columns of the message

What a message does not have is null: a queue it does not name, a time that never ends, an empty extension.
Label, body, numbers and flags always have a value.  A column whose field no row has is made once, and handed
out again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile
from operator import attrgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.time import SECOND
from reliquary.net.feed.schema import TYPE_OF, schema_of
from reliquary.net.feed.stored_fields import DEFAULTS, StoredFields
from reliquary.net.feed.stored_messages import Gone, Stored
from reliquary.queueing.changes.numbering import arrivals_of
from reliquary.queueing.model.message import FOREVER, MessageClass, Position, StoredBody
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.wire.columns import BY_NAME, Use

BATCH_ROWS: Final = 10_000
BATCH_BYTES: Final = 16 * 1024 * 1024
AT_ONCE: Final = 256
"""So many messages are read together, bodies and all: what lies in the processor's cache is fast."""

END: Final = b"\xff\xff\xff\xff\0\0\0\0"
"""How an Arrow stream ends."""

Values = list[Any]
Convert = Callable[[Values], Values]


class Source(NamedTuple):
    """Where a column comes from."""

    field: str
    """An attribute of the position, or of the message as it lies on disk."""
    convert: Convert | None = None
    """None takes the values as they are."""


def _or_null(values: Values) -> Values:
    return [value or None for value in values]


# -- of the place

_CLASSES: Final = {each.value: each.name.lower().replace("_", "-") for each in MessageClass}


@lru_cache(maxsize=256)
def _spoken(path: str) -> str | None:
    return short_path(path) if path else None


def _reasons(values: Values) -> Values:
    return [_CLASSES[value] if value else None for value in values]


PLACES: Final[dict[str, Source]] = {
    "lookup_id": Source("lookup_id"),
    "arrived": Source("arrived"),
    "expires_at": Source("expires", _or_null),
    "due": Source("due", _or_null),
    "size": Source("size"),
    "reason": Source("reason", _reasons),
    "origin": Source("origin_path", lambda values: [_spoken(value) for value in values]),
    "handed_out": Source("handed_out"),
    "aborted": Source("aborted"),
    "moved": Source("moved"),
}


# -- of the message, from values as they lie on disk


@lru_cache(maxsize=1024)
def _guid(number: bytes) -> str | None:
    return str(UUID(bytes=number)) if any(number) else None


def _guids(values: Values) -> Values:
    return [value and _guid(value) for value in values]


def _ids(values: Values) -> Values:
    lineages = {lineage for lineage, _ in values}
    if len(lineages) == 1 and (guid := _guid(lineages.pop())):
        return [f"{guid}\\{number}" for _, number in values]
    return [f"{guid}\\{number}" if (guid := _guid(lineage)) else None for lineage, number in values]


def _moments(values: Values) -> Values:
    return [value * SECOND if value else None for value in values]


def _unless_forever(values: Values) -> Values:
    return [None if value == FOREVER else value for value in values]


def _spans(values: Values) -> Values:
    return [value / SECOND if value else None for value in values]


def _class_words(values: Values) -> Values:
    return [_CLASSES.get(value) or str(value) for value in values]


SOURCES: Final[dict[str, Source]] = {
    "id": Source("identifier", _ids),
    "source": Source("source_machine", _guids),
    "sent": Source("sent_time", _moments),
    "class": Source("message_class", _class_words),
    "body_type": Source("body_type"),
    "label": Source("label"),
    "priority": Source("priority"),
    "durable": Source("delivery", lambda values: [value == "recoverable" for value in values]),
    "expires": Source("time_to_be_received", _unless_forever),
    "reach": Source("time_to_reach_queue"),
    "delay": Source("delay", _spans),
    "correlation": Source("correlation", _ids),
    "tag": Source("application_tag"),
    "extension": Source("extension", _or_null),
    "acknowledgements": Source("acknowledgements", _or_null),
    "journal": Source("positive_journaling"),
    "deadletter": Source("negative_journaling"),
    "deadletter_queue": Source("application_deadletter_queue", _or_null),
    "peek_when_locked": Source("allow_peek_when_locked"),
    "tracing_queue": Source("tracing_queue", _guids),
    "response_queue": Source("response_queue", _or_null),
    "response_queues": Source("response_queues", _or_null),
    "destination_queue": Source("destination_queue", _or_null),
    "destination_queues": Source("destination_queues", _or_null),
    "administration_queue": Source("administration_queue", _or_null),
    "administration_queues": Source("administration_queues", _or_null),
    "multiple_destination_signature": Source("multiple_destination_signature", _or_null),
    "privacy": Source("privacy"),
    "authentication": Source("authentication"),
    "hash_algorithm": Source("hash_algorithm"),
    "encryption_algorithm": Source("encryption_algorithm"),
    "destination_manager": Source("destination_manager", _guids),
    "destination_kind": Source("destination_kind"),
    "administration_kind": Source("administration_kind"),
    "response_kind": Source("response_kind"),
    "sender": Source("sender", _or_null),
    "sender_kind": Source("sender_kind"),
    "sender_certificate": Source("sender_certificate", _or_null),
    "connector_type": Source("connector_type", _guids),
    "connector_manager": Source("connector_manager", _guids),
    "transaction_status_queue": Source("transaction_status_queue", _or_null),
    "symmetric_key": Source("symmetric_key", _or_null),
    "signature": Source("signature", _or_null),
    "authentication_provider_type": Source("authentication_provider_type"),
    "authentication_provider_name": Source("authentication_provider_name", _or_null),
    "sequence_ordinal": Source("sequence", lambda values: [value and value[0] for value in values]),
    "sequence_timestamp": Source("sequence", lambda values: [value and value[1] for value in values]),
    "sequence_number": Source("sequence_number", _or_null),
    "previous_sequence_number": Source("previous_sequence_number"),
    "transaction": Source("transaction", _guids),
    "final_ack_required": Source("final_ack_required"),
    "first_in_transaction": Source("first_in_transaction"),
    "last_in_transaction": Source("last_in_transaction"),
    "soap_envelope": Source("soap_envelope", _or_null),
    "soap_compound_message": Source("soap_compound_message", _or_null),
    "soap_header": Source("soap_header", _or_null),
    "soap_body": Source("soap_body", _or_null),
    "httpr_header": Source("httpr_header", _or_null),
}
_PLAIN: Final = frozenset({int, str, bytes, bool, type(None), MessageClass})
"""Values of which a column may have the same in all rows, and is made at once then."""
BODIES: Final = ("body", "body_size")
"""Columns that come from `body` or from `stored_body`."""


def _array(name: str, source: Source, rows: Sequence[Any]) -> pa.Array:
    values = list(map(attrgetter(source.field), rows))
    first, count = values[0], len(values)
    if type(first) in _PLAIN and values[-1] == first and values.count(first) == count:
        [value] = source.convert([first]) if source.convert else [first]
        return pa.repeat(pa.scalar(value, TYPE_OF[name]), count)
    return pa.array(source.convert(values) if source.convert else values, TYPE_OF[name])


@lru_cache(maxsize=16 * len(SOURCES))
def _constant(name: str, count: int) -> pa.Array:
    """The column of messages that all have the default."""
    source = SOURCES[name]
    [value] = source.convert([DEFAULTS[source.field]]) if source.convert else [DEFAULTS[source.field]]
    return pa.array([value] * count, TYPE_OF[name])


@lru_cache(maxsize=64)
def _queue(name: str, count: int) -> pa.Array:
    return pa.array([name] * count, TYPE_OF["queue"])


class Group(NamedTuple):
    """Positions that have their messages, and what is wanted of these."""

    positions: Sequence[Position]
    rows: list[Any]
    """As `StoredFields` reads them, without bodies."""
    bodies: list[pa.Array]
    """One behind the other; none where nobody asked for bodies."""
    sizes: Values
    """How large each body is; empty where nobody asked."""


class Columns:
    """Makes the columns that one reader asked for."""

    def __init__(self, names: Sequence[str], queue: str, stored: Stored, *, may_miss: bool) -> None:
        """`may_miss` leaves out messages that went meanwhile; else that is `Gone`."""
        self.schema = schema_of(names)
        self._names: tuple[str, ...] = tuple(self.schema.names)
        self.queue = queue
        self._stored = stored
        self._may_miss = may_miss
        wanted = {SOURCES[name].field for name in self._names if name in SOURCES}
        self._bodies = not set(BODIES).isdisjoint(self._names)
        if self._bodies:
            wanted |= {"body", "stored_body"}
        self._touches = any(BY_NAME[name].use is not Use.POSITION for name in self._names)
        self._fields = StoredFields(wanted)

    def opening(self) -> memoryview:
        """How the stream begins."""
        return memoryview(self.schema.serialize())

    def cut(self, positions: Sequence[Position]) -> Iterator[Sequence[Position]]:
        """Positions in groups whose rows may be in memory together."""
        return cut(positions, BATCH_ROWS, BATCH_BYTES if self._touches else 0)

    def batch(self, positions: Sequence[Position]) -> memoryview | None:
        """Such a group as a record batch, ready to be sent; None for nothing."""
        group = self._group(positions) if self._touches else Group(positions, [], [], [])
        if not group.positions:
            return None
        arrays = [self._column(name, group) for name in self._names]
        return memoryview(pa.RecordBatch.from_arrays(arrays, schema=self.schema).serialize())

    def _column(self, name: str, group: Group) -> pa.Array:
        count = len(group.positions)
        if name == "queue":
            return _queue(self.queue, count)
        if name == "feed_id":
            return pa.array(arrivals_of(group.positions), TYPE_OF[name])
        if name in PLACES:
            return _array(name, PLACES[name], group.positions)
        if name == "body":
            return pa.concat_arrays(group.bodies)
        if name == "body_size":
            return pa.array(group.sizes, TYPE_OF[name])
        source = SOURCES[name]
        if not self._fields.occurs(source.field):
            return _constant(name, count)
        return _array(name, source, group.rows)

    # -- messages

    def _group(self, positions: Sequence[Position]) -> Group:
        """All of these, of which some are read at a time."""
        while True:
            known = self._fields.known
            whole, kept = Group([], [], [], []), list[Position]()
            for first in range(0, len(positions), AT_ONCE):
                some, rows = self._rows(positions[first : first + AT_ONCE])
                if self._bodies:
                    some, rows = self._take_bodies(some, rows, whole)
                kept += some
                whole.rows.extend(rows)
            if self._fields.known == known:  # else the rows before have no place for what was learned
                return whole._replace(positions=kept)

    def _rows(self, positions: Sequence[Position]) -> tuple[Sequence[Position], list[Any]]:
        """What is stored of the messages of these positions, and those that have any."""
        records = self._stored.records([each.message for each in positions])
        if None in records:
            self._missed()
            positions = [each for each, record in zip(positions, records, strict=True) if record is not None]
        return positions, self._fields.read([record for record in records if record is not None])

    def _take_bodies(
        self, positions: Sequence[Position], rows: list[Any], group: Group
    ) -> tuple[Sequence[Position], list[Any]]:
        """Put bodies and their sizes into the group, and out of the rows; what is left has its body."""
        in_pieces = self._fields.occurs("stored_body")
        if "body" not in self._names:
            group.sizes.extend(
                [len(row.body) if row.stored_body is None else row.stored_body[1] for row in rows]
                if in_pieces
                else [len(row.body) for row in rows]
            )
            return positions, rows
        bodies: Values = [row.body for row in rows]
        if in_pieces:
            bodies = [
                row.body if row.stored_body is None else self._stored.body(StoredBody(*row.stored_body))
                for row in rows
            ]
        if None in bodies:
            self._missed()
            left = [place for place, body in enumerate(bodies) if body is not None]
            positions, rows = [positions[place] for place in left], [rows[place] for place in left]
            bodies = [bodies[place] for place in left]
        group.bodies.append(pa.array(bodies, TYPE_OF["body"]))
        group.sizes.extend(map(len, bodies))
        for row in rows:
            row.body = b""  # its memory is used again while it is in the cache
        return positions, rows

    def _missed(self) -> None:
        if not self._may_miss:
            raise Gone("a message went while it was read")


def cut(positions: Sequence[Position], most: int, most_bytes: int) -> Iterator[Sequence[Position]]:
    """Groups of at most so many rows and bytes, one row at least; with 0 bytes, only rows are counted."""
    first = 0
    while first < len(positions):
        some = positions[first : first + most]
        if most_bytes and sum([each.size for each in some]) > most_bytes:
            totals = accumulate([each.size for each in some])
            fit = sum(1 for _ in takewhile(most_bytes.__ge__, totals))
            some = some[: max(fit, 1)]
        yield some
        first += len(some)
