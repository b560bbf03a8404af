"""The servers of the story: each is a child process that can be killed and started again."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import reliquary
from tools.story.relay import Address
from tools.story.waiting import StoryFault

HOST = "127.0.0.1"
MQQB_PORT = 1801
"""Peers of MQQB name a host and no port, so each manager of this computer needs an address of its own."""


def free_port(wanted: int, host: str = HOST) -> int:
    """Return the wanted port where nothing listens at it, else another one."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except (OSError, OverflowError):  # the last ports have no port that is ten or twenty higher
                continue
            return int(probe.getsockname()[1])
    raise SystemExit(f"no port of {host} is free")


def free_mqqb_host(first: int) -> str:
    """Return the first address from 127.0.0.`first` on at which nothing listens for MQQB."""
    hosts = (f"127.0.0.{number}" for number in range(first, 255, 3))  # two managers, and the link
    return next(host for host in hosts if free_port(MQQB_PORT, host) == MQQB_PORT)


@dataclass
class Site:
    """One manager: its folder, its ports, and its process while it runs."""

    name: str
    folder: Path
    data_port: int
    control_port: int
    settings: Mapping[str, str] = field(default_factory=dict)
    """Variables without the prefix RELIQUARY_."""
    options: Sequence[str] = ()
    """Further options of `reliquary serve`."""
    process: subprocess.Popen[str] | None = None

    @property
    def data(self) -> str:
        """The address of the data plane."""
        return f"http://{HOST}:{self.data_port}"

    @property
    def console(self) -> str:
        """The address of the web console."""
        return f"http://{HOST}:{self.control_port}"

    def start(self) -> None:
        """Start the server, and return when it is ready; SystemExit when it ended without being so.

        It gets a process group of its own, so that Ctrl-C in a terminal does not reach it: a server takes a
        second signal as a request to end at once.
        """
        own = {
            "FOLDER": str(self.folder),
            "DATA_PORT": str(self.data_port),
            "CONTROL_PORT": str(self.control_port),
            "COMPUTER_NAME": self.name,
            **self.settings,
        }
        environment = os.environ | {f"RELIQUARY_{name}": value for name, value in own.items()}
        program = str(Path(sys.executable).parent / "reliquary")
        self.process = subprocess.Popen(
            [program, "serve", *self.options],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        assert self.process.stdout is not None, "the server's output is a pipe"
        if "Try:\n" not in self.process.stdout:  # the words after all addresses
            raise SystemExit(self._wait())

    def ask_for_history(self, other: Site, folder: Path) -> None:
        """Let the console of this site ask the other one for its part of the way of a message."""
        file = folder / f"{self.name.lower()}.toml"
        file.write_text(f'[[peers]]\nname = "{other.name}"\ncontrol = "{other.console}"\n')
        self.options = ["--settings", str(file), *self.options]

    def ended_with(self) -> int | None:
        """Return the exit code of the server; None while it runs."""
        return None if self.process is None else self.process.poll()

    def kill(self) -> None:
        """End the server with SIGKILL, as a power failure would."""
        assert self.process is not None, f"{self.name} runs"
        self.process.send_signal(signal.SIGKILL)
        self._wait()

    def stop(self) -> None:
        """End the server in order, if it runs."""
        if self.process is not None:
            self.process.terminate()
            self._wait()

    def _wait(self) -> int:
        """Wait for the end of the server, close the pipe of its output, and return its exit code."""
        assert self.process is not None, f"{self.name} was started"
        with self.process:
            pass
        return self.process.returncode

    def connect(self) -> reliquary.Manager:
        """Return a client of the server."""
        return reliquary.connect(self.data, control=self.console)


@dataclass(frozen=True)
class Pair:
    """Both managers, and the addresses of a relay through which they reach each other."""

    north: Site
    south: Site
    to_north: int
    """The port that leads to the data plane of the north."""
    to_south: int
    """The port that leads to the data plane of the south."""
    mqqb_to_south: str
    """The host whose port of MQQB leads to that of the south."""

    @property
    def north_target(self) -> Address:
        """The address at which the north listens for the south."""
        return HOST, self.north.data_port

    def routes(self) -> dict[Address, Address]:
        """Return the addresses of the relay, each with the address that it leads to."""
        return {
            (HOST, self.to_north): self.north_target,
            (HOST, self.to_south): (HOST, self.south.data_port),
            (self.mqqb_to_south, MQQB_PORT): (self.south.settings["MQQB_HOST"], MQQB_PORT),
        }


def run_command(site: Site, *words: str, accepted: Set[int] = frozenset({0})) -> dict[str, Any]:
    """Run a command of Reliquary for a site, and return its last line of JSON; empty when it has none.

    StoryFault if its exit code is not an accepted one.
    """
    program = str(Path(sys.executable).parent / "reliquary")
    command = [program, "--server", site.data, "--control", site.console, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in accepted:
        why = done.stderr.strip().splitlines()[-1:] or ["it gave no reason"]
        raise StoryFault(f"`reliquary {' '.join(words)}` ended with exit code {done.returncode}: {why[0]}")
    last = done.stdout.strip().splitlines()[-1:]
    try:
        found = json.loads(last[0]) if last else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
