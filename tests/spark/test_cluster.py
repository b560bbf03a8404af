"""Tests a cluster: a master and two workers, one of them killed with its executor in the middle of a
write.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.spark.crash.faults import Fault
from tests.spark.crash.harness import Crossing, Drivers, ground
from tests.spark.crash.standalone import master, worker


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_write_goes_on_after_a_worker_was_killed(tmp_path: Path) -> None:
    fault = Fault("node", "staging", 1)
    with ground(tmp_path) as server, ExitStack() as cluster:
        address = cluster.enter_context(master(tmp_path))
        for _ in range(2):
            cluster.enter_context(worker(tmp_path, address))
        drivers = Drivers(tmp_path, address)
        cluster.callback(drivers.close)
        crossing = Crossing(server, "cluster", 400, 100)
        assert drivers.run(crossing.job([fault])).errors == []
        assert crossing.fired() == {fault.name}
        crossing.assert_arrived()
