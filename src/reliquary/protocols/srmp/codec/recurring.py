"""Reads POSTs that repeat an earlier one except for numbers and body, without separating their parts.

    --boundary ... <id>uuid:            `before`, up to the number of the message
    1000000001                          its number
    @5b1f...<current>                   `between`, up to its place in a stream; empty outside any stream
    7</current><previous>6</previous>   its place
    ...--boundary ... Content-Length:   `after`, up to the length of the body
    1024                                the length
    ... CRLF CRLF                       `behind`, up to the body
    body                                of any content
    --boundary--                        `end`

A sender that writes one message after the other repeats these bytes, the `Content-Length` of its
envelope among them.  So the envelopes of both POSTs begin and end at equal places, and the content of
the earlier one is valid again.  A POST that differs in any other byte is separated into its parts and
read as the first one was.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reliquary.protocols.srmp.codec.canonical import ID, MOST_DIGITS, NUMBERS, PLACES, Known
from reliquary.protocols.srmp.codec.values import Arrived
from reliquary.wire.mime import LENGTH_DIGITS

KEPT_AT: Final = 2
"""The number of uses after which the form of a POST is kept; many forms are used only once."""
MOST: Final = 512
"""The most forms that are kept; a sender begins another one when the second of its `sentAt` changes."""
LONGEST_END: Final = 128
_ID: Final = ID.encode()
_PLACES: Final = PLACES.encode()
_NUMBERS: Final = re.compile(NUMBERS.pattern.encode())
_BLANK_LINE: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,%d})(?=\r\n)" % LENGTH_DIGITS, re.I)


class Form(NamedTuple):
    """The bytes that POSTs of one sender have in common, except for those before the number."""

    known: Known
    content_type: str
    text_at: int
    """The offset of the envelope."""
    text_end: int
    between: bytes
    after: bytes
    after_at: int
    """The offset at which `after` begins."""
    behind: bytes
    end: bytes


_forms: Final[dict[bytes, Form]] = {}
"""The forms, by the bytes before the number of the message."""


def recurring(content_type: str, body: bytes) -> Arrived | None:
    """Return the message of a POST whose form is known; None for any other."""
    number_at = body.find(_ID) + len(_ID)
    form = _forms.get(body[:number_at])
    if form is None or form.content_type != content_type:
        return None
    known, _, text_at, text_end, between, after, after_at, behind, end = form
    number = body[number_at : number_at + MOST_DIGITS + 1].partition(b"@")[0]
    number_end, current, previous = number_at + len(number), 0, None
    if between:
        found = _NUMBERS.match(body, number_end + len(between) - len(_PLACES), after_at)
        if found is None or not body.startswith(between, number_end):
            return None
        number_end = found.end()
        current, previous = int(found[1]), None if found[2] is None else int(found[2])
    length_at = after_at + len(after)
    length = body[length_at : length_at + LENGTH_DIGITS + 1].partition(b"\r")[0]
    length_end = length_at + len(length)
    if not (
        number_end == after_at
        and number.isdigit()
        and length.isdigit()
        and body.startswith(after, after_at)
        and body.startswith(behind, length_end)
    ):
        return None
    data_at = length_end + len(behind)
    data_end = data_at + int(length)
    envelope = known.numbered(number.decode(), current, previous)
    if envelope is None or body[data_end:] != end:
        return None
    return Arrived(
        envelope=envelope,
        text=body[text_at:text_end].decode(),
        body=body[data_at:data_end],
        has_body=True,
        repeated=known.repeated,
    )


def remember(content_type: str, body: bytes, boundary: str, known: Known, arrived: Arrived) -> None:
    """Keep the form of a POST of two parts, an envelope and a body, if both give their lengths."""
    known.uses += 1
    text, opening = arrived.text, b"--" + boundary.encode() + b"\r\n"
    if known.uses < KEPT_AT or not text.isascii() or not body.startswith(opening):
        return
    text_at = body.find(_BLANK_LINE) + len(_BLANK_LINE)
    text_end = text_at + len(text)
    head_at = text_end + (2 if body.startswith(b"\r\n", text_end) else 0)
    data_at = body.find(_BLANK_LINE, head_at) + len(_BLANK_LINE)
    data_end = data_at + len(arrived.body)
    first = _LENGTH.search(body, len(opening) - 2, text_at)  # from the end of the line before it on
    second = _LENGTH.search(body, head_at + len(opening) - 2, data_at)
    if (
        first is None
        or second is None
        or not body.startswith(opening, head_at)
        or body[text_at:text_end] != text.encode()
        or body[data_at:data_end] != arrived.body
        or len(body) - data_end > LONGEST_END
    ):
        return
    number_at = body.index(_ID, text_at) + len(_ID)
    number_end = body.index(b"@", number_at)
    between, after_at = b"", number_end
    if known.stream is not None:
        place = _NUMBERS.search(body, number_end, text_end)
        assert place is not None, "a message of a stream has its place there"
        between, after_at = body[number_end : place.start() + len(_PLACES)], place.end()
    if len(_forms) >= MOST:
        _forms.clear()
    after, behind = body[after_at : second.start(1)], body[second.end(1) : data_at]
    _forms[body[:number_at]] = Form(
        known, content_type, text_at, text_end, between, after, after_at, behind, body[data_end:]
    )
