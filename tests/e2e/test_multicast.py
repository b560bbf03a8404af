"""Multicast between servers on several computers, over a network that loses three frames of ten.

The computers are network namespaces of this test, and so is the network: nothing leaves them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.e2e.namespaces import Network, ip, namespaces, network
from tests.server.process import Process

pytestmark = [
    pytest.mark.xdist_group("namespaces"),  # what one test left, another would clear away
    pytest.mark.needs("iproute2"),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces are for root"),
]

WORKER = "tests.e2e.multicast_worker"
ADDRESS = "234.1.1.1:8001"
MESSAGES = 100
SETTINGS = {
    "DATA_PORT": "8480",
    "CONTROL_PORT": "8481",
    "MULTICAST_INTERFACE": "net0",
    "MULTICAST_RATE": "1000000",
}


@contextmanager
def servers(net: Network, folder: Path, encapsulation: str) -> Iterator[list[Process]]:
    """Yield a server on each host; they start together."""
    with ExitStack() as stack:
        started = []
        for host in net.hosts:
            settings = SETTINGS | {"MULTICAST_ENCAPSULATION": encapsulation}
            started.append(Process(folder / host.name, under=host.inside, **settings))
            stack.callback(started[-1].kill)
        yield [server.ready() for server in started]


@pytest.mark.srmp("T-72")
@pytest.mark.parametrize("encapsulation", ["raw", pytest.param("udp", marks=pytest.mark.long)])
@pytest.mark.spec("SR-005")
def test_every_message_reaches_all_three_in_order(encapsulation: str, tmp_path: Path) -> None:
    """A source, three receivers, thirty of a hundred frames lost."""
    with network(4, loss=0.3, seed=7) as net, servers(net, tmp_path, encapsulation):
        source, *others = net.hosts
        listeners = [host.start(WORKER, "listen", ADDRESS, str(MESSAGES)) for host in others]
        try:
            for listener in listeners:
                assert listener.stdout is not None
                assert listener.stdout.readline() == "ready\n"
            source.run(WORKER, "send", ADDRESS, str(MESSAGES))
            for listener in listeners:
                out, _ = listener.communicate()
                assert out.split() == [str(number) for number in range(MESSAGES)]
        finally:
            for listener in listeners:
                listener.kill()
                listener.communicate()
        passed, lost = net.unplug()
        assert lost > 0.2 * (passed + lost)


def test_what_a_killed_test_left_is_gone_at_the_next_start() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    left = f"rq{child.pid}n0h0"
    ip("netns", "add", left)
    sleeper = subprocess.Popen(["ip", "netns", "exec", left, "sleep", "1000"])
    with network(1, loss=0, seed=1) as net:
        assert sleeper.wait() == -signal.SIGKILL
        assert left not in namespaces()
        assert net.hosts[0].name in namespaces()
    assert net.hosts[0].name not in namespaces()
