"""Divides bytes into PDUs, and converts between fragments and stubs.

bytes of the connection --Pdus--> PDUs --Assembly--> whole stubs
parts of a stub --cut--> pieces that fit into fragments

An assembly copies the bytes that it keeps: a view would keep the whole piece that contained them, and a
client that sends many short fragments would cost much more memory than it sends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reliquary.wire.rpc.header import HEADER_SIZE, Header, PduFault, decode_header


class Pdu(NamedTuple):
    """One PDU with its header."""

    header: Header
    data: memoryview


class OversizedPdu(PduFault):
    """A PDU that is longer than the agreed length, or shorter than its own header."""

    def __init__(self, header: Header) -> None:
        super().__init__(f"a PDU of {header.length} bytes")
        self.header = header


class Pdus:
    """Divides the bytes of a connection into PDUs; the bytes may come in any pieces."""

    __slots__ = ("_kept", "_most")

    def __init__(self, most: int) -> None:
        self._kept = b""
        self._most = most

    def feed(self, data: bytes | memoryview) -> Iterator[Pdu]:
        """Yield the PDUs that are complete; PduFault for one that cannot be read."""
        whole = self._kept + bytes(data) if self._kept else bytes(data)
        self._kept = b""
        view = memoryview(whole)
        at = 0
        while len(whole) - at >= HEADER_SIZE:
            header = decode_header(whole, at)
            if not HEADER_SIZE <= header.length <= self._most:
                raise OversizedPdu(header)
            if len(whole) - at < header.length:
                break
            yield Pdu(header, view[at : at + header.length])
            at += header.length
        self._kept = whole[at:]

    def clear(self) -> None:
        """Forget the beginning of a PDU that will not be read."""
        self._kept = b""


class Assembly:
    """The stub of one call, assembled from its fragments."""

    __slots__ = ("_data", "started")

    def __init__(self) -> None:
        self._data = bytearray()
        self.started = False
        """Whether any fragment came, even an empty one."""

    @property
    def size(self) -> int:
        """The number of stub bytes that have arrived."""
        return len(self._data)

    def add(self, part: bytes | memoryview) -> None:
        """Take the stub of the next fragment."""
        self._data += part
        self.started = True

    def stub(self) -> bytes:
        """Return the whole stub as bytes."""
        return bytes(self._data)


def cut(parts: Sequence[bytes | memoryview], room: int) -> Iterator[list[memoryview]]:
    """Yield the pieces of each fragment, at least one; all except the last have `room` bytes."""
    pieces: list[memoryview] = []
    free = room
    for part in parts:
        view = memoryview(part)
        while len(view) > free:
            pieces.append(view[:free])
            yield pieces
            view = view[free:]
            pieces, free = [], room
        pieces.append(view)
        free -= len(view)
    yield pieces
