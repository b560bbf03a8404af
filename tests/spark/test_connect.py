"""Through Spark Connect: the format is found on its server, and reads, streams and writes as elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from reliquary.client.sync.manager import connect
from tests.spark.crash.harness import ROOT, Crossing, environment, ground
from tests.spark.crash.standalone import connect_server


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_queue_is_read_streamed_and_written_through_connect(tmp_path: Path) -> None:
    with ground(tmp_path) as server, connect_server(tmp_path) as remote:
        crossing = Crossing(server, "connect", 60, 20)
        words = [remote, server.data, crossing.source, crossing.target, str(crossing.folder)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.spark.crash.connect_client", *words],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert msgspec.json.decode(done.stdout) == crossing.labels
        crossing.assert_arrived()
        with connect(server.data, control=server.control) as manager:
            assert [each.label for each in manager.queue(crossing.source).browse()][-1] == "after all"
