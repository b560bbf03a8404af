"""Multicast with OpenPGM 5.3, in both roles, over a network that loses a quarter of all frames.

The computers are network namespaces of this test, and so is the network: nothing leaves them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import pytest

from tests.e2e import multicast_worker
from tests.e2e.namespaces import Host, network
from tests.peers.openpgm_peer import Peer, apdus, build, peer
from tests.server.process import Process

pytestmark = [
    pytest.mark.long,
    pytest.mark.xdist_group("namespaces"),  # what one test left, another would clear away
    pytest.mark.needs("iproute2", "openpgm"),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces are for root"),
]

WORKER = "tests.e2e.multicast_worker"
ADDRESS = "234.1.1.1:8001"
LOSS = 0.25
MESSAGES = 40
UDP_PORT = 7500
WAYS = [
    pytest.param(0, 1500, id="raw"),
    pytest.param(UDP_PORT, 1500, id="udp"),
    pytest.param(UDP_PORT, 9000, id="jumbo frames"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the peer once for all tests."""
    return build(tmp_path_factory.mktemp("openpgm"))


@contextmanager
def server(host: Host, folder: Path, udp_port: int, mtu: int) -> Iterator[Process]:
    """Run our server on a host, with one UDP port for both roles as OpenPGM has it."""
    port = str(udp_port or UDP_PORT)
    settings = {
        "DATA_PORT": "8480",
        "CONTROL_PORT": "8481",
        "MULTICAST_INTERFACE": "net0",
        "MULTICAST_RATE": "1000000",
        "MULTICAST_ENCAPSULATION": "udp" if udp_port else "raw",
        "MULTICAST_SOURCE_PORT": port,
        "MULTICAST_GROUP_PORT": port,
        "MULTICAST_MTU": str(mtu),
    }
    running = Process(folder / host.name, under=host.inside, **settings)
    try:
        yield running.ready()
    finally:
        running.kill()


@contextmanager
def listener(host: Host, count: int) -> Iterator[subprocess.Popen[str]]:
    """Run an application of ours that takes this many messages and writes the number of each."""
    process = host.start(WORKER, "listen", ADDRESS, str(count))
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def numbered(first: int, after: int) -> list[tuple[int, str]]:
    return [(number, multicast_worker.body(number)) for number in range(first, after)]


def numbers_of(process: subprocess.Popen[str], last: int) -> list[int]:
    """Return the numbers that our application got, until this number came."""
    assert process.stdout is not None
    numbers: list[int] = []
    while not numbers or numbers[-1] != last:
        numbers.append(int(process.stdout.readline()))
    return numbers


def wait_until_followed(source: Peer, application: subprocess.Popen[str]) -> None:
    """Send greetings until one arrives: a receiver that misses the first packets begins with a later one."""
    assert application.stdout is not None
    for greeting in range(1_000_000, 2_000_000):
        source.send(apdus(ADDRESS, [(greeting, multicast_worker.body(0))]))
        if select([application.stdout], [], [], 0.2)[0]:
            return


def counts(host: Host) -> dict[str, int]:
    """Return the counters of multicast of our server on this host."""
    process = host.start(WORKER, "counts")
    out, _ = process.communicate()
    return {name: int(value) for name, value in (line.split() for line in out.splitlines())}


@pytest.mark.parametrize(("udp_port", "mtu"), WAYS)
@pytest.mark.spec("SR-005", "SR-006")
def test_openpgm_receives_what_we_send(udp_port: int, mtu: int, program: Path, tmp_path: Path) -> None:
    with network(2, loss=LOSS, seed=17, mtu=mtu) as net:
        ours, theirs = net.hosts
        with (
            server(ours, tmp_path, udp_port, mtu),
            peer(program, theirs, "receive", ADDRESS, udp_port=udp_port, mtu=mtu) as receiver,
        ):
            ours.run(WORKER, "send", ADDRESS, str(MESSAGES))
            came = receiver.bodies()
            assert [next(came) for _ in range(MESSAGES)] == [text for _, text in numbered(0, MESSAGES)]
            counted = counts(ours)
            assert counted["packets-repaired"] > 0
            assert counted["packets-refused"] == 0
            assert receiver.end() == b""


@pytest.mark.parametrize(("udp_port", "mtu"), WAYS)
@pytest.mark.spec("SR-005", "SR-006")
def test_we_receive_what_openpgm_sends(udp_port: int, mtu: int, program: Path, tmp_path: Path) -> None:
    with network(2, loss=LOSS, seed=18, mtu=mtu) as net:
        ours, theirs = net.hosts
        with (
            server(ours, tmp_path, udp_port, mtu),
            listener(ours, MESSAGES) as application,
            peer(program, theirs, "send", ADDRESS, udp_port=udp_port, mtu=mtu) as source,
        ):
            wait_until_followed(source, application)
            source.send(apdus(ADDRESS, numbered(1, MESSAGES)))
            came = numbers_of(application, MESSAGES - 1)
            assert [number for number in came if number] == list(range(1, MESSAGES))
            counted = counts(ours)
            assert counted["packets-lost"] == 0
            assert counted["packets-refused"] == 0
            assert source.end() == b""


@pytest.mark.parametrize("goodbye", [True, False], ids=["after FIN", "killed"])
def test_a_source_of_openpgm_that_starts_again_loses_nothing(
    goodbye: bool, program: Path, tmp_path: Path
) -> None:
    """Its identifier is the one that it had before, and its numbers begin with 0 again."""
    with network(2, loss=LOSS, seed=19) as net:
        ours, theirs = net.hosts
        with server(ours, tmp_path, UDP_PORT, 1500), listener(ours, 2 * MESSAGES) as application:
            for first in (1, MESSAGES):
                with peer(program, theirs, "send", ADDRESS, udp_port=UDP_PORT) as source:
                    if first == 1:
                        wait_until_followed(source, application)
                    after = first + MESSAGES - 1
                    source.send(apdus(ADDRESS, numbered(first, after)))
                    came = numbers_of(application, after - 1)
                    assert [number for number in came if number] == list(range(first, after))
                    if goodbye:
                        source.end()
            assert counts(ours)["sources-restarted"] == 1
