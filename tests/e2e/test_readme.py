"""What a new server tells to try, and what the README shows and a terminal on one computer cannot paste.

All other blocks of the README are pasted by `test_guides`.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import reliquary
from reliquary.cli.connection import CONTROL_VARIABLE, SERVER_VARIABLE
from tests.e2e.pasted import BIN
from tests.e2e.process import ServerProcess
from tests.ports import free_ports

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.+?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerProcess]:
    """Yield the server that `./dev run --bare` becomes."""
    folder = tmp_path / "reliquary-data"
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = (sys.executable, "-m", "tools.story", "--bare")
    with ServerProcess(folder, command=command).wait_until_ready() as server:
        yield server
        assert server.stop() == 0  # of a server that has ended, this is its exit code
        assert server.said == ""


def test_one_empty_server_needs_no_story_and_ends_with_ctrl_c(server: ServerProcess, tmp_path: Path) -> None:
    with reliquary.connect(server.data, control=server.control) as manager:
        assert [each.name for each in manager.queues() if each.kind == "private"] == ["orders"]
    os.kill(server.pid, signal.SIGINT)
    assert server.wait() == 0
    assert [path.name for path in tmp_path.iterdir() if "story" in path.name] == []


def typed(server: ServerProcess, command: str) -> str:
    """Return what a shell prints for a command that ends well."""
    environment = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        SERVER_VARIABLE: server.data,
        CONTROL_VARIABLE: server.control,
    }
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_reader_over_mqqp_of_the_readme_runs(tmp_path: Path) -> None:
    (program,) = [each for each in PROGRAMS if "mqqp://" in each]
    handshake, read = free_ports(2)
    ports = {"MQQP_HANDSHAKE_PORT": str(handshake), "MQQP_READ_PORT": str(read)}
    settings = {"MQQP_ENABLED": "true", **ports}
    with ServerProcess(tmp_path, "private$/orders", settings=settings).wait_until_ready() as server:
        typed(server, "reliquary message send 'private$/orders' 'two lamps'")
        assert f"others read    mqqp://localhost:{handshake}/private$/orders\n" in server.welcome
        program = program.replace("mqqp://other/", f"mqqp://127.0.0.1:{handshake}/")
        done = subprocess.run(
            [sys.executable, "-c", f"import reliquary\n{program}print(message.text)"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.stderr) == ("two lamps\n", "")
        assert server.stop() == 0


def test_a_queue_becomes_a_dataframe_in_five_lines() -> None:
    (program,) = [each for each in PROGRAMS if "spark.read." in each]
    assert len([line for line in program.splitlines() if line]) == 5


def test_the_three_commands_of_the_welcome_work(server: ServerProcess) -> None:
    commands = [line.strip() for line in server.welcome.partition("Try:")[2].splitlines() if line.strip()]
    assert len(commands) == 3
    sent, browsed, received = (typed(server, command) for command in commands)
    assert '"lookup_id"' in sent
    assert browsed.count('"body"') == received.count('"body"') == 1
    assert typed(server, commands[1]).count('"body"') == 0
