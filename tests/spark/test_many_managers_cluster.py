"""Tests three managers, a cluster of two workers, one query: a manager and a worker are killed in the middle.

    from at north --.                                     .--> to at north
    from at south ---+--> stream --> sink, by label ------+--> to at south
    from at west ---'                                     '--> to at west

Every row arrives once, and the rows of one manager that go to one manager arrive in their order.  At the end
an application receives all rows, and the delivery audit over the three histories says: lost 0, duplicated 0,
reordered 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reliquary.client.message import OutgoingMessage
from reliquary.client.sync.manager import connect
from tests.spark.crash.driver import Job
from tests.spark.crash.faults import Fault
from tests.spark.crash.harness import Drivers, Ground, environment, ground
from tests.spark.crash.standalone import master, worker

MANAGERS = ("north", "south", "west")
ROWS = 200
"""The number of messages of each manager."""
AWAY = 8.0
"""Seconds for which the manager that is killed stays away, at least."""


def filled(name: str, server: Ground) -> list[str]:
    """Make the queues of a manager, and fill one of them."""
    labels = [f"{name} {number:05}" for number in range(ROWS)]
    with connect(server.data, control=server.control) as manager:
        manager.create_queue("from")
        manager.create_queue("to", transactional=True)
        messages = [OutgoingMessage(body=f"body of {label}".encode(), label=label) for label in labels]
        manager.queue("from").send_many(messages)
    return labels


def arrived(server: Ground) -> int:
    """Return how many rows are there."""
    with connect(server.data, control=server.control) as manager:
        return sum(1 for _ in manager.queue("to").browse())


def received(server: Ground) -> list[str]:
    """Receive all rows as an application does, and let the history be exported for the audit."""
    with connect(server.data, control=server.control) as manager:
        labels: list[str] = []
        while some := manager.queue("to").receive_many(50):
            labels += [message.label for message in some]
        manager.export_history()
    return labels


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_manager_and_a_worker_are_killed_under_a_query_over_three_managers(tmp_path: Path) -> None:
    faults = [Fault("node", "staging", 1), Fault("server", "read", 2)]
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(ground(folder_of(tmp_path, name), COMPUTER_NAME=name))
            for name in MANAGERS
        }
        labels = {name: filled(name, server) for name, server in servers.items()}
        address = stack.enter_context(master(tmp_path))
        for _ in range(2):
            stack.enter_context(worker(tmp_path, address))
        drivers = Drivers(tmp_path, address)
        stack.callback(drivers.close)
        folder = tmp_path / "query"
        folder.mkdir()
        (folder / "faults.json").write_bytes(msgspec.json.encode(faults))
        url = ",".join(f"{name}={server.data}" for name, server in servers.items())
        job = Job(
            str(folder), url, "from", "to", 90, "crash", 60.0,
            {"onManagerGone": "skip"}, {"onManagerGone": "wait", "partitionBy": "label"},
        )  # fmt: skip
        servers["north"].keep_away(folder / f"fired.{faults[1].name}", AWAY)
        for _ in range(5):
            done = drivers.run(job)
            assert done.errors == [], drivers.said
            if sum(map(arrived, servers.values())) == len(MANAGERS) * ROWS:
                break
        assert {path.name for path in folder.glob("fired.*")} == {f"fired.{fault.name}" for fault in faults}
        assert servers["north"].lives == 2
        found = {name: received(server) for name, server in servers.items()}
    assert sorted(label for some in found.values() for label in some) == sorted(
        label for some in labels.values() for label in some
    ), "every row once"
    for some in found.values():
        assert some
        for name in MANAGERS:
            mine = [label for label in some if label.startswith(name)]
            assert mine == sorted(mine), "in the order of their queue"
    report = audited(tmp_path, [folder_of(tmp_path, name) / "store" / "history" for name in MANAGERS])
    assert report["verdict"] == "proven", report
    assert [report["findings"][kind] for kind in ("lost", "duplicated", "reordered")] == [0, 0, 0], report
    assert set(report["findings"].values()) == {0}, report
    events = 4  # both queues took it, and from the second one it was handed out and received
    assert report["events"] == events * len(MANAGERS) * ROWS, report


def folder_of(folder: Path, name: str) -> Path:
    """Return the folder with the pid of a server; faults kill the one in the folder of the drivers, north."""
    return folder if name == "north" else folder / name


def audited(folder: Path, histories: list[Path]) -> dict[str, Any]:
    """Return the report of the audit over the histories of all managers, which have ended."""
    program = "from reliquary.cli.main import main; main()"
    words = [sys.executable, "-c", program, "pipeline", "run", "audit", "--json"]
    words += ["--out", str(folder / "audit")]
    words += [word for history in histories for word in ("--history", str(history))]
    ran = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    report: dict[str, Any] = json.loads(ran.stdout)
    return report
