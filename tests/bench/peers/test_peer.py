"""Tests a peer's server process: started, waited for, ended; and the figures that the system has about it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.peers import peer
from bench.peers.peer import NotServing, Peer, family, processor_seconds, version_in
from bench.peers.redis import RedisLink
from tests.ports import free_ports
from tools.system_packages import Need

LISTENS = "import socket, signal; s = socket.create_server(('127.0.0.1', {port})); signal.pause()"
ENDS = "import sys; sys.exit('no room left for port {port}')"


class Scripted(Peer):
    """A server that is a line of Python."""

    name = "scripted"
    setting = "none"
    need = Need("scripted", "this test", (), lambda: True)
    link = RedisLink

    def __init__(self, program: str) -> None:
        (self.port,) = free_ports(1)  # type: ignore[misc]
        self.line = program.format(port=self.port)
        self.steps: list[str] = []

    @property
    def title(self) -> str:
        return "Scripted 1"

    def prepare(self, folder: Path, who: Mapping[str, Any]) -> None:
        self.steps.append("prepared")

    def command(self, folder: Path) -> list[str]:
        return [sys.executable, "-c", self.line]

    def clean_up(self, folder: Path) -> None:
        self.steps.append("cleaned up")


def test_a_server_is_ready_when_its_port_is_and_ended_with_the_block(tmp_path: Path) -> None:
    server = Scripted(LISTENS)
    with server.serve(tmp_path) as serving:
        assert peer._listens(server.port)
        assert Path(f"/proc/{serving.pid}").exists()
    assert not Path(f"/proc/{serving.pid}").exists()
    assert server.steps == ["prepared", "cleaned up"]


def test_a_server_that_ends_at_once_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(NotServing, match="did not start: no room left"), Scripted(ENDS).serve(tmp_path):
        pass


def test_a_port_that_another_program_has_is_left_to_it(tmp_path: Path) -> None:
    server = Scripted(LISTENS)
    refusal = pytest.raises(NotServing, match=f"another program listens on port {server.port}")
    with server.serve(tmp_path), refusal, server.serve(tmp_path):
        pass
    assert server.steps == ["prepared", "cleaned up"]


def test_the_first_version_number_that_is_printed_counts() -> None:
    assert version_in([sys.executable, "--version"]) == re.split(r"[ +]", sys.version)[0]
    assert version_in([sys.executable, "-c", "print('none')"]) == ""


CHILD = "import sys; sum(range(20_000_000)); print(flush=True); sys.stdin.readline()"
PARENT = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {CHILD!r}])
print(flush=True)
sys.stdin.readline()
"""


def test_a_family_has_the_children_and_their_processor_time() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdout.readline()  # the child has worked
        [child] = set(family(parent.pid)) - {parent.pid}
        theirs = processor_seconds(child)
        assert theirs > 0
        assert processor_seconds(parent.pid) >= theirs
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        parent.stdout.readline()  # the child has ended
        assert family(parent.pid) == [parent.pid]
        assert processor_seconds(parent.pid) >= theirs
        parent.communicate()


def test_a_process_that_has_ended_has_no_processor_time() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.communicate()
    assert processor_seconds(child.pid) == 0
