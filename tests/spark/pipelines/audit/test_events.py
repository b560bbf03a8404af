"""Events become numbers: what a word means, who a message is, and which files are no history."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit import events, masks
from reliquary.spark.pipelines.audit.arrays import NONE, Table, hashed
from reliquary.spark.pipelines.audit.coverage import Survey, combined
from reliquary.spark.pipelines.audit.events import READ, traces_of
from reliquary.spark.pipelines.audit.masks import bit
from reliquary.spark.pipelines.audit.traces import merged
from reliquary.wire.history import HISTORY_NAMES
from tests.spark.pipelines.audit.world import FAULTS, World, table

MANAGER = str(UUID(int=7))


def stored(content: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(content, sink)
    return sink.getvalue()


def whole(data: pa.Buffer) -> tuple[Table, Survey]:
    """Return all traces of a file, and its survey."""
    tables, surveys = zip(*traces_of(data, "file"), strict=True)
    return merged(tables), combined(surveys)


def traced(*rows: dict[str, Any]) -> list[dict[str, int]]:
    common = {"version": 1, "time": 5, "manager": MANAGER, "manager_name": "m", "queue": "q"}
    every = [common | {"event_id": number, "message": 1} | row for number, row in enumerate(rows, 1)]
    return whole(stored(table(every)))[0].rows()


def test_the_audit_reads_columns_that_the_history_has() -> None:
    assert set(READ) <= set(HISTORY_NAMES)
    assert len(READ) == len(set(READ))


def test_a_message_identifier_is_three_numbers() -> None:
    lineage = UUID("fedcba98-7654-3210-8123-456789abcdef")
    (trace,) = traced({"event": "queued", "queue_kind": "outgoing", "message_id": f"{lineage}\\77"})
    mask = (1 << 64) - 1
    assert (trace["id_high"] & mask) << 64 | trace["id_low"] & mask == lineage.int
    assert trace["id_number"] == 77
    assert trace["mask"] & masks.OUTGOING
    assert trace["place"] == hashed(MANAGER, "q")


def test_what_is_read_from_a_journal_is_the_reading_of_a_copy() -> None:
    (trace,) = traced(
        {"event": "accepted", "queue_kind": "local"},
        {"event": "received", "queue_kind": "local"},
        {"event": "received", "queue_kind": "journal"},
    )
    assert trace["reads"] == 1
    assert trace["again_event"] == 2


def test_a_message_without_a_number_is_known_by_its_identifier() -> None:
    one, two = traced(
        {"event": "refused", "message": None, "message_id": f"{MANAGER}\\1"},
        {"event": "duplicate", "message": None, "message_id": f"{MANAGER}\\2"},
    )
    assert one["message"] < 0
    assert two["message"] < 0
    assert one["message"] != two["message"]


def test_an_arrival_by_ws_rm_has_its_place_in_the_sequence() -> None:
    row = {"event": "arrived", "queue_kind": "local", "protocol": "wsrm"}
    one, two = traced(row | {"batch": "5:1"}, row | {"message": 2, "batch": "5:12"})
    assert (one["stream"], two["stream"]) == (hashed("5"),) * 2
    assert (one["number"], two["number"]) == (1, 12)


def test_an_arrival_by_httpr_has_its_channel_and_no_number() -> None:
    (trace,) = traced({"event": "arrived", "queue_kind": "local", "protocol": "httpr", "batch": "3:9"})
    assert (trace["stream"], trace["number"]) == (hashed("3"), NONE)
    assert trace["mask"] & masks.BATCHED


def test_what_multicast_sends_was_not_promised_to_a_receiver() -> None:
    (trace,) = traced(
        {"event": "sent", "protocol": "multicast"}, {"event": "delivered", "protocol": "multicast"}
    )
    assert (trace["sent_time"], trace["left_event"]) == (NONE, NONE)
    assert trace["mask"] & bit("delivered")


def test_the_size_of_the_pieces_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = stored(table(World(3, FAULTS, messages=20).rows()))
    one, survey = whole(data)
    monkeypatch.setattr(events, "AT_ONCE", 17)
    pieces, again = whole(data)
    assert pieces.rows() == one.rows()
    assert again == survey


def test_the_survey_names_every_queue() -> None:
    rows = World(2).rows()
    _, survey = whole(stored(table(rows)))
    assert {(place.manager, place.queue) for place in survey.places} == {
        (row["manager"], row["queue"] or "") for row in rows
    }
    assert sum(block.count for block in survey.blocks) == len(rows)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (pa.table({"a": [1]}), "has no column `manager`"),
        (table([{"event": "accepted", "event_id": 1}]), "nothing in the column `manager`"),
        (table([{"event": "x", "event_id": 1, "manager": MANAGER, "message_id": "?"}]), "bad message_id"),
        (table([{"event": "x", "event_id": 1, "manager": MANAGER, "version": 9}]), "by a newer release"),
    ],
)
def test_what_is_no_history_is_refused_with_the_file(content: pa.Table, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        whole(stored(content))
    with pytest.raises(UsageError, match="file cannot be read"):
        whole(pa.py_buffer(b"no parquet"))
