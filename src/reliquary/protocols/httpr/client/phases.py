"""Defines the phases of a channel of the client as one table, which all modules that send requests use.

              GREET             UNRESOLVED                REPORT
    CLOSED --------> GREETING ------------> MUST_REPORT --------> REPORTING
      ^                  |                       ^                    |
      |                  | CLEAN                 | UNRESOLVED         | CLEAN
      | END              '-----------> READY ----+--------------------'
      |                 LEAVE          |  ^
    LEAVING <--------------------------'  | CLEAN
                                  FLOW |  |
                                       v  |
                                     WAITING --. FLOW: pipelined
                                          ^----'
    RESTING   from any phase, after a failure, until its timer fires
    END       from any phase: the next request begins a new connection

A peer without sessions gets no GET-RESPONDER-INFO: CLOSED goes to READY, or to MUST_REPORT.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class Phase(Enum):
    """The phase of a channel."""

    CLOSED = "closed"
    """No connection, and no session."""
    GREETING = "greeting"
    """GET-RESPONDER-INFO was sent, and has no response yet."""
    MUST_REPORT = "must-report"
    """Something is unknown, and only REPORT may be sent."""
    REPORTING = "reporting"
    """REPORT was sent, and has no response yet."""
    READY = "ready"
    """All requests were answered, and the next one may be sent."""
    WAITING = "waiting"
    """PUSH, PULL or EXCHANGE have no response."""
    LEAVING = "leaving"
    """The REPORT that ends the session, or forgets the channel, has no response."""
    RESTING = "resting"
    """A request failed, and the pause before the next try is not over."""


class Move(Enum):
    """The events that change the phase of a channel."""

    GREET = "greet"
    """The client agent sends GET-RESPONDER-INFO."""
    REPORT = "report"
    """The client agent sends REPORT."""
    FLOW = "flow"
    """PUSH, PULL or EXCHANGE is sent."""
    LEAVE = "leave"
    """REPORT with `forget`, or with the end of the session, is sent."""
    CLEAN = "clean"
    """All requests are answered, and nothing is unknown."""
    UNRESOLVED = "unresolved"
    """All requests are answered or given up, and something is unknown."""
    END = "end"
    """The connection or the session is over."""
    REST = "rest"
    """A request failed, and a pause begins."""


def _table() -> dict[tuple[Phase, Move], Phase | None]:
    """Return the table, a row for each move; None: the move must not happen in this phase."""
    c, g, m, p = Phase.CLOSED, Phase.GREETING, Phase.MUST_REPORT, Phase.REPORTING
    r, w, v, s = Phase.READY, Phase.WAITING, Phase.LEAVING, Phase.RESTING
    n = None
    rows: dict[Move, tuple[Phase | None, ...]] = {
        #               from: c  g  m  p  r  w  v  s
        Move.GREET:          (g, n, n, n, n, n, n, n),  # HR-036: the first request of a session
        Move.REPORT:         (n, n, p, n, p, n, n, n),  # HR-080: never together with another request
        Move.FLOW:           (n, n, n, n, w, w, n, n),  # HR-021, HR-023, HR-125: nothing is unknown
        Move.LEAVE:          (n, n, n, n, v, n, n, n),  # HR-016, HR-032: only when nothing is in doubt
        Move.CLEAN:          (r, r, n, r, r, r, n, r),
        Move.UNRESOLVED:     (m, m, n, m, m, m, n, m),  # HR-020, HR-022
        Move.END:            (c, c, c, c, c, c, c, c),  # HR-031: the channel's row holds the batches in doubt
        Move.REST:           (s, s, s, s, s, s, s, s),
    }  # fmt: skip
    columns = (c, g, m, p, r, w, v, s)
    return {(phase, move): rows[move][column] for move in rows for column, phase in enumerate(columns)}


NEXT: Final[Mapping[tuple[Phase, Move], Phase | None]] = _table()
SILENT: Final = frozenset({Phase.GREETING, Phase.REPORTING, Phase.LEAVING, Phase.RESTING})
"""No request is sent in these phases, because a response or a timer must come first."""


def moved(phase: Phase, move: Move) -> Phase:
    """Return the phase after a move; a move that must not happen is a defect of this program."""
    following = NEXT[phase, move]
    assert following is not None, f"a channel that is {phase.value} must not {move.value}"
    return following
