"""Defines the phases of a link and of a task as two tables: phase x move -> phase.

A link is the local state of one opened queue of another manager:

              OPENED           PORT               VERSION           ENTERED        CLOSE
    OPENING --------> FINDING ------> COMPARING ---------> ENTERING --------> OPEN ------> CLOSING
       |                 |                |                   |                |              |
       '-----------------'--- CLOSE, END -'-------------------'------- END ----'--------------'--> ENDED

A task is one request of an application:

                OPENED            GATHERED             FINISHED
    WAITING ------------> STARTED ----------> SETTLING ---------> DONE
       |      STARTED <--|  | ^                  |                 ^
       |       MORE      |  | | DROPPED          |                 |
       |                 |  v |  KNOWN           |                 |
       |                 | DROPPING              |                 |
       |                 '----'--- GONE --> ABANDONED ------------>|
       '-------------------------- FINISHED, GONE ---------------->'
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class LinkPhase(Enum):
    """The phase of a link (QP-145)."""

    OPENING = "opening"
    """R_QMOpenRemoteQueue has no response yet."""
    FINDING = "finding"
    """RemoteQMGetQMQMServerPort has no response yet."""
    COMPARING = "comparing"
    """RemoteQmGetVersion has no response yet."""
    ENTERING = "entering"
    """RemoteQMOpenQueue has no response yet."""
    OPEN = "open"
    CLOSING = "closing"
    """RemoteQMCloseQueue has no response yet."""
    ENDED = "ended"


class LinkMove(Enum):
    """The events that change the phase of a link."""

    OPENED = "opened"
    PORT = "port"
    VERSION = "version"
    ENTERED = "entered"
    CLOSE = "close"
    """No request needs the queue any more."""
    END = "end"
    """The server refused or closed the queue, or the connection is lost."""


class TaskPhase(Enum):
    """The phase of a request of an application."""

    WAITING = "waiting"
    """The link is not open."""
    STARTED = "started"
    """The server was asked, and has not responded."""
    DROPPING = "dropping"
    """The server removes a message that was delivered before; then the task requests another one."""
    SETTLING = "settling"
    """All messages have come, and the server removes them."""
    ABANDONED = "abandoned"
    """The application was answered without a message; a message that comes later is returned."""
    DONE = "done"


class TaskMove(Enum):
    """The events that change the phase of a task."""

    OPENED = "opened"
    """The link of the task is open."""
    MORE = "more"
    """A message came, and another one is requested."""
    KNOWN = "known"
    """A message came that was delivered before."""
    DROPPED = "dropped"
    """The server has removed the message that was delivered before."""
    GATHERED = "gathered"
    """The last message of the task came."""
    FINISHED = "finished"
    """The application has its answer, or the last call of an abandoned task ended."""
    GONE = "gone"
    """The application disconnected, or cancelled the request."""


def _links() -> dict[tuple[LinkPhase, LinkMove], LinkPhase | None]:
    """Return the table of links; None: the move must not happen in this phase."""
    _, f, c, e, p, g, x = LinkPhase
    n = None
    rows: dict[LinkMove, tuple[LinkPhase | None, ...]] = {
        #         from: o  f  c  e  p  g  x
        LinkMove.OPENED:  (f, n, n, n, n, n, n),
        LinkMove.PORT:    (n, c, n, n, n, n, n),
        LinkMove.VERSION: (n, n, e, n, n, n, n),
        LinkMove.ENTERED: (n, n, n, p, n, n, n),
        LinkMove.CLOSE:   (x, x, x, x, g, n, n),
        LinkMove.END:     (x, x, x, x, x, x, n),
    }  # fmt: skip
    return {
        (phase, move): row[column] for move, row in rows.items() for column, phase in enumerate(LinkPhase)
    }


def _tasks() -> dict[tuple[TaskPhase, TaskMove], TaskPhase | None]:
    """Return the table of tasks; None: the move must not happen in this phase."""
    _, s, r, t, a, d = TaskPhase
    n = None
    rows: dict[TaskMove, tuple[TaskPhase | None, ...]] = {
        #           from: w  s  r  t  a  d
        TaskMove.OPENED:   (s, n, n, n, n, n),
        TaskMove.MORE:     (n, s, n, n, n, n),
        TaskMove.KNOWN:    (n, r, n, n, n, n),
        TaskMove.DROPPED:  (n, n, s, n, n, n),
        TaskMove.GATHERED: (n, t, t, n, n, n),
        TaskMove.FINISHED: (d, d, d, d, d, n),
        TaskMove.GONE:     (d, a, a, t, a, n),
    }  # fmt: skip
    return {
        (phase, move): row[column] for move, row in rows.items() for column, phase in enumerate(TaskPhase)
    }


LINKS: Final[Mapping[tuple[LinkPhase, LinkMove], LinkPhase | None]] = _links()
TASKS: Final[Mapping[tuple[TaskPhase, TaskMove], TaskPhase | None]] = _tasks()


def moved_link(phase: LinkPhase, move: LinkMove) -> LinkPhase:
    """Return the phase after a move; a move that must not happen is a defect of this program."""
    following = LINKS[phase, move]
    assert following is not None, f"a link that is {phase.value} must not {move.value}"
    return following


def moved_task(phase: TaskPhase, move: TaskMove) -> TaskPhase:
    """Return the phase after a move; a move that must not happen is a defect of this program."""
    following = TASKS[phase, move]
    assert following is not None, f"a task that is {phase.value} must not {move.value}"
    return following
