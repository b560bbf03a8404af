"""Tests the description of the API against a real server: schemathesis makes the requests and judges the
answers.

All of its checks run: statuses, media types and answers are as described, nothing fails with 5xx, wrong data
is refused and right data is not, other methods are refused with a right `Allow`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

import pytest

from tests.e2e.process import ServerProcess

ROOT: Final = Path(__file__).resolve().parents[2]
SETTINGS: Final = """
hooks = "tests.e2e.schemathesis_hooks"
seed = 1
suppress-health-check = ["all"]
warnings = false
request-timeout = 600
[cache]
enabled = false
[generation]
deterministic = true
max-examples = {examples}
[parameters]
"path.queue" = "orders"
"""
EXCLUDED: Final = "/(events|directory/detach)$"
"""The stream of events does not end by itself, and without a directory its paths answer 503."""


def judge(folder: Path, address: str, phases: str, examples: int = 1, only: str = ".*") -> None:
    """Run schemathesis; what it finds is the failure of the test."""
    settings = folder / "schemathesis.toml"
    settings.write_text(SETTINGS.format(examples=examples))
    said = subprocess.run(
        [
            sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
            "--config-file", str(settings), "run", f"{address}/api/v1/openapi.json",
            "--phases", phases, "--exclude-path-regex", EXCLUDED, "--include-path-regex", only, "--no-color",
        ],
        cwd=ROOT,
        env=os.environ | {"SCHEMATHESIS_FOLDER": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path / "data", "orders") as server:
        server.wait_until_ready()
        with urlopen(Request(f"{server.control}/api/v1/directory/attach", method="POST")) as answer:
            assert answer.status == 200
        yield server


def test_requests_about_messages_and_queues_are_as_described(server: ServerProcess, tmp_path: Path) -> None:
    judge(tmp_path, server.data, "coverage", only="/(messages|receive|receipts)$")
    judge(tmp_path, server.control, "coverage", only="/v1/(queues|manager|outgoing|access)$")


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_all_requests_to_the_data_plane_are_as_described(server: ServerProcess, tmp_path: Path) -> None:
    judge(tmp_path, server.data, "coverage,fuzzing", examples=100)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_all_requests_to_the_control_plane_are_as_described(server: ServerProcess, tmp_path: Path) -> None:
    judge(tmp_path, server.control, "coverage,fuzzing", examples=100)
