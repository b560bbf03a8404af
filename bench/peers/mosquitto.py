"""Mosquitto with QoS 2 in persistent sessions over MQTT 5: consumers share one subscription.

`autosave_on_changes` with an interval of 1 is as often as Mosquitto can write its file of messages, and it
writes all of it, but it confirms first and writes then: the round of syncs shows it.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import ClassVar

from bench.load import Settings
from bench.peers.link import BATCH, Link
from bench.peers.peer import HOST, Peer, installed, version_in
from tools.system_packages import Need

CONNECT, CONNACK, PUBLISH, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, SUBACK = (
    0x10,
    0x20,
    0x30,
    0x50,
    0x62,
    0x70,
    0x82,
    0x90,
)
QOS_2 = 0x04
SESSION_EXPIRY, RECEIVE_MAXIMUM = 0x11, 0x21
SECONDS_OF_SESSION = 86_400
REFUSED = 0x80
"""Reason codes from here on are failures."""


def size(length: int) -> bytes:
    """Return a length in octets of seven bits, the lowest first."""
    octets = bytearray()
    while length > 0x7F:
        octets.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([*octets, length])


def packet(kind: int, payload: bytes) -> bytes:
    """Return a control packet: its kind with its flags, its length, its payload."""
    return bytes([kind]) + size(len(payload)) + payload


def text(value: str) -> bytes:
    """Return a string: two octets of length."""
    return struct.pack(">H", len(value)) + value.encode()


def connect(client: str) -> bytes:
    """Take up the session of this client, or begin one that lasts longer than its connections."""
    properties = struct.pack(">BIBH", SESSION_EXPIRY, SECONDS_OF_SESSION, RECEIVE_MAXIMUM, BATCH)
    flags_and_keep_alive = b"\0\0\0"
    head = text("MQTT") + b"\x05" + flags_and_keep_alive
    return packet(CONNECT, head + size(len(properties)) + properties + text(client))


def publish(topic: str, number: int, body: bytes) -> bytes:
    """Return a message with QoS 2 and without properties."""
    return packet(PUBLISH | QOS_2, text(topic) + struct.pack(">HB", number, 0) + body)


def acknowledge(kind: int, number: int) -> bytes:
    """Return a PUBREC, PUBREL or PUBCOMP that reports success."""
    return packet(kind, struct.pack(">H", number))


class MosquittoLink(Link):
    """A session; the four packets of QoS 2 go on as they come."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._topic = settings.queue
        self._answers: list[bytes] = []
        self._seen: set[int] = set()
        self._completed = 0
        self._bodies: dict[int, bytes] = {}

    async def greet(self) -> None:
        """Do nothing: a session needs a name, so `start_producing` and `start_consuming` begin it."""

    async def create(self) -> None:
        """Subscribe the first consumer, so that the broker keeps messages from then on."""
        await self.start_consuming(0)

    async def start_producing(self) -> None:
        """Begin a session with a name that no other connection has."""
        await self._begin(f"{self._topic}-p{id(self)}")

    async def start_consuming(self, number: int) -> None:
        """Take up a session and its share of the subscription."""
        await self._begin(f"{self._topic}-c{number}")
        self.write(packet(SUBSCRIBE, b"\0\x01\0" + text(f"$share/bench/{self._topic}") + b"\x02"))
        await self.until(lambda: SUBACK in self._seen)

    async def publish(self, body: bytes) -> None:
        """Publish all in one write, and wait for the PUBCOMP of each."""
        self._completed, count = 0, self.settings.in_flight
        self.write(b"".join(publish(self._topic, number, body) for number in range(1, count + 1)))
        await self.until(lambda: self._completed == count)

    async def fetch(self) -> None:
        """Wait for messages; each was acknowledged as its packets came."""
        await self.some_arrive()

    def take_frame(self, data: bytearray, start: int) -> int:
        """Return one packet, which has its length after its kind, in up to four octets."""
        at, length, shift = start + 1, 0, 0
        while True:
            if at >= len(data):
                return 0
            length |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                break
        end = at + length
        if len(data) < end:
            return 0
        self._obey(data[start], bytes(data[at:end]))
        return end

    def answer(self) -> None:
        """Send what the packets of one read call for, in one write."""
        if self._answers:
            self.write(b"".join(self._answers))
            self._answers.clear()

    def _obey(self, kind: int, payload: bytes) -> None:
        if kind & 0xF0 == PUBLISH:
            topic = struct.unpack_from(">H", payload)[0] + 2
            number = struct.unpack_from(">H", payload, topic)[0]
            self._bodies[number] = payload[topic + 3 :]
            self._answers.append(acknowledge(PUBREC, number))
            return
        self._seen.add(kind)
        if kind in {PUBREC, PUBREL, PUBCOMP}:
            number = struct.unpack_from(">H", payload)[0]
            if len(payload) > 2 and payload[2] >= REFUSED:
                self.fail(f"Mosquitto refused: reason {payload[2]:#x}")
            elif kind == PUBREC:
                self._answers.append(acknowledge(PUBREL, number))
            elif kind == PUBREL:
                self._answers.append(acknowledge(PUBCOMP, number))
                self.arrived.append(self._bodies.pop(number, b"%020d" % 0))
            else:
                self._completed += 1
        elif kind == CONNACK and payload[1] >= REFUSED:
            self.fail(f"Mosquitto refused: reason {payload[1]:#x}")

    async def _begin(self, client: str) -> None:
        self.write(connect(client))
        await self.until(lambda: CONNACK in self._seen)


class Mosquitto(Peer):
    """A broker that writes its file after every change."""

    name = "mosquitto"
    setting = "QoS 2, `persistence true`, `autosave_on_changes true`"
    need = Need("mosquitto", "QoS 2 of Mosquitto", ("mosquitto",), lambda: installed("mosquitto") is not None)
    port = 18560
    link: ClassVar[type[Link]] = MosquittoLink

    @property
    def title(self) -> str:
        """The name of Mosquitto with its version."""
        return f"Mosquitto {version_in([str(installed('mosquitto')), '-h'])}"

    def command(self, folder: Path) -> list[str]:
        """Return the command; a broker that starts as root stays root, so that it can write its folder."""
        lines = (
            f"listener {self.port} {HOST}",
            "allow_anonymous true",
            "user root",
            "persistence true",
            f"persistence_location {folder}/",
            "autosave_on_changes true",
            "autosave_interval 1",
            f"max_inflight_messages {BATCH}",
            "max_queued_messages 0",
            "set_tcp_nodelay true",
        )
        settings = folder / "mosquitto.conf"
        settings.write_text("\n".join(lines) + "\n")
        return [str(installed("mosquitto")), "-c", str(settings)]
