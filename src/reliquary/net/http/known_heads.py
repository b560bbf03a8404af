"""Heads that came before on a connection: their bytes are compared, and nothing is parsed or looked up again.

    POST /api/v1/queues/orders/messages HTTP/1.1 ... Content-Length: 1024 ... (empty line) body
    '------------------------ start ------------------------------' |    '---- rest ----'
                                                                  digits

Clients repeat a few heads, of which only the length of the body differs.  Kept are heads that the parser has
read, with the request that it made of each; a copy of it gets the next body.  What the handler found out from
the head alone (`Request.notes`) is kept with it, who asks among it: where the users of a server change, all
listeners forget their heads (`Listener.forget_heads`).  What can change otherwise is asked for every request:
the rights of a user, whether the server stops, all limits.

A head is kept only if its end is beyond doubt: each line ends with CR LF, the parser saw as many fields as
there are lines, and only a Content-Length says how long the body is; without one there is none.  What the
client says about the connection (Connection: close, Expect, Upgrade) is left to the parser.
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
"""A connection keeps 8 KB of heads at most, and 128 fields that the parser made of them."""
SELDOM: Final = 16
"""After this number of heads in a row that were not known, one of this number is kept and looked for."""
MOST_DIGITS: Final = 9
"""The most digits of a length; the parser handles a longer one."""

NO_BODY: Final = b"0"
END_OF_HEAD: Final = b"\r\n\r\n"
LENGTH: Final = b"content-length"
NEVER_KEPT: Final = frozenset({TRANSFER_ENCODING, b"expect", b"upgrade", b"trailer"})

_LENGTH_LINE: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,%d})\r\n" % MOST_DIGITS, re.IGNORECASE)


Match = tuple[Request, int, int]
"""A request still without its body, and the places where the body begins and ends."""


class KnownHead(NamedTuple):
    """A head that the parser has read."""

    start: bytes
    """All bytes before the digits of the length; the whole head of a request without a body."""
    digits: bytes
    """The digits of the first length."""
    rest: bytes
    """All bytes behind the digits, with the empty line; empty without a length."""
    request: Request
    """The request that the parser made of it, without a body."""
    whole: bytes
    """The whole head in the form in which it came first."""
    length_at: int = -1
    """The index of Content-Length among its fields."""

    def match_other_length(self, data: bytes, at: int) -> Match | None:
        """Return the request at a place, if it has this head with another length; else None."""
        end = at + len(self.start)
        if not self.rest or not data.startswith(self.start, at):
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


class KnownHeads:
    """The heads of one connection, the latest first.

    A client that never repeats a head, because it uses many queues in turn, pays for keeping few of them.
    """

    __slots__ = ("_heads", "_unused")

    def __init__(self) -> None:
        self._heads: list[KnownHead] = []
        self._unused = 0
        """The number of unknown heads since the last known one."""

    def __len__(self) -> int:
        return len(self._heads)

    def find(self, data: bytes, at: int) -> Match | None:
        """Return the known head that stands at a place; None if the parser must read it."""
        for head in self._heads:
            match: Match | None
            if data.startswith(head.whole, at):
                end = at + len(head.whole)
                match = replace(head.request), end, end + int(head.digits)
            else:
                match = head.match_other_length(data, at)
            if match is not None:
                self._unused = 0
                if head is not self._heads[0]:
                    self._heads.remove(head)
                    self._heads.insert(0, head)
                return match
        return None

    def keep(self, data: bytes, target: bytes, request: Request) -> None:
        """Keep the head at the start of `data`, which the parser has read, if its bytes leave no doubt."""
        self._unused += 1
        if self._unused > SELDOM and self._unused % SELDOM:
            self._heads.clear()
            return
        head = _split(data, target, request)
        if head is not None:
            self._heads.insert(0, head)
            del self._heads[MOST_KEPT:]

    def forget(self) -> None:
        """Forget all heads: the client announced that there will be no more requests."""
        self._heads.clear()

    def forget_routes(self) -> None:
        """Forget all heads and the notes of handlers: the user of a head may have changed.

        Requests with these heads that came and were not handled yet share the notes.
        """
        for head in self._heads:
            head.request.notes.route = None
        self._heads.clear()


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
