"""One connection of the listener: requests to the handler, responses back in the order of requests.

    queue of responders   [answered] [answered] [waiting] [answered] | [not handed over yet] ...
                           '---- one write ----'     '-- stops what is behind it

Reading stops while any of three reasons holds: too many requests wait for an answer, the client
does not take its answers, or the engine asks for a rest.  What has come already is kept: bytes
unparsed, parsed requests in the queue, but not handed to the handler.

A refusal (400, 408, 413, 431, 503) stands in the queue like any answer and is the last one.  The
client may still be sending then; closing would reset the connection and the reason would be lost
on the way, so our side is shut and the rest is read and thrown away for a moment.

A client that hangs up (end of file) is told to the responders at once: a waiting receive must not
hand a message to nobody.  An answer that nobody took back is still sent, for clients that shut
their side after the request.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, cast

from reliquary.base.faults import PeerFault
from reliquary.net.http.reader import IDLE, SLICE, RequestReader
from reliquary.net.http.request import Request
from reliquary.net.http.responder import Responder
from reliquary.net.http.response import CLOSE, CONTINUE, HEAD_ONLY, KEEP, KEEP_SAID, error_body
from reliquary.net.http.shared import Shared

PIPELINED: Final = 1  # why reading is stopped: too many requests without an answer
UNREAD: Final = 2  # the client does not take its answers
ENGINE: Final = 4  # the engine asked for it


class Connection(asyncio.Protocol):
    """The protocol between one socket and the handler."""

    __slots__ = (
        "_ended",
        "_held",
        "_idle_since",
        "_keep_mode",
        "_linger",
        "_most_waiting",
        "_queue",
        "_reader",
        "_reading",
        "_shut",
        "_stalled",
        "_tls",
        "_transport",
        "_undelivered",
        "_unfed",
        "_unsent",
        "shared",
        "working",
    )

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self._transport: asyncio.Transport | None = None
        self._reader = RequestReader(shared.limits, shared.next_number(), self._take, shared.now)
        self._unfed: deque[bytes | memoryview] = deque()
        self._undelivered: deque[tuple[Request, Responder]] = deque()
        self._queue: deque[Responder] = deque()
        self.working = False
        """Answers given now are sent at the end of this work, not of the tick."""
        self._most_waiting = shared.limits.pipelined
        self._held = 0
        self._reading = True
        self._ended = False  # no request is taken any more
        self._linger = False  # the client may still be sending when we close
        self._shut = False  # closing: only the rest of the answers leaves
        self._idle_since = self._stalled = shared.now
        self._unsent = 0
        self._keep_mode: int | None = None

    # The transport's side.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        shared = self.shared
        self._transport = cast("asyncio.Transport", transport)
        self._tls = transport.get_extra_info("sslcontext") is not None
        shared.enter(self)
        if shared.held:
            self.hold(ENGINE)
        if shared.draining:
            self._refuse(503, "the server is stopping")
        elif len(shared.connections) > shared.limits.connections:
            self._refuse(503, f"the server takes {shared.limits.connections} connections, this is one more")

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        if self._ended:
            return
        if self._held or len(data) > SLICE or self._unfed:
            self._unfed.append(data)
            self._pump()
        else:
            self._feed(data)
            if self._unfed or self._undelivered:
                self._pump()

    def eof_received(self) -> bool:
        """The client will send no more; the answer says whether our side stays open."""
        self._ended = self.working = True
        self._reader.forget()
        self._unfed.clear()
        while self._undelivered:
            self._undelivered.popleft()[1].abandoned = True
        for responder in list(self._queue):
            responder.lose()
        self.working = False
        self.flush()
        return bool(self._queue) and not self._tls and not self._shut

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing can be sent any more."""
        self._ended = self._shut = True
        self._transport = None
        self._unfed.clear()
        self._undelivered.clear()
        self._reader.close()
        waiting, self._queue = self._queue, deque()
        self.shared.leave(self)
        for responder in waiting:
            responder.lose()

    def pause_writing(self) -> None:
        """The client takes its answers more slowly than they are made."""
        self._stalled = self.shared.now
        self.hold(UNREAD)

    def resume_writing(self) -> None:
        """The client has taken most of them."""
        self.release(UNREAD)

    @property
    def peer(self) -> str:
        """The client's address; empty where it has none, or has gone."""
        name = None if self._transport is None else self._transport.get_extra_info("peername")
        return str(name[0]) if isinstance(name, tuple) else ""

    # Back-pressure.

    def hold(self, reason: int) -> None:
        """Stop reading for a reason."""
        self._held |= reason
        if self._reading and not self._ended and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()

    def release(self, reason: int) -> None:
        """A reason has gone; when it was the last, go on with what is there, then read."""
        if not self._held & reason:
            return
        self._held &= ~reason
        if self._held:
            return
        self._reader.since = self._idle_since = self.shared.now  # our rest is not the client's delay
        if not self.working:
            self._pump()
        self._read_on()

    def _read_on(self) -> None:
        if not self._held and not self._reading and not self._ended and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    def _pump(self) -> None:
        """Go on with what has come, a slice at a time, until there is a reason to stop."""
        while not self._held:
            if self._undelivered:
                self._deliver_waiting()
            elif self._unfed and not self._ended:
                self._feed(self._next_slice())
            else:
                return

    def _next_slice(self) -> bytes | memoryview:
        data = self._unfed.popleft()
        if len(data) <= SLICE:
            return data
        view = memoryview(data)
        self._unfed.appendleft(view[SLICE:])
        return view[:SLICE]

    # From bytes to the handler.

    def _feed(self, data: bytes | memoryview) -> None:
        """Read one slice, then send what was answered at once."""
        self.working = True
        self._reader.now = self.shared.now
        try:
            rest = self._reader.feed(data)
            if rest is not None:
                self._unfed.appendleft(rest)
        except PeerFault as fault:
            self._refuse(fault.status, fault.why)
        finally:
            self.working = False
        self.flush()
        if self._queue and self._outstanding() >= self._most_waiting:
            self.hold(PIPELINED)

    def _take(self, request: Request) -> None:
        """A request is whole: its responder takes its place in the queue."""
        if self._ended:
            return
        mode = self._keep_mode
        if mode is None or self.shared.draining or not request.keep_alive:
            mode = self._decide_mode(request)
        responder = Responder(self, mode | HEAD_ONLY if request.method == "HEAD" else mode)
        self._queue.append(responder)
        if self._held or self._undelivered or len(self._queue) > self._most_waiting:
            self._undelivered.append((request, responder))
        else:
            self._deliver(request, responder)

    def _decide_mode(self, request: Request) -> int:
        """How the connection goes on after this request; the version is asked once, it does not change."""
        if not request.keep_alive or self.shared.draining:
            self._ended = True
            request.keep_alive = False
            return CLOSE
        self._keep_mode = KEEP_SAID if self._reader.is_old() else KEEP
        return self._keep_mode

    def _deliver(self, request: Request, responder: Responder) -> None:
        try:
            self.shared.handler(request, responder)
        except PeerFault as fault:
            responder.respond(fault.status, error_body(fault.why))

    def _deliver_waiting(self) -> None:
        """Hand over requests that were held back, as many as may wait for an answer."""
        self.working = True
        try:
            while self._undelivered and not self._held and self._outstanding() < self._most_waiting:
                self._deliver(*self._undelivered.popleft())
        finally:
            self.working = False
        self.flush()
        if self._outstanding() >= self._most_waiting:
            self.hold(PIPELINED)

    def _outstanding(self) -> int:
        """How many requests the handler has and has not answered."""
        return len(self._queue) - len(self._undelivered)

    # The way back.

    def answered(self, responder: Responder) -> None:
        """A responder has its response; it is sent at the end of the tick, if its turn has come."""
        if self._queue and self._queue[0] is responder and not self.working:
            self.shared.wake(self)

    def flush(self) -> None:
        """Send all that is ready from the front of the queue, in one write."""
        if self._transport is None or self._shut:
            return
        queue = self._queue
        ready: list[bytes] = []
        while queue and (out := queue[0].out) is not None:
            ready.append(out)
            queue.popleft()
        if ready:
            self._idle_since = self.shared.now
            self._transport.write(b"".join(ready))
        if self._ended or self._reader.continue_owed:
            self._settle()
        if self._held & PIPELINED and self._outstanding() < self._most_waiting:
            self.release(PIPELINED)

    def _settle(self) -> None:
        """What is due when the queue is empty: the end, or a go-ahead for the body."""
        assert self._transport is not None, "only a connected one settles"
        if self._queue and not self._queue[0].abandoned:
            return
        if self._ended:
            self._close()
        elif self._reader.continue_owed:
            self._reader.continue_owed = False
            self._transport.write(CONTINUE)

    # The end.

    def _refuse(self, status: int, why: str) -> None:
        """Answer with one sentence after all earlier answers, then hang up."""
        special = self._reader.special()
        self._reader.forget()
        if self._ended:  # what follows the last request is not ours to judge
            return
        self._ended = self._linger = True
        self._unfed.clear()
        responder = Responder(self, CLOSE)
        self._queue.append(responder)
        if special is None:
            responder.respond(status, error_body(why))
        else:
            status = special.statuses.get(status, status)
            special.refused(status, self.peer, why)
            responder.respond(status, b"", b"")

    def sweep(self, now: int) -> None:
        """Once a second: has the client used up a time?"""
        if self._shut or self._held & UNREAD:
            self._sweep_unsent(now)
        elif self._held or self._ended:
            return
        elif self._reader.phase != IDLE:
            late = self._reader.overdue(now)
            if late is not None:
                self._refuse(408, late)
        elif not self._queue and now - self._idle_since > self.shared.limits.idle_time:
            self._close()

    def _sweep_unsent(self, now: int) -> None:
        """Cut off a client that takes no byte of what waits for it."""
        assert self._transport is not None, "a connection without a transport has left the listener"
        unsent = self._transport.get_write_buffer_size()
        if unsent < self._unsent:
            self._stalled = now
        self._unsent = unsent
        limits = self.shared.limits
        if now - self._stalled > (limits.unread_time if unsent else limits.linger_time):
            self._transport.abort()

    def finish(self) -> None:
        """The listener stops: take nothing new; what was begun is answered, then we hang up."""
        if self._reader.phase == IDLE and not self._unfed:
            self._ended = True
            self.flush()

    def abort(self) -> None:
        """Cut the connection now."""
        if self._transport is not None:
            self._transport.abort()

    def _close(self) -> None:
        """Hang up once all is sent."""
        assert self._transport is not None, "only a connected one can hang up"
        self._ended = self._shut = True
        self._stalled = self.shared.now
        self._unsent = self._transport.get_write_buffer_size()
        if self._linger and not self._tls and self._transport.can_write_eof():
            self._transport.write_eof()
            self._transport.resume_reading()
        else:
            self._transport.close()
