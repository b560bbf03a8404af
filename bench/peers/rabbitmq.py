"""A quorum queue of RabbitMQ over AMQP 0-9-1: publisher confirms, prefetch of 64, many acknowledged at once.

Every confirm of a quorum queue follows a sync of its write-ahead log.  AMQP answers no acknowledgement of a
consumer, so a message counts here when the next ones come.
"""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path
from typing import ClassVar

from bench.load import Settings
from bench.peers.link import BATCH, Link
from bench.peers.peer import HOST, Peer, installed, version_in
from tools.system_packages import Need

METHOD, HEADER, BODY, END = 1, 2, 3, b"\xce"
FRAME_MAX = 131_072
Method = tuple[int, int]
"""The numbers of a class and of one of its methods."""
START, START_OK, TUNE, TUNE_OK, OPEN, OPEN_OK = (10, 10), (10, 11), (10, 30), (10, 31), (10, 40), (10, 41)
CHANNEL_OPEN, CHANNEL_OPEN_OK, CHANNEL_CLOSE, CLOSE = (20, 10), (20, 11), (20, 40), (10, 50)
DECLARE, DECLARE_OK, CONFIRM, CONFIRM_OK = (50, 10), (50, 11), (85, 10), (85, 11)
QOS, QOS_OK, CONSUME, CONSUME_OK = (60, 10), (60, 11), (60, 20), (60, 21)
PUBLISH, DELIVER, ACK, NACK = (60, 40), (60, 60), (60, 80), (60, 120)
DURABLE, PERSISTENT, MULTIPLE = 2, 2, 1


def frame(kind: int, channel: int, payload: bytes) -> bytes:
    """Return a frame: its kind, its channel, its length, its payload and an octet that ends it."""
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + END


def method(channel: int, which: Method, arguments: bytes = b"") -> bytes:
    """Return a frame that calls a method."""
    return frame(METHOD, channel, struct.pack(">HH", *which) + arguments)


def short(text: str) -> bytes:
    """Return a short string: one octet of length."""
    return bytes([len(text)]) + text.encode()


def long(data: bytes) -> bytes:
    """Return a long string or a table: four octets of length."""
    return struct.pack(">I", len(data)) + data


def message(queue: str, body: bytes) -> bytes:
    """Return the three frames that publish a persistent message to a queue by its name."""
    header = struct.pack(">HHQHB", PUBLISH[0], 0, len(body), 0x1000, PERSISTENT)
    publish = method(1, PUBLISH, b"\0\0" + short("") + short(queue) + b"\0")
    return publish + frame(HEADER, 1, header) + frame(BODY, 1, body)


