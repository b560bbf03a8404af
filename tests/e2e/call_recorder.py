"""Records the Python calls of a server, request by request, and counts them.

    with recorder_of(served) as recorder:
        record = recorder.repeat(lambda number: connection.post(...), syncs=1, limit=169)
    record.functions     each call, in order: "engine/loop submit"
    record.room_calls    which room called which: ("net", "engine")
    record.layer_calls   inside queueing, which layer called which: ("rules", "changes")

Recorded are the thread of the server's loop and all threads that start later, such as those that make Arrow
of rows.  The count is equal in every run and with every version of Python: the caches are full, all
requests come over one connection, and of several requests the one with the fewest calls counts, because some
have additional ones (idle connections are looked for once a second, a block of numbers was reserved).
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, Self

import reliquary
from tests.client.served import Served, turn

SOURCE: Final = str(Path(reliquary.__file__).parent) + "/"
COMPREHENSIONS: Final = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})
"""Code whose calls differ between the versions of Python: never recorded."""
PORTAL: Final = "client/sync/portal"
"""Runs the loop of the server in these tests, and begins the calls of the recorder there: never recorded."""
NO_ROOM: Final = frozenset({"", "base", "client"})
"""Callers that are passed over: other packages; `base`, which runs the rules of a room; the client, whose
thread the loop runs in."""
WARM_UP: Final = 5
"""Requests that are not recorded: they fill the caches."""
FEWEST: Final = 12
MOST: Final = 100
"""Requests that are recorded.  On a busy machine what runs once a second may fall into many of them."""
SLACK: Final = 0.01
"""The share of a limit by which a count may be below it."""


class CallRecord:
    """The calls of functions of Reliquary that one request caused."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.room_calls: set[tuple[str, str]] = set()
        self.layer_calls: set[tuple[str, str]] = set()

    def add(self, frame: FrameType) -> None:
        """Record the call of a function if it is one of Reliquary's."""
        module = _module(frame)
        if not module or module == PORTAL or frame.f_code.co_name in COMPREHENSIONS:
            return
        self.functions.append(f"{module} {frame.f_code.co_name}")
        calling = _calling_module(frame)
        room, caller = _room(module), _room(calling)
        if room != "base" and caller not in ("", room):
            self.room_calls.add((caller, room))
        if room == caller == "queueing" and layer_of(module) != layer_of(calling):
            self.layer_calls.add((layer_of(calling), layer_of(module)))

    def only(self, functions: Container[str]) -> list[str]:
        """Return the calls of these functions, in order."""
        return [each for each in self.functions if each in functions]


class Recorder:
    """Records what a server calls while requests run, one after another."""

    def __init__(self, served: Served) -> None:
        self._portal = served.portal
        self._opened = served.server.opened
        self._record: CallRecord | None = None

    def record(self, request: Callable[[], object], *, syncs: int) -> CallRecord:
        """Run a request and return its calls, up to the end of the last of its syncs."""
        self._portal.call(self._opened.settled())
        synced = self._opened.engine.syncs.count + syncs
        record = self._record = CallRecord()
        request()
        while self._opened.engine.syncs.count < synced:
            self._portal.call(turn())
        self._portal.call(turn())
        self._record = None
        return record

    def repeat(self, request: Callable[[int], object], *, syncs: int, limit: float) -> CallRecord:
        """Run a request with the numbers from 1 on; return the record with the fewest calls.

        Its count must come twice; as long as it exceeds the limit, more requests are recorded.
        """
        for number in range(1, WARM_UP + 1):
            self.record(partial(request, number), syncs=syncs)
        records: list[CallRecord] = []
        for number in range(WARM_UP + 1, WARM_UP + MOST + 1):
            records.append(self.record(partial(request, number), syncs=syncs))
            records.sort(key=lambda record: len(record.functions))
            if len(records) >= FEWEST and is_repeated(records) and len(records[0].functions) <= limit:
                break
        assert is_repeated(records), (
            f"{[len(record.functions) for record in records]} calls: none comes twice"
        )
        return records[0]

    def on_event(self, frame: FrameType, event: str, _: object) -> None:
        """Take a profile event of the interpreter."""
        if event == "call" and self._record is not None:
            self._record.add(frame)


@contextmanager
def recorder_of(served: Served) -> Iterator[Recorder]:
    """Return a recorder of the thread of a server's loop, and of all threads that start within the block."""
    recorder = Recorder(served)

    async def set_profile(function: Callable[[FrameType, str, object], None] | None) -> None:
        sys.setprofile(function)

    async def stop_timer() -> None:
        served.server.sampler.lag.stop()

    served.portal.call(stop_timer())  # it fires ten times a second, and would be in most records
    served.portal.call(set_profile(recorder.on_event))
    threading.setprofile(recorder.on_event)
    try:
        yield recorder
    finally:
        threading.setprofile(None)
        served.portal.call(set_profile(None))


def is_repeated(records: Sequence[CallRecord]) -> bool:
    """Return whether the first two records have one count."""
    return len(records[0].functions) == len(records[1].functions)


def check_calls(name: str, record: CallRecord, limit: float, *, messages: int = 1) -> None:
    """Print the calls for each message; fail if they exceed the limit, or are so few that it can go down."""
    calls = round(len(record.functions) / messages, 2)
    sentence = f"{name}: {calls:g} Python calls for each message, and the limit is {limit:g}"
    print(sentence)  # noqa: T201 - shown by `-s`
    assert calls <= limit, f"{sentence}: find the calls that were added"
    assert calls >= limit * (1 - SLACK), f"{sentence}: write {calls:g}, so that it stays so"


class Connection:
    """A connection to a server; each request leaves in one piece, so that it arrives in one."""

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._socket = socket.create_connection((host, int(port)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._socket.close()

    def post(self, path: str, body: bytes, content_type: str = "application/json") -> None:
        """Send a POST and wait for all of its answer, which says that it was done."""
        head = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {content_type}"]
        head += [f"Content-Length: {len(body)}", "", ""]
        self.send("\r\n".join(head).encode() + body)

    def send(self, request: bytes | bytearray) -> bytes:
        """Send a whole request, and return its answer."""
        self._socket.sendall(request)
        answer = b""
        while not _is_whole(answer):
            piece = self._socket.recv(1 << 20)
            assert piece, f"the server closed the connection: {answer!r}"
            answer += piece
        assert answer.startswith(b"HTTP/1.1 20"), answer
        return answer


def _is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
    return bool(end) and len(body) >= length


def _module(frame: FrameType) -> str:
    """Return the module of a function of Reliquary as "engine/loop", of others an empty text."""
    name = frame.f_code.co_filename
    return name[len(SOURCE) : -len(".py")] if name.startswith(SOURCE) else ""


def _room(module: str) -> str:
    """Return the room of a module; each protocol is a room of its own."""
    parts = module.split("/")
    return "/".join(parts[:2]) if parts[0] == "protocols" else parts[0]


def layer_of(module: str) -> str:
    """Return the layer of a module of queueing; a feature is named, and modules of the root are one layer."""
    _, *folder, _ = module.split("/")
    return folder[0] if folder else "root"


def _calling_module(frame: FrameType) -> str:
    """Return the module that called a function, or an empty text where the loop did."""
    caller = frame.f_back
    while caller is not None:
        module = _module(caller)
        if _room(module) not in NO_ROOM:
            return module
        caller = caller.f_back
    return ""
