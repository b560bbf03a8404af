"""A table of PostgreSQL as a queue: consumers take rows with FOR UPDATE SKIP LOCKED and delete them.

Every commit waits for the sync of the write-ahead log (`synchronous_commit = on`).  A consumer that finds
nothing asks again after a short wait.
"""

from __future__ import annotations

import asyncio
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from bench.load import Settings
from bench.peers.link import BATCH, Link
from bench.peers.peer import HOST, Peer, version_in
from tools.system_packages import NEEDED, postgres_folder

PROTOCOL, BYTEA, BINARY = 196_608, 17, 1
USER = "bench"
PAUSE = 0.005
"""Seconds between two looks at an empty table."""


def frame(kind: bytes, payload: bytes) -> bytes:
    """Return a message: its kind, its length with the length itself, its payload."""
    return kind + struct.pack(">I", len(payload) + 4) + payload


def startup() -> bytes:
    """Return the first message, which has no kind."""
    return frame(b"", struct.pack(">I", PROTOCOL) + f"user\0{USER}\0database\0postgres\0\0".encode())


def prepare(name: str, statement: str) -> bytes:
    """Parse a statement under a name."""
    return frame(b"P", f"{name}\0{statement}\0".encode() + b"\0\0")


def execute(name: str, *parameters: bytes) -> bytes:
    """Bind a prepared statement to parameters in binary form, and run it; results are binary too."""
    values = b"".join(struct.pack(">I", len(each)) + each for each in parameters)
    formats = struct.pack(">HHH", 1, BINARY, len(parameters))
    bind = frame(b"B", f"\0{name}\0".encode() + formats + values + struct.pack(">HH", 1, BINARY))
    return bind + frame(b"E", b"\0" + struct.pack(">I", 0))


def byte_strings(body: bytes, count: int) -> bytes:
    """Return a binary array of this many copies of a byte string."""
    head = struct.pack(">IIIII", 1, 0, BYTEA, count, 1)
    return head + (struct.pack(">I", len(body)) + body) * count


SYNC = frame(b"S", b"")


class PostgresLink(Link):
    """A connection with prepared statements."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._table = settings.queue.replace("-", "_")
        self._ready_for_query = 0
        self._within = b""

    async def greet(self) -> None:
        """Send the first message; the server asks clients of this machine for no password."""
        await self._ask(startup())

    async def create(self) -> None:
        """Make the table that is the queue."""
        columns = "id bigserial PRIMARY KEY, body bytea NOT NULL"
        await self._ask(frame(b"Q", f"CREATE TABLE {self._table} ({columns})\0".encode()))

    async def start_producing(self) -> None:
        """Prepare the statement that inserts a request; one statement is one transaction."""
        await self._ask(prepare("put", f"INSERT INTO {self._table} (body) SELECT unnest($1::bytea[])") + SYNC)

    async def start_consuming(self, number: int) -> None:
        """Prepare the three statements of a consumer."""
        oldest = f"SELECT id FROM {self._table} ORDER BY id LIMIT {BATCH} FOR UPDATE SKIP LOCKED"
        take = f"DELETE FROM {self._table} WHERE id = ANY (ARRAY ({oldest})) RETURNING body"
        await self._ask(
            prepare("begin", "BEGIN") + prepare("commit", "COMMIT") + prepare("take", take) + SYNC
        )

    async def publish(self, body: bytes) -> None:
        """Insert all rows of a request with one statement."""
        await self._ask(execute("put", byte_strings(body, self.settings.in_flight)) + SYNC)

    async def fetch(self) -> None:
        """Commit the transaction of the last messages and take the next ones, in one write."""
        await self._ask(self._within + execute("begin") + execute("take") + SYNC)
        self._within = execute("commit")
        if not self.arrived:
            await asyncio.sleep(PAUSE)

    def take_frame(self, data: bytearray, start: int) -> int:
        """Return one message, which has its length after its kind."""
        if len(data) < start + 5:
            return 0
        end = start + 1 + int.from_bytes(data[start + 1 : start + 5], "big")
        if len(data) < end:
            return 0
        kind = data[start]
        if kind == ord("D"):
            self.arrived.append(bytes(data[start + 11 : end]))
        elif kind == ord("Z"):
            self._ready_for_query += 1
        elif kind == ord("E"):
            self.fail(bytes(data[start + 5 : end]).replace(b"\0", b" ").decode(errors="replace"))
        return end

    async def _ask(self, data: bytes) -> None:
        self._ready_for_query = 0
        self.write(data)
        await self.until(lambda: self._ready_for_query > 0)


class PostgreSQL(Peer):
    """A cluster of its own."""

    name = "postgresql"
    setting = "`FOR UPDATE SKIP LOCKED`, `synchronous_commit = on`"
    need = NEEDED["postgres"]
    port = 18550
    link: ClassVar[type[Link]] = PostgresLink
    shuns_root = True

    @property
    def title(self) -> str:
        """The name of PostgreSQL with its version."""
        return f"PostgreSQL {version_in([self._program('postgres'), '--version'])}"

    def _program(self, name: str) -> str:
        return str((postgres_folder() or Path()) / name)

    def prepare(self, folder: Path, who: Mapping[str, Any]) -> None:
        """Make the folder of the database cluster."""
        words = ["--auth=trust", f"--username={USER}", "--encoding=UTF8", str(folder / "data")]
        subprocess.run([self._program("initdb"), *words], check=True, capture_output=True, cwd=folder, **who)

    def command(self, folder: Path) -> list[str]:
        """Room for a queue in memory, and dead rows swept away often, as a queue wants them."""
        settings = {
            "listen_addresses": HOST,
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "on",
            "synchronous_commit": "on",
            "shared_buffers": "256MB",
            "max_wal_size": "4GB",
            "autovacuum_naptime": "5s",
        }
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [self._program("postgres"), "-D", str(folder / "data"), *words]
