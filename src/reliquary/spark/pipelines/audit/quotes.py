"""Reads the lines of the history behind findings: the events that prove them.

The report shows them below a finding, so that a reader sees the proof and need not search for it.  Only the
files that hold the events of the findings shown are opened, and of these only the row groups with them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.spark.pipelines.audit.events import AT_ONCE
from reliquary.spark.pipelines.audit.state import ReadFile
from reliquary.spark.pipelines.audit.work import NamedBytes, Work

FINDINGS: Final = 50
"""The number of findings that have their lines: three events each, so few files are opened."""
SHOWN: Final = (
    "manager", "event_id", "time", "event", "queue", "message", "message_id", "stream_number", "reason",
    "protocol", "peer", "batch",
)  # fmt: skip
Proof = tuple[str, int]
"""A manager and the number of an event."""
Line = dict[str, Any]
"""An event without its empty columns."""


def proofs(row: Mapping[str, Any]) -> list[Proof]:
    """Return the events that prove a finding."""
    own = [(row["manager"], event) for event in row["events"] or ()]
    return own + [(row["other_manager"] or row["manager"], event) for event in row["other_events"] or ()]


def quoted(work: Work, files: Sequence[ReadFile], shown: Sequence[Mapping[str, Any]]) -> dict[Proof, Line]:
    """Return the lines of the events that prove the first findings."""
    wanted = {proof for row in shown[:FINDINGS] for proof in proofs(row)}
    chosen = _files(files, wanted)
    answers = work.read(chosen, partial(_quote, sorted(wanted))) if chosen else []
    lines = [line for answer in answers for line in msgspec.json.decode(answer, type=list[Line])]
    return {(line["manager"], line["event_id"]): line for line in lines}


def _files(files: Sequence[ReadFile], wanted: set[Proof]) -> list[str]:
    """Return the files that hold these events."""
    spans: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for file in files:
        for manager, first, last in file.spans:
            spans[manager].append((first, last, file.name))
    return sorted(
        {
            name
            for manager, event in wanted
            for first, last, name in spans.get(manager, ())
            if first <= event <= last
        }
    )


def _quote(wanted: Sequence[Proof], files: NamedBytes) -> Iterator[bytes]:
    events = sorted({event for _, event in wanted})
    for _, data in files:
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            columns = [name for name in SHOWN if name in file.schema_arrow.names]
            groups = [number for number in range(file.num_row_groups) if _may_have(file, number, events)]
            for batch in file.iter_batches(AT_ONCE, groups, columns, use_threads=False) if groups else ():
                yield msgspec.json.encode(_lines(batch, wanted))


def _may_have(file: pq.ParquetFile, group: int, events: Sequence[int]) -> bool:
    """Return whether a row group may contain one of these events, by its statistics in the file."""
    place = file.schema_arrow.names.index("event_id")
    known = file.metadata.row_group(group).column(place).statistics
    if known is None or not known.has_min_max:
        return True
    at = bisect_left(events, known.min)
    return at < len(events) and events[at] <= known.max


def _lines(table: pa.RecordBatch, wanted: Sequence[Proof]) -> list[Line]:
    events = pa.array([event for _, event in wanted], pa.int64())
    near = table.filter(pc.is_in(table["event_id"], events)).to_pylist()
    exact = {*wanted}
    return [_shown(row) for row in near if (row["manager"], row["event_id"]) in exact]


def _shown(row: Line) -> Line:
    at = row["time"].isoformat(sep=" ") if row["time"] is not None else None
    return {name: value for name, value in row.items() if value is not None} | {"time": at}
