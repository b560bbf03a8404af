"""What the README shows and what a new server tells to try: it is typed here as it stands there.

Only addresses are replaced, because the tests leave the usual ports alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reliquary.cli.connection import CONTROL_VARIABLE, SERVER_VARIABLE
from tests.e2e.process import ServerProcess, free_ports

BIN = Path(sys.executable).parent
README = (Path(__file__).parents[2] / "README.md").read_text()
SESSION = re.findall(r"^    \$ (.+)\n((?:    [^$ ].*\n)*)", README, re.MULTILINE)
"""Commands, and what they print."""
COMMANDS = re.findall(r"^    ((?:reliquary|curl) .+)$", README, re.MULTILINE)
PROGRAMS = re.findall(r"^```python\n(.+?)^```", README, re.MULTILINE | re.DOTALL)


def served(folder: Path) -> ServerProcess:
    """The server that `./dev run` becomes."""
    ports = ("--port", "0", "--control-port", "0")
    command = (str(BIN / "reliquary"), "serve", "--first-queue", "orders", "--data", str(folder), *ports)
    return ServerProcess(folder, command=command).wait_until_ready()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with served(tmp_path / "reliquary-data") as server:
        yield server
        assert server.stop() == 0
        assert server.said == ""


def typed(server: ServerProcess, command: str) -> str:
    """What a shell prints for a command that ends well, with both of our ways to name a server."""
    environment = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        SERVER_VARIABLE: server.data,
        CONTROL_VARIABLE: server.control,
    }
    command = command.replace("localhost:8480", server.data)
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_a_message_survives_kill_9_in_six_lines(tmp_path: Path) -> None:
    (activate, _), (send, _), (kill, _), (restart, _), (receive, received) = SESSION
    assert (activate, restart.split(" &")[0]) == ("source .venv/bin/activate", "./dev run")
    folder = tmp_path / "reliquary-data"
    with served(folder) as server:
        typed(server, send.partition("#")[0])
        assert kill.startswith("pkill -9")
        server.kill()
        server.wait()
    with served(folder) as server:
        assert f"    {typed(server, receive)}" == received == "    hello\n"


def test_the_other_commands_of_the_readme_work(server: ServerProcess) -> None:
    others = ("reliquary serve", "reliquary pipeline")
    commands = [
        command for command in COMMANDS if not command.startswith(others) and "DIRECT=OS:" not in command
    ]
    assert len(commands) >= 7
    for command in commands:
        typed(server, command)
    assert '"name":"invoices"' in typed(server, "reliquary queue list").replace(" ", "")


@pytest.mark.long  # each of them starts Spark
def test_the_pipelines_of_the_readme_run(server: ServerProcess, tmp_path: Path) -> None:
    typed(server, "reliquary message send orders 'one' 'two'")
    pipelines = [command for command in COMMANDS if command.startswith("reliquary pipeline")]
    assert len(pipelines) == 2
    typed(server, "reliquary history export")
    for command in pipelines:
        typed(server, f"cd {tmp_path} && {command}")
    assert "<svg" in (tmp_path / "audit" / "report.html").read_text()


def test_the_program_of_the_readme_runs(server: ServerProcess) -> None:
    program, *_ = PROGRAMS
    assert "http://127.0.0.1:8480" in program
    typed(server, "reliquary queue create invoices")
    typed(server, "reliquary message send orders 'one' 'two'")
    program = program.replace('"http://127.0.0.1:8480"', f'"{server.data}", control="{server.control}"')
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1  # of three messages, two were received
    assert "b'two'" in done.stdout
    assert typed(server, "reliquary message receive invoices") == "invoice for one\n"


def test_the_agent_of_the_readme_runs(server: ServerProcess, tmp_path: Path) -> None:
    (program,) = [each for each in PROGRAMS if "reliquary.agent" in each]
    assert "http://127.0.0.1:8480" in program
    program = "import reliquary\n" + program.replace("http://127.0.0.1:8480", server.data)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert typed(server, "reliquary message receive orders") == "two lamps\n"


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
            timeout=60,
        )
        assert (done.stdout, done.stderr) == ("two lamps\n", "")
        assert server.stop() == 0


def test_the_three_commands_of_the_welcome_work(server: ServerProcess) -> None:
    commands = [line.strip() for line in server.welcome.partition("Try:")[2].splitlines() if line.strip()]
    assert len(commands) == 3
    sent, browsed, received = (typed(server, command) for command in commands)
    assert '"lookup_id"' in sent
    assert browsed.count('"body"') == received.count('"body"') == 1
    assert typed(server, commands[1]).count('"body"') == 0
