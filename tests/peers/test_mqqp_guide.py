"""What the guide of MQQP shows is typed as it stands there: the client of impacket, and the settings."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reliquary.server.mqqp_options import NAMES
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
    """Return the program of the guide, with the ports of our server."""
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


# -- tables


def test_the_table_of_settings_has_all_of_them() -> None:
    table = section("Limits, and all settings of `[mqqp]`")
    named = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\|[^|]+\|", table, re.MULTILINE))))
    assert named == {*NAMES}
