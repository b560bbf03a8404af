"""Defines the methods of qm2qm, [MS-MQQP] 3.1.4, as values, in the order of the opnums."""

from __future__ import annotations

from enum import IntEnum
from typing import Final
from uuid import UUID

import msgspec

NO_HANDLE: Final = UUID(int=0)
"""A context handle that is NULL."""
FOREVER: Final = 0xFFFFFFFF
"""ulTimeout of a read that waits without end (QP-017)."""
LARGEST_PACKET: Final = 0x0042_0000
"""The largest value of dwSize that is accepted (QP-019)."""
LAST: Final = 0xFFFF_FFFF_FFFF_FFFF
"""The LookupId after the last message."""


class Action(IntEnum):
    """The values of ulAction, [MS-MQQP] 3.1.4.1 and 3.1.4.11; a request may have any other number."""

    RECEIVE = 0x00000000
    PEEK_CURRENT = 0x80000000
    PEEK_NEXT = 0x80000001
    LOOKUP_PEEK_CURRENT = 0x40000010
    LOOKUP_PEEK_NEXT = 0x40000011
    LOOKUP_PEEK_PREVIOUS = 0x40000012
    LOOKUP_RECEIVE_CURRENT = 0x40000020
    LOOKUP_RECEIVE_NEXT = 0x40000021
    LOOKUP_RECEIVE_PREVIOUS = 0x40000022


class Acknowledge(IntEnum):
    """dwAck: REMOTEREADACK without RR_UNKNOWN, which may not be sent (QP-072)."""

    NACK = 1
    ACK = 2


class PortKind(IntEnum):
    """dwPortType, and fIP of qmcomm (QP-115)."""

    HANDSHAKE = 0
    READ = 1
    IPX_HANDSHAKE = 2
    IPX_READ = 3


class ReadDescriptor(msgspec.Struct, frozen=True, gc=False):
    """The structure REMOTEREADDESC, [MS-MQQP] 2.2.2.1; eAckNack is written as 0 and ignored (QP-025)."""

    queue: int
    """The open queue; the specification calls it hRemoteQueue."""
    action: int
    timeout: int
    """The longest wait, in milliseconds; ulTimeout."""
    request: int
    """The number of the request; the specification calls it dwRequestID."""
    cursor: int = 0
    queue_again: int = 0
    """dwQueue, which must be the value of hRemoteQueue (QP-054)."""
    reserved: int = 0
    """An ignored field; a server writes 1 (QP-023)."""
    arrived: int = 0
    """The time of arrival, in seconds since 1970; dwArriveTime."""
    packet: bytes | None = None
    """lpBuffer: a UserMessage packet in a response, None in a request (QP-020)."""


class Request(msgspec.Struct, frozen=True, gc=False):
    """Base class of the requests that a client sends on this interface."""


class Response(msgspec.Struct, frozen=True, gc=False):
    """Base class of the responses that the server returns on this interface."""


# -- requests


class StartReceive(Request, frozen=True, gc=False):
    """Request of RemoteQMStartReceive, opnum 0: begin to read a message."""

    read: ReadDescriptor


class EndReceive(Request, frozen=True, gc=False):
    """Request of RemoteQMEndReceive, opnum 1: acknowledge a message that was read."""

    handle: UUID
    acknowledge: Acknowledge


class OpenQueue(Request, frozen=True, gc=False):
    """Request of RemoteQMOpenQueue, opnum 2: open a session on a queue."""

    client: UUID
    """pLicGuid: the identifier of the manager that reads (QP-087)."""
    level: int
    """The value of dwMQS, 0 to 16; it is ignored (QP-088)."""
    queue: int
    """The value of hQueue; it is ignored (QP-089)."""
    queue_again: int
    """pQueue, which must be the value of dwpContext (QP-091)."""
    context: int
    """dwpContext: the number that qmcomm gave (QP-092)."""


class CloseQueue(Request, frozen=True, gc=False):
    """Request of RemoteQMCloseQueue, opnum 3: close a session."""

    handle: UUID


class CloseCursor(Request, frozen=True, gc=False):
    """Request of RemoteQMCloseCursor, opnum 4: close a cursor."""

    queue: int
    cursor: int


class CancelReceive(Request, frozen=True, gc=False):
    """Request of RemoteQMCancelReceive, opnum 5: cancel a read that waits."""

    queue: int
    queue_again: int
    """pQueue, which must be the value of hQueue (QP-104)."""
    request: int


class PurgeQueue(Request, frozen=True, gc=False):
    """Request of RemoteQMPurgeQueue, opnum 6: delete all messages of a queue."""

    queue: int


class GetServerPort(Request, frozen=True, gc=False):
    """Request of RemoteQMGetQMQMServerPort, opnum 7: ask for a port of the server."""

    kind: PortKind


class GetVersion(Request, frozen=True, gc=False):
    """Request of RemoteQmGetVersion, opnum 8: ask for the version of the server."""


class StartReceive2(Request, frozen=True, gc=False):
    """Request of RemoteQMStartReceive2, opnum 9: begin to read, with a sequential id."""

    read: ReadDescriptor | None
    """None for a NULL pointer, which the server refuses (QP-125)."""
    sequential: int = 0


class StartReceiveByLookupId(Request, frozen=True, gc=False):
    """Request of RemoteQMStartReceiveByLookupId, opnum 10: read by LookupIdentifier."""

    lookup_id: int
    read: ReadDescriptor | None
    sequential: int = 0


# -- responses


class ReadStarted(Response, frozen=True, gc=False):
    """Response of opnum 0: the read handle, the message and a status."""

    handle: UUID
    read: ReadDescriptor
    status: int


class ReadStarted2(Response, frozen=True, gc=False):
    """Response of opnums 9 and 10: the read handle, the message and a status."""

    handle: UUID
    read: ReadDescriptor | None
    sequential: int
    """The low seven bytes of the LookupIdentifier (QP-123)."""
    status: int


class HandleReturned(Response, frozen=True, gc=False):
    """Response of opnums 1, 2 and 3: a context handle and a status."""

    handle: UUID
    status: int


class StatusReturned(Response, frozen=True, gc=False):
    """Response of opnums 4, 5 and 6: a status."""

    status: int


class PortReturned(Response, frozen=True, gc=False):
    """Response of opnum 7, and of opnum 31 of qmcomm: a port, or 0 for none (QP-116)."""

    port: int


class VersionReturned(Response, frozen=True, gc=False):
    """Response of opnum 8: the version of the server."""

    major: int
    minor: int
    build: int
