"""The requests of the WS-RM benchmark as bytes: messages of 1 KB, encoded once, sent many times."""

from __future__ import annotations

import re
from typing import Final

RM: Final = "http://docs.oasis-open.org/ws-rx/wsrm/200702"
ADDRESSING: Final = "http://www.w3.org/2005/08/addressing"
ANONYMOUS: Final = f"{ADDRESSING}/anonymous"
CONTENT_TYPE: Final = "application/soap+xml; charset=utf-8"
BODY: Final = '<order xmlns="urn:bench"><lines>' + "two lamps and one table; " * 39 + "</lines></order>"
"""A body of 1,023 bytes, which every message has."""
MOST_DIGITS: Final = 9
"""The most digits of a message number."""

_IDENTIFIER: Final = re.compile(rb"Identifier>\s*([^<\s]+)\s*<")
_UPPER: Final = re.compile(rb"\bUpper=[\"'](\d+)[\"']")
_BUFFER: Final = re.compile(rb"BufferRemaining[^>]*>\s*(\d+)\s*<")


def post(path: str, body: bytes) -> bytes:
    """Return a POST with its head and this body."""
    return head(path, len(body)) + body


def head(path: str, length: int, content_type: str = CONTENT_TYPE) -> bytes:
    """Return a POST up to its body, which has this length."""
    fields = f"Host: localhost\r\nContent-Type: {content_type}\r\nContent-Length: {length}"
    return f"POST {path} HTTP/1.1\r\n{fields}\r\n\r\n".encode()


def _envelope(headers: str, body: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        f'<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="{ADDRESSING}"'
        f' xmlns:r="{RM}"><s:Header>{headers}</s:Header><s:Body>{body}</s:Body></s:Envelope>'
    ).encode()


def _control(url: str, verb: str, number: int, body: str) -> bytes:
    """Return a message of the protocol itself, which has an answer."""
    return _envelope(
        f'<a:Action s:mustUnderstand="1">{RM}/{verb}</a:Action>'
        f"<a:MessageID>urn:uuid:5b1f0c6e-3d0a-4c1e-9a76-{number:012x}</a:MessageID>"
        f"<a:ReplyTo><a:Address>{ANONYMOUS}</a:Address></a:ReplyTo>"
        f'<a:To s:mustUnderstand="1">{url}</a:To>',
        f"<r:{verb}>{body}</r:{verb}>",
    )


def create(url: str, number: int) -> bytes:
    """CreateSequence with acknowledgements on the responses; `number` tells it from others."""
    return _control(url, "CreateSequence", number, f"<r:AcksTo><a:Address>{ANONYMOUS}</a:Address></r:AcksTo>")


def end(url: str, verb: str, number: int, identifier: str, last: int) -> bytes:
    """Return the message CloseSequence or TerminateSequence."""
    body = f"<r:Identifier>{identifier}</r:Identifier><r:LastMsgNumber>{last}</r:LastMsgNumber>"
    return _control(url, verb, number, body)


class Template:
    """A whole POST of a message, in which its number and its MessageID change."""

    def __init__(self, path: str, url: str, identifier: str, run: int) -> None:
        message = _envelope(
            f'<r:Sequence s:mustUnderstand="1"><r:Identifier>{identifier}</r:Identifier>'
            "<r:MessageNumber>%d</r:MessageNumber></r:Sequence>"
            '<a:Action s:mustUnderstand="1">urn:bench/order</a:Action>'
            f"<a:MessageID>urn:uuid:5b1f0c6e-3d0a-4c1e-{0x8000 + run:04x}-%012x</a:MessageID>"
            f'<a:To s:mustUnderstand="1">{url}</a:To>',
            BODY,
        )
        assert message.count(b"%") == 2, "nothing else changes"
        fixed = len(message) - len("%d") - len("%012x") + 12
        self._by_digits = {
            digits: head(path, fixed + digits) + message for digits in range(1, MOST_DIGITS + 1)
        }

    def with_number(self, number: int) -> bytes:
        """Return the request for the message of this number."""
        return self._by_digits[len(str(number))] % (number, number)


def identifier_in(envelope: bytes) -> str:
    """Return the identifier of the sequence that a CreateSequenceResponse brings."""
    found = _IDENTIFIER.search(envelope)
    assert found is not None, f"no sequence: {envelope!r}"
    return found[1].decode()


def acknowledged_in(envelope: bytes) -> int:
    """Return the highest number that is acknowledged; 0 where the envelope has no acknowledgement."""
    return max((int(number) for number in _UPPER.findall(envelope)), default=0)


def room_in(envelope: bytes) -> int | None:
    """Return BufferRemaining of an envelope, or None."""
    found = _BUFFER.search(envelope)
    return int(found[1]) if found else None
