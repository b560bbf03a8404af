"""The first session of each guide with two managers: it is typed here as it stands there.

Only addresses are replaced, because the tests leave the usual ports alone.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from reliquary.cli.connection import CONTROL_VARIABLE, SERVER_VARIABLE
from tests.e2e.process import ServerProcess

BIN = Path(sys.executable).parent
GUIDES = Path(__file__).parents[2] / "docs" / "guides"
HEADING = "## Two managers on one machine\n"


def session_of(guide: str) -> list[str]:
    """The lines of the first block under the heading, without comments."""
    section = (GUIDES / f"{guide}.md").read_text().partition(HEADING)[2]
    block = re.search(r"(?:^    .+\n)+", section, re.MULTILINE)
    assert block, f"{guide}.md has no session"
    return [line.partition("  #")[0].strip() for line in block[0].splitlines()]


def started(line: str, folder: Path) -> ServerProcess:
    """The server of a line `reliquary serve ... &`, in a folder of ours and on ports that are free."""
    words = shlex.split(line.removesuffix("&"))
    chosen = dict(zip(words[2::2], words[3::2], strict=True))
    data = folder / chosen.pop("--data")
    chosen |= {"--port": "0", "--control-port": "0", "--data": str(data)}
    arguments = [word for pair in chosen.items() for word in pair]
    return ServerProcess(data, command=(str(BIN / "reliquary"), "serve", *arguments)).wait_until_ready()


def typed(command: str, a: ServerProcess, b: ServerProcess) -> str:
    """What a shell prints for a command that ends well."""
    for port, server in ((8480, a.data), (8481, a.control), (8580, b.data), (8581, b.control)):
        command = re.sub(rf"(localhost|127\.0\.0\.1):{port}\b", rf"\1:{server.rpartition(':')[2]}", command)
    environment = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        SERVER_VARIABLE: a.data,
        CONTROL_VARIABLE: a.control,
    }
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize(
    ("guide", "shown"),
    [
        pytest.param("srmp", 0, id="srmp: a stream without unconfirmed messages is not listed"),
        pytest.param("httpr", 2, id="httpr: both ends list their channel"),
        pytest.param("wsrm", 3, id="wsrm: both ends list their sequence, and there is a description"),
    ],
)
def test_the_session_with_two_managers_works(guide: str, shown: int, tmp_path: Path) -> None:
    first, second, define_b, *commands = session_of(guide)
    assert define_b.startswith("b() {")
    with ExitStack() as running:
        a, b = (running.enter_context(started(line, tmp_path)) for line in (first, second))
        printed = [typed(f"{define_b}\n{command}", a, b) for command in commands]
        received = next(index for index, each in enumerate(commands) if each.startswith("b message receive"))
        assert "two lamps" in printed[received]
        assert len([each for each in printed[received + 1 :] if each]) == shown
