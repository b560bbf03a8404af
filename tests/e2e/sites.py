"""Managers of a test with several: servers that die and come back under their former addresses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import reliquary
from tests.e2e.process import SERVER, ServerProcess
from tests.ports import free_ports


class Site:
    """One manager whose server can die and come back."""

    def __init__(self, folder: Path, settings: Mapping[str, str] = MappingProxyType({})) -> None:
        self.folder = folder
        self.settings = settings
        self.file = ""
        """Settings that stand in a file."""
        self.complaints: Path | None = None
        """What it says to stderr, where that is not beside the folder."""
        self.data_port, self.control_port = map(str, free_ports(2))
        self._process: ServerProcess | None = None

    def start(self) -> None:
        """Start it, for the first time or again."""
        ports = {"DATA_PORT": self.data_port, "CONTROL_PORT": self.control_port}
        command: tuple[str, ...] = SERVER
        if self.file:
            file = self.folder.with_name(self.folder.name + ".toml")
            file.write_text(self.file)
            command = (*SERVER, str(file))
        self._process = ServerProcess(
            self.folder, command=command, complaints=self.complaints, settings={**self.settings, **ports}
        )
        self._process.wait_until_ready()

    @property
    def process(self) -> ServerProcess:
        """The server process that runs now."""
        assert self._process is not None, "it does not run"
        return self._process

    def kill(self) -> None:
        """End it without a warning."""
        self.process.kill()
        self._gone()

    def stop(self) -> None:
        """Stop the server in order, and check its exit code."""
        assert self.process.stop() == 0
        self._gone()

    def dies(self) -> int:
        """Wait until it has ended by itself; its exit code."""
        code = self.process.wait()
        self._gone()
        return code

    def _gone(self) -> None:
        self.process.__exit__(None, None, None)
        self._process = None

    def end(self) -> None:
        """Kill the server if it still runs."""
        if self._process is not None:
            self.kill()

    @property
    def authority(self) -> str:
        """The address under which other managers reach this one."""
        return f"localhost:{self.data_port}"

    def connect(self) -> reliquary.Manager:
        """Return a client of this manager."""
        return reliquary.connect(
            f"http://127.0.0.1:{self.data_port}", control=f"http://127.0.0.1:{self.control_port}"
        )
