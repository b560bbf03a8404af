"""Implements WaitingMessageReadOperation, [MS-MQDMPR] 3.1.1.10: a read that found no message and waits for
one.

begun --> WAITING --> OVER      a table has the reader's status for each event that ends the wait
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import PeekMessage, ReceiveMessages


class WaitingReadState(Enum):
    """The state of a read: WAITING while it is in the `waiting` of its queue, OVER after it was removed."""

    WAITING = "waiting"
    OVER = "over"


class WaitingReadEvent(Enum):
    """The events that end a waiting read."""

    SATISFIED = "a message came"
    TIMED_OUT = "its time ran out"
    CANCELLED = "it was cancelled, or its reader is gone"
    CLOSED = "its handle or its cursor was closed"
    QUEUE_DELETED = "its queue was deleted"
    TRANSACTION_ENDED = "the transaction ended that it would have received in"
    FORBIDDEN = "its reader may read here no longer"
    STOPPED = "the manager stops"


NEXT: Final[Mapping[tuple[WaitingReadState, WaitingReadEvent], tuple[WaitingReadState, HResult]]] = {
    (WaitingReadState.WAITING, WaitingReadEvent.SATISFIED): (WaitingReadState.OVER, HResult.OK),  # DM-302
    (WaitingReadState.WAITING, WaitingReadEvent.TIMED_OUT): (
        WaitingReadState.OVER,
        HResult.IO_TIMEOUT,
    ),  # DM-130
    (WaitingReadState.WAITING, WaitingReadEvent.CANCELLED): (
        WaitingReadState.OVER,
        HResult.OPERATION_CANCELLED,
    ),  # DM-236
    (WaitingReadState.WAITING, WaitingReadEvent.CLOSED): (
        WaitingReadState.OVER,
        HResult.OPERATION_CANCELLED,
    ),  # DM-181
    (WaitingReadState.WAITING, WaitingReadEvent.QUEUE_DELETED): (
        WaitingReadState.OVER,
        HResult.QUEUE_NOT_AVAILABLE,
    ),  # AN-23
    (WaitingReadState.WAITING, WaitingReadEvent.TRANSACTION_ENDED): (
        WaitingReadState.OVER,
        HResult.TRANSACTION_SEQUENCE,
    ),
    (WaitingReadState.WAITING, WaitingReadEvent.FORBIDDEN): (WaitingReadState.OVER, HResult.ACCESS_DENIED),
    (WaitingReadState.WAITING, WaitingReadEvent.STOPPED): (
        WaitingReadState.OVER,
        HResult.OPERATION_CANCELLED,
    ),
    # a timer or a cancel that is too late finds no read: DM-237
    **{
        (WaitingReadState.OVER, event): (WaitingReadState.OVER, HResult.STATUS_NOT_FOUND)
        for event in WaitingReadEvent
    },
}
"""The next state, and the status that the reader gets."""


class Waiter(msgspec.Struct, frozen=True):
    """A read that waits, with its request; its number is also the number of its timer (DM-038)."""

    number: int
    request: ReceiveMessages | PeekMessage  # DM-073
    descriptor: int

    @property
    def destructive(self) -> bool:
        """Return DestructiveRead: whether the read receives, and does not only peek."""
        return isinstance(self.request, ReceiveMessages)

    @property
    def tag(self) -> int:
        """Return the tag by which the caller can cancel the read; 0 for none."""
        return self.request.tag if isinstance(self.request, ReceiveMessages) else 0

    @property
    def transaction(self) -> UUID | None:
        """Return the transaction in which the read receives, or None."""
        return self.request.transaction if isinstance(self.request, ReceiveMessages) else None
