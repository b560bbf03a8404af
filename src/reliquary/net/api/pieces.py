"""Large answers are made while they leave: base64 makes four bytes of three, and each copy costs as much.

    {"messages": [ {"id": ..., "body": "  | base64, piece by piece, as the client takes it |  ", ...}, ...]}

What is in memory then is the body as it was stored, and one piece.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from reliquary.net.api.messages import shown
from reliquary.net.http import Responder
from reliquary.net.http.response import JSON
from reliquary.net.tcp.budget import SMALL
from reliquary.queueing.model.events import Delivered

LARGE: Final = 1024 * 1024
"""Bytes of messages whose answer is not made at once."""
PIECE: Final = 192 * 1024
"""Bytes of a body that become one piece; a multiple of three, so that pieces of base64 can be joined."""
assert PIECE % 3 == 0, "base64 ends with padding where three bytes are not full"

_encode = msgspec.json.Encoder().encode
_EMPTY: Final = b'"body":""'


def respond_in_pieces(responder: Responder, messages: Sequence[Delivered], receipt: str | None) -> None:
    """Answer with messages; the next piece is made when the client has taken the last one."""
    if not responder.connected:
        responder.respond(200, b"")  # nobody gets it
        return
    responder.settle()
    responder.hold(sum(each.position.size for each in messages))
    pieces = pieces_of(messages, receipt)
    responder.begin(200, JSON)

    def go_on() -> None:
        piece = next(pieces, None)
        if piece is None:
            responder.end()
        else:
            responder.write(piece)
            responder.when_taken(go_on)

    go_on()


def pieces_of(messages: Sequence[Delivered], receipt: str | None) -> Iterator[bytes]:
    """The JSON of messages, which is that of `MessagesOut`, in pieces of bounded size."""
    parts: list[bytes] = []
    size = 0
    for part in _parts(messages, receipt):
        parts.append(part)
        size += len(part)
        if size >= PIECE:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)


def _parts(messages: Sequence[Delivered], receipt: str | None) -> Iterator[bytes]:
    start = b'{"messages":['
    for each in messages:
        message = shown(each)
        yield start
        start = b","
        if len(message.body) <= SMALL:
            yield _encode(message)
            continue
        before, found, behind = _encode(replace(message, body=b"")).partition(_EMPTY)
        assert found, "ids, which stand before the body, have no quotation marks"
        yield before + b'"body":"'
        for place in range(0, len(message.body), PIECE):
            yield b64encode(message.body[place : place + PIECE])
        yield b'"' + behind
    yield b'],"receipt":' + _encode(receipt) + b"}"
