"""Reads requests from bytes: it has the callbacks of the parser, and the limits of one request.

                first byte           end of head           end of body
        IDLE -------------> HEAD ----------------> BODY ----------------> IDLE, the request is handed on
                             |                      |
                             | head_time            | body_time, body_rate
                             v                      v
                            408                    408

A request whose head came before on this connection does not go through the parser (`known_heads`), with
a joined or a streamed body. A request under a streamed mount is handed on when its head is read, and
its body part by part.

The usual request comes in one piece without a check: sizes are checked only if a slice ends inside a
request, or if a head may be too long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import httptools

from reliquary.base.faults import PeerFault
from reliquary.base.time import SECOND
from reliquary.net.http.headers import CHUNKED, CODING_LENGTH, TRANSFER_ENCODING, Headers, find
from reliquary.net.http.known_heads import KnownHeads, SharedHeads
from reliquary.net.http.limits import Limits
from reliquary.net.http.mounts import Mount, Mounts
from reliquary.net.http.request import Request
from reliquary.net.tcp.budget import SMALL, Account

if TYPE_CHECKING:
    from reliquary.net.http.streams import Arriving

IDLE: Final = 0
HEAD: Final = 1
BODY: Final = 2

SLICE: Final = 32 * 1024
"""The most bytes that the parser gets at once."""
LONG_SLICE: Final = 256 * 1024
"""The most bytes at a time if bodies are streamed."""


class RequestReader:
    """Reads the requests of one connection; a `PeerFault` has the reason for the end of reading."""

    __slots__ = (
        "_begin",
        "_bodies",
        "_body",
        "_came",
        "_fed",
        "_headers",
        "_inspected",
        "_known",
        "_limits",
        "_long",
        "_most_body",
        "_number",
        "_parser",
        "_raw_left",
        "_request",
        "_resolve",
        "_take",
        "_unknown",
        "_url",
        "_weigh_above",
        "charged",
        "continue_owed",
        "now",
        "phase",
        "since",
        "stream",
    )

    def __init__(
        self,
        limits: Limits,
        mounts: Mounts,
        number: int,
        take: Callable[[Request], None],
        begin: Callable[[Request], Arriving | None],
        now: int,
        bodies: Account | None = None,
        heads: SharedHeads | None = None,
    ) -> None:
        """`bodies` counts the bytes of bodies in parts that all connections hold.

        `heads` are the shared ones.
        """
        self._bodies = bodies or Account()
        self._limits = limits
        self._resolve = mounts.resolve
        self._number = number
        self._take = take
        self._begin = begin
        self._parser = httptools.HttpRequestParser(self)
        self._most_body = limits.body_bytes
        self._weigh_above = limits.head_bytes - 2 * SLICE
        self._url = b""
        self._headers: Headers = []  # the fields of the current head, or trailers, which are not kept
        self._request: Request | None = None  # the current request: its head is read, its body comes in
        self._body: bytes | bytearray = b""
        self._long = False  # the slice is so long that a head in it may be too long
        self._fed = 0  # bytes since the head began or the body grew; -1 when that was in this slice
        self._raw_left = 0  # bytes of body that the parser does not see: its head was known, or an Upgrade
        self._known = KnownHeads(number, heads)
        self._unknown: bytes | None = None  # bytes that begin with an unknown head
        self._inspected = False
        self._came = 0  # bytes of a body that is handed on, since `since`
        self.charged = 0
        """The bytes of the current body that are counted in the account of all bodies."""
        self.stream: Arriving | None = None
        """The receiver of the current body, if the body is not joined."""
        self.continue_owed = False
        """Whether the client waits for a 100 Continue before it sends the body."""
        self.phase = IDLE
        self.now = now
        self.since = now
        """The time at which the head or the body began."""

    def feed(self, data: bytes | memoryview) -> memoryview | None:
        """Read one slice; return the bytes that were not read and must be fed next."""
        if self._raw_left:
            data = self._take_raw(data)
            if self._raw_left:
                self._weigh_part(0)
                return None
            if not data:
                return None
        if self.phase == IDLE:
            data = bytes(data)  # this copies nothing if it is bytes already
            at = 0
            while (match := self._known.find(data, at)) is not None:
                request, body_at, end = match
                if request.mount.begin is not None:
                    self._begin_known(request, end - body_at)
                    self._take_raw(data[body_at:end])
                    if end < len(data):
                        at = end
                        continue
                    if end > len(data):
                        self._weigh_part(0)
                    return None
                if end - body_at > self._most_body:
                    break
                if end > len(data):
                    self._begin_known(request, end - body_at)
                    return self.feed(data[body_at:])
                if end - body_at > SMALL:
                    self._request = request  # a refusal has the form of its mount
                    self._charge(end - body_at)
                    self._request = None
                request.body = data[body_at:end]
                self._take(request)
                at = end
                if at == len(data):
                    return None
            self._unknown = data = data[at:] if at else data
        return self._parse(data)

    @property
    def peer(self) -> str:
        """The client's address; empty before it has connected."""
        return self._known.peer

    @peer.setter
    def peer(self, address: str) -> None:
        self._known.peer = address

    def needs_parser(self, data: bytes) -> bool:
        """Return False for one request, or a part of one, whose head is known: it may be read whole."""
        if self._raw_left:
            return len(data) > self._raw_left
        match = self._known.find(data, 0) if self.phase == IDLE else None
        return match is None or len(data) > match[2]

    def _parse(self, data: bytes | memoryview) -> memoryview | None:
        try:
            self._long = len(data) > SLICE
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as stop:
            if not self._raw_left:
                self._parser = httptools.HttpRequestParser(self)
            return memoryview(data)[stop.args[0] :]
        except httptools.HttpParserCallbackError as error:
            assert error.__context__ is not None, "the parser reports a failed callback without its error"
            raise error.__context__ from None
        except httptools.HttpParserError as error:
            raise PeerFault(400, f"this is not HTTP/1.1: {error}", spec="RFC 9112 2.2") from error
        finally:
            self._unknown = None
        if self.phase:
            self._weigh_part(len(data))
        return None

    def is_old(self) -> bool:
        """Return whether the client uses HTTP/1.0."""
        return self._parser.get_http_version() == "1.0"

    def forget(self) -> None:
        """Drop the read parts of a request, because there will be no more requests."""
        self.phase = IDLE
        self.continue_owed = False
        self.stream = self._request = None
        self._url = self._body = b""
        self._headers = []
        self._bodies.used -= self.charged
        self.charged = 0

    def forget_heads(self) -> None:
        """Forget the notes of all heads, also of the current request."""
        self._known.forget_routes()
        if self._request is not None:
            self._request.notes.route = None

    def rested(self, now: int) -> None:
        """Measure the speed of the client from now on, because it could not send for a time."""
        self.since = now
        self._came = 0

    def close(self) -> None:
        """Release the parser, whose references to our methods would be a reference cycle."""
        self.forget()
        del self._parser
        del self._take
        del self._begin

    # Called by the parser, in this order.

    def on_message_begin(self) -> None:
        """Record the first byte of a request."""
        self.phase = HEAD
        self.since = self.now
        self._fed = -1

    def on_url(self, url: bytes) -> None:
        """Keep the request target, or a part of it."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep one header field, or a trailer."""
        self._headers.append((name, value))
        if len(name) == CODING_LENGTH and name.lower() == TRANSFER_ENCODING and value.lower() != CHUNKED:
            raise _unknown_coding(value)

    def on_headers_complete(self) -> None:
        """Make a request from the head, and begin to read its body."""
        self.phase = BODY
        self.since = self.now
        fields, self._headers = self._headers, []
        if self._long or self._fed > self._weigh_above or len(fields) > self._limits.headers:
            self._weigh_head(fields)
        self._fed = -1
        parser = self._parser
        if parser.should_upgrade():
            self._decline_upgrade(fields)
        method, keep_alive = parser.get_method().decode(), parser.should_keep_alive()
        path, query, mount = self._resolve(self._url)
        request = Request(method, path, query, fields, b"", self._number, keep_alive, mount, self.peer)
        self._request = request
        unknown, self._unknown = self._unknown, None
        if not keep_alive:
            self._known.forget()
        if unknown is not None:
            self._known.keep(unknown, self._url, request)
        if mount.begin is not None:
            self.stream = self._begin(request)

    def on_body(self, data: bytes) -> None:
        """Keep a part of the body, or hand it on; a body that comes in one part is not copied."""
        self._fed = -1
        if self.stream is not None:
            self._came += len(data)
            self.stream.feed(data)
        elif self._request is None:
            return  # the request was dropped
        elif not self._body:
            if len(data) > SMALL:
                self._charge(len(data))
            self._body = data
        else:
            self._join(data)
        if len(self._body) > self._most_body:
            raise self._body_too_large()

    def _join(self, data: bytes) -> None:
        """Append a part of the body, if all connections together do not hold too much."""
        self._charge(len(self._body) + len(data))
        if type(self._body) is bytes and len(data) != self._raw_left:  # it may grow more often
            self._body = bytearray(self._body)
        self._body += data

    def _charge(self, size: int) -> None:
        """Count the current body with this size; PeerFault if all connections hold too much."""
        if size > max(self.charged, SMALL):
            step = max(size - self.charged, SMALL)
            if not self._bodies.fits(step):
                raise _no_room(self._bodies.limit)
            self._bodies.used += step
            self.charged += step

    def on_message_complete(self) -> None:
        """Pass on a complete request, and reset the reader for the next one."""
        if self._raw_left:
            return
        if self.stream is not None:
            self._end_stream(self.stream)
            return
        request = self._request
        if request is None:
            self.forget()
            return
        request.body = self._body if type(self._body) is bytes else bytes(self._body)
        if self._headers and not self._parser.should_keep_alive():  # trailers may also close the connection
            request.keep_alive = False
            self._known.forget()
        self._make_ready()
        self._take(request)

    def _make_ready(self) -> None:
        """Reset the reader for the next request."""
        self.phase = IDLE
        self._url = self._body = b""
        self._request = None
        if self._inspected:
            self._inspected = self.continue_owed = False
            self._most_body = self._limits.body_bytes
        if self._headers:
            self._headers = []

    def _end_stream(self, stream: Arriving) -> None:
        self.stream = None
        self._came = 0
        self._make_ready()
        stream.end()

    # Limits.

    def _weigh_head(self, fields: Headers) -> None:
        limits = self._limits
        if len(fields) > limits.headers:
            raise _too_many_headers(limits.headers, len(fields))
        size = len(self._url) + sum(len(name) + len(value) + 4 for name, value in fields)
        if size > limits.head_bytes:
            raise _head_too_large(limits.head_bytes, size)

    def _weigh_part(self, size: int) -> None:
        """Limit endless heads, trailers and chunk framing: the request continues in the next slice."""
        if self.phase == BODY and not self._inspected:
            self._inspect()
        self._fed = self._fed + size if self._fed >= 0 else 0
        if self._fed > self._limits.head_bytes:
            raise _head_too_large(self._limits.head_bytes, self._fed)
        if len(self._headers) > self._limits.headers:
            raise _too_many_headers(self._limits.headers, len(self._headers))

    def _inspect(self) -> None:
        """Check the head of a request whose body has not come with it, once."""
        self._inspected = True
        if self.stream is None:
            self._foresee_size()
        expected = self._in_hand.header(b"expect")
        if expected is not None and expected.lower() == b"100-continue" and not self._body and not self._came:
            self.continue_owed = True

    def _foresee_size(self) -> None:
        request = self._in_hand
        own_limit = request.mount.body_bytes
        if own_limit is not None:
            self._most_body = own_limit
        length = request.header(b"content-length")
        if max(int(length or 0), len(self._body)) > self._most_body:
            raise self._body_too_large()

    def _body_too_large(self) -> PeerFault:
        size = self._in_hand.header(b"content-length") or b"%d" % len(self._body)
        why = f"a body may have {self._most_body} bytes, this has {size.decode()}"
        return PeerFault(413, why, spec="RFC 9110 15.5.14")

    @property
    def _in_hand(self) -> Request:
        """Return the request whose body is being read."""
        assert self._request is not None, "a body follows a head"
        return self._request

    def mount(self) -> Mount | None:
        """Return the mount of the current request; None while its target has not come, or cannot be read."""
        if self._request is not None:
            return self._request.mount
        if not self._url:
            return None
        try:
            return self._resolve(self._url).mount
        except PeerFault:
            return None

    def overdue(self, now: int) -> str | None:
        """Return the sentence for a client that is too slow with its request, or None."""
        age = now - self.since
        if self.phase == HEAD and age > self._limits.head_time:
            return _late("the head", self._limits.head_time, age)
        if self.phase == BODY:
            came = len(self._body) if self.stream is None else self._came
            allowed = self._limits.body_time + came * SECOND // self._limits.body_rate
            if age > allowed:
                return _late(f"the body ({came} bytes came)", allowed, age)
        return None

    # A body that the parser does not see is cut by its length here.  Either its head was known; or it
    # has an Upgrade that is ignored, RFC 9110 7.8: the request is answered without it, and the parser
    # would take the rest for another protocol.

    def _begin_known(self, request: Request, size: int) -> None:
        """Begin a request with a known head whose body comes in parts, or is handed on while it comes."""
        self.phase = BODY
        self.since = self.now
        self._fed = -1
        self._request = request
        self._raw_left = size
        if request.mount.begin is not None:
            self.stream = self._begin(request)

    def _decline_upgrade(self, fields: Headers) -> None:
        if self._parser.get_method() == b"CONNECT":
            raise PeerFault(501, "this server is no proxy: CONNECT is not known", spec="RFC 9110 9.3.6")
        if find(fields, TRANSFER_ENCODING) is not None:
            raise PeerFault(501, "a chunked request cannot ask for an Upgrade", spec="RFC 9110 7.8")
        self._raw_left = int(find(fields, b"content-length") or 0)

    def _take_raw(self, data: bytes | memoryview) -> bytes | memoryview:
        """Take the bytes that belong to the body; return the rest."""
        part = bytes(data[: self._raw_left])
        if part:
            self.on_body(part)
        self._raw_left -= len(part)
        if self._raw_left:
            return b""
        self.on_message_complete()
        if self._parser.should_upgrade():
            self._parser = httptools.HttpRequestParser(self)
        return data[len(part) :]


_HEAD_SIZE: Final = "RFC 6585 5"


def _too_many_headers(limit: int, count: int) -> PeerFault:
    return PeerFault(431, f"a request may have {limit} headers, this has {count}", spec=_HEAD_SIZE)


def _head_too_large(limit: int, size: int) -> PeerFault:
    return PeerFault(431, f"the head may have {limit} bytes, {size} came", spec=_HEAD_SIZE)


def _unknown_coding(value: bytes) -> PeerFault:
    why = f"the only transfer coding that is known is chunked, not {value[:80].decode('latin-1')!r}"
    return PeerFault(501, why, spec="RFC 9112 6.1")


def _no_room(limit: int) -> PeerFault:
    why = f"requests may take {limit} bytes together, and others have them now; try again later"
    return PeerFault(503, why, spec="RFC 9110 15.6.4")


def _late(what: str, limit: int, age: int) -> str:
    return f"{what} of a request may take {limit / SECOND:g} s, {age / SECOND:g} s have passed"
