"""Writes the tables of an audit: the current findings and streams, and all runs.

findings  kind, stream, message_id, manager, manager_name, queue, other_manager, other_queue, events,
other_events, time, sentence
streams   stream, source and destination, counts, findings of each kind, verdict, why not judged, percentiles
runs      run, verdict, events, new files, findings of each kind
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.spark.pipelines.audit import findings
from reliquary.spark.pipelines.audit.arrays import NEVER, NONE, Table, joined
from reliquary.spark.pipelines.audit.buckets import summed, width_of
from reliquary.spark.pipelines.audit.rules import RULES
from reliquary.spark.pipelines.audit.streams import Stream, StreamCounts
from reliquary.spark.pipelines.audit.verdicts import FindingKind, Reason

if TYPE_CHECKING:
    from reliquary.spark.pipelines.audit.run import AuditReport

__all__ = ["Findings", "flow", "width_of", "write"]

_FINDINGS: Final = pa.schema(
    [
        *(
            (name, pa.string())
            for name in ("kind", "stream", "message_id", "manager", "manager_name", "queue")
        ),
        ("other_manager", pa.string()),
        ("other_queue", pa.string()),
        ("events", pa.list_(pa.int64())),
        ("other_events", pa.list_(pa.int64())),
        ("time", pa.timestamp("us", tz="UTC")),
        ("sentence", pa.string()),
    ]
)
_LOW: Final = (1 << 64) - 1


class Findings:
    """The table of findings during its writing; it replaces that of the run before when it is complete."""

    def __init__(self, out: Path, book: StreamCounts, shown: int, width: int) -> None:
        self._folder, self._draft = out / "findings", out / "findings.new"
        self._book, self._most, self._width = book, shown, width
        self._first: pa.Table | None = None
        self._counts: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(FindingKind, 0))

    def __enter__(self) -> Self:
        shutil.rmtree(self._draft, ignore_errors=True)
        self._draft.mkdir(parents=True)
        self._writer = pq.ParquetWriter(self._draft / "part-00000.parquet", _FINDINGS, compression="zstd")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()
        if kind is None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._draft.replace(self._folder)

    def add(self, found: Table) -> None:
        """Count these rows in their streams, and write the findings."""
        if not len(found):
            return
        texts = findings.count(found, self._book)
        rows = [
            self._row(row, text)
            for row, text in zip(found.rows(), texts, strict=True)
            if row["reason"] == findings.JUDGED
        ]
        if rows:
            table = pa.Table.from_pylist(rows, _FINDINGS)
            self._writer.write_table(table)
            both = table if self._first is None else pa.concat_tables([self._first, table])
            order = [(name, "ascending") for name in ("time", "kind", "message_id")]
            self._first = both.take(pc.sort_indices(both, order)[: self._most])

    def _row(self, row: dict[str, int], stream: str) -> dict[str, Any]:
        rule = RULES[row["rule"]]
        place, other = self._book.places.get(row["place"]), self._book.places.get(row["other_place"])
        self._counts[row["at"] // self._width * self._width][rule.kind] += 1
        detail = rule.detail[0] + rule.detail[1](row["amount"]) if rule.detail is not None else ""
        return {
            "kind": str(rule.kind),
            "stream": stream,
            "message_id": _identifier(row),
            "manager": self._book.managers.get(row["manager"]),
            "manager_name": place.manager_name if place else None,
            "queue": place.queue if place else None,
            "other_manager": other.manager if other else None,
            "other_queue": other.queue if other else None,
            "events": _known(row["event"], row["second_event"]),
            "other_events": _known(row["other_event"]),
            "time": datetime.fromtimestamp(row["at"] / 1e6, UTC),
            "sentence": f"The message {rule.sentence}{detail}.",
        }

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The first findings, by their time."""
        return self._first.to_pylist() if self._first is not None else []

    @property
    def over_time(self) -> list[dict[str, Any]]:
        """The number of findings of each kind in each interval."""
        return [{"at": at, "width": self._width, **self._counts[at]} for at in sorted(self._counts)]


def _identifier(row: dict[str, int]) -> str | None:
    if row["id_number"] == NONE:
        return None
    return f"{UUID(int=(row['id_high'] & _LOW) << 64 | row['id_low'] & _LOW)}\\{row['id_number']}"


def _known(*events: int) -> list[int]:
    return list(dict.fromkeys(event for event in events if event not in {NONE, NEVER}))


def flow(parts: Sequence[Table], width: int) -> list[dict[str, Any]]:
    """Return the numbers of messages sent, arrived and received in each interval, over all buckets."""
    some = [part for part in parts if len(part)]
    if not some:
        return []
    every = joined(some)
    return [
        row | {"width": width} for row in summed(every.plus(at=every["at"] // width * width), "at").rows()
    ]


def write(report: AuditReport, out: Path, run: int) -> None:
    """Write the current streams, and add this run to the earlier ones."""
    rows = [_stream(stream) for stream in report.streams]
    (out / "streams").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, _STREAMS), out / "streams" / "streams.parquet")
    folder = out / "runs"
    folder.mkdir(exist_ok=True)
    row = {
        "run": len(list(folder.glob("*.parquet"))) + 1,
        "state": run,
        "verdict": str(report.verdict),
        "events": report.events,
        "new_files": report.new_files,
        "until": max((stretch.until for stretch in report.stretches.values()), default=0),
        **{_word(kind): count for kind, count in report.found.items()},
        "not_judged": sum(report.unjudged.values()),
    }
    pq.write_table(pa.Table.from_pylist([row]), folder / f"run-{row['run']:06d}.parquet")


def _word(kind: FindingKind | Reason) -> str:
    return kind.value.replace("-", "_")


_STREAMS: Final = pa.schema(
    [
        *(
            (name, pa.string())
            for name in ("stream", "source_manager", "source_manager_name", "source_queue")
        ),
        *(
            (name, pa.string())
            for name in ("destination_manager", "destination_manager_name", "destination_queue")
        ),
        *((name, pa.int64()) for name in ("sent", "left", "arrived", "received", "waiting")),
        *((_word(kind), pa.int64()) for kind in FindingKind),
        ("not_judged", pa.int64()),
        *((_word(reason), pa.int64()) for reason in Reason),
        ("verdict", pa.string()),
        *((name, pa.float64()) for name in ("p50", "p90", "p99", "longest")),
    ]
)


def _stream(stream: Stream) -> dict[str, Any]:
    source, destination = stream.source, stream.destination
    return {
        "stream": stream.text,
        "source_manager": source.manager,
        "source_manager_name": source.manager_name,
        "source_queue": source.queue,
        "destination_manager": destination.manager if destination else None,
        "destination_manager_name": destination.manager_name if destination else None,
        "destination_queue": destination.queue if destination else None,
        "sent": stream.sent,
        "left": stream.left,
        "arrived": stream.arrived,
        "received": stream.received,
        "waiting": stream.waiting,
        **{_word(kind): stream.found.get(kind, 0) for kind in FindingKind},
        "not_judged": stream.not_judged,
        **{_word(reason): stream.unjudged.get(reason, 0) for reason in Reason},
        "verdict": str(stream.verdict),
        "p50": stream.percentile(0.5),
        "p90": stream.percentile(0.9),
        "p99": stream.percentile(0.99),
        "longest": stream.percentile(1.0),
    }
