"""The events of a batch become one row, without events of the batch before."""

from __future__ import annotations

from array import array
from uuid import UUID

import pytest

from reliquary.base.time import Instant
from reliquary.queueing.model.history.notes import Bringer, Notes, kind_of
from reliquary.queueing.model.message import Message, ObjectId, Position
from reliquary.queueing.model.queue import Outgoing, Queue, QueueType
from reliquary.wire.history import Happening

US = UUID(int=1)
PLACES = (Position(11, 1, 100, 0), Position(12, 2, 100, 0), Position(13, 3, 100, 0))


def queue(path: str = "HERE\\private$\\orders", kind: QueueType = QueueType.PRIVATE, **more: object) -> Queue:
    return Queue(
        number=7,
        identifier=US,
        pathname=path,
        qualified_pathname=path,
        kind=kind,
        create_time=0,
        modify_time=0,
        **more,  # type: ignore[arg-type]
    )


def own(number: int) -> Message:
    return Message(identifier=ObjectId(US, number))


def fresh() -> Notes:
    notes = Notes()
    notes.lineage = US
    notes.at(Instant(5))
    return notes


def test_events_that_are_alike_share_a_head_whoever_comes_between() -> None:
    notes = fresh()
    for position in PLACES:
        notes.note_messages(Happening.ACCEPTED, queue(), (position,), (own(position.message),))
        notes.note_positions(Happening.RECEIVED, queue(), (position,))
    row = notes.take(0)
    assert [Happening(head.happening) for head in row.heads] == [Happening.ACCEPTED, Happening.RECEIVED]
    assert list(array("I", row.places)) == [0, 1, 0, 1, 0, 1]
    assert list(array("q", row.messages)) == [1, 1, 2, 2, 3, 3]
    assert len(notes) == 0
    notes.note_positions(Happening.DUE, queue(), PLACES[:1])
    assert [head.happening for head in notes.take(0).heads] == [Happening.DUE]


def test_a_row_knows_when_each_event_was() -> None:
    notes = fresh()
    notes.note_positions(Happening.DUE, queue(), PLACES[:2])
    notes.at(Instant(6))
    notes.at(Instant(9))
    notes.note_positions(Happening.DUE, queue(), PLACES[2:])
    notes.gap(4)
    row = notes.take(0)
    assert row.moments == ((0, 5), (3, 9))
    assert list(array("q", row.messages)) == [4, 1, 2, 3]
    notes.note_positions(Happening.DUE, queue(), PLACES[:1])
    assert notes.take(0).moments == ((0, 9),)


def test_rows_add_up_their_bytes_and_what_is_dropped_is_counted() -> None:
    notes = fresh()
    notes.note_positions(Happening.DUE, queue(), PLACES, bringer=Bringer("api"))
    first = notes.take(1000)
    assert first.total - 1000 >= 3 * (4 + 8 + 8)
    notes.note_positions(Happening.DUE, queue(), PLACES)
    assert notes.drop() == 3
    assert len(notes) == 0


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (queue(), "local"),
        (queue("HERE\\system$;journal", QueueType.SYSTEM), "journal"),
        (queue("HERE\\system$;DEADLETTER", QueueType.SYSTEM), "dead-letter"),
        (queue("HERE\\system$;deadxact", QueueType.SYSTEM), "dead-letter"),
        (queue("HERE\\private$\\order_queue$", QueueType.SYSTEM), "system"),
        (queue("HERE\\private$\\orders;journal", is_journal=True), "journal"),
        (queue("DIRECT=OS:x\\y", outgoing=Outgoing(destination="DIRECT=OS:x\\y")), "outgoing"),
    ],
)
def test_a_queue_is_of_one_kind(record: Queue, kind: str) -> None:
    assert kind_of(record) == kind
