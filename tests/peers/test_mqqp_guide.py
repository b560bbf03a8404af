"""What the guide of MQQP shows is typed as it stands there: two managers, and the client of impacket."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reliquary.server.mqqp_options import NAMES
from tests.e2e.process import ServerProcess
from tests.e2e.sites import free_ports
from tests.e2e.test_guides import BIN, typed
from tests.peers.mqqp_site import PASSWORD, USER, MqqpSite

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "mqqp.md").read_text()
LONGEST_CLIENT = 90


def section(title: str) -> str:
    return GUIDE.partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MqqpSite]:
    with MqqpSite(tmp_path_factory.mktemp("guide") / "store") as site:
        yield site


# -- the client of impacket


def client(folder: Path, ours: MqqpSite) -> Path:
    """The program of the guide, with the ports of our server."""
    (program,) = re.findall(r"```python\n(.+?)```", section("A client in Python, with impacket"), re.DOTALL)
    assert len(program.splitlines()) <= LONGEST_CLIENT
    program = program.replace(" 2103\n", f" {ours.handshake_port}\n").replace(
        " 2105\n", f" {ours.read_port}\n"
    )
    file = folder / "receive.py"
    file.write_text(program)
    return file


def run(file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(file), "127.0.0.1", *arguments],
        text=True,
        capture_output=True,
        check=False,
    )


def test_the_client_of_the_guide_receives_a_message(ours: MqqpSite, tmp_path: Path) -> None:
    assert 'reliquary message send orders "two lamps"' in section("A client in Python, with impacket")
    queue = ours.new_queue(b"two lamps", b"a chair")
    done = run(client(tmp_path, ours), queue)
    assert (done.returncode, "two lamps" in done.stdout) == (0, True), done.stderr
    assert ours.bodies(queue) == [b"a chair"]


def test_the_client_of_the_guide_says_who_it_is(ours: MqqpSite, tmp_path: Path) -> None:
    queue = ours.new_queue(b"two lamps", reader=USER)
    file = client(tmp_path, ours)
    assert "0xc00e0025" in run(file, queue).stderr
    done = run(file, queue, USER, PASSWORD)
    assert (done.returncode, "two lamps" in done.stdout) == (0, True), done.stderr
    assert ours.bodies(queue) == []


# -- two managers


def served(line: str, folder: Path, **settings: str) -> ServerProcess:
    """The server of a line `reliquary serve ... &`, in a folder of ours and on ports that are free."""
    words = shlex.split(line.partition("&")[0])
    chosen = dict(zip(words[2::2], words[3::2], strict=True))
    data = folder / chosen.pop("--data")
    chosen |= {"--port": "0", "--control-port": "0", "--data": str(data)}
    arguments = [word for pair in chosen.items() for word in pair]
    command = (str(BIN / "reliquary"), "serve", *arguments)
    return ServerProcess(data, command=command, settings=settings).wait_until_ready()


def test_a_manager_reads_from_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = re.search(r"(?:^    .+\n)+", section("Two managers on one machine"), re.MULTILINE)
    assert block
    lines = [line.partition("  #")[0].strip() for line in block[0].splitlines()]
    enable, serve_b, settings, serve_a, define_a, *commands = lines
    assert enable == "export RELIQUARY_MQQP_ENABLED=true"
    handshake, read = free_ports()
    monkeypatch.chdir(tmp_path)
    ports_b = {"MQQP_HANDSHAKE_PORT": handshake, "MQQP_READ_PORT": read}
    ports_a = {"MQQP_HANDSHAKE_PORT": "0", "MQQP_READ_PORT": "0"}
    with served(serve_b, tmp_path, MQQP_ENABLED="true", **ports_b) as b:
        typed(settings.replace("2103", handshake), b, b)
        with served(serve_a, tmp_path, MQQP_ENABLED="true", **ports_a) as a:
            sent, peeked, received, *listed = [typed(f"{define_a}\n{command}", b, a) for command in commands]
    assert sent
    assert "two lamps" in peeked
    assert received == "two lamps\n"
    assert len(listed) == 2


# -- tables


def test_the_table_of_settings_has_all_of_them() -> None:
    table = section("Limits, and all settings of `[mqqp]`")
    named = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\|[^|]+\|", table, re.MULTILINE))))
    assert named == {*NAMES}
