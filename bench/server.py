"""A server process to be measured, and the figures that the system has about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any

from bench.usage import Usage, usage_of

DATA_PORT = 18480
_ROOT = Path(__file__).parent.parent


class Server:
    """A server on a folder, ready when the block is entered, stopped when it is left."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int = DATA_PORT,
        core: int | None = None,
        toml: str = "",
        program: Sequence[str] = ("reliquary.server",),
        **settings: object,
    ) -> None:
        """The control plane is on the port after `port`; `core` is the only processor it may use.

        The settings are the server's, such as `history_enabled=False`; `toml` is the text of a settings
        file, for what the environment cannot say.  `program` is a module with its arguments that becomes a
        server and prints "ready".
        """
        self.folder = folder
        self.host, self.port = "127.0.0.1", port
        self.core = core
        self.toml = toml
        self.program = program
        self.settings = settings
        self.seconds_to_ready = 0.0
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Server:
        start = perf_counter()
        settings: dict[str, object] = {
            "FOLDER": self.folder,
            "DATA_PORT": self.port,
            "CONTROL_PORT": self.port + 1,
        }
        settings |= {name.upper(): value for name, value in self.settings.items()}
        environment = os.environ | {f"RELIQUARY_{name}": str(value) for name, value in settings.items()}
        command = [sys.executable, "-m", *self.program]
        if self.toml:
            file = self.folder.with_suffix(".toml")
            file.write_text(self.toml)
            command.append(str(file))
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment, cwd=_ROOT
        )
        if self.core is not None:
            os.sched_setaffinity(self._process.pid, {self.core})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "ready" in line:
                break
        else:
            raise RuntimeError(f"{self.program[0]} did not start: is port {self.port} in use?")
        self.seconds_to_ready = perf_counter() - start
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.communicate()

    @property
    def pid(self) -> int:
        """The id of the server process."""
        assert self._process is not None
        return self._process.pid

    def create_queue(self, name: str, **settings: object) -> None:
        """Make a queue through the control plane."""
        self.ask("POST", "queues", {"name": name, **settings})

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Return a request to the control plane, and its answer."""
        request = urllib.request.Request(
            f"http://{self.host}:{self.port + 1}/api/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method=method,
        )
        return json.loads(urllib.request.urlopen(request).read() or b"null")

    def metric(self, name: str) -> float:
        """Return one figure of its own."""
        text = urllib.request.urlopen(f"http://{self.host}:{self.port + 1}/metrics").read().decode()
        return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))

    def cpu_seconds(self) -> float:
        """Return the processor time that the server has used."""
        return self.usage().processor

    def usage(self) -> Usage:
        """Return the processor time and the writes of the server so far."""
        return usage_of(Path(f"/proc/{self.pid}"))

    def resident_bytes(self) -> int:
        """Return the resident memory of the server in bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024


def run_load(settings: dict[str, object], program: str = "bench.load") -> dict[str, Any]:
    """Run the load in a process of its own, and give its figures."""
    command = [sys.executable, "-m", program]
    done = subprocess.run(
        command, input=json.dumps(settings) + "\n", stdout=subprocess.PIPE, text=True, check=True, cwd=_ROOT
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures
