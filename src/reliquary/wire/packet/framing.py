"""Cuts the byte stream of a session into packets, [MS-MQQB] 2.1.1 and [MS-MQMQ] 2.2.19.1.

    16 bytes: BaseHeader --> how many bytes the packet has
        user message     PacketSize, and 16 more where a SessionHeader follows, which is not counted
        internal packet  PacketSize; a SessionAck may leave its SessionHeader out of the count (G-01)

Bytes may come in any pieces.  Bytes that are no packet end the stream: `fault` has the reason, and the
packets before it are still returned.  A wrong version or signature ends it as soon as it is there, so that a
scanner which sends a few bytes does not keep a connection.
"""

from __future__ import annotations

from typing import Final

from reliquary.wire.packet import base, internal, layouts, session
from reliquary.wire.packet.fields import PacketFault

SPEC: Final = "MS-MQQB 2.1.1"
LEAST_USER: Final = base.SIZE + layouts.USER.struct.size + layouts.PROPERTIES.struct.size
"""The smallest size of a user message, which has at least three headers."""

_BASE: Final = layouts.BASE.struct
_AT_FLAGS: Final = layouts.BASE.offset("Flags")
_AT_SIGNATURE: Final = layouts.BASE.offset("Signature")
_AT_SIZE: Final = layouts.BASE.offset("PacketSize")


class Framer:
    """Collects the bytes of a packet until it is complete."""

    __slots__ = ("_buffered", "_largest", "_wanted", "fault")

    def __init__(self, largest: int = base.SIZE_LIMIT) -> None:
        """`largest` is the largest PacketSize of a user message."""
        self._largest = largest
        self._buffered = bytearray()
        self._wanted = base.SIZE
        """The number of bytes that the next step of parsing needs."""
        self.fault: PacketFault | None = None
        """The reason why the stream ended; its offset counts from the beginning of the malformed packet."""

    @property
    def buffered(self) -> int:
        """Return the number of bytes of the packet that is not complete yet."""
        return len(self._buffered)

    def feed(self, data: bytes) -> list[bytes]:
        """Take received bytes, and return the packets that are complete now, one by one."""
        if self.fault is not None:
            return []
        if self._buffered:
            self._buffered += data
            if base.SIZE <= len(self._buffered) < self._wanted:
                return []
            data = bytes(self._buffered)
            self._buffered.clear()
        return self._cut(data)

    def _cut(self, data: bytes) -> list[bytes]:
        packets: list[bytes] = []
        at, end = 0, len(data)
        while True:
            left = end - at
            wanted = base.SIZE
            try:
                if left >= wanted:
                    wanted = self._size(data, at)
                elif left:
                    _check_beginning(data[at:])
            except PacketFault as fault:
                self.fault = fault
                return packets
            if left < wanted:
                break
            packets.append(data[at : at + wanted])
            at += wanted
        self._wanted = wanted
        if left:
            self._buffered += memoryview(data)[at:]
        return packets

    def _size(self, data: bytes, at: int) -> int:
        """Return the size of the packet whose BaseHeader begins at this offset (QB-005)."""
        size: int
        version, _, flags, signature, size, _ = _BASE.unpack_from(data, at)
        if version != base.VERSION or signature != base.SIGNATURE:
            raise _strange(version, signature)
        if flags & base.INTERNAL:
            if size not in internal.SIZES:
                raise _fault(_AT_SIZE, f"no internal packet has {size} bytes")
            if size in {internal.ACK_SIZE, internal.LEAST_SIZE} and not flags & base.SESSION:
                raise _fault(_AT_FLAGS, f"an internal packet of {size} bytes has a session header")
            return max(size, internal.ACK_SIZE) if flags & base.SESSION else size
        if not LEAST_USER <= size <= self._largest:  # QB-012
            raise _fault(_AT_SIZE, f"a message has {LEAST_USER} to {self._largest} bytes, this one {size}")
        return size + session.SIZE if flags & base.SESSION else size  # QB-011


def _check_beginning(data: bytes) -> None:
    """Refuse the first bytes of a BaseHeader with a wrong version, or a wrong signature if it has arrived."""
    signature = int.from_bytes(data[_AT_SIGNATURE:_AT_SIZE], "little")
    if data[0] != base.VERSION or (len(data) >= _AT_SIZE and signature != base.SIGNATURE):
        raise _strange(data[0], signature)


def _strange(version: int, signature: int) -> PacketFault:
    """Return the fault of a BaseHeader with a wrong version or signature (QB-029)."""
    if version != base.VERSION:
        return _fault(0, f"the version is {version:#04x}, not {base.VERSION:#04x}")
    return _fault(_AT_SIGNATURE, f"the signature word is {signature:#010x}, not LIOR")


def _fault(offset: int, why: str) -> PacketFault:
    return PacketFault(offset, why, spec=SPEC)
