"""Divides a stub into PDUs, which are signed or encrypted if there is a security context."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reliquary.protocols.rpc.fragments import cut
from reliquary.protocols.rpc.guards import Guard
from reliquary.wire.rpc.calls import CALL_SIZE
from reliquary.wire.rpc.header import Flag
from reliquary.wire.rpc.verifier import TRAILER_ALIGNMENT

Head = Callable[[int, int, int, int], bytes]
"""Makes the first 24 bytes of a PDU from its flags, its length, the length of its token and alloc_hint."""


def fragments(stub: Sequence[bytes | memoryview], longest: int, head: Head, guard: Guard | None) -> bytes:
    """Return all PDUs of a request or a response as bytes; none is longer than `longest`."""
    if guard is None or not guard.signs:
        return _plain(stub, longest - CALL_SIZE, head)
    room = longest - CALL_SIZE - guard.overhead()
    return _protected(stub, room - room % TRAILER_ALIGNMENT, head, guard)


def _plain(stub: Sequence[bytes | memoryview], room: int, head: Head) -> bytes:
    left = sum(map(len, stub))
    out: list[bytes | memoryview] = []
    flags = Flag.FIRST
    for pieces in cut(stub, room):
        size = min(room, left)
        if size == left:
            flags |= Flag.LAST
        out.append(head(flags, CALL_SIZE + size, 0, left))
        out += pieces
        left -= size
        flags = 0
    return b"".join(out)


def _protected(stub: Sequence[bytes | memoryview], room: int, head: Head, guard: Guard) -> bytes:
    left = sum(map(len, stub))
    overhead = guard.overhead()
    signature = guard.context.signature_size
    out = []
    flags = Flag.FIRST
    for pieces in cut(stub, room):
        part = b"".join(pieces)
        if len(part) == left:
            flags |= Flag.LAST
        length = CALL_SIZE + len(part) + -len(part) % TRAILER_ALIGNMENT + overhead
        out.append(guard.protect(head(flags, length, signature, left), part))
        left -= len(part)
        flags = 0
    return b"".join(out)
