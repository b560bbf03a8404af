"""One connection of the listener: bytes in, requests out, responses back in the order of requests.

                first byte           end of head           end of body
        IDLE -------------> HEAD ----------------> BODY ----------------> IDLE, the handler is called
          |                  |                      |
          | idle_time        | head_time            | body_time, body_rate
          v                  v                      v
        close          408, close             408, close

    queue of responders   [answered] [answered] [waiting] [answered]
                           '---- one write ----'     '-- stops what is behind it

Reading stops while any of three reasons holds: too many requests wait for an answer, the client
does not take its answers, or the engine asks for a rest.  What arrived already is kept unparsed.

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

import httptools

from reliquary.base.faults import PeerFault
from reliquary.base.time import SECOND
from reliquary.net.http.headers import Headers, find
from reliquary.net.http.request import Request, split_target
from reliquary.net.http.responder import Responder
from reliquary.net.http.response import CLOSE, CONTINUE, HEAD_ONLY, KEEP, KEEP_SAID, error_body
from reliquary.net.http.shared import Shared

IDLE: Final = 0
HEAD: Final = 1
BODY: Final = 2

PIPELINED: Final = 1  # why reading is stopped: too many requests without an answer
UNREAD: Final = 2  # the client does not take its answers
ENGINE: Final = 4  # the engine asked for it

SLICE: Final = 16 * 1024
"""What the parser gets at once: so much may hold requests beyond the limit of pipelined ones."""


class Connection(asyncio.Protocol):
    """The protocol between one socket and the handler."""

    __slots__ = (
        "_body",
        "_continue_owed",
        "_ended",
        "_fed",
        "_feeding",
        "_head",
        "_headers",
        "_held",
        "_inspected",
        "_keep_mode",
        "_linger",
        "_number",
        "_parser",
        "_phase",
        "_queue",
        "_raw_left",
        "_shut",
        "_since",
        "_stalled",
        "_tls",
        "_transport",
        "_unfed",
        "_unsent",
        "_url",
        "_weigh_above",
        "shared",
    )

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._queue: deque[Responder] = deque()
        self._unfed: deque[bytes | memoryview] = deque()
        self._feeding = False
        self._held = 0
        self._ended = False  # no request is taken any more
        self._linger = False  # the client may still be sending when we close
        self._shut = False  # closing: only the rest of the answers leaves
        self._phase = IDLE
        self._since = self._stalled = shared.now
        self._unsent = 0
        self._keep_mode: int | None = None
        self._weigh_above = shared.limits.head_bytes - 2 * SLICE
        self._url = b""
        self._headers: Headers = []  # what the parser reads now: a head, or trailers, which are not kept
        self._head: Headers = self._headers  # the whole head of the request whose body comes in
        self._body: bytes | bytearray = b""
        self._fed = 0  # bytes since the head began or the body grew; -1 when that was in this slice
        self._raw_left = 0  # bytes of body that the parser does not see, after an unwanted Upgrade
        self._inspected = False
        self._continue_owed = False

    # The transport's side.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        shared = self.shared
        self._transport = cast("asyncio.Transport", transport)
        self._tls = transport.get_extra_info("sslcontext") is not None
        self._number = shared.enter(self)
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
        if self._held or len(data) > SLICE:
            self._unfed.append(data)
            self._pump()
        else:
            self._feed(data)
            if self._unfed:
                self._pump()

    def eof_received(self) -> bool:
        """The client will send no more; the answer says whether our side stays open."""
        self._ended = True
        self._phase = IDLE
        self._unfed.clear()
        self._feeding = True  # one flush for all that is answered now
        for responder in list(self._queue):
            responder.lose()
        self._feeding = False
        self.flush()
        return bool(self._queue) and not self._tls and not self._shut

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing can be sent any more."""
        self._ended = self._shut = True
        self._transport = None
        self._unfed.clear()
        waiting, self._queue = self._queue, deque()
        self._parser = None  # type: ignore[assignment]  # it holds our methods: a cycle less to collect
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

    # Back-pressure.

    def hold(self, reason: int) -> None:
        """Stop reading for a reason."""
        if not self._held and not self._ended and self._transport is not None:
            self._transport.pause_reading()
        self._held |= reason

    def release(self, reason: int) -> None:
        """A reason has gone; read on when it was the last."""
        if not self._held & reason:
            return
        self._held &= ~reason
        if self._held or self._ended or self._transport is None:
            return
        self._since = self.shared.now  # the time in which we did not read is not the client's
        self._transport.resume_reading()
        self._pump()

    def _pump(self) -> None:
        """Parse what waits, a slice at a time, until there is a reason to stop."""
        while self._unfed and not self._held and not self._ended:
            data = self._unfed.popleft()
            if len(data) > SLICE:
                view = memoryview(data)
                self._unfed.appendleft(view[SLICE:])
                data = view[:SLICE]
            self._feed(data)

    # From bytes to requests.

    def _feed(self, data: bytes | memoryview) -> None:
        """Let the parser call back for one slice, then send what was answered at once."""
        self._feeding = True
        try:
            self._parse(data)
        except httptools.HttpParserCallbackError as error:
            self._judge(error.__context__)
        except httptools.HttpParserError as error:
            self._refuse(400, f"this is not HTTP/1.1: {error}")
        except PeerFault as fault:
            self._refuse(fault.status, fault.why)
        finally:
            self._feeding = False
        self.flush()
        if len(self._queue) >= self.shared.limits.pipelined:
            self.hold(PIPELINED)

    def _parse(self, data: bytes | memoryview) -> None:
        if self._raw_left:
            data = self._take_raw(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as stop:
            self._unfed.appendleft(memoryview(data)[stop.args[0] :])
            if not self._raw_left:
                self._parser = httptools.HttpRequestParser(self)
            return
        if self._phase:
            self._weigh_part(len(data))

    def _judge(self, wrong: BaseException | None) -> None:
        """What a callback raised: the client's fault is answered, ours goes up."""
        if not isinstance(wrong, PeerFault):
            assert wrong is not None, "the parser tells of a callback error without the error"
            raise wrong
        self._refuse(wrong.status, wrong.why)

    # What the parser calls, in this order.

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._phase = HEAD
        self._since = self.shared.now
        self._fed = -1

    def on_url(self, url: bytes) -> None:
        """The request target, or a part of it."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header field, or a trailer."""
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head has ended."""
        self._phase = BODY
        self._since = self.shared.now
        self._head = self._headers
        self._headers = []
        if len(self._head) > self.shared.limits.headers or self._fed > self._weigh_above:
            self._weigh_head()
        self._fed = -1
        if self._parser.should_upgrade():
            self._decline_upgrade()

    def on_body(self, data: bytes) -> None:
        """A part of the body; one that comes whole is not copied."""
        self._fed = -1
        if not self._body:
            self._body = data
        elif isinstance(self._body, bytearray):
            self._body += data
        else:
            self._body = bytearray(self._body) + data
        if len(self._body) > self.shared.limits.body_bytes:
            declared = find(self._head, b"content-length")
            raise _too_large(self.shared.limits.body_bytes, declared or b"%d" % len(self._body))

    def on_message_complete(self) -> None:
        """The request is whole: queue its responder and call the handler."""
        if self._raw_left or self._ended:
            return
        method = self._parser.get_method().decode()
        mode = self._next_mode()
        path, query = split_target(self._url)
        body = self._body
        request = Request(
            method,
            path,
            query,
            self._head,
            body if isinstance(body, bytes) else bytes(body),
            self._number,
            mode != CLOSE,
        )
        self._phase = IDLE
        self._url = self._body = b""
        self._inspected = self._continue_owed = False
        if self._headers:
            self._headers = []
        responder = Responder(self, mode | HEAD_ONLY if method == "HEAD" else mode)
        self._queue.append(responder)
        try:
            self.shared.handler(request, responder)
        except PeerFault as fault:
            responder.respond(fault.status, error_body(fault.why))

    def _next_mode(self) -> int:
        """How the connection goes on after this request; the version is asked once, it does not change."""
        if not self._parser.should_keep_alive() or self.shared.draining:
            self._ended = True
            return CLOSE
        if self._keep_mode is None:
            self._keep_mode = KEEP_SAID if self._parser.get_http_version() == "1.0" else KEEP
        return self._keep_mode

    # Limits.

    def _weigh_head(self) -> None:
        limits = self.shared.limits
        if len(self._head) > limits.headers:
            raise _too_many_headers(limits.headers, len(self._head))
        size = len(self._url) + sum(len(name) + len(value) + 4 for name, value in self._head)
        if size > limits.head_bytes:
            raise _head_too_large(limits.head_bytes, size)

    def _weigh_part(self, size: int) -> None:
        """The request goes on in the next slice: bound a head, trailers or chunk framing without end."""
        if self._phase == BODY and not self._inspected:
            self._inspect()
        self._fed = self._fed + size if self._fed >= 0 else 0
        if self._fed > self.shared.limits.head_bytes:
            raise _head_too_large(self.shared.limits.head_bytes, self._fed)
        if len(self._headers) > self.shared.limits.headers:
            raise _too_many_headers(self.shared.limits.headers, len(self._headers))

    def _inspect(self) -> None:
        """Look once into the head of a request whose body has not come with it."""
        self._inspected = True
        length = find(self._head, b"content-length")
        if length is not None and int(length) > self.shared.limits.body_bytes:
            raise _too_large(self.shared.limits.body_bytes, length)
        expected = find(self._head, b"expect")
        if expected is not None and expected.lower() == b"100-continue" and not self._body:
            self._continue_owed = True

    def sweep(self, now: int) -> None:
        """Once a second: has the client used up a time?"""
        limits = self.shared.limits
        age = now - self._since
        if self._shut or self._held & UNREAD:
            self._sweep_unsent(now)
        elif self._held or self._ended:
            return
        elif self._phase == HEAD and age > limits.head_time:
            self._refuse(408, _late("the head", limits.head_time, age))
        elif self._phase == BODY:
            allowed = limits.body_time + len(self._body) * SECOND // limits.body_rate
            if age > allowed:
                self._refuse(408, _late(f"the body ({len(self._body)} bytes came)", allowed, age))
        elif self._phase == IDLE and not self._queue and age > limits.idle_time:
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

    # An Upgrade that we do not follow, RFC 9110 7.8: the request is answered as if it were not there.
    # The parser takes the rest for another protocol, so the body is cut by its length here.

    def _decline_upgrade(self) -> None:
        if self._parser.get_method() == b"CONNECT":
            raise PeerFault(501, "this server is no proxy: CONNECT is not known", spec="RFC 9110 9.3.6")
        if find(self._head, b"transfer-encoding") is not None:
            raise PeerFault(501, "a chunked request cannot ask for an Upgrade", spec="RFC 9110 7.8")
        self._raw_left = int(find(self._head, b"content-length") or 0)

    def _take_raw(self, data: bytes | memoryview) -> bytes | memoryview:
        """Take what belongs to the body; the answer is the rest."""
        part = bytes(data[: self._raw_left])
        if part:
            self.on_body(part)
        self._raw_left -= len(part)
        if not self._raw_left:
            self.on_message_complete()
            self._parser = httptools.HttpRequestParser(self)
            return data[len(part) :]
        return b""

    # The way back.

    def answered(self, responder: Responder) -> None:
        """A responder has its response; it is sent at the end of the tick, if its turn has come."""
        if not self._feeding and self._queue and self._queue[0] is responder:
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
            self._transport.write(b"".join(ready))
            if self._phase == IDLE:
                self._since = self.shared.now
        if self._ended or self._continue_owed:
            self._settle()
        if self._held & PIPELINED and len(queue) < self.shared.limits.pipelined:
            self.release(PIPELINED)

    def _settle(self) -> None:
        """What is due when the queue is empty: the end, or a go-ahead for the body."""
        assert self._transport is not None, "only a connected one settles"
        if self._queue and not self._queue[0].abandoned:
            return
        if self._ended:
            self._close()
        elif self._continue_owed:
            self._continue_owed = False
            self._transport.write(CONTINUE)

    def _refuse(self, status: int, why: str) -> None:
        """Answer with one sentence after all earlier answers, then hang up."""
        self._phase = IDLE
        if self._ended:  # what follows the last request is not ours to judge
            return
        self._ended = self._linger = True
        self._url = self._body = b""
        self._headers = self._head = []
        self._unfed.clear()
        self._continue_owed = False
        responder = Responder(self, CLOSE)
        self._queue.append(responder)
        responder.respond(status, error_body(why))

    def finish(self) -> None:
        """The listener stops: take nothing new; what was begun is answered, then we hang up."""
        if self._phase == IDLE and not self._unfed:
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


_SIZE: Final = "RFC 6585 5"


def _too_large(limit: int, size: bytes) -> PeerFault:
    return PeerFault(413, f"a body may have {limit} bytes, this has {size.decode()}", spec="RFC 9110 15.5.14")


def _too_many_headers(limit: int, count: int) -> PeerFault:
    return PeerFault(431, f"a request may have {limit} headers, this has {count}", spec=_SIZE)


def _head_too_large(limit: int, size: int) -> PeerFault:
    return PeerFault(431, f"the head may have {limit} bytes, {size} came", spec=_SIZE)


def _late(what: str, limit: int, age: int) -> str:
    return f"{what} of a request may take {limit / SECOND:g} s, {age / SECOND:g} s have passed"
