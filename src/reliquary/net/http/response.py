"""Formats responses: the start of a head is formatted once a second for each kind, then only copied.

The cached part, and the added part:
    | HTTP/1.1 200 OK, date, connection (if there is something to say), content-type | content-length, body
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Instant
from reliquary.net.http.headers import format_headers

JSON: Final = b"application/json"
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

# How the connection goes on after a response, and whether the request was HEAD.
KEEP: Final = 0  # HTTP/1.1 stays open, without a header for it
KEEP_SAID: Final = 1  # HTTP/1.0 stays open only with a header for it
CLOSE: Final = 2
CLOSE_OLD: Final = 3  # HTTP/1.0, which has no chunks either
HEAD_ONLY: Final = 4
OLD: Final = KEEP_SAID & CLOSE_OLD

CHUNKED: Final = b"transfer-encoding: chunked\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"

SENTENCE_LIMIT: Final = 1000
"""The most characters of a refusal, because it may quote long input of the client."""

_CLOSE_LINE: Final = b"connection: close\r\n"
_MODE_LINES: Final = (b"", b"connection: keep-alive\r\n", _CLOSE_LINE, _CLOSE_LINE)
_REASONS: Final = {status.value: status.phrase.encode() for status in HTTPStatus}
_WITHOUT_BODY: Final = (204, 304)  # RFC 9110 6.4.1


def bounded(why: str) -> str:
    """Return the sentence of a refusal, shortened if it is too long.

    >>> len(bounded("x" * 5000))
    1000
    """
    return why if len(why) <= SENTENCE_LIMIT else why[: SENTENCE_LIMIT - 1] + "…"


def error_body(why: str) -> bytes:
    """Return the JSON of a refusal: one sentence for people."""
    return json.dumps({"error": bounded(why)}).encode()


class ResponseHeads:
    """The starts of heads that were used within this second.

    `plain` has those of responses with a body: the responder joins a response without own headers itself.
    """

    __slots__ = ("_date", "plain")

    def __init__(self, now: Instant) -> None:
        self.renew(now)

    def renew(self, now: Instant) -> None:
        """Forget all heads, because the date has changed."""
        self._date = formatdate(now // SECOND, usegmt=True).encode()
        self.plain: dict[tuple[int, int, bytes], bytes] = {}

    def response(
        self, mode: int, status: int, body: bytes, content_type: bytes, headers: Sequence[tuple[bytes, bytes]]
    ) -> bytes:
        """Return head and body in one piece."""
        start = self.plain.get((mode, status, content_type)) or self._start(mode, status, content_type)
        bare = status in _WITHOUT_BODY
        length = b"" if bare else b"content-length: %d\r\n" % len(body)
        if bare or mode & HEAD_ONLY:
            body = b""
        else:
            self.plain[mode, status, content_type] = start
        return b"%b%b%b\r\n%b" % (start, length, format_headers(headers), body)

    def opening(
        self, mode: int, status: int, content_type: bytes, headers: Sequence[tuple[bytes, bytes]]
    ) -> bytes:
        """Return the head of a response of unknown length: in chunks, or until the connection ends."""
        framing = b"" if mode & OLD else CHUNKED
        return b"%b%b%b\r\n" % (self._start(mode, status, content_type), framing, format_headers(headers))

    def _start(self, mode: int, status: int, content_type: bytes) -> bytes:
        if not 200 <= status <= 599:
            raise UsageError(f"the status of a response is from 200 to 599, not {status}")
        about = format_headers([(b"content-type", content_type)]) if content_type else b""
        line = b"HTTP/1.1 %d %b\r\ndate: %b\r\n" % (status, _REASONS.get(status, b""), self._date)
        return line + _MODE_LINES[mode & ~HEAD_ONLY] + about
