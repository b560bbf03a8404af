"""The tables beside the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.spark.pipelines.audit.verdicts import FindingKind

if TYPE_CHECKING:
    from tests.spark.pipelines.audit.conftest import Audited


def test_the_streams_add_up_to_the_findings(audited: Audited) -> None:
    rows = pq.read_table(audited.out / "streams").to_pylist()
    for kind in FindingKind:
        expected = sum(1 for found, *_ in audited.expected if found == kind)
        assert sum(row[kind.replace("-", "_")] for row in rows) == expected == audited.report.found[kind]
    for row in rows:
        faults = sum(row[kind.replace("-", "_")] for kind in FindingKind)
        assert row["verdict"] == ("refuted" if faults else "proven")


def test_the_streams_count_what_the_managers_reported(audited: Audited) -> None:
    rows = pq.read_table(audited.out / "streams").to_pylist()
    outgoing = [row for row in rows if row["destination_queue"] is not None]
    known = [row for row in audited.rows if row["event"] == "queued"]
    assert sum(row["sent"] for row in outgoing) == len(known)
    local = [row for row in rows if row["destination_queue"] is None]
    entered = [row for row in audited.rows if row["event"] in {"accepted", "arrived", "committed"}]
    assert sum(row["sent"] for row in local) == len(entered)


def test_the_flow_counts_every_message(audited: Audited) -> None:
    arrived = sum(1 for row in audited.rows if row["event"] == "arrived")
    assert sum(column["arrived"] for column in audited.report.flow) == arrived


def test_a_run_is_noted(audited: Audited) -> None:
    (run,) = pq.read_table(audited.out / "runs").to_pylist()
    assert run["verdict"] == "refuted"
    assert run["events"] == len(audited.rows)
    assert run["lost"] == audited.report.found[FindingKind.LOST]
