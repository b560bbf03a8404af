"""Tests ports of tests: below those that the kernel chooses, and no other process gets one of them."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from tests import ports

ROOT = Path(__file__).parent.parent
ASKS = "from tests.ports import free_ports; print(*free_ports(300), flush=True); input()"


def test_processes_beside_each_other_get_different_ports_and_the_kernel_chooses_none_of_them() -> None:
    mine = set(ports.free_ports(5))
    others = [
        subprocess.Popen(
            [sys.executable, "-c", ASKS], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    found = [mine]
    for other in others:
        assert other.stdout is not None
        found.append({int(word) for word in other.stdout.readline().split()})
    for other in others:
        other.communicate("\n")
    assert [len(each) for each in found] == [5, 300, 300]
    assert len(set.union(*found)) == 605
    chosen_from = int(ports.CHOSEN_BY_THE_KERNEL.read_text().split()[0])
    assert max(set.union(*found)) < chosen_from


def test_a_port_that_a_process_has_is_left_out_and_none_comes_twice() -> None:
    seen = ports.free_port()
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(type=kind) as taken:
            taken.bind(("127.0.0.2", seen + 1))
            seen = ports.free_port(("127.0.0.1", "127.0.0.2"))
            assert seen != taken.getsockname()[1]
