"""One audit of many worlds at once: each has its own managers, so they do not meet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.pipelines.audit.world import FAULTS, Expected, Row, World, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from reliquary.spark.pipelines.audit.run import AuditReport


@dataclass
class Audited:
    """The rows that were audited, the expected findings and the results."""

    rows: list[Row]
    expected: set[Expected]
    report: AuditReport
    out: Path
    findings: list[dict[str, Any]]
    """The rows of the table of findings."""

    @property
    def found(self) -> list[Expected]:
        return [(row["kind"], row["message_id"], row["manager"], row["queue"]) for row in self.findings]


@pytest.fixture(scope="session")
def audited(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """Return the audit of six worlds, three of them with every fault."""
    from reliquary.spark.pipelines.audit.run import AuditConfig, run_audit

    worlds = [World(seed, FAULTS if seed % 2 else ()) for seed in range(6)]
    folder = tmp_path_factory.mktemp("audit")
    for number, world in enumerate(worlds):
        write(folder / "history" / f"world-{number}", world.rows(), files=2)
    out = folder / "out"
    config = AuditConfig([str(folder / "history" / "*")], out)
    report = run_audit(spark, config)
    table = spark.read.parquet(str(out / "findings"))
    return Audited(
        [row for world in worlds for row in world.rows()],
        set().union(*(world.expected for world in worlds)),
        report,
        out,
        [row.asDict() for row in table.collect()],
    )
