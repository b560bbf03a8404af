"""The load of the WS-RM benchmark, in a process of its own: one connection, one sequence, requests pipelined.

Reads one JSON line of settings, runs, writes one JSON line of figures.  Envelopes are encoded before the
clock runs, and of a response only its length, the acknowledged number and the room are looked at, so that the
server is what is measured.  The load can also be SRMP messages, as a reference.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from time import perf_counter, process_time

import msgspec

from bench import srmp_message
from bench.wsrm_message import Template, acknowledged_in, create, end, head, identifier_in, post, room_in

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_READ = 1 << 20


class Settings(msgspec.Struct):
    """The settings of one run."""

    host: str
    port: int
    queue: str
    protocol: str
    """The protocol of the run: `wsrm` or `srmp`."""
    window: int
    """Messages without an acknowledgement, or requests without an answer."""
    seconds: float
    run: int
    """Each run has a number of its own, from which its identifiers are made."""
    core: int | None = None


class Line:
    """A connection that is written to and read from without a loop."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._came = bytearray()
        self._space = bytearray(_READ)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> bytes:
        """Return the body of the next response."""
        while (blank := self._came.find(b"\r\n\r\n")) < 0:
            self._read()
        first = bytes(self._came[:blank])
        assert first.startswith(b"HTTP/1.1 20"), f"{first!r} {bytes(self._came)!r}"
        length = _LENGTH.search(first)
        start = blank + 4
        stop = start + (int(length[1]) if length else 0)
        while len(self._came) < stop:
            self._read()
        body = bytes(memoryview(self._came)[start:stop])
        del self._came[:stop]
        return body

    def has_more(self) -> bool:
        """Return whether the beginning of a further response is there already."""
        return bool(self._came)

    def _read(self) -> None:
        size = self._socket.recv_into(self._space)
        if not size:
            raise ConnectionError(f"the server hung up; {bytes(self._came)!r} was left")
        self._came += memoryview(self._space)[:size]


class Sequence:
    """One sequence, and how far it is acknowledged."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._line = Line(settings.host, settings.port)
        self._path = f"/wsrm/{settings.queue}"
        self._url = f"http://{settings.host}:{settings.port}{self._path}"
        self.sent = self.acknowledged = 0
        self._answered = 0
        self._room = settings.window
        self._identifier = identifier_in(self._asked(create(self._url, settings.run)))

    def run(self) -> float:
        """Send until the time is over; the seconds until everything was acknowledged."""
        template = Template(self._path, self._url, self._identifier, self._settings.run)
        start = perf_counter()
        until = start + self._settings.seconds
        while perf_counter() < until:
            requests = []
            while self.sent - self.acknowledged < min(self._settings.window, self._room):
                self.sent += 1
                requests.append(template.with_number(self.sent))
            self._line.send(b"".join(requests))
            assert self._answered < self.sent, (
                "the room is 0, and no response is awaited that could change it"
            )
            self._take()
            while self._line.has_more() and self._answered < self.sent:
                self._take()
        while self._answered < self.sent:
            self._take()
        elapsed = perf_counter() - start
        assert self.acknowledged == self.sent, f"{self.sent} were sent, {self.acknowledged} acknowledged"
        for verb in ("CloseSequence", "TerminateSequence"):
            self._asked(end(self._url, verb, 2 * self._settings.run, self._identifier, self.sent))
        return elapsed

    def _take(self) -> None:
        envelope = self._line.receive()
        self._answered += 1
        number = acknowledged_in(envelope)
        if number >= self.acknowledged:
            self.acknowledged = number
            room = room_in(envelope)
            self._room = self._settings.window if room is None else room

    def _asked(self, envelope: bytes) -> bytes:
        self._line.send(post(self._path, envelope))
        return self._line.receive()


class Posts:
    """SRMP messages over one connection, as a reference: as many requests without an answer."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._line = Line(settings.host, settings.port)
        self._path = f"/msmq/private$/{settings.queue}"
        self.sent = self.acknowledged = 0

    def run(self) -> float:
        """Post until the time is over; the seconds until everything was answered."""
        settings = self._settings
        url = f"http://{settings.host}:{settings.port}{self._path}"
        before, after = srmp_message.halves(url)
        first = srmp_message.FIRST + settings.run * 10_000_000
        length = len(before) + len(str(first)) + len(after)
        opening = head(self._path, length, srmp_message.CONTENT_TYPE) + before
        start = perf_counter()
        until = start + settings.seconds
        while perf_counter() < until:
            requests = []
            while self.sent - self.acknowledged < settings.window:
                requests.append(opening + str(first + self.sent).encode() + after)
                self.sent += 1
            self._line.send(b"".join(requests))
            self._take()
            while self._line.has_more() and self.acknowledged < self.sent:
                self._take()
        while self.acknowledged < self.sent:
            self._take()
        return perf_counter() - start

    def _take(self) -> None:
        self._line.receive()
        self.acknowledged += 1


def main() -> None:
    """One run with the settings of the first line."""
    settings = msgspec.json.decode(sys.stdin.readline(), type=Settings)
    if settings.core is not None:
        os.sched_setaffinity(0, {settings.core})
    load = Sequence(settings) if settings.protocol == "wsrm" else Posts(settings)
    spent = process_time()
    elapsed = load.run()
    spent = process_time() - spent
    figures = {
        "messages": load.acknowledged,
        "elapsed": elapsed,
        "load_cpu": spent,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