class RabbitLink(Link):
    """A connection with one channel."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._called: set[Method] = set()
        self._published = 0
        self._unconfirmed: set[int] = set()
        self._delivered = 0
        self._acknowledged = 0

    async def greet(self) -> None:
        """Open the connection as the guest that a new server has, and a channel."""
        self.write(b"AMQP\0\0\x09\x01")
        await self._called_is(START)
        self.write(method(0, START_OK, long(b"") + short("PLAIN") + long(b"\0guest\0guest") + short("en_US")))
        await self._called_is(TUNE)
        self.write(method(0, TUNE_OK, struct.pack(">HIH", 1, FRAME_MAX, 0)))
        await self._call(0, OPEN, short("/") + short("") + b"\0", OPEN_OK)
        await self._call(1, CHANNEL_OPEN, short(""), CHANNEL_OPEN_OK)

    async def create(self) -> None:
        """Declare a quorum queue that is durable."""
        kind = long(short("x-queue-type") + b"S" + long(b"quorum"))
        named = b"\0\0" + short(self.settings.queue)
        await self._call(1, DECLARE, named + bytes([DURABLE]) + kind, DECLARE_OK)

    async def start_producing(self) -> None:
        """Ask the server to confirm each message."""
        await self._call(1, CONFIRM, b"\0", CONFIRM_OK)

    async def start_consuming(self, number: int) -> None:
        """Have at most 64 messages without an acknowledgement."""
        await self._call(1, QOS, struct.pack(">IHB", 0, BATCH, 0), QOS_OK)
        named = b"\0\0" + short(self.settings.queue) + short(str(number))
        await self._call(1, CONSUME, named + b"\0" + long(b""), CONSUME_OK)

    async def publish(self, body: bytes) -> None:
        """Publish all in one write, and wait for the confirm of each."""
        count = self.settings.in_flight
        self._unconfirmed = set(range(self._published + 1, self._published + 1 + count))
        self._published += count
        self.write(message(self.settings.queue, body) * count)
        await self.until(lambda: not self._unconfirmed)

    async def fetch(self) -> None:
        """Acknowledge all that were handed out with one method, and wait for deliveries."""
        if self._delivered > self._acknowledged:
            self.write(method(1, ACK, struct.pack(">QB", self._delivered, MULTIPLE)))
            self._acknowledged = self._delivered
        await self.some_arrive()
        self._delivered += len(self.arrived)

    def take_frame(self, data: bytearray, start: int) -> int:
        """Return one frame, which has its length in its head."""
        if len(data) < start + 7:
            return 0
        kind, length = data[start], int.from_bytes(data[start + 3 : start + 7], "big")
        payload, end = start + 7, start + 8 + length
        if len(data) < end:
            return 0
        if kind == BODY:
            self.arrived.append(bytes(data[payload : end - 1]))
        elif kind == METHOD:
            which = struct.unpack_from(">HH", data, payload)
            if which == ACK:
                self._confirmed(*struct.unpack_from(">QB", data, payload + 4))
            elif which in {NACK, CLOSE, CHANNEL_CLOSE}:
                self.fail(f"RabbitMQ refused: {bytes(data[payload + 4 : end - 1])!r}")
            elif which != DELIVER:
                self._called.add(which)
        return end

    def _confirmed(self, tag: int, multiple: int) -> None:
        if multiple:
            self._unconfirmed = {each for each in self._unconfirmed if each > tag}
        else:
            self._unconfirmed.discard(tag)

    async def _call(self, channel: int, which: Method, arguments: bytes, answer: Method) -> None:
        self.write(method(channel, which, arguments))
        await self._called_is(answer)

    async def _called_is(self, which: Method) -> None:
        await self.until(lambda: which in self._called)


class RabbitMQ(Peer):
    """A node of its own with one user."""

    name = "rabbitmq"
    setting = "quorum queue, publisher confirms"
    need = Need(
        "rabbitmq",
        "the quorum queues of RabbitMQ",
        ("rabbitmq-server",),
        lambda: RabbitMQ.script() is not None,
    )
    port = 18540
    link: ClassVar[type[Link]] = RabbitLink

    @staticmethod
    def script() -> str | None:
        """Return the script that starts a node; Debian's on the PATH needs root and changes the user."""
        below = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
        return str(below) if below.exists() else installed("rabbitmq-server")

    @property
    def title(self) -> str:
        """RabbitMQ and its version, which names a folder of its library."""
        folders = sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*"))
        version = folders[-1].name.partition("-")[2] if folders else version_in(["rabbitmqctl", "version"])
        return f"RabbitMQ {version}"

    def command(self, folder: Path) -> list[str]:
        """Return the script alone, because it takes everything from its environment."""
        return [str(self.script())]

    def environment(self, folder: Path) -> dict[str, str]:
        """Return a node that shares no port, folder or secret with another of this machine."""
        return {
            "HOME": str(folder),
            "RABBITMQ_NODENAME": "reliquary-bench@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": HOST,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self.port + 1),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "no-plugins"),
            "ERL_EPMD_PORT": str(self.port + 2),
            "ERL_EPMD_ADDRESS": HOST,
        }

    def clean_up(self, folder: Path) -> None:
        """End Erlang's register of nodes (epmd), which starts with the node and does not end with it."""
        environment = os.environ | self.environment(folder)
        subprocess.run(["epmd", "-kill"], env=environment, capture_output=True, check=False)
