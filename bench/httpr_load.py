"""The load of the HTTPR benchmark, in a process of its own: one connection, one session, requests pipelined.

Reads one JSON line of settings, runs, writes one JSON line of figures.  Bodies are encoded before the clock
runs, and of a response only its length and ids are looked at, so that the server is what is measured.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from time import perf_counter, process_time

import msgspec

from bench.httpr_message import BODY, Template, begin, pull, push, report

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_FIELD = rb"(?im)^%b: *([^\r\n]*)\r\n"
_COMPLETED = re.compile(_FIELD % b"completed")
_TRANSACTION = re.compile(_FIELD % b"transactionid")
_ERROR = re.compile(_FIELD % b"error")
_CAPABILITY = re.compile(r"(maximum_batch_size|maximum_pipeline_depth)=(\d+)")
_READ = 1 << 20


class Settings(msgspec.Struct):
    """The settings of one run."""

    host: str
    port: int
    service: str
    command: str
    """The operation: `push` or `pull`."""
    batch: int
    depth: int
    seconds: float = 0
    messages: int = 0
    """Not 0: stop after this many messages instead of after some time."""
    core: int | None = None


class Line:
    """A connection that is written to and read from without a loop."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._came = bytearray()
        self._space = bytearray(_READ)

    def send(self, data: bytes | bytearray) -> None:
        self._socket.sendall(data)

    def receive(self) -> tuple[bytes, bytes]:
        """Return the next response: the header of HTTPR, and what follows it."""
        while (head := self._came.find(b"\r\n\r\n")) < 0:
            self._read()
        start = head + 4
        length = _LENGTH.search(self._came, 0, start)
        first = bytes(self._came[:head])
        assert first.startswith(b"HTTP/1.1 200"), first
        assert length is not None, f"a response without a length: {first!r}"
        stop = start + int(length[1])
        while len(self._came) < stop:
            self._read()
        body = bytes(memoryview(self._came)[start:stop])
        del self._came[:stop]
        header, blank, batch = body.partition(b"\r\n\r\n")
        return header + blank, batch

    def _read(self) -> None:
        size = self._socket.recv_into(self._space)
        if not size:
            raise ConnectionError(f"the server hung up; {bytes(self._came)!r} was left")
        self._came += memoryview(self._space)[:size]


class Run:
    """A session, and what was done in it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._line = Line(settings.host, settings.port)
        self.session, self.batch, self.depth, self.last = self._begin()
        self.messages = 0
        self.requests = 0

    def _begin(self) -> tuple[str, int, int, int]:
        chosen = self.settings
        self._line.send(begin(chosen.service, "bench", chosen.batch, chosen.depth))
        header, _ = self._line.receive()
        lowered = {name: int(value) for name, value in _CAPABILITY.findall(header.decode())}
        return (
            _field(rb"sessionid", header).decode(),
            lowered.get("maximum_batch_size", chosen.batch),
            lowered.get("maximum_pipeline_depth", chosen.depth),
            int(_field(rb"completed", header), 16),
        )

    def push(self) -> float:
        """PUSH until the time or the number is reached; the seconds that it took."""
        chosen, line = self.settings, self._line
        target = f"httpr://{chosen.host}:{chosen.port}/httpr/{chosen.service}#{chosen.service}"
        template = push(chosen.service, self.session, target, self.batch)
        answered = self.last
        start = perf_counter()
        while not self._is_done(start, (self.last - answered) * self.batch):
            while self.last - answered < self.depth:
                self.last += 1
                line.send(template.with_id(self.last))
            answered += 1
            self._pushed(answered)
        while answered < self.last:
            answered += 1
            self._pushed(answered)
        elapsed = perf_counter() - start
        self._finish(0)
        return elapsed

    def _pushed(self, number: int) -> None:
        header, _ = self._line.receive()
        completed = _COMPLETED.search(header)
        assert b"outcome:COMMIT" in header, header
        assert completed is not None, header
        assert int(completed[1], 16) >= number, header
        self.messages += self.batch
        self.requests += 1

    def pull(self) -> float:
        """PULL until this many messages have come; the seconds that it took."""
        line, goal, got = self._line, self.settings.messages, 0
        template = pull(self.settings.service, self.session)
        start = perf_counter()
        for _ in range(self.depth):
            line.send(template.with_id(0))
        outstanding = self.depth
        while self.messages < goal:
            got = self._pulled() or got
            outstanding -= 1
            if self.messages < goal:
                line.send(template.with_id(got))
                outstanding += 1
        elapsed = perf_counter() - start
        for _ in range(outstanding):
            got = self._pulled() or got
        self._finish(got)
        return elapsed

    def _pulled(self) -> int:
        """Return the id of the batch that came; 0 when there was nothing."""
        header, batch = self._line.receive()
        error = _ERROR.search(header)
        assert error is None, header
        self.requests += 1
        found = _TRANSACTION.search(header)
        if found is None:
            return 0
        assert batch.endswith(b"payload-disposition:last\r\n"), batch[-100:]
        self.messages += batch.count(b"message-size:")
        assert len(batch) > batch.count(b"message-size:") * len(BODY)
        return int(found[1], 16)

    def _finish(self, completed: int) -> None:
        last: Template = report(self.settings.service, self.session, self.last)
        self._line.send(last.with_id(completed))
        header, _ = self._line.receive()
        assert _ERROR.search(header) is None, header

    def _is_done(self, start: float, under_way: int) -> bool:
        if self.settings.messages:
            return self.messages + under_way >= self.settings.messages
        return perf_counter() - start >= self.settings.seconds


def _field(name: bytes, header: bytes) -> bytes:
    found = re.search(_FIELD % name, header)
    assert found is not None, f"no {name.decode()} in {header!r}"
    return found[1]


def main() -> None:
    """Read the settings of one run from the input, run it and print its figures."""
    settings = msgspec.json.decode(sys.stdin.readline(), type=Settings)
    if settings.core is not None:
        os.sched_setaffinity(0, {settings.core})
    run = Run(settings)
    spent = process_time()
    elapsed = run.push() if settings.command == "push" else run.pull()
    spent = process_time() - spent
    figures = {
        "messages": run.messages,
        "requests": run.requests,
        "elapsed": elapsed,
        "load_cpu": spent,
        "batch": run.batch,
        "depth": run.depth,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
