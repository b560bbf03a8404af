"""Defines the phases of a queue that a remote reader has opened: RemoteReadState, [MS-MQMP] 3.1.4.2 to .3.

    R_QMOpenRemoteQueue      RemoteQMOpenQueue                RemoteQMCloseQueue
    ---------------> OPENED -----------------> READY_FOR_READ -----------------> ENDING
                        |                                                           |
                        | context closed                                            | no message is locked
                        '-----------------------> CLOSED <--------------------------'

The rundown of a handle counts as closing it.  A queue that is CLOSED is closed at the queue manager too.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class Phase(Enum):
    """The values of RemoteReadState, and the phases after it."""

    OPENED = "opened"
    """Only qmcomm knows it: cursors can be created, and nothing can be read."""
    READY_FOR_READ = "ready-for-read"
    ENDING = "ending"
    """The session is over; messages that were handed out may still be acknowledged (H-10)."""
    CLOSED = "closed"


class OpenedQueueEvent(Enum):
    """The events of an opened queue."""

    CONTEXT_CLOSED = "R_QMCloseRemoteQueueContext, or rundown"
    SESSION_OPENED = "RemoteQMOpenQueue"
    SESSION_CLOSED = "RemoteQMCloseQueue, or rundown"
    ALL_READS_ENDED = "no message of it is locked"


NEXT: Final[Mapping[tuple[Phase, OpenedQueueEvent], Phase]] = {
    (Phase.OPENED, OpenedQueueEvent.CONTEXT_CLOSED): Phase.CLOSED,
    (Phase.OPENED, OpenedQueueEvent.SESSION_OPENED): Phase.READY_FOR_READ,  # H-11
    (Phase.OPENED, OpenedQueueEvent.SESSION_CLOSED): Phase.OPENED,
    (Phase.OPENED, OpenedQueueEvent.ALL_READS_ENDED): Phase.OPENED,
    (Phase.READY_FOR_READ, OpenedQueueEvent.CONTEXT_CLOSED): Phase.READY_FOR_READ,  # a session took it over
    (Phase.READY_FOR_READ, OpenedQueueEvent.SESSION_OPENED): Phase.READY_FOR_READ,
    (Phase.READY_FOR_READ, OpenedQueueEvent.SESSION_CLOSED): Phase.ENDING,
    (Phase.READY_FOR_READ, OpenedQueueEvent.ALL_READS_ENDED): Phase.READY_FOR_READ,
    # DEPARTS from 3.1.4.4 (QP-098): Close Queue waits for the last EndReceive (H-10), because the queue
    # manager could not identify the message afterwards.
    (Phase.ENDING, OpenedQueueEvent.CONTEXT_CLOSED): Phase.ENDING,
    (Phase.ENDING, OpenedQueueEvent.SESSION_OPENED): Phase.ENDING,
    (Phase.ENDING, OpenedQueueEvent.SESSION_CLOSED): Phase.ENDING,
    (Phase.ENDING, OpenedQueueEvent.ALL_READS_ENDED): Phase.CLOSED,
    **{(Phase.CLOSED, step): Phase.CLOSED for step in OpenedQueueEvent},
}
