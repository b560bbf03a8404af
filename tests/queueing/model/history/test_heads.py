"""The head of events is made from a queue and from attributes that all these events share."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.queueing.model.history.heads import kind_of, make_head
from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.queue import Outgoing, Queue, QueueType
from reliquary.wire.history import HistoryEvent

US = UUID(int=1)


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


def test_a_head_has_the_short_name_of_its_queue_and_the_parts_of_its_stream() -> None:
    initiator = ("srmp", "peer", "5")
    head = make_head(
        queue(), (HistoryEvent.QUEUED, 7, 2, initiator, "other", 1, US, SequenceId(3, 9), UUID(int=4))
    )
    assert (head.queue, head.kind, head.reason, head.by, head.peer) == ("orders", "local", 2, "srmp", "peer")
    assert (head.batch, head.other, head.shape, head.lineage) == ("5", "other", 1, US)
    assert (head.ordinal, head.timestamp, head.transaction) == (3, 9, UUID(int=4))


def test_the_head_of_events_without_a_queue_and_a_stream_has_neither() -> None:
    head = make_head(None, (HistoryEvent.GAP, 0, 0, ("", "", ""), "", 0, None, None, None))
    assert (head.queue, head.kind, head.ordinal, head.timestamp) == ("", "", 0, 0)
