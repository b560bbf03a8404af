"""Tests that rows become columns with every number at its own event, in every combination of shapes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.time import Instant
from reliquary.queueing.model.history.notes import API, NO_INITIATOR, Initiator, Notes
from reliquary.queueing.model.history.records import HistoryRow
from reliquary.queueing.model.message import (
    NO_OBJECT,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
    Position,
    SequenceId,
)
from reliquary.queueing.model.queue import Queue, QueueSettings, QueueType
from reliquary.store.history.columns import PACKED, SCHEMA, table_of
from reliquary.wire.history import HISTORY_NAMES, HistoryEvent

US, THEM = UUID(int=1), UUID(int=2)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ORDERS = Queue(
    number=7,
    identifier=US,
    pathname="HERE\\private$\\orders",
    qualified_pathname="",
    kind=QueueType.PRIVATE,
    create_time=0,
    modify_time=0,
)
IN_ORDER = msgspec.structs.replace(ORDERS, settings=QueueSettings(transactional=True))

positions = st.builds(
    Position,
    lookup_id=st.integers(1, 2**59),
    message=st.integers(1, 2**56),
    size=st.integers(0, 2**40),
    arrived=st.just(0),
    expires=st.sampled_from([0, 0, 5_000_000]),
    express=st.booleans(),
    handed_out=st.integers(0, 9),
)


@st.composite
def groups(draw: st.DrawFn, after: int) -> list[Position]:
    """Positions of one call: any positions, or positions of which each follows the one before.

    The first of these may follow the message `after`, so that it joins the group of the call before.
    """
    if draw(st.booleans()):
        return draw(st.lists(positions, min_size=1, max_size=3))
    first = draw(st.sampled_from([after + 1, 1, 2**32 - 1, 2**40]))
    lane, equal = draw(st.sampled_from([0, 4 << 56])), draw(positions)
    return [
        msgspec.structs.replace(equal, lookup_id=lane + number, message=number)
        for number in range(first, first + draw(st.integers(1, 5)))
    ]


identities = st.one_of(st.none(), st.builds(ObjectId, st.sampled_from([US, THEM]), st.integers(1, 2**32 - 1)))
initiators = st.sampled_from([API, NO_INITIATOR, Initiator("httpr", "a peer", "5:1")])
reasons = st.sampled_from([MessageClass.NORMAL, MessageClass.NACK_PURGED])


@st.composite
def messages(draw: st.DrawFn, position: Position, *, usual: bool) -> Message:
    if usual:
        identity = ObjectId(US, position.message & 0xFFFFFFFF)
        return Message(identifier=identity, sent_time=draw(st.sampled_from([70, 70, 71])))
    identity = draw(identities) or ObjectId(US, position.message & 0xFFFFFFFF)
    sequence = draw(st.sampled_from([None, SequenceId(3, 9)]))
    return Message.of(
        identifier=identity,
        priority=draw(st.integers(0, 7)),
        sent_time=draw(st.integers(0, 2**32 - 1)),
        delivery=Delivery.RECOVERABLE,
        sequence=sequence,
        sequence_number=draw(st.integers(0, 9)) if sequence else 0,
        previous_sequence_number=draw(st.integers(0, 9)) if sequence else 0,
        transaction=draw(st.sampled_from([None, UUID(int=6)])),
        correlation=draw(st.sampled_from([NO_OBJECT, ObjectId(THEM, 8)])),
    )


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[tuple[int, HistoryRow]], list[dict[str, Any]]]:
    """Draw rows and the columns that their events must have, built one by one."""
    notes = Notes()
    rows: list[tuple[int, HistoryRow]] = []
    expected: list[dict[str, Any]] = []
    notes.lineage = US
    total, first = 0, draw(st.sampled_from([1, 2**40]))
    after = 0
    for moment in draw(st.lists(st.integers(0, 10**15), min_size=1, max_size=4)):
        notes.at(Instant(moment))
        for _ in range(draw(st.integers(0, 4))):
            added = _reported(draw, notes, moment, after)
            after = added[-1].get("message", after)
            expected += added
            assert len(notes) + sum(each.count for _, each in rows) == len(expected)
        if len(notes) and draw(st.booleans()):
            row = notes.take(total)
            rows.append((first + sum(each.count for _, each in rows), row))
            total = row.total
    if len(notes):
        rows.append((first + sum(each.count for _, each in rows), notes.take(total)))
    for number, event in enumerate(expected, first):
        event["event_id"] = number
    return rows, expected


def _reported(draw: st.DrawFn, notes: Notes, moment: int, after: int) -> list[dict[str, Any]]:
    """Return one call of the notes, and what it must become."""
    some = draw(groups(after))
    initiator, reason, way = (
        draw(initiators),
        draw(reasons),
        draw(st.sampled_from(["came", "published", "reported", "tried", "heard"])),
    )
    drawn = draw(st.sampled_from([HistoryEvent.ACCEPTED, HistoryEvent.DEAD_LETTERED, HistoryEvent.RECEIVED]))
    alike = {
        "event": drawn.word,
        "time": EPOCH + timedelta(microseconds=moment),
        "queue": None if way == "heard" else "orders",
        "queue_kind": None if way == "heard" else "local",
        "reason": "nack-purged" if reason and way not in ("tried", "published") else None,
        "protocol": initiator.by or None,
        "peer": initiator.peer or None,
        "batch": initiator.batch or None,
    }
    if way == "heard":
        named = [draw(identities) or NO_OBJECT for _ in some]
        notes.note_unnumbered(drawn, None, named, reason, initiator, "there")
        return [
            alike | {"other_queue": "there", "message_id": None if each is NO_OBJECT else str(each)}
            for each in named
        ]
    placed = [alike | {"message": each.message, "lookup_id": each.lookup_id} for each in some]
    if way == "reported":
        notes.note_positions(drawn, ORDERS, some, reason, initiator)
    elif way == "tried":
        notes.note_attempts(drawn, ORDERS, some, initiator)
        for event, each in zip(placed, some, strict=True):
            event["attempt"] = each.handed_out
    elif way == "published":
        notes.note_published(drawn, IN_ORDER, some, initiator, UUID(int=6))
        for event, each in zip(placed, some, strict=True):
            event.update(_published(each))
    else:
        usual = draw(st.booleans())
        sent = [draw(messages(each, usual=usual)) for each in some]
        notes.note_messages(drawn, ORDERS, some, sent, reason, initiator)
        for event, position, message in zip(placed, some, sent, strict=True):
            event.update(_subject(position, message))
    return placed


def _published(position: Position) -> dict[str, Any]:
    return {
        "message_id": f"{US}\\{position.message & 0xFFFFFFFF}",
        "size": position.size,
        "priority": 3,
        "durable": True,
        "deadline": EPOCH + timedelta(microseconds=position.expires) if position.expires else None,
        "transaction": str(UUID(int=6)),
    }


def _subject(position: Position, message: Message) -> dict[str, Any]:
    in_stream = message.sequence is not None
    return {
        "message_id": str(message.identifier),
        "size": position.size,
        "priority": message.priority,
        "durable": not position.express,
        "sent": EPOCH + timedelta(seconds=message.sent_time) if message.sent_time else None,
        "deadline": EPOCH + timedelta(microseconds=position.expires) if position.expires else None,
        "stream": "3.9" if in_stream else None,
        "stream_number": message.sequence_number if in_stream else None,
        "previous_number": message.previous_sequence_number if in_stream else None,
        "transaction": str(message.transaction) if message.transaction else None,
        "correlation": None if message.correlation == NO_OBJECT else str(message.correlation),
    }


@settings(max_examples=250, deadline=None)
@given(histories())
def test_columns_say_what_was_reported_event_by_event(
    history: tuple[list[tuple[int, HistoryRow]], list[dict[str, Any]]],
) -> None:
    rows, expected = history
    whole = {"version": 1, "manager": str(US), "manager_name": "HERE"}
    assert table_of(rows, US, "HERE").to_pylist() == [
        dict.fromkeys(HISTORY_NAMES) | whole | event for event in expected
    ]


def test_no_rows_are_an_empty_table_with_all_its_columns() -> None:
    table = table_of([], US, "HERE")
    assert (len(table), table.schema) == (0, PACKED)
    assert table.cast(SCHEMA).schema == SCHEMA
    assert SCHEMA.field("time").type == pa.timestamp("us", tz="UTC")


def test_a_gap_is_the_first_event_of_its_row_and_shifts_no_moment() -> None:
    notes = Notes()
    notes.lineage = US
    notes.at(Instant(1_000_000))
    some = [Position(number, number, 10, 0) for number in (1, 2, 3)]
    notes.note_positions(HistoryEvent.DUE, ORDERS, some)
    notes.at(Instant(2_000_000))
    notes.note_positions(HistoryEvent.DUE, ORDERS, some[:1])
    notes.gap(17)
    table = table_of([(5, notes.take(0))], US, "HERE")
    assert table.column("event").to_pylist() == ["gap", "due", "due", "due", "due"]
    assert table.column("event_id").to_pylist() == [5, 6, 7, 8, 9]
    assert table.column("message").to_pylist() == [17, 1, 2, 3, 1]
    assert table.column("lookup_id").to_pylist() == [None, 1, 2, 3, 1]
    assert [moment.second for moment in table.column("time").to_pylist()] == [1, 1, 1, 1, 2]
