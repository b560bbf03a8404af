"""A work queue of NATS JetStream: confirmed publishes, fetches of 64, an ACK for each message.

`sync_interval: always` came with version 2.10; an older server confirms before its sync and is left out.  The
load's acknowledgements ask for no answer, so a message counts here when the next ones come.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from bench.load import Settings
from bench.peers.link import BATCH, PATIENCE, Link
from bench.peers.peer import HOST, Peer, installed, version_in
from tools.system_packages import Need

SYNCS_ALWAYS = (2, 10)
"""The first version that can sync before it confirms."""


def publish(subject: str, reply: str, body: bytes) -> bytes:
    """Send a body to a subject, with an inbox for the answer; none when that is empty."""
    return f"PUB {subject} {reply} {len(body)}\r\n".encode() + body + b"\r\n"


def fetch(name: str, inbox: str) -> bytes:
    """Ask for the next messages; the server ends the request when some time is over."""
    request = json.dumps({"batch": BATCH, "expires": int(PATIENCE * 1e9)}).encode()
    return publish(f"$JS.API.CONSUMER.MSG.NEXT.{name}.bench", inbox, request)


class NatsLink(Link):
    """A connection with one inbox."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._name = settings.queue
        self._inbox = f"_INBOX.{id(self)}"
        self._answers: list[bytes] = []
        self._acknowledge: list[bytes] = []
        self._wanted = 0
        self._pongs = 0

    async def greet(self) -> None:
        """Say that headers are understood, and listen to the inbox."""
        options = json.dumps({"verbose": False, "pedantic": False, "headers": True, "no_responders": True})
        self.write(f"CONNECT {options}\r\nSUB {self._inbox} 1\r\nPING\r\n".encode())
        await self.until(lambda: self._pongs > 0)

    async def create(self) -> None:
        """Make the stream, whose messages go when they are acknowledged, and its consumer."""
        stream = {"name": self._name, "subjects": [self._name], "retention": "workqueue", "storage": "file"}
        consumer = {"durable_name": "bench", "ack_policy": "explicit", "max_ack_pending": 1_000_000}
        await self._ask(f"$JS.API.STREAM.CREATE.{self._name}", stream)
        request = {"stream_name": self._name, "config": consumer}
        await self._ask(f"$JS.API.CONSUMER.DURABLE.CREATE.{self._name}.bench", request)

    async def start_producing(self) -> None:
        """Do nothing: every connection may send."""

    async def start_consuming(self, number: int) -> None:
        """Do nothing: all links fetch for one consumer of the stream, which `create` has made."""

    async def publish(self, body: bytes) -> None:
        """Publish all in one write, and wait for the answer of each."""
        count = self.settings.in_flight
        self._answers = []
        self.write(publish(self._name, self._inbox, body) * count)
        await self.until(lambda: len(self._answers) == count)
        self._check()

    async def fetch(self) -> None:
        """Acknowledge what came before, ask for more when all that was asked for has come, and wait."""
        asked = self._acknowledge
        self._acknowledge = []
        if self._wanted <= 0:
            asked.append(fetch(self._name, self._inbox))
            self._wanted = BATCH
        if asked:
            self.write(b"".join(asked))
        await self.until(lambda: bool(self.arrived) or self._wanted <= 0)

    def take_frame(self, data: bytearray, start: int) -> int:
        """Return one frame: a line; that of a message ends with the length of its payload."""
        line = data.find(b"\r\n", start)
        if line < 0:
            return 0
        verb, *words = bytes(data[start:line]).split()
        payload = line + 2
        if verb not in {b"MSG", b"HMSG"}:
            self._obey(verb, words)
            return payload
        end = payload + int(words[-1])
        if len(data) < end + 2:
            return 0
        body = bytes(data[payload:end])
        if verb == b"HMSG":
            self._wanted = 0  # a status: no more will come for this request
        elif len(words) == 4:
            self.arrived.append(body)
            self._wanted -= 1
            self._acknowledge.append(publish(words[2].decode(), "", b"+ACK"))
        else:
            self._answers.append(body)
        return end + 2

    def _obey(self, verb: bytes, words: list[bytes]) -> None:
        if verb == b"PING":
            self.write(b"PONG\r\n")
        elif verb == b"PONG":
            self._pongs += 1
        elif verb == b"-ERR":
            self.fail(b" ".join(words).decode())

    async def _ask(self, subject: str, request: Mapping[str, object]) -> None:
        self._answers = []
        self.write(publish(subject, self._inbox, json.dumps(request).encode()))
        await self.until(lambda: bool(self._answers))
        self._check()

    def _check(self) -> None:
        refused = [each for each in self._answers if b'"error"' in each]
        if refused:
            raise RuntimeError(refused[0].decode())


class Nats(Peer):
    """A server with JetStream on one folder."""

    name = "nats"
    setting = "JetStream work queue, `sync_interval: always`"
    need = Need("nats", "the streams of NATS", ("nats-server",), lambda: installed("nats-server") is not None)
    port = 18570
    link: ClassVar[type[Link]] = NatsLink

    @property
    def title(self) -> str:
        """The name of NATS with its version."""
        return f"NATS {self._version()}"

    def _version(self) -> str:
        return version_in([str(installed("nats-server")), "--version"])

    def refusal(self) -> str | None:
        """Return why an older version is left out, or None."""
        if too_old(self._version()):
            return f"version {self._version()} cannot sync before every confirm, which came with 2.10"
        return None

    def command(self, folder: Path) -> list[str]:
        """Write the settings of JetStream to a file and return the command."""
        settings = folder / "nats.conf"
        settings.write_text(f'jetstream {{ store_dir: "{folder}/data", sync_interval: always }}\n')
        return [str(installed("nats-server")), "-a", HOST, "-p", str(self.port), "-c", str(settings)]


def too_old(version: str) -> bool:
    """Return whether a version confirms before its sync, whatever its settings are."""
    return tuple(int(part) for part in version.split(".")[:2]) < SYNCS_ALWAYS
