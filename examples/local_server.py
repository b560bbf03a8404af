"""A server on this computer for the other examples: it runs while the block runs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import reliquary


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


@contextmanager
def server(folder: Path, ports: tuple[int, int], **settings: str) -> Iterator[reliquary.Manager]:
    settings |= {"folder": str(folder), "data_port": str(ports[0]), "control_port": str(ports[1])}
    clean = {name: text for name, text in os.environ.items() if not name.startswith("RELIQUARY_")}
    clean |= {f"RELIQUARY_{name.upper()}": text for name, text in settings.items()}
    command = [sys.executable, "-m", "reliquary.server"]
    with subprocess.Popen(command, env=clean, stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout or ():
                if "/receive" in line:  # the last line that a server prints when it is ready
                    break
            data, control = (f"http://127.0.0.1:{port}" for port in ports)
            with reliquary.connect(data, control=control) as manager:
                yield manager
        finally:
            process.terminate()
