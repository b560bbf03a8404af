"""The servers of the story: each is a child process that can be killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import reliquary


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
    process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> str:
        """The address of the data plane."""
        return f"http://127.0.0.1:{self.data_port}"

    @property
    def console(self) -> str:
        """The address of the web console."""
        return f"http://127.0.0.1:{self.control_port}"

    def start(self) -> None:
        """Start the server; return when it is ready, or raise what it ended with."""
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
            [program, "serve", *self.options], env=environment, stdout=subprocess.DEVNULL
        )
        waiting = [program, "--server", self.data, "--control", self.console, "wait", "--timeout", "60"]
        subprocess.run(waiting, env=environment, stdout=subprocess.DEVNULL, check=False)
        if self.process.poll() is not None:
            raise SystemExit(self.process.returncode)

    def kill(self) -> None:
        """End the server with SIGKILL, as a power failure would."""
        assert self.process is not None, f"{self.name} runs"
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End the server in order."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def connect(self) -> reliquary.Manager:
        """Return a client of the server."""
        return reliquary.connect(self.data, control=self.console)


def run_command(site: Site, *words: str, check: bool = True) -> str:
    """Run a command of Reliquary for a site, and return what it says in its last line of JSON."""
    program = str(Path(sys.executable).parent / "reliquary")
    command = [program, "--server", site.data, "--control", site.console, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr}")
    last = done.stdout.strip().splitlines()[-1:] or ["{}"]
    try:
        return str(json.loads(last[0]).get("verdict", last[0]))
    except ValueError:
        return last[0]
