"""What a peer is: the package it comes from, its server process on a folder, and its queue."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import shutil
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ClassVar, Protocol

from bench.load import Settings
from bench.peers.link import Link
from tools.system_packages import Need

HOST = "127.0.0.1"
SECONDS_TO_START = 180
_TICKS = os.sysconf("SC_CLK_TCK")


class NotServing(Exception):
    """The server of a peer could not be started, with the reason."""


class Serving(Protocol):
    """A server that runs and takes part in the benchmark."""

    @property
    def pid(self) -> int:
        """The id of its first process."""

    def create_queue(self, name: str) -> None:
        """Make a queue that is durable."""


class Measured(ABC):
    """One durable queue that takes part in the rounds; ours is one too."""

    name: ClassVar[str]
    setting: ClassVar[str]
    """What makes it durable, in the words of its own documentation."""
    need: ClassVar[Need]
    port: ClassVar[int]
    program: ClassVar[str] = "bench.peers.load"
    """The load, which uses the protocol of the peer."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name and version of the peer, for the report."""

    def refusal(self) -> str | None:
        """Why the version that is installed cannot take part, or nothing."""
        return None

    @abstractmethod
    def serve(self, folder: Path) -> AbstractContextManager[Serving]:
        """Run a server on an empty folder, ready when the block is entered."""


class Peer(Measured):
    """A queue of another maker."""

    link: ClassVar[type[Link]]
    shuns_root: ClassVar[bool] = False
    """Whether the server refuses to run as root."""

    @abstractmethod
    def command(self, folder: Path) -> list[str]:
        """Return how the server is started; it stays in the foreground."""

    def prepare(self, folder: Path, who: Mapping[str, Any]) -> None:
        """Write what the server reads at its start."""

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment variables that the peer adds to ours."""
        return {}

    def clean_up(self, folder: Path) -> None:
        """End what the server left running."""

    @contextmanager
    def serve(self, folder: Path) -> Iterator[Serving]:
        """Run the server; what it says goes into a file of the folder."""
        if _listens(self.port):
            raise NotServing(f"another program listens on port {self.port}")
        who = _ordinary_user(folder) if self.shuns_root else {}
        self.prepare(folder, who)
        environment = os.environ | self.environment(folder)
        output = folder / "output"
        with output.open("wb") as said:
            process = subprocess.Popen(
                self.command(folder), stdout=said, stderr=said, env=environment, cwd=folder, **who
            )
        try:
            _wait_for_port(self.port, process, output)
            yield PeerServing(self, process.pid)
        finally:
            process.terminate()
            process.wait()
            self.clean_up(folder)


class PeerServing:
    """The server of another maker while it runs."""

    def __init__(self, peer: Peer, pid: int) -> None:
        self.peer = peer
        self.pid = pid

    def create_queue(self, name: str) -> None:
        """Make a queue over a connection of its own; a server that still starts is asked again."""
        settings = Settings(HOST, self.peer.port, name, producers=1, in_flight=1, consumers=1, seconds=0)
        until = monotonic() + SECONDS_TO_START
        while True:
            try:
                return asyncio.run(_create(self.peer.link, settings))
            except (OSError, RuntimeError):
                if monotonic() > until:
                    raise
                sleep(0.2)


async def _create(kind: type[Link], settings: Settings) -> None:
    link = await kind.open(settings)
    await link.create()
    link.close()


def _ordinary_user(folder: Path) -> dict[str, Any]:
    """Return the options of Popen for an ordinary user, who becomes the owner of the folder."""
    if os.geteuid() != 0:
        return {}
    unprivileged = pwd.getpwnam("nobody")
    os.chown(folder, unprivileged.pw_uid, unprivileged.pw_gid)
    return {"user": unprivileged.pw_uid, "group": unprivileged.pw_gid, "extra_groups": []}


def _wait_for_port(port: int, process: subprocess.Popen[bytes], output: Path) -> None:
    until = monotonic() + SECONDS_TO_START
    while not _listens(port):
        if process.poll() is not None or monotonic() > until:
            said = " ".join(output.read_text(errors="replace").split())[-300:]
            raise NotServing(f"its server did not start: {said}")
        sleep(0.05)


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def installed(program: str) -> str | None:
    """Return where a program is; Debian keeps some servers where only the PATH of root looks."""
    return shutil.which(program) or shutil.which(program, path="/usr/sbin")


def version_in(command: list[str]) -> str:
    """Return the first version number that a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else ""


def family(pid: int) -> list[int]:
    """Return a process and all below it."""
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                found += map(int, task.read_text().split())
    return found


def processor_seconds(pid: int) -> float:
    """Processor time of a process and all below it; of those that have ended, their parents know it."""
    return sum(map(_ticks, family(pid))) / _TICKS


def _ticks(pid: int) -> int:
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15]))
    return 0
