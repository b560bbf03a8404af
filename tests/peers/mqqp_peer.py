"""What the conversations of MQQP ask of a peer: the methods of both interfaces, in the peer's own structures.

`scapy_peer` and `impacket_peer` each have a class that does this; `mqqp_conversations` uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Protocol, TypeVar

RECEIVE: Final = 0x00000000
PEEK_CURRENT: Final = 0x80000000
PEEK_NEXT: Final = 0x80000001
LOOKUP_PEEK_CURRENT: Final = 0x40000010
LOOKUP_PEEK_NEXT: Final = 0x40000011
LOOKUP_RECEIVE_CURRENT: Final = 0x40000020
LOOKUP_RECEIVE_PREV: Final = 0x40000022
FOREVER: Final = 0xFFFFFFFF
NACK: Final = 1
ACK: Final = 2
NO_HANDLE: Final = bytes(20)

OK: Final = 0
CANCELLED: Final = 0x400E03E9
QUEUE_NOT_FOUND: Final = 0xC00E0003
INVALID_PARAMETER: Final = 0xC00E0006
INVALID_HANDLE: Final = 0xC00E0007
IO_TIMEOUT: Final = 0xC00E001B
ACCESS_DENIED: Final = 0xC00E0025
SHARING_VIOLATION: Final = 0xC0000043

BAD_STUB_DATA: Final = 0x000006F7
CONTEXT_MISMATCH: Final = 0x1C00001A
UNKNOWN_INTERFACE: Final = 0x1C010003
OP_RANGE: Final = 0x1C010002
PROTOCOL_ERROR: Final = 0x1C01000B


class Refused(Exception):
    """The call was answered with a fault."""

    def __init__(self, status: int) -> None:
        super().__init__(f"{status:#010x}")
        self.status = status


class Read(NamedTuple):
    """The results of RemoteQMStartReceive and of its two variants."""

    status: int
    handle: bytes
    packet: bytes | None
    arrived: int = 0
    sequential: int = 0


class MqqpPeer(Protocol):
    """One client with one connection, which has bound both interfaces."""

    def open_remote(self, name: str, access: int = 1, share: int = 0) -> tuple[int, bytes, int]:
        """R_QMOpenRemoteQueue with a direct name: status, context handle, number of the queue."""

    def close_remote(self, handle: bytes) -> bytes:
        """R_QMCloseRemoteQueueContext: return the handle that comes back."""

    def create_cursor(self, queue: int) -> tuple[int, int]:
        """R_QMCreateRemoteCursor: return the status and the cursor."""

    def handshake_port(self, kind: int) -> int:
        """Call R_QMGetRTQMServerPort and return the port."""

    def open(self, queue: int) -> tuple[int, bytes]:
        """RemoteQMOpenQueue: return the status and the session handle."""

    def close(self, handle: bytes) -> tuple[int, bytes]:
        """RemoteQMCloseQueue: return the status and the handle that comes back."""

    def start(self, queue: int, action: int, timeout: int = 0, request: int = 7, cursor: int = 0) -> Read:
        """RemoteQMStartReceive: return the outcome of the read."""

    def start2(self, queue: int, action: int, timeout: int = 0, request: int = 7, cursor: int = 0) -> Read:
        """RemoteQMStartReceive2: return the outcome of the read."""

    def look_up(self, queue: int, action: int, lookup_id: int, request: int = 7) -> Read:
        """RemoteQMStartReceiveByLookupId: return the outcome of the read."""

    def end(self, handle: bytes, acknowledge: int) -> tuple[int, bytes]:
        """RemoteQMEndReceive: return the status and the handle that comes back."""

    def cancel(self, queue: int, request: int) -> int:
        """Call RemoteQMCancelReceive and return the status."""

    def close_cursor(self, queue: int, cursor: int) -> int:
        """Call RemoteQMCloseCursor and return the status."""

    def purge(self, queue: int) -> int:
        """Call RemoteQMPurgeQueue and return the status."""

    def port(self, kind: int) -> int:
        """Call RemoteQMGetQMQMServerPort and return the port."""

    def version(self) -> tuple[int, int, int]:
        """RemoteQmGetVersion: return the three parts of the version."""

    def raw(self, opnum: int, stub: bytes) -> bytes:
        """Call a method of qm2qm with these bytes; the bytes that come back."""

    def hang_up(self) -> None:
        """Close the connection to the server."""


Peer = TypeVar("Peer", bound=MqqpPeer)


@contextmanager
def connecting(make: Callable[..., Peer]) -> Iterator[Callable[..., Peer]]:
    """Let a test make peers, which hang up behind it."""
    peers: list[Peer] = []

    def connected(**options: Any) -> Peer:
        peers.append(make(**options))
        return peers[-1]

    yield connected
    for peer in peers:
        peer.hang_up()
