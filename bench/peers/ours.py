"""Reliquary itself: a server as it comes, and the load of `./dev bench queue`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path

from bench.peers.peer import Measured, Serving
from bench.server import Server
from tools.system_packages import Need


class Reliquary(Measured):
    """A server of ours with its settings as they come."""

    name = "reliquary"
    setting = "as it comes: MessagePack over HTTP, hold and acknowledge"
    need = Need("reliquary", "ourselves", (), lambda: True)
    port = 18520
    program = "bench.load"

    @property
    def title(self) -> str:
        """The name of this project with its version."""
        return f"Reliquary {version('reliquary')}"

    def serve(self, folder: Path) -> AbstractContextManager[Serving]:
        """Return the server of every other benchmark, on a port of its own."""
        return Server(folder / "store", port=self.port)
