"""Makes large answers while they are sent, because base64 and copies would need much memory.

    {"messages": [ {"id": ..., "body": "  | base64, piece by piece, as the client takes it |  ", ...}, ...]}

MessagePack has the bytes themselves in this place; a raw answer is nothing else.

Then memory holds only the body as it was stored, and one piece.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from reliquary.net.api.forms import Form
from reliquary.net.api.messages import MessagesOut, shown
from reliquary.net.api.raw import fields_of
from reliquary.net.http import Responder
from reliquary.net.tcp.budget import SMALL
from reliquary.queueing.model.events import Delivered

LARGE: Final = 1024 * 1024
"""An answer with messages of more bytes is made in pieces."""
PIECE: Final = 192 * 1024
"""Bytes of a body that become one piece; a multiple of three, so that pieces of base64 can be joined."""
assert PIECE % 3 == 0, "base64 ends with padding where three bytes are not full"

_encode = msgspec.json.Encoder().encode
_encode_packed = msgspec.msgpack.Encoder().encode
_EMPTY: Final = b'"body":""'
_NO_BODY: Final = b"\xa4body\xc4\x00"
_NO_MESSAGES: Final = b"\xa8messages\x90"
"""An empty body and an empty list in MessagePack, with their names; the real values replace them."""


def respond_in_pieces(
    responder: Responder, messages: Sequence[Delivered], receipt: str | None, wanted: Form = Form.JSON
) -> None:
    """Answer with messages; the next piece is made when the client has taken the last one."""
    if not responder.connected:
        responder.respond(200, b"")  # the client has disconnected, so these bytes are dropped
        return
    responder.settle()
    responder.charge(sum(each.position.size for each in messages))
    pieces = pieces_of(messages, receipt, wanted)
    headers = fields_of(shown(messages[0]), receipt) if wanted is Form.RAW else []
    responder.begin(200, wanted.value, headers)

    def go_on() -> None:
        piece = next(pieces, None)
        if piece is None:
            responder.end()
        else:
            responder.write(piece)
            responder.when_taken(go_on)

    go_on()


def pieces_of(
    messages: Sequence[Delivered], receipt: str | None, wanted: Form = Form.JSON
) -> Iterator[bytes]:
    """Yield an answer with messages in pieces of bounded size: that of `MessagesOut`, or one raw body."""
    parts: list[bytes] = []
    size = 0
    for part in _PARTS[wanted](messages, receipt):
        parts.append(part)
        size += len(part)
        if size >= PIECE:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)


def _slices(body: bytes) -> Iterator[bytes]:
    for place in range(0, len(body), PIECE):
        yield body[place : place + PIECE]


def _raw_parts(messages: Sequence[Delivered], _: str | None) -> Iterator[bytes]:
    return _slices(messages[0].message.body)


def _packed_parts(messages: Sequence[Delivered], receipt: str | None) -> Iterator[bytes]:
    """Yield the parts of the MessagePack of `MessagesOut`; bodies are separate parts."""
    before, found, behind = _encode_packed(MessagesOut([], receipt)).partition(_NO_MESSAGES)
    assert found, "the messages stand before the receipt"
    yield before + _NO_MESSAGES[:-1] + b"\xdd" + len(messages).to_bytes(4)
    for each in messages:
        message = shown(each)
        if len(message.body) <= SMALL:
            yield _encode_packed(message)
            continue
        start, found, end = _encode_packed(replace(message, body=b"")).partition(_NO_BODY)
        assert found, "ids, which stand before the body, have no byte of this value"
        yield start + _NO_BODY[:-2] + b"\xc6" + len(message.body).to_bytes(4)
        yield from _slices(message.body)
        yield end
    yield behind


def _parts(messages: Sequence[Delivered], receipt: str | None) -> Iterator[bytes]:
    """Yield the parts of the JSON of `MessagesOut`; bodies are separate parts."""
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
        yield from map(b64encode, _slices(message.body))
        yield b'"' + behind
    yield b'],"receipt":' + _encode(receipt) + b"}"


_PARTS: Final = {Form.JSON: _parts, Form.PACKED: _packed_parts, Form.RAW: _raw_parts}
