"""Streams of Redis or Valkey: XADD, then XREADGROUP, XACK and XDEL; every command is synced."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from bench.load import Settings
from bench.peers.link import BATCH, PATIENCE, Link
from bench.peers.peer import HOST, Peer, installed, version_in
from tools.system_packages import Need

GROUP = b"bench"
SERVERS = {"valkey-server": "Valkey", "redis-server": "Redis"}

Reply = Any
"""Bytes, a number, nothing, or a list of replies."""


def command(*words: bytes) -> bytes:
    """Return a command as RESP has it: an array of strings with their lengths."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


def reply(data: bytearray, start: int) -> tuple[Reply, int]:
    """Return the reply that starts there, and where it ends; ValueError when it is not whole yet."""
    line = data.index(b"\r\n", start)
    kind, head, end = data[start], data[start + 1 : line], line + 2
    if kind == ord(b"$"):
        stop = end + int(head)
        if stop < end:
            return None, end
        if len(data) < stop + 2:
            raise ValueError("more is to come")
        return bytes(data[end:stop]), stop + 2
    if kind == ord(b"*"):
        if head == b"-1":
            return None, end
        parts: list[Reply] = []
        for _ in range(int(head)):
            part, end = reply(data, end)
            parts.append(part)
        return parts, end
    if kind == ord(b"-"):
        raise RuntimeError(head.decode())
    return int(head) if kind == ord(b":") else bytes(head), end


class RedisLink(Link):
    """A connection that pipelines commands; replies come in their order."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._stream = settings.queue.encode()
        self._replies: list[Reply] = []
        self._ids: list[bytes] = []
        self._read = b""

    async def greet(self) -> None:
        """Do nothing: no message comes before the first command."""

    async def create(self) -> None:
        """Make the stream and its group."""
        await self._ask([command(b"XGROUP", b"CREATE", self._stream, GROUP, b"$", b"MKSTREAM")])

    async def start_producing(self) -> None:
        """Do nothing: every connection may send."""

    async def start_consuming(self, number: int) -> None:
        """Prepare the command that reads as one consumer of the group."""
        words = (b"XREADGROUP", b"GROUP", GROUP, b"%d" % number, b"COUNT", b"%d" % BATCH)
        self._read = command(*words, b"BLOCK", b"%d" % (PATIENCE * 1000), b"STREAMS", self._stream, b">")

    async def publish(self, body: bytes) -> None:
        """Send an XADD for each message, all in one write."""
        await self._ask([command(b"XADD", self._stream, b"*", b"b", body)] * self.settings.in_flight)

    async def fetch(self) -> None:
        """Send XACK and XDEL for the last messages in one write with the next XREADGROUP."""
        before = [
            command(b"XACK", self._stream, GROUP, *self._ids),
            command(b"XDEL", self._stream, *self._ids),
        ]
        *_, streams = await self._ask([*(before if self._ids else []), self._read])
        entries = streams[0][1] if streams else []
        self._ids = [entry[0] for entry in entries]
        self.arrived = [entry[1][1] for entry in entries]

    def take_frame(self, data: bytearray, start: int) -> int:
        """Return one frame, which is a reply."""
        try:
            value, end = reply(data, start)
        except ValueError:
            return 0
        except RuntimeError as why:
            self.fail(str(why))
            return 0
        self._replies.append(value)
        return end

    async def _ask(self, commands: list[bytes]) -> list[Reply]:
        self._replies = []
        self.write(b"".join(commands))
        await self.until(lambda: len(self._replies) >= len(commands))
        return self._replies


class Redis(Peer):
    """Redis or Valkey, the one that is installed."""

    name = "redis"
    setting = "streams, `appendfsync always`"
    need = Need(
        "redis",
        "the streams of Redis",
        ("redis-server",),
        lambda: any(installed(each) for each in SERVERS),
    )
    port = 18530
    link: ClassVar[type[Link]] = RedisLink

    @property
    def title(self) -> str:
        """The name of Redis or Valkey, with its version."""
        return f"{SERVERS[self._server]} {version_in([self._server, '--version'])}"

    @property
    def _server(self) -> str:
        return next(each for each in SERVERS if installed(each))

    def command(self, folder: Path) -> list[str]:
        """Return the command: no snapshots, and all other settings at their defaults."""
        words = f"--bind {HOST} --port {self.port} --appendonly yes --appendfsync always".split()
        return [self._server, *words, "--dir", str(folder), "--save", ""]
