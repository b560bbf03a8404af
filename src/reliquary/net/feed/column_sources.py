"""Defines the source of each column of a feed, and makes its values.

    PLACES    attributes of the position: values, one for each row
    PARTS     parts of a row of a message: arrays from `row_parts`
    TAILS     fields in the tail of a row: values from `tails`, one for each different tail

A maker returns a scalar in place of an array when all rows have that value.  Absent values are null: a
queue that is not named, a time without a limit, an empty extension.  Label, body, numbers and flags
always have a value.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from reliquary.base.time import SECOND
from reliquary.net.feed.row_parts import RowParts
from reliquary.net.feed.schema import TYPE_OF
from reliquary.net.feed.tails import DEFAULTS
from reliquary.queueing.feed.plain import PlainPositions
from reliquary.queueing.model.message import FOREVER, Delivery, MessageClass, Position
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.wire.trace_context import split

Values = list[Any]
Convert = Callable[[Values], Values]
Made: TypeAlias = Any  # pa.Array | pa.Scalar, which have no types for the checker
"""A column: an array, or the single value that all rows have."""


class Source(NamedTuple):
    """The source of the values of a column."""

    field: str
    """An attribute of the position, or a field of a tail as it is stored on disk."""
    convert: Convert | None = None
    """The function that converts a value; None keeps the values unchanged."""


def _or_null(values: Values) -> Values:
    return [value or None for value in values]


# -- attributes of the position

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


# -- the parts of a row


@lru_cache(maxsize=1024)
def guid_text(number: bytes) -> str | None:
    """Return a GUID as text; None for the nil GUID."""
    return str(UUID(bytes=number)) if any(number) else None


def _lineages(parts: RowParts) -> Made:
    """Return the lineages as text; null where there is none."""
    lineages, indexes = parts.lineages
    words = pa.array([guid_text(each) for each in lineages], pa.string())
    return words[0] if len(words) == 1 else words.take(indexes)


def _ids(parts: RowParts) -> Made:
    lineages = _lineages(parts)
    if isinstance(lineages, pa.Scalar) and not lineages.is_valid:
        return lineages
    return pc.binary_join_element_wise(lineages, parts.numbers.cast(pa.string()), "\\")


PARTS: Final[dict[str, Callable[[RowParts], Made]]] = {
    "id": _ids,
    "source": _lineages,
    "body_size": lambda parts: parts.body_sizes.cast(TYPE_OF["body_size"]),
    "body": lambda parts: parts.bodies,
    "label": lambda parts: parts.labels,
}


# -- fields in the tail of a row, as they are stored on disk


def _moments(values: Values) -> Values:
    return [value * SECOND if value else None for value in values]


def _unless_forever(values: Values) -> Values:
    return [None if value == FOREVER else value for value in values]


def _guids(values: Values) -> Values:
    return [value and guid_text(value) for value in values]


def _references(values: Values) -> Values:
    return [f"{guid}\\{number}" if (guid := guid_text(lineage)) else None for lineage, number in values]


def _spans(values: Values) -> Values:
    return [value / SECOND if value else None for value in values]


def _trace_parts(place: int) -> Convert:
    """Return the function that takes traceparent (0) or tracestate (1) out of contexts."""
    return lambda values: [split(value)[place] or None for value in values]


def _class_words(values: Values) -> Values:
    return [_CLASSES.get(value) or str(value) for value in values]


TAILS: Final[dict[str, Source]] = {
    "sent": Source("sent_time", _moments),
    "body_type": Source("body_type"),
    "priority": Source("priority"),
    "durable": Source("delivery", lambda values: [value == Delivery.RECOVERABLE.value for value in values]),
    "expires": Source("time_to_be_received", _unless_forever),
    "class": Source("message_class", _class_words),
    "reach": Source("time_to_reach_queue"),
    "delay": Source("delay", _spans),
    "correlation": Source("correlation", _references),
    "tag": Source("application_tag"),
    "extension": Source("extension", _or_null),
    "acknowledgements": Source("acknowledgements", _or_null),
    "journal": Source("positive_journaling"),
    "deadletter": Source("negative_journaling"),
    "deadletter_queue": Source("application_deadletter_queue", _or_null),
    "peek_when_locked": Source("allow_peek_when_locked"),
    "tracing_queue": Source("tracing_queue", _guids),
    "traceparent": Source("trace_context", _trace_parts(0)),
    "tracestate": Source("trace_context", _trace_parts(1)),
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
"""Types of values that can be compared: if all are equal, the column is made of one value."""


def made_of(name: str, source: Source, values: Values) -> Made:
    """Return the column of these values."""
    first, count = values[0], len(values)
    if count == 1 or (type(first) in _PLAIN and values[-1] == first and values.count(first) == count):
        return scalar_of(name, source, first)
    return pa.array(source.convert(values) if source.convert else values, TYPE_OF[name])


def plain_column(name: str, positions: PlainPositions) -> Made:
    """Return a column of an attribute of plain positions."""
    if name in _DEFAULTS:
        return _DEFAULTS[name]
    return numbers_of(name, getattr(positions, _PLAIN_COLUMNS[name]))


def numbers_of(name: str, values: Sequence[int]) -> pa.Array:
    """Return a column of numbers of eight bytes; those of an array are not copied."""
    kind = TYPE_OF[name]
    if isinstance(values, array):
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
    return pa.array(values, kind)


def scalar_of(name: str, source: Source, value: Any) -> pa.Scalar:
    """Return the value of a column in which all rows have one."""
    [converted] = source.convert([value]) if source.convert else [value]
    return pa.scalar(converted, TYPE_OF[name])


USUAL: Final[dict[str, pa.Scalar]] = {
    name: scalar_of(name, source, DEFAULTS[source.field]) for name, source in TAILS.items()
}
"""The columns of messages whose field has its default."""


_PLAIN_COLUMNS: Final = {"lookup_id": "lookup_ids", "arrived": "arrived", "size": "sizes"}
"""The columns of `PlainPositions` for those columns of a feed that they have."""
_DEFAULTS: Final[dict[str, pa.Scalar]] = {
    name: scalar_of(name, source, getattr(Position(0, 0, 0, 0), source.field))
    for name, source in PLACES.items()
    if name not in _PLAIN_COLUMNS
}
"""The columns of plain positions that have one value."""
