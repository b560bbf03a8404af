"""Encodes headers and batches: small ones in one piece, others piece by piece.

| header | batch |            | header, messages | piece of a large body | piece | ... | rest, terminator |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from reliquary.protocols.httpr.codec.encode import END_OF_MESSAGE, TERMINATOR, batch_bytes, message_head
from reliquary.protocols.httpr.codec.values import Disposition
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.queueing.model.message import Message

AT_ONCE: Final = 1024 * 1024
"""The most bytes of bodies that leave in one piece."""
ENOUGH: Final = 64 * 1024
"""The least bytes of a piece: small messages of a large batch are joined up to this size."""

ReadPiece = Callable[[int, int], bytes]


def is_small(batch: Sequence[Message]) -> bool:
    """Return whether a batch may leave in one piece."""
    size = 0
    for message in batch:
        if message.more is not None and message.more.stored_body is not None:
            return False
        size += len(message.body)
    return size <= AT_ONCE


def whole(header: bytes, batch: Sequence[Message], home: str) -> bytes:
    """Return a header and a batch without large bodies; `home` is the URI of our agent."""
    return header + batch_bytes([encode_message(message, home) for message in batch])


def pieces(header: bytes, batch: Sequence[Message], home: str, read: ReadPiece) -> Iterator[bytes]:
    """Yield a header and a batch in pieces of a part of a large body or a few small messages."""
    ready = bytearray(header)
    for message in batch:
        fields, body = encode_message(message, home)
        stored = None if message.more is None else message.more.stored_body
        ready += message_head(fields, len(body) if stored is None else stored.size)
        ready += body
        if stored is not None:
            for index in range(stored.pieces):
                yield bytes(ready) + read(stored.spool, index)
                ready.clear()
        ready += END_OF_MESSAGE
        if len(ready) >= ENOUGH:
            yield bytes(ready)
            ready.clear()
    yield bytes(ready) + TERMINATOR[Disposition.LAST]
