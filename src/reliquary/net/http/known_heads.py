"""Recognizes repeated heads of requests by their bytes, so that they are not parsed or looked up again.

    POST /api/v1/queues/orders/messages HTTP/1.1 ... Content-Length: 1024 ... (empty line) body
    '------------------------ start ------------------------------' |    '---- rest ----'
                                                                  digits

Clients repeat a few heads, of which only the length of the body differs.  Each head that the parser has
read is kept with its request; a copy of it gets the next body.  The results of the handler from the
head alone (`Request.notes`), such as the user, are kept with it: when the users of a server change, all
listeners forget their heads (`Listener.forget_heads`).  Other conditions are checked for every request:
the rights of a user, whether the server stops, all limits.

    KnownHeads     the last few heads of a connection, which are compared one after another
    SharedHeads    the heads of all connections of a listener, which are looked up by their bytes

A client that uses many queues, or connects again for each request, finds its heads in the second.  Only
connections of one address share a head, because a proof of identity may be refused at one address and
accepted at another (`identity.failures`).

A head is kept only if its end is certain: each line ends with CR LF, the parser saw as many fields as
there are lines, and only a Content-Length says how long the body is; without one there is none.  Fields
about the connection (Connection: close, Expect, Upgrade) are left to the parser.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from msgspec.structs import replace

from reliquary.net.http.headers import TRANSFER_ENCODING, Headers
from reliquary.net.http.request import Request

MOST_KEPT: Final = 4
LONGEST_KEPT: Final = 2048
MOST_FIELDS: Final = 32
"""The most fields of a kept head: a connection keeps at most 8 KB of heads, and 128 parsed fields."""
MOST_SHARED: Final = 16 * 1024 * 1024
"""The bytes of memory that the heads of all connections of a listener take at most, by `_weight`."""
SELDOM: Final = 16
"""If there is no more room.

