"""Random messages and positions, and the value that each of their columns must have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from reliquary.queueing.model.message import (
    FOREVER,
    NO_GUID,
    NO_OBJECT,
    PRIORITY_LIMIT,
    Delivery,
    Message,
    MessageClass,
    Position,
)
from reliquary.queueing.model.tables import MESSAGES, POSITIONS, message_key
from reliquary.store import MemoryDisk
from reliquary.store.disk import Changes
from tests.queueing.model.test_message import FIELDS, any_of

START = datetime(1970, 1, 1, tzinfo=UTC)


def _values(kind: Any) -> st.SearchStrategy[Any]:
    return st.integers(0, FOREVER) if kind is int else any_of(kind)


def _messages() -> st.SearchStrategy[Message]:
    named = {name: _values(kind) for name, kind in FIELDS.items() if name != "stored_body"}
    named["priority"] = st.integers(0, PRIORITY_LIMIT)

    def with_these(chosen: set[str]) -> st.SearchStrategy[Message]:
        return st.builds(Message.of, **{name: named[name] for name in sorted(chosen)})

    return st.sets(st.sampled_from(sorted(named)), max_size=5).flatmap(with_these)


messages = _messages()
positions = st.builds(
    Position,
    lookup_id=st.integers(0, 2**59 - 1),
    message=st.just(0),
    size=st.integers(0, 10_000),
    arrived=st.integers(0, 2**52),
    expires=st.one_of(st.just(0), st.integers(1, 2**52)),
    reason=st.sampled_from(MessageClass),
    origin_path=st.sampled_from(["", "HERE\\private$\\orders", "DIRECT=OS:there\\private$\\q"]),
    handed_out=st.integers(0, 9),
    aborted=st.integers(0, 9),
    moved=st.integers(0, 9),
    due=st.one_of(st.just(0), st.integers(1, 2**52)),
    arrival=st.one_of(st.just(0), st.integers(1, 2**56)),
)


def disk_with(stored: dict[int, Message]) -> MemoryDisk:
    """Return a disk with these messages under their numbers."""
    disk = MemoryDisk([POSITIONS.name, MESSAGES.name, "pieces", "spools"])
    rows = {message_key(number): message for number, message in stored.items()}
    disk.apply(Changes(puts={MESSAGES.name: MESSAGES.encode_all(rows)}))
    return disk


def moment(microseconds: int) -> datetime | None:
    """Return the microseconds as a datetime, or None for 0."""
    return START + timedelta(microseconds=microseconds) if microseconds else None


def guid(value: UUID | None) -> str | None:
    """Return a GUID as text, or None for the null GUID."""
    return None if value is None or value == NO_GUID else str(value)


def row(queue: str, place: Position, message: Message) -> dict[str, object]:
    """Return the values that the columns of one message must have."""
    sequence = message.sequence
    words = {each.value: each.name.lower().replace("_", "-") for each in MessageClass}
    origins = {
        "HERE\\private$\\orders": "orders",
        "DIRECT=OS:there\\private$\\q": "DIRECT=OS:there\\private$\\q",
    }
    expected: dict[str, object] = {
        "queue": queue,
        "feed_id": place.arrival or place.lookup_id % 2**56,
        "lookup_id": place.lookup_id,
        "arrived": START + timedelta(microseconds=place.arrived),
        "expires_at": moment(place.expires),
        "due": moment(place.due),
        "size": place.size,
        "reason": words[place.reason] if place.reason else None,
        "origin": origins.get(place.origin_path),
        "handed_out": place.handed_out,
        "aborted": place.aborted,
        "moved": place.moved,
        "id": None if message.identifier.lineage == NO_GUID else str(message.identifier),
        "source": guid(message.source_machine),
        "sent": moment(message.sent_time * 1_000_000),
        "class": words.get(message.message_class, str(message.message_class)),
        "body_size": len(message.body),
        "tag": message.application_tag,
        "durable": message.delivery is Delivery.RECOVERABLE,
        "expires": None if message.time_to_be_received == FOREVER else message.time_to_be_received,
        "reach": message.time_to_reach_queue,
        "delay": message.delay / 1_000_000 if message.delay else None,
        "correlation": None if message.correlation.lineage == NO_OBJECT.lineage else str(message.correlation),
        "journal": message.positive_journaling,
        "deadletter": message.negative_journaling,
        "deadletter_queue": message.application_deadletter_queue or None,
        "peek_when_locked": message.allow_peek_when_locked,
        "acknowledgements": [each.value for each in message.acknowledgements] or None,
        "sequence_ordinal": sequence and sequence.ordinal,
        "sequence_timestamp": sequence and sequence.timestamp,
        "sequence_number": message.sequence_number or None,
    }
    for name in (
        "tracing_queue",
        "destination_manager",
        "connector_type",
        "connector_manager",
        "transaction",
    ):
        expected[name] = guid(getattr(message, name))
    for name in ("response_queues", "destination_queues", "administration_queues"):
        expected[name] = list(getattr(message, name)) or None
    for name in (
        "privacy", "authentication", "hash_algorithm", "encryption_algorithm", "destination_kind",
        "administration_kind", "response_kind", "sender_kind",
    ):  # fmt: skip
        expected[name] = getattr(message, name).value
    for name in (
        "body", "body_type", "label", "priority", "authentication_provider_type", "previous_sequence_number",
        "final_ack_required", "first_in_transaction", "last_in_transaction",
    ):  # fmt: skip
        expected[name] = getattr(message, name)
    for name in (
        "extension", "response_queue", "destination_queue", "administration_queue", "sender",
        "multiple_destination_signature", "sender_certificate", "transaction_status_queue", "symmetric_key",
        "signature", "authentication_provider_name", "soap_envelope", "soap_compound_message", "soap_header",
        "soap_body",
    ):  # fmt: skip
        expected[name] = getattr(message, name) or None
    parent, _, state = message.trace_context.partition(" ")
    expected["traceparent"], expected["tracestate"] = parent or None, state or None
    expected["httpr_header"] = message.carrier_header or None
    return expected
