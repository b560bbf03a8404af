"""Several computers on one: network namespaces that a switch of our own joins, gone at the end."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
_numbers = itertools.count()
_NAME = re.compile(r"rq([0-9]+)n[0-9]+(?:h[0-9]+|sw)")
"""The name of a namespace: the process of the test, and which network and computer of it."""


class Host:
    """A computer: a namespace with one interface, `net0`."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address

    @property
    def inside(self) -> tuple[str, ...]:
        """Return the words to put before a command that runs there."""
        return ("ip", "netns", "exec", self.name)

    def run(self, *module: str) -> None:
        """Run a module of Python there, to its end."""
        subprocess.run([*self.inside, sys.executable, "-m", *module], cwd=ROOT, check=True)

    def start(self, *module: str) -> subprocess.Popen[str]:
        """Run a module of Python there."""
        return subprocess.Popen(
            [*self.inside, sys.executable, "-m", *module],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip


def ip(*arguments: str) -> None:
    """Run the command `ip` of iproute2."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class Network:
    """Network namespaces that are joined by one switch."""

    def __init__(self, hosts: list[Host], switch: subprocess.Popen[str]) -> None:
        self.hosts = hosts
        self._switch = switch

    def unplug(self) -> tuple[int, int]:
        """Stop the switch; how many frames it passed on, and how many it lost."""
        out, _ = self._switch.communicate()
        passed, lost = out.split()
        return int(passed), int(lost)


def namespaces() -> list[str]:
    """Return the names of all network namespaces."""
    return subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout.split()


def clear_away() -> None:
    """Delete the namespaces of tests that were killed: their processes are no more."""
    for name in namespaces():
        found = _NAME.fullmatch(name)
        if found and not Path(f"/proc/{found[1]}").exists():
            _delete(name)


def _delete(name: str) -> None:
    """Delete the namespace and its processes: a server that outlived its test would hold its ports."""
    inside = subprocess.run(["ip", "netns", "pids", name], check=False, capture_output=True, text=True)
    for process in inside.stdout.split():
        with suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)
    subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


@contextmanager
def lone_host() -> Iterator[Host]:
    """Yield a computer that reaches itself alone, where all ports are free."""
    clear_away()
    host = Host(f"rq{os.getpid()}n{next(_numbers)}h0", "127.0.0.1")
    try:
        ip("netns", "add", host.name)
        ip("-n", host.name, "link", "set", "lo", "up")
        yield host
    finally:
        _delete(host.name)


@contextmanager
def network(count: int, *, loss: float, seed: int, mtu: int = 1500) -> Iterator[Network]:
    """Yield `count` hosts, 10.77.0.1 and on, and a switch that loses this share of all frames."""
    clear_away()
    mark = f"rq{os.getpid()}n{next(_numbers)}"
    names = [f"{mark}h{number}" for number in range(count)]
    switch = Host(f"{mark}sw", "")
    running: list[subprocess.Popen[str]] = []
    try:
        for name in (switch.name, *names):
            ip("netns", "add", name)
        hosts = [Host(name, f"10.77.0.{number}") for number, name in enumerate(names, 1)]
        for number, host in enumerate(hosts):
            port = f"port{number}"
            ip(
                "-n",
                switch.name,
                "link",
                "add",
                port,
                "type",
                "veth",
                "peer",
                "name",
                "net0",
                "netns",
                host.name,
            )
            ip("-n", switch.name, "link", "set", port, "mtu", str(mtu), "up")
            ip("-n", host.name, "link", "set", "lo", "up")
            ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "net0")
            ip("-n", host.name, "link", "set", "net0", "mtu", str(mtu), "up")
            host.run("tests.e2e.lossy_switch", "checksums", "net0")
        ports = [f"port{number}" for number in range(count)]
        running.append(switch.start("tests.e2e.lossy_switch", str(loss), str(seed), *ports))
        assert running[0].stdout is not None
        assert running[0].stdout.readline() == "ready\n"
        yield Network(hosts, running[0])
    finally:
        for process in running:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        for name in (switch.name, *names):
            _delete(name)
