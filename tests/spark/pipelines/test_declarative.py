"""The lake of examples/lake-pipeline, run by Spark itself: twice, against a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import reliquary
from reliquary.client.sync.manager import connect
from reliquary.spark.java import ensure_java
from tests.client.served import served

EXAMPLE = Path(__file__).parents[3] / "examples" / "lake-pipeline"
SOURCES = Path(reliquary.__file__).parents[1]


def rows(folder: Path, table: str) -> int:
    [place] = folder.rglob(f"spark-warehouse/{table}")
    return sum(pq.read_metadata(path).num_rows for path in place.rglob("*.parquet"))


def counted(folder: Path) -> int:
    """Return the sum of the counts in the gold table."""
    [place] = folder.rglob("spark-warehouse/flow")
    return sum(sum(pq.read_table(path)["messages"].to_pylist()) for path in place.rglob("*.parquet"))


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_the_declared_lake_reads_what_is_new_and_quarantines_what_is_damaged(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(EXAMPLE, project)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ensure_java(environment)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")]))
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with served(tmp_path / "store") as server, connect(server.data, control=server.control) as manager:
        file = project / "spark-pipeline.yml"
        text = file.read_text().replace("http://127.0.0.1:8480", server.data)
        file.write_text(text.replace("storage: storage", f"storage: {(project / 'storage').as_uri()}"))
        orders = manager.create_queue("orders")

        def run() -> None:
            command = ["spark-pipelines", "run", "--conf", "spark.sql.catalogImplementation=hive"]
            command += ["--conf", "spark.ui.enabled=false"]
            done = subprocess.run(
                command, cwd=project, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr

        for body in (b'{"number": 1}', b"text", b"<a><b></a>"):
            orders.send(body)
        run()
        assert [rows(project, name) for name in ("bronze", "silver", "quarantine")] == [3, 2, 1]
        assert counted(project) == 2
        orders.send(b'{"number": 2}')
        run()
        assert [rows(project, name) for name in ("bronze", "silver", "quarantine")] == [4, 3, 1]
        assert counted(project) == 3
