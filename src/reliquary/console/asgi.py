"""Runs an ASGI app behind the own listener, so that one HTTP server with its limits serves both planes.

    head --> a task runs the app --receive--> the body, part by part; it is not read faster than it is taken
                        |
                        '--send--> the whole response at once, or its parts as fast as the client takes them

If the client has disconnected, `send` raises OSError, as ASGI 2.4 requires, and the app ends.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

from starlette.types import ASGIApp, Message, Scope

from reliquary.net.http import BodySink, Mount, Request, Responder

BODY_PIECES: Final = 256 * 1024
"""The bytes of a body that wait for the app; with more, the client is not read from."""
_FRAMING: Final = frozenset({b"content-length", b"content-type"})
"""Header fields that the listener writes itself."""


class AsgiApp:
    """Runs an app for the requests of a listener."""

    def __init__(self, app: ASGIApp, *, scheme: str) -> None:
        self._app = app
        self._scheme = scheme
        self._tasks: set[asyncio.Task[None]] = set()

    def mount(self) -> Mount:
        """Return the mount, which gives all paths to the app."""
        return Mount(prefix="", begin=self._begin)

    async def stop(self) -> None:
        """Cancel the running requests, whose clients do not wait for answers any more."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _begin(self, request: Request, responder: Responder) -> BodySink:
        exchange = Exchange(responder)
        task = asyncio.get_running_loop().create_task(self._run(request, exchange))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return exchange

    async def _run(self, request: Request, exchange: Exchange) -> None:
        try:
            await self._app(self._scope(request, exchange.peer), exchange.receive, exchange.send)
        except Exception as wrong:  # noqa: BLE001 - the app has answered 500, and a person should know why
            if not exchange.is_gone:
                context = {"message": f"{request.method} on the control plane failed", "exception": wrong}
                asyncio.get_running_loop().call_exception_handler(context)
        if not exchange.is_answered:
            exchange.abort()

    def _scope(self, request: Request, peer: str) -> Scope:
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": self._scheme,
            "path": request.path,
            "query_string": request.query,
            "root_path": "",
            "headers": request.headers,
            "client": (peer, 0),
        }


class Exchange:
    """One request and its response, between the listener and the app."""

    def __init__(self, responder: Responder) -> None:
        self._responder = responder
        self.peer = responder.peer
        self._parts: deque[bytes] = deque()
        self._waiting = 0
        """The number of bytes in `_parts`."""
        self._is_paused = False
        self._is_whole = False
        self._is_taken = False
        """Whether the app has got the whole body."""
        self._news = asyncio.Event()
        self._start: Message | None = None
        """Status and header fields, until the first part of the body."""
        self.is_gone = False
        """Whether the client has disconnected."""
        self.is_answered = False
        """Whether the whole response was passed on."""

    # The listener's side: a BodySink.

    def feed(self, data: bytes) -> None:
        """Take a part of the body from the listener."""
        self._parts.append(data)
        self._waiting += len(data)
        if self._waiting > BODY_PIECES:
            self._is_paused = True
            self._responder.pause_body()
        self._news.set()

    def end(self) -> None:
        """Record that the body is complete."""
        self._is_whole = True
        self._news.set()

    def lost(self) -> None:
        """Record that the client has closed the connection."""
        self.is_gone = True
        self._news.set()

    # The app's side.

    async def receive(self) -> Message:
        """Return the next part of the body; after its end, wait until the client has disconnected."""
        while not (self.is_gone or (not self._is_taken and (self._parts or self._is_whole))):
            await self._wait()
        if self.is_gone:
            return {"type": "http.disconnect"}
        data = self._parts.popleft() if self._parts else b""
        self._waiting -= len(data)
        if self._is_paused and self._waiting <= BODY_PIECES:
            self._is_paused = False
            self._responder.resume_body()
        self._is_taken = self._is_whole and not self._parts
        return {"type": "http.request", "body": data, "more_body": not self._is_taken}

    async def _wait(self) -> None:
        self._news.clear()
        await self._news.wait()

    async def send(self, message: Message) -> None:
        """Send the response, or the next part of it; raise OSError when the client has disconnected."""
        if self.is_gone or not self._responder.connected:
            self.is_gone = True
            raise OSError("the client has disconnected")
        if message["type"] == "http.response.start":
            self._start = message
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        if self._start is not None:
            self._begin(self._start, body, more)
        elif body:
            self._responder.write(body)
        if more:
            await self._taken()
        elif not self.is_answered:
            self.is_answered = True
            self._responder.end()

    def _begin(self, start: Message, body: bytes, more: bool) -> None:
        status, kind, headers = start["status"], _kind(start), _fields(start)
        self._start = None
        if more:
            self._responder.begin(status, kind, headers)
            # not earlier: a client that closes its sending side still reads the answer
            self._responder.on_gone(self.lost)
            if body:
                self._responder.write(body)
        else:
            self.is_answered = True
            self._responder.respond(status, body, kind, headers)

    async def _taken(self) -> None:
        """Wait until the client has taken most of the sent bytes; OSError if it disconnects before."""
        self._responder.when_taken(self._news.set)
        await self._wait()
        if self.is_gone:
            raise OSError("the client has disconnected")

    def abort(self) -> None:
        """Cut the connection, so that the client does not take an incomplete response for a whole one."""
        if not self.is_gone:
            self._responder.abort()


def _kind(start: Message) -> bytes:
    found: dict[bytes, bytes] = dict(start.get("headers", ()))
    return found.get(b"content-type", b"")


def _fields(start: Message) -> list[tuple[bytes, bytes]]:
    given: Any = start.get("headers", ())
    return [(name, value) for name, value in given if name not in _FRAMING]
