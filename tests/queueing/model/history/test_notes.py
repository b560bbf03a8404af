"""The events of a batch become one row, without events of the batch before."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import Instant
from reliquary.queueing.model.history.groups import KNOWN
from reliquary.queueing.model.history.notes import Initiator, Notes
from reliquary.queueing.model.history.records import (
    COLUMNS,
    FIRSTS,
    GROUP,
    HistoryRow,
    Shape,
    decode_events,
)
from reliquary.queueing.model.message import Message, ObjectId, Position, SequenceId
from reliquary.queueing.model.queue import Queue, QueueType
from reliquary.queueing.model.tables import HISTORY, history_key
from reliquary.wire.history import HistoryEvent

US = UUID(int=1)
PLACES = (Position(11, 1, 100, 0), Position(12, 2, 100, 0), Position(13, 3, 100, 0))


def queue(path: str = "HERE\\private$\\orders", number: int = 7) -> Queue:
    return Queue(
        number=number,
        identifier=US,
        pathname=path,
        qualified_pathname=path,
        kind=QueueType.PRIVATE,
        create_time=0,
        modify_time=0,
    )


def own(number: int) -> Message:
    return Message(identifier=ObjectId(US, number))


def fresh() -> Notes:
    notes = Notes()
    notes.lineage = US
    notes.at(Instant(5))
    return notes


def groups_of(row: HistoryRow) -> list[tuple[str, int, int, int]]:
    """Return what happened, how often, the first message and the offset of each group of a row."""
    events = decode_events(row.events)
    return [
        (HistoryEvent(events.heads[place].event).name, *numbers)
        for place, *numbers in GROUP.iter_unpack(events.groups)
    ]


def test_events_that_are_alike_share_a_head_despite_others_between() -> None:
    notes = fresh()
    for position in PLACES:
        notes.note_messages(HistoryEvent.ACCEPTED, queue(), (position,), (own(position.message),))
        notes.note_positions(HistoryEvent.RECEIVED, queue(), (position,))
    row = notes.take(0)
    assert row.count == 6
    assert len(decode_events(row.events).heads) == 2
    assert groups_of(row) == [
        (event, 1, message, 10) for message in (1, 2, 3) for event in ("ACCEPTED", "RECEIVED")
    ]
    assert len(notes) == 0
    notes.note_positions(HistoryEvent.DUE, queue(), PLACES[:1])
    assert groups_of(notes.take(0)) == [("DUE", 1, 1, 10)]


def test_messages_that_follow_each_other_are_one_group_in_one_call_or_in_many() -> None:
    notes = fresh()
    notes.note_messages(HistoryEvent.ACCEPTED, queue(), PLACES, [own(each.message) for each in PLACES])
    at_once = notes.take(0)
    for position in PLACES:
        notes.note_messages(HistoryEvent.ACCEPTED, queue(), (position,), (own(position.message),))
    assert groups_of(at_once) == [("ACCEPTED", 3, 1, 10)]
    assert notes.take(0) == at_once


@pytest.mark.parametrize("lineage", [US, UUID(int=2)], ids=["own names", "names of another manager"])
@pytest.mark.parametrize("expires", [0, 7])
def test_messages_of_another_manager_that_are_alike_are_noted_as_a_run_is(
    monkeypatch: pytest.MonkeyPatch, lineage: UUID, expires: int
) -> None:
    places = [Position(10 + number, number, 100, 0, expires=expires) for number in (1, 2, 3)]
    came = [
        Message.of(identifier=ObjectId(lineage, number), carrier_header=str(number), transaction=UUID(int=9))
        for number in (41, 42, 43)
    ]
    notes = fresh()
    notes.note_messages(HistoryEvent.ARRIVED, queue(), places, came, 0, Initiator("httpr", "b", "1:2"))
    alike = notes.take(0)
    monkeypatch.setattr("reliquary.queueing.model.history.notes.are_alike", lambda *_: False)
    notes.note_messages(HistoryEvent.ARRIVED, queue(), places, came, 0, Initiator("httpr", "b", "1:2"))
    assert groups_of(alike) == [("ARRIVED", 3, 1, 10)]
    assert decode_events(notes.take(0).events) == decode_events(alike.events)


def test_many_messages_take_as_many_bytes_as_one() -> None:
    notes = fresh()
    many = [Position(10 + number, number, 100, 0) for number in range(1, 1001)]
    sizes = []
    for some in (many, many[:1]):
        notes.note_messages(HistoryEvent.ACCEPTED, queue(), some, [own(each.message) for each in some])
        notes.note_attempts(HistoryEvent.HANDED_OUT, queue(), some)
        notes.note_positions(HistoryEvent.RECEIVED, queue(), some)
        sizes.append(len(notes.take(0).events))
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(Position(13, 3, 100, 0), id="another message number"),
        pytest.param(Position(99, 2, 100, 0), id="another offset"),
        pytest.param(Position(12, 2, 101, 0), id="another size"),
        pytest.param(Position(12, 2, 100, 0, express=True), id="an express message"),
        pytest.param(Position(12, 2, 100, 0, expires=7), id="a deadline"),
    ],
)
def test_a_message_that_does_not_follow_begins_a_group(second: Position) -> None:
    notes = fresh()
    for position in (PLACES[0], second):
        notes.note_messages(HistoryEvent.ACCEPTED, queue(), (position,), (own(position.message),))
    assert [count for _, count, _, _ in groups_of(notes.take(0))] == [1, 1]


def test_another_attempt_another_queue_and_another_moment_begin_a_group() -> None:
    notes = fresh()
    notes.note_attempts(HistoryEvent.HANDED_OUT, queue(), PLACES[:1])
    notes.note_attempts(HistoryEvent.HANDED_OUT, queue(), (Position(12, 2, 100, 0, handed_out=4),))
    notes.note_positions(HistoryEvent.DUE, queue(), PLACES[:1])
    notes.note_positions(HistoryEvent.DUE, queue("HERE\\private$\\others", 8), PLACES[1:2])
    notes.at(Instant(6))
    notes.note_positions(HistoryEvent.DUE, queue("HERE\\private$\\others", 8), PLACES[2:])
    assert [count for _, count, _, _ in groups_of(notes.take(0))] == [1, 1, 1, 1, 1]


def test_only_the_columns_that_a_first_number_cannot_express_are_listed() -> None:
    notes = fresh()
    uneven = [Position(11, 1, 100, 0), Position(12, 2, 70, 0), Position(14, 4, 100, 0)]
    notes.note_messages(HistoryEvent.ACCEPTED, queue(), uneven, [own(each.message) for each in uneven])
    row = notes.take(0)
    events = decode_events(row.events)
    assert events.listed == {"message": [1, 2, 4], "size": [100, 70, 100]}
    flags = {column.name for column in COLUMNS if events.heads[0].shape & column.listed}
    assert flags == {"message", "size"}
    assert groups_of(row) == [("ACCEPTED", 3, 0, 10)]


def test_rare_messages_are_a_group_for_each_run_of_one_kind() -> None:
    notes = fresh()
    sequence = SequenceId(3, 9)
    sent = [
        Message.of(identifier=ObjectId(US, number), sequence=sequence, sequence_number=number + 4)
        for number in (1, 2)
    ]
    notes.note_messages(HistoryEvent.QUEUED, queue(), PLACES, [*sent, own(3)])
    row = notes.take(0)
    assert groups_of(row) == [("QUEUED", 2, 1, 10), ("QUEUED", 1, 3, 10)]
    events = decode_events(row.events)
    assert list(FIRSTS[Shape.NUMBERED].iter_unpack(events.firsts[Shape.NUMBERED])) == [(5, 0)]
    assert events.listed == {}


def test_a_row_knows_when_each_group_was() -> None:
    notes = fresh()
    notes.note_positions(HistoryEvent.DUE, queue(), PLACES[:2])
    notes.at(Instant(6))
    notes.at(Instant(9))
    notes.note_positions(HistoryEvent.DUE, queue(), PLACES[2:])
    notes.gap(4)
    row = notes.take(0)
    assert row.count == 4
    assert decode_events(row.events).moments == [(0, 5), (2, 9)]
    assert groups_of(row) == [("GAP", 1, 4, -4), ("DUE", 2, 1, 10), ("DUE", 1, 3, 10)]
    notes.note_positions(HistoryEvent.DUE, queue(), PLACES[:1])
    assert decode_events(notes.take(0).events).moments == [(0, 9)]


def test_rows_add_up_their_bytes_and_what_is_dropped_is_counted() -> None:
    notes = fresh()
    notes.note_positions(HistoryEvent.DUE, queue(), PLACES, initiator=Initiator("api"))
    first = notes.take(1000)
    on_disk = len(HISTORY.encode(history_key(1), first))
    assert on_disk - 60 < first.total - 1000 <= on_disk
    notes.note_positions(HistoryEvent.DUE, queue(), PLACES)
    assert notes.drop() == 3
    assert len(notes) == 0


def test_a_call_without_messages_adds_nothing() -> None:
    notes = fresh()
    notes.note_positions(HistoryEvent.DUE, queue(), ())
    notes.note_attempts(HistoryEvent.HANDED_OUT, queue(), ())
    notes.note_messages(HistoryEvent.ACCEPTED, queue(), (), ())
    notes.note_published(HistoryEvent.ACCEPTED, queue(), (), Initiator("spark"), US)
    notes.note_unnumbered(HistoryEvent.REFUSED, None, ())
    assert len(notes) == 0
    assert groups_of(notes.take(0)) == []


def test_a_batch_with_more_heads_than_are_kept_has_the_right_head_for_each_event() -> None:
    notes = fresh()
    names = [f"{number}" for number in range(KNOWN + 10)]
    for name in (*names, *names[:5]):
        notes.note_positions(HistoryEvent.MOVED, queue(), PLACES[:1], other=name)
    events = decode_events(notes.take(0).events)
    others = [events.heads[place].other for place, *_ in GROUP.iter_unpack(events.groups)]
    assert others == [*names, *names[:5]]