After this number of unknown heads in a row, one of this number is kept and searched for.
"""
MOST_DIGITS: Final = 9
"""The most digits of a length that is compared here; the parser handles a longer one."""

NO_BODY: Final = b"0"
END_OF_HEAD: Final = b"\r\n\r\n"
LENGTH: Final = b"content-length"
NEVER_KEPT: Final = frozenset({TRANSFER_ENCODING, b"expect", b"upgrade", b"trailer"})

_LENGTH_LINE: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,%d})\r\n" % MOST_DIGITS, re.IGNORECASE)


Match = tuple[Request, int, int]
"""A request without its body, and the positions where the body begins and ends."""


class KnownHead(NamedTuple):
    """A head that the parser has read."""

    start: bytes
    """All bytes before the digits of the length; the whole head of a request without a body."""
    digits: bytes
    """The digits of the first length."""
    rest: bytes
    """All bytes after the digits, with the empty line; empty without a length."""
    request: Request
    """The request that the parser made of it, without a body."""
    whole: bytes
    """The whole head in the form in which it came first."""
    length_at: int = -1
    """The index of Content-Length among its fields."""

    def match_other_length(self, data: bytes, at: int) -> Match | None:
        """Return the request at a place where `start` stands, if it has this head with another length."""
        end = at + len(self.start)
        if not self.rest:
            return None
        digits_at, end = end, data.find(b"\r", end, end + MOST_DIGITS + 1)
        digits = data[digits_at:end]
        if end < 0 or not data.startswith(self.rest, end) or not digits.isdigit():
            return None
        end += len(self.rest)
        return replace(self.request, fields=self._fields_with(digits)), end, end + int(digits)

    def _fields_with(self, digits: bytes) -> Headers:
        """Return the fields with another length."""
        fields = self.request.fields.copy()
        fields[self.length_at] = (fields[self.length_at][0], digits)
        return fields


Key = tuple[str, bytes, bytes]
"""The address of a client, and the bytes of a head before and after the digits of its length."""


class SharedHeads:
    """The heads of all connections of a listener; the oldest are dropped for new ones."""

    __slots__ = ("_heads", "_limit", "_size")

    def __init__(self, limit: int = MOST_SHARED) -> None:
        self._heads: dict[Key, KnownHead] = {}
        self._limit = limit
        self._size = 0

    def __len__(self) -> int:
        return len(self._heads)

    @property
    def is_full(self) -> bool:
        """Whether a new head replaces an older one."""
        return self._size >= self._limit

    def find(self, data: bytes, at: int, peer: str) -> KnownHead | None:
        """Return the known head with the bytes at a position, or with another length; otherwise None."""
        end = data.find(END_OF_HEAD, at, at + LONGEST_KEPT) + len(END_OF_HEAD)
        length = _LENGTH_LINE.search(data, at, end)
        if length is None:
            return self._heads.get((peer, data[at:end], b""))
        return self._heads.get((peer, data[at : length.start(1)], data[length.end(1) : end]))

    def keep(self, head: KnownHead) -> None:
        """Keep a head, and drop the oldest ones if all of them take too much memory."""
        key = head.request.peer, head.start, head.rest
        before = self._heads.pop(key, None)
        self._heads[key] = head
        self._size += _weight(head) - (0 if before is None else _weight(before))
        while self._size > self._limit:
            self._size -= _weight(self._heads.pop(next(iter(self._heads))))

    def forget_routes(self) -> None:
        """Forget all heads and the notes of handlers: the user of a head may have changed."""
        for head in self._heads.values():
            head.request.notes.route = None
        self._heads.clear()
        self._size = 0


def _weight(head: KnownHead) -> int:
    """Return the approximate memory of a head: it has its bytes twice, and all fields."""
    return 1024 + 2 * len(head.whole) + 128 * len(head.request.fields)


class KnownHeads:
    """The last heads of one connection, the latest first, and those that it shares with others.

    For a client that never repeats a head, only few of them are kept when there is no more room.
    """

    __slots__ = ("_heads", "_number", "_shared", "_unused", "peer")

    def __init__(self, number: int = 0, shared: SharedHeads | None = None) -> None:
        """`number` is the number of the connection, which its requests have."""
        self._heads: list[KnownHead] = []
        self._number = number
        self._shared = SharedHeads() if shared is None else shared
        self._unused = 0
        """The number of unknown heads since the last known one."""
        self.peer = ""
        """The client's address, after it has connected."""

    def __len__(self) -> int:
        return len(self._heads)

    def find(self, data: bytes, at: int) -> Match | None:
        """Return the known head at a position; None if the parser must read it."""
        for head in self._heads:
            match: Match | None
            if data.startswith(head.whole, at):
                end = at + len(head.whole)
                match = replace(head.request), end, end + int(head.digits)
            elif data.startswith(head.start, at):
                match = head.match_other_length(data, at)
            else:
                continue
            if match is not None:
                self._unused = 0
                if head is not self._heads[0]:
                    self._heads.remove(head)
                    self._heads.insert(0, head)
                return match
        shared = self._shared.find(data, at, self.peer)
        if shared is None:
            return None
        self._add(shared._replace(request=replace(shared.request, connection=self._number)))
        return self.find(data, at)  # it is the first of the heads now

    def _add(self, head: KnownHead) -> None:
        self._heads.insert(0, head)
        del self._heads[MOST_KEPT:]

    def keep(self, data: bytes, target: bytes, request: Request) -> None:
        """Keep the head at the start of `data`, which the parser has read, if its end is certain."""
        self._unused += 1
        if self._unused > SELDOM and self._unused % SELDOM and self._shared.is_full:
            self._heads.clear()
            return
        head = _split(data, target, request)
        if head is not None:
            self._add(head)
            self._shared.keep(head)

    def forget(self) -> None:
        """Forget all heads, and find no others, because the client announced its last request."""
        self._heads.clear()
        self._shared = SharedHeads(0)

    def forget_routes(self) -> None:
        """Forget all heads and the notes of handlers: the user of a head may have changed.

        Requests with these heads that came and were not handled yet share the notes.
        """
        for head in self._heads:
            head.request.notes.route = None
        self._heads.clear()
        self._shared.forget_routes()


def _split(data: bytes, target: bytes, request: Request) -> KnownHead | None:
    end = data.find(END_OF_HEAD, 0, LONGEST_KEPT) + len(END_OF_HEAD)
    head = data[:end]
    names = [name.lower() for name, _ in request.fields]
    lines = len(names) + 2  # the request line and the empty one
    if (
        not request.keep_alive
        or len(names) > MOST_FIELDS
        or not head.startswith(b"%b %b HTTP/1.1\r\n" % (request.method.encode(), target))
        or not head.count(b"\r\n") == head.count(b"\r") == head.count(b"\n") == lines
        or not NEVER_KEPT.isdisjoint(names)
    ):
        return None
    kept = replace(request, body=b"")
    if LENGTH not in names:
        return KnownHead(head, NO_BODY, b"", kept, head)
    found = _LENGTH_LINE.search(head)
    if found is None or names.count(LENGTH) > 1:
        return None
    start, rest = head[: found.start(1)], head[found.end(1) :]
    return KnownHead(start, found[1], rest, kept, head, names.index(LENGTH))
