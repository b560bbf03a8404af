"""Describes open queues with their access and sharing modes: [MS-MQDMPR] 3.1.1.16, 3.1.7.1.5.

A V in the table marks a sharing violation; columns and rows are share mode / access.

                    a new request for ...
open already    | none/receive  none/peek  none/other | deny/receive  deny/peek  deny/other
deny/receive    |      V            .          .      |      V            V          V
deny/peek       |      V            .          .      |      V            .          .
none/receive    |      .            .          .      |      V            V          V
anything else   |      .            .          .      |      .            .          .
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

import msgspec

from reliquary.base.time import Duration
from reliquary.queueing.model.events import FOREVER_WAIT, Access, Share
from reliquary.queueing.model.security.principals import MANAGER, Principal


class RemoteReadState(Enum):
    """The state of a read from a queue of another manager (DM-068)."""

    NONE = "none"
    OPENED = "opened"
    READY_FOR_READ = "ready-for-read"


class Descriptor(msgspec.Struct):
    """OpenQueueDescriptor: a queue that an application has opened."""

    handle: int
    """The handle, which is also ContextValue (DM-066)."""
    queue: int | None
    """The number of the queue; None when it is deleted (DM-155), and for several queues (DM-067)."""
    format_name: str
    access: Access
    share: Share = Share.DENY_NONE
    by: Principal = MANAGER
    """The user who opened it; no other user may use the handle."""
    remote_read_state: RemoteReadState = RemoteReadState.NONE
    lease: Duration = FOREVER_WAIT
    one_request: bool = False
    """Opened for one request; it is closed when no message is locked and no read waits under it."""
    waits: int = 0
    """The number of reads that wait under it."""
    cursors: set[int] = msgspec.field(default_factory=set)
    locked: set[int] = msgspec.field(default_factory=set)
    """The LookupIdentifiers of positions that a two-phase read has locked."""
    children: list[int] = msgspec.field(default_factory=list)
    """The handles of the single queues, when a multiple-element name was opened (Multiple, DM-067)."""


READS: Final = frozenset({Access.RECEIVE, Access.RECEIVE_ADMIN})
PEEKS: Final = frozenset({Access.PEEK, Access.PEEK_ADMIN})


def violates(existing: Descriptor, access: Access, share: Share) -> bool:
    """Return whether an open queue excludes a new request (DM-175, DM-176, DM-177)."""
    # DEPARTS from 3.1.7.1.5 (AN-48): ReceiveAdminAccess is treated as ReceiveAccess, because otherwise a
    # reader with exclusive access would have other readers beside it.
    if existing.share is Share.DENY_RECEIVE and existing.access in READS:
        return share is Share.DENY_RECEIVE or access in READS
    if existing.share is Share.DENY_RECEIVE and existing.access in PEEKS:
        return access in READS
    return existing.access in READS and share is Share.DENY_RECEIVE


def sharing_violated(existing: Iterable[Descriptor], access: Access, share: Share) -> bool:
    """Return whether any of the open queues excludes a new request."""
    return any(violates(each, access, share) for each in existing)


ALLOWS: Final[dict[Access, frozenset[Access]]] = {
    Access.RECEIVE: frozenset({Access.RECEIVE, Access.PEEK}),
    Access.RECEIVE_ADMIN: frozenset({Access.RECEIVE, Access.PEEK}),
    Access.PEEK: frozenset({Access.PEEK}),
    Access.PEEK_ADMIN: frozenset({Access.PEEK}),
    Access.SEND: frozenset({Access.SEND}),
    Access.MOVE: frozenset({Access.MOVE, Access.RECEIVE, Access.PEEK}),
}
"""The kinds of use that each kind of access allows."""
