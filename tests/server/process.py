"""A server in a process of its own, as a service manager sees it: addresses, signals, exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

PATIENCE = 60


class Process:
    """A started server; what is asked of it goes over its sockets."""

    def __init__(
        self, folder: Path, *, under: Sequence[str] = (), python: Sequence[str] = (), **settings: str
    ) -> None:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("RELIQUARY_")}
        chosen = {"FOLDER": str(folder), "DATA_PORT": "0", "CONTROL_PORT": "0", "QUEUES": "orders"} | settings
        file = [chosen.pop("SETTINGS")] if "SETTINGS" in chosen else []
        environment |= {f"RELIQUARY_{name}": text for name, text in chosen.items()}
        self._started = subprocess.Popen(
            [*under, sys.executable, *python, "-m", "reliquary.server", *file],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""
        self.data = self.control = ""

    def ready(self) -> Process:
        """Wait until it says that it is ready."""
        assert self._started.stdout is not None
        for line in self._started.stdout:
            self.said += line
            if "/receive" in line:
                self.data, self.control = re.findall(r"plane +(\S+)", self.said)[-2:]
                return self
        raise AssertionError(f"it did not start: {self.end()}")

    def waits(self) -> Process:
        """Wait until it says where it listens, before it is ready."""
        assert self._started.stdout is not None
        for line in self._started.stdout:
            self.said += line
            if "control plane" in line:
                self.data, self.control = re.findall(r"plane +(\S+)", self.said)
                return self
        raise AssertionError(f"it did not start: {self.end()}")

    def tell(self, method: str, path: str) -> None:
        """Send one request whose answer is empty."""
        with urlopen(Request(f"{self.data}/api/v1{path}", b"", method=method), timeout=PATIENCE):
            pass

    def call(self, method: str, path: str, body: object = None, plane: str = "") -> Any:
        """Send one request; an OSError when it gets no answer or a refusal."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{plane or self.data}/api/v1{path}", data, method=method)
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def send(self, text: str) -> None:
        """Send one message and wait until it is acknowledged."""
        self.call("POST", "/queues/orders/messages", {"text": text, "label": text})

    def labels(self) -> list[str]:
        """Return the labels of the messages in the queue."""
        return [each["label"] for each in self.call("GET", "/queues/orders/messages?limit=10000")["messages"]]

    def signal(self, number: int) -> None:
        """Send a signal to the server, which strace may have started."""
        self._started.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Wait for its end: the exit code, and what went to stderr."""
        out, err = self._started.communicate(timeout=PATIENCE)
        self.said += out
        return self._started.returncode, err

    def kill(self) -> None:
        """End it whatever it does."""
        self._started.kill()
        self._started.communicate(timeout=PATIENCE)


@contextmanager
def running(folder: Path, **how: Any) -> Iterator[Process]:
    """Yield a server that is ready; it is killed at the end if it is still there."""
    process = Process(folder, **how)
    try:
        yield process.ready()
    finally:
        process.kill()


def ends(folder: Path, **how: Any) -> tuple[int, str]:
    """Run a server that does not start; return the exit code, and what went to stderr."""
    return Process(folder, **how).end()


def stop(process: Process) -> tuple[int, str]:
    """Stop the server with SIGTERM; return its exit code and its output."""
    process.signal(signal.SIGTERM)
    return process.end()
