"""Defines the methods of qmcomm for remote reads, [MS-MQMP] 3.1.4.2 to .4 and 3.1.4.24, as values."""

from __future__ import annotations

from uuid import UUID

from reliquary.protocols.mqqp.codec.qm2qm import Request, Response


class OpenRemoteQueue(Request, frozen=True, gc=False):
    """Request of R_QMOpenRemoteQueue, opnum 2: open a queue for a remote reader."""

    name: str | None
    r"""The format name in QUEUE_FORMAT, for example `DIRECT=OS:here\private$\orders`; None for NULL."""
    access: int
    """dwDesiredAccess: 1 receive, 0x20 peek."""
    share: int
    """dwShareMode: 0, or 1 for MQ_DENY_RECEIVE_SHARE."""
    client: UUID
    level: int = 0
    process: int = 0
    """The process of the caller, which the server ignores; dwCallingProcessID."""


class CloseRemoteQueueContext(Request, frozen=True, gc=False):
    """Request of R_QMCloseRemoteQueueContext, opnum 3: release the context of an opened queue."""

    handle: UUID


class CreateRemoteCursor(Request, frozen=True, gc=False):
    """Request of R_QMCreateRemoteCursor, opnum 4; its CACTransferBufferV1 is ignored."""

    queue: int


class GetServerPort(Request, frozen=True, gc=False):
    """Request of R_QMGetRTQMServerPort, opnum 31: ask for a port of the server."""

    kind: int
    """fIP: a PortKind; any other number gets port 0, since the IDL has no range for it."""


class RemoteQueueOpened(Response, frozen=True, gc=False):
    """Response of opnum 2; `context`, `queue_again` and `queue` are one number (H-16)."""

    handle: UUID
    context: int
    queue_again: int
    queue: int
    status: int


class ContextClosed(Response, frozen=True, gc=False):
    """Response of opnum 3: a handle that is NULL, and no status."""

    handle: UUID


class CursorCreated(Response, frozen=True, gc=False):
    """Response of opnum 4: the number of the new cursor and a status."""

    cursor: int
    status: int
