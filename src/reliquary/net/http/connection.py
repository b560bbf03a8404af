"""Implements one connection of the listener: it passes requests on, and sends responses in their order.

    queue of responders   [answered] [answered] [waiting] [answered] | [not handed over yet] ...
                           '---- one write ----'     '-- delays those behind it

Reading stops while any of four reasons holds: too many requests wait for an answer, the client does not
take its answers, the engine is overloaded, or the sink of the current body asked for a pause. Input
that has come already is kept: unparsed bytes, and parsed requests in the queue, which the handler does
not get yet.

A body that is handed on while it comes (`streams`) has its responder in the queue from its head on. A
response that is made while it is sent stays at the front until its end, and its producer is called as
soon as the client has taken the last piece.

A refusal (400, 408, 413, 431, 503) stands in the queue like any answer and is the last one.  The client
may still be sending then; closing would reset the connection and lose the reason, so only the sending
side is closed, and input is read and dropped for a moment.

When a client disconnects (end of file), the responders are notified at once: a waiting receive must not
give a message to a client that has left.  Other answers are still sent, for clients that shut their
side after the request.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import Final

from reliquary.base.faults import PeerFault
from reliquary.net.http.reader import IDLE, LONG_SLICE, SLICE, RequestReader
from reliquary.net.http.request import Request
from reliquary.net.http.responder import Responder
from reliquary.net.http.response import CLOSE, CONTINUE, HEAD_ONLY, KEEP, KEEP_SAID, error_body
from reliquary.net.http.shared import Shared
from reliquary.net.http.streams import Arriving
from reliquary.net.tcp.accepted import UNREAD, AcceptedConnection
from reliquary.net.tcp.budget import SMALL

PIPELINED: Final = 4  # reading stops because too many requests have no answer
SINK: Final = 8  # reading stops because the sink of a body requested it


class Connection(AcceptedConnection):
    """The protocol between one socket and the handler."""

    __slots__ = (
        "_keep_mode",
        "_linger",
        "_most_waiting",
        "_queue",
        "_reader",
        "_slice",
        "_undelivered",
        "_unread_charge",
        "is_secure",
        "working",
    )

    shared: Shared

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._reader = RequestReader(
            shared.limits,
            shared.mounts,
            self.number,
            self._take,
            self._begin,
            shared.now,
            shared.budget.bodies,
            shared.known_heads,
        )
        self._undelivered: deque[tuple[Request | Arriving, Responder]] = deque()
        self._queue: deque[Responder] = deque()
        self.working = False
        """Whether a slice is being read.

        Answers of this time are sent at its end, not at the end of the tick.
        """
        self._most_waiting = shared.limits.pipelined
        self._slice = SLICE
        self._unread_charge = 0  # bytes of complete answers that count as not taken
        self._linger = False  # the client may still be sending when we close
        self._keep_mode: int | None = None

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register a client that has connected."""
        self.is_secure = transport.get_extra_info("sslcontext") is not None
        """Whether the client came over TLS."""
        super().connection_made(transport)
        self._reader.peer = self.peer

    def refuse(self, why: str) -> None:
        """Answer that the server takes no connection now."""
        self._refuse(503, why)

    def data_received(self, data: bytes) -> None:
        """Read bytes that the client sent, or keep them while reading is stopped."""
        if self.ended:
            return
        too_long = len(data) > self._slice and self._reader.needs_parser(data)
        if self._stop_reasons or too_long or self._unfed:
            self._unfed.append(data)
            self._pump()
        else:
            self.feed(data)
            if self._unfed or self._undelivered:
                self._pump()

    def eof_received(self) -> bool:
        """Record that the client will send no more; return whether the sending side stays open."""
        self.ended = self.working = True
        self._lose_body()
        self._reader.forget()
        self._unfed.clear()
        while self._undelivered:
            self._undelivered.popleft()[1].abandoned = True
        for responder in list(self._queue):
            responder.lose()
        self.working = False
        self.flush()
        return bool(self._queue) and not self.is_secure and not self._shut

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify all responders that their answers can no longer be sent."""
        self.ended = self._shut = True
        self._transport = None
        self._undelivered.clear()
        self._lose_body()
        self._reader.close()
        waiting, self._queue = self._queue, deque()
        for responder in waiting:
            responder.lose()
            responder.settle()
        self.count_unread()
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        """Send more answers, because the client has taken most of the last ones."""
        super().resume_writing()
        if self._unread_charge:
            self.count_unread()
        self._ask_for_more()

    # Back-pressure.

    def go_on(self) -> None:
        """Read the input that came while reading was stopped."""
        self._reader.rested(self.shared.now)
        if not self.working:
            self._pump()

    def _pump(self) -> None:
        """Read the input that has come, slice by slice, until there is a reason to stop."""
        while not self._stop_reasons:
            if self._undelivered:
                self._deliver_waiting()
            elif self._unfed and not self.ended:
                self.feed(self._next_slice())
            else:
                return

    def _next_slice(self) -> bytes | memoryview:
        data = self._unfed.popleft()
        if len(data) <= self._slice:
            return data
        view = memoryview(data)
        self._unfed.appendleft(view[self._slice :])
        return view[: self._slice]

    def forget_heads(self) -> None:
        """Forget the users of all known heads, so that each request is admitted anew."""
        self._reader.forget_heads()
        for waiting, _ in self._undelivered:
            if isinstance(waiting, Request):
                waiting.notes.route = None

    # Requests on their way from bytes to the handler.

    def feed(self, data: bytes | memoryview) -> None:
        """Read one slice, then send the answers that were given at once."""
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
        queue = self._queue
        waits = queue and queue[0].out is None and queue[0].streamed is None
        if not waits or self.ended or self._reader.continue_owed:
            self.flush()
        if len(queue) >= self._most_waiting and self._outstanding() >= self._most_waiting:
            self.stop_reading(PIPELINED)

    def _take(self, request: Request) -> None:
        """Put the responder of a complete request into the queue, and pass the request on if allowed."""
        if self.ended:
            self._reader.forget()
            return
        mode = self._keep_mode
        if mode is None or self.shared.draining or not request.keep_alive:
            mode = self._decide_mode(request)
            self.ended = bool(mode & CLOSE)
        responder = Responder(self, mode | HEAD_ONLY if request.method == "HEAD" else mode)
        if self._reader.charged:  # counted until the answer, because the message is in memory for that time
            responder.charged, self._reader.charged = self._reader.charged, 0
        self._queue.append(responder)
        if self._stop_reasons or self._undelivered or len(self._queue) > self._most_waiting:
            self._undelivered.append((request, responder))
        else:
            self._deliver(request, responder)

    def _begin(self, request: Request) -> Arriving | None:
        """Put a request with a streamed body into the queue; None if no request is accepted any more."""
        if self.ended:
            return None
        mode = self._decide_mode(request)
        responder = Responder(self, mode | HEAD_ONLY if request.method == "HEAD" else mode)
        responder.body_comes = True
        arriving = Arriving(request, responder)
        self._queue.append(responder)
        if self._stop_reasons or self._undelivered or len(self._queue) > self._most_waiting:
            self._undelivered.append((arriving, responder))
        else:
            self._open(arriving)
        return arriving if responder.body_comes else None

    def _decide_mode(self, request: Request) -> int:
        """Return how the connection continues after this request; the HTTP version is read once, it
        does not change.
        """
        if self._keep_mode is None:
            self._keep_mode = KEEP_SAID if self._reader.is_old() else KEEP
        if not request.keep_alive or self.shared.draining:
            request.keep_alive = False
            return CLOSE | self._keep_mode
        return self._keep_mode

    def _open(self, arriving: Arriving) -> None:
        """Pass on a request whose body is still arriving."""
        mount = arriving.request.mount
        assert mount.begin is not None, "bodies of this mount are streamed"
        if mount.ended is not None and mount not in self.opened_objects:
            self.opened_objects.keep(mount, partial(mount.ended, self.number))
        # a streaming client sends large bodies, which are divided as rarely as possible
        self._slice = LONG_SLICE
        try:
            arriving.begin(mount.begin)
        except PeerFault as fault:
            arriving.responder.respond(fault.status, error_body(fault.why))

    def _deliver(self, request: Request, responder: Responder) -> None:
        handler = request.mount.handler
        assert handler is not None, "bodies of this mount are whole"
        try:
            handler(request, responder)
        except PeerFault as fault:
            responder.respond(fault.status, error_body(fault.why))

    def _deliver_waiting(self) -> None:
        """Pass on waiting requests, as many as may be without an answer."""
        self.working = True
        try:
            while self._undelivered and not self._stop_reasons and self._outstanding() < self._most_waiting:
                request, responder = self._undelivered.popleft()
                if isinstance(request, Arriving):
                    self._open(request)
                else:
                    self._deliver(request, responder)
        finally:
            self.working = False
        self.flush()
        if self._outstanding() >= self._most_waiting:
            self.stop_reading(PIPELINED)

    def _outstanding(self) -> int:
        """Return the number of requests that the handler has not answered.

        An incomplete request is not counted.
        """
        stream = self._reader.stream
        coming = stream is not None and stream.begun
        return len(self._queue) - len(self._undelivered) - coming

    def pause_body(self) -> None:
        """Stop reading, because the sink of the body cannot take more now."""
        self.stop_reading(SINK)

    def resume_body(self) -> None:
        """Read again, because the sink of the body requested more."""
        self.release(SINK)

    def body_came(self, responder: Responder) -> None:
        """Record that a streamed body is complete."""
        if responder.mode & CLOSE:
            self.ended = True
        elif self.shared.draining and responder.out is None:
            responder.mode |= CLOSE
            self.ended = True

    def _lose_body(self) -> None:
        """Notify the sink that the current body will not be complete, and drop the answer of its request."""
        stream = self._reader.stream
        if stream is not None:
            self._reader.stream = None
            stream.responder.body_comes = False
            stream.responder.abandoned = True
            stream.lose()

    # Responses on their way to the client.

    def answered(self, responder: Responder) -> None:
        """Schedule a response; it is sent at the end of the tick, if its turn has come."""
        if self._queue and self._queue[0] is responder and not self.working:
            self.shared.wake(self)

    def flush(self) -> None:
        """Send all responses that are ready from the front of the queue, in one write."""
        if self._transport is None or self._shut:
            return
        queue = self._queue
        ready: list[bytes | memoryview] = []
        streamed = None
        while queue:
            first = queue[0]
            if first.out is None:
                streamed = first.streamed
                break
            ready.append(first.out)
            queue.popleft()
            if first.charged or first.expected:
                first.settle()
        if streamed is not None:
            ready += streamed.take()
        if ready:
            self.idle_since = self.shared.now
            if streamed is None:
                self._transport.write(b"".join(ready))
            else:  # Its pieces may be large: they are not joined.  asyncio's own `writelines`, up to Python
                # 3.13.1, never asks a protocol to pause; uvloop joins these writes to one system call.
                for piece in ready:
                    self._transport.write(piece)
            if self._unread_charge:
                self.count_unread()
        if self.ended or self._reader.continue_owed:
            self._settle()
        if self._stop_reasons & PIPELINED and self._outstanding() < self._most_waiting:
            self.release(PIPELINED)
        if streamed is not None:
            self._ask_for_more()

    def _ask_for_more(self) -> None:
        """Let a streamed response continue, once the client has taken its last piece."""
        if self._queue and not self._stop_reasons & UNREAD and not self._shut:
            streamed = self._queue[0].streamed
            if streamed is not None:
                streamed.ask()

    def charge_unread(self, size: int) -> None:
        """Count a complete answer of this size, which may have to wait."""
        self._unread_charge += size
        self.shared.budget.answers.used += size

    def count_unread(self) -> None:
        """Count again the bytes of large answers that have not left yet."""
        unread = 0 if self._transport is None else self._transport.get_write_buffer_size()
        unread += sum(len(each.out) for each in self._queue if each.out is not None)
        if unread <= SMALL:
            unread = 0
        self.shared.budget.answers.used += unread - self._unread_charge
        self._unread_charge = unread

    def end_with(self, responder: Responder) -> None:
        """Make this response the last one: nothing more is read, and the requests behind it get no answer."""
        responder.mode |= CLOSE
        if self._transport is None or self._shut:
            return
        self.ended = True
        if responder.body_comes:
            responder.body_comes = False
            self._linger = True
        else:
            self._lose_body()
        self._reader.forget()
        self._unfed.clear()
        self._undelivered.clear()
        while self._queue[-1] is not responder:
            dropped = self._queue.pop()
            dropped.lose()
            dropped.settle()

    def _settle(self) -> None:
        """Close the connection, or send 100 Continue for the body, if no earlier response is due."""
        assert self._transport is not None, "only a connected one settles"
        first = self._queue[0] if self._queue else None
        if first is not None and not first.abandoned and not first.body_comes:
            return
        if self.ended:
            self.close()
        elif self._reader.continue_owed:
            self._reader.continue_owed = False
            self._transport.write(CONTINUE)

    # Closing.

    def _refuse(self, status: int, why: str) -> None:
        """Answer with one sentence after all earlier answers, then close."""
        mount = self._reader.mount()
        stream = self._reader.stream
        if stream is not None:
            self._lose_body()
            self._queue.pop()  # the refusal takes its place
            if not stream.begun:
                self._undelivered.pop()
        self._reader.forget()
        if self.ended:  # input behind the last request is ignored
            return
        self.ended = self._linger = True
        self._unfed.clear()
        responder = Responder(self, CLOSE)
        self._queue.append(responder)
        if mount is None or mount.refusals is None:
            responder.respond(status, error_body(why))
        else:
            status = mount.refusals.statuses.get(status, status)
            mount.refusals.refused(status, self.peer, why)
            responder.respond(status, b"", b"")

    def sweep(self, now: int) -> None:
        """Check once a second whether the client exceeded a time limit."""
        if self._unread_charge:
            self.count_unread()
        if self._shut or self._stop_reasons & UNREAD:
            super().sweep(now)
        elif not self._stop_reasons and not self.ended:
            self._sweep_request(now)

    def _sweep_request(self, now: int) -> None:
        """Refuse a request that arrives too slowly, or close a connection without any request."""
        if self._reader.phase == IDLE:
            super().sweep(now)
        elif late := self._reader.overdue(now):
            self._refuse(408, late)

    def is_idle(self) -> bool:
        """Return whether every request was answered."""
        return not self._queue

    def finish(self) -> None:
        """Take no new requests; answer those that were begun, then close, because the listener stops."""
        if self._reader.phase == IDLE and not self._unfed:
            self.ended = True
            self.flush()

    def abort_soon(self) -> None:
        """Send nothing more, and cut the connection at the end of this tick.

        The producer of a streamed response is called from inside the transport, which must not be cut then.
        """
        if self._transport is not None:
            self.ended = self._shut = True
            asyncio.get_running_loop().call_soon(self._transport.abort)

    def close(self) -> None:
        """Close the connection after all bytes were sent."""
        assert self._transport is not None, "only a connected one can hang up"
        if self._linger and not self.is_secure and not self.is_crowded:
            self.hear_out()
        else:
            super().close()
