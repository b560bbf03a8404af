"""A server in a process of its own, on ports that it chooses itself, reaped whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType

SERVER = (sys.executable, "-m", "reliquary.server")
LAST_LINE = "/receive"
"""A part of the last of the three commands that a server shows when it is ready."""


def environment(folder: Path, *queues: str, **more: str) -> dict[str, str]:
    """Return the settings of a server on a folder, and none that the tester happens to have."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("RELIQUARY_")}
    settings = {"FOLDER": str(folder), "DATA_PORT": "0", "CONTROL_PORT": "0", "QUEUES": ",".join(queues)}
    settings |= {"LOW_SPACE": "0", "RESERVE": "0"}  # many stores at a time, some on small disks
    return mine | {f"RELIQUARY_{name}": value for name, value in (settings | more).items()}


def complaints_of(folder: Path) -> Path:
    """Return the file with the stderr of all servers on a folder."""
    return folder.with_name(folder.name + ".stderr")


class ServerProcess:
    """One process of a server on a folder; its stderr is kept in a file beside the folder."""

    def __init__(
        self,
        folder: Path,
        *queues: str,
        command: Sequence[str] = SERVER,
        complaints: Path | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.folder = folder
        self.complaints = complaints or complaints_of(folder)
        with self.complaints.open("ab") as stderr:
            self._process = subprocess.Popen(
                command,
                env=environment(folder, *queues, **settings),
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        self.welcome = ""

    def wait_until_ready(self) -> ServerProcess:
        """Read the welcome; if the server ends instead, fail with all its output."""
        assert self._process.stdout is not None
        while LAST_LINE not in self.welcome:
            line = self._process.stdout.readline()
            if not line:
                raise AssertionError(
                    f"it ended with {self._process.wait()} instead of starting:\n{self.said}"
                )
            self.welcome += line
        return self

    @property
    def said(self) -> str:
        """Return the errors and warnings that all servers on this folder wrote."""
        return self.complaints.read_text()

    @property
    def data(self) -> str:
        """The address of the data plane."""
        return self._address("data plane")

    @property
    def control(self) -> str:
        """The address of the control plane."""
        return self._address("control plane")

    def _address(self, plane: str) -> str:
        return next(line.split()[-1] for line in self.welcome.splitlines() if plane in line)

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """Kill the process without a warning and without clean-up."""
        self._process.kill()

    def stop(self) -> int:
        """Ask it to stop; the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait()

    def wait(self, patience: float | None = None) -> int:
        """Wait until it has ended; the exit code."""
        return self._process.wait(patience)

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def run_to_its_end(folder: Path, *queues: str) -> tuple[int, str]:
    """Run a server that cannot start; return its exit code and its output."""
    done = subprocess.run(
        SERVER, env=environment(folder, *queues), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == ""
    return done.returncode, done.stderr
