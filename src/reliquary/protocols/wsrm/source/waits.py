"""Waits for an acknowledgement or a response of each sequence, twice as long after each time-out.

something is sent --> wait --- progress: short again, or over if nothing is outstanding
                       '------ time-out: it is sent again, and the next wait is twice as long

The timer is not set anew for each acknowledgement: when it fires too early, it is set for the remaining time.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant, later
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.wsrm.source.state import Sequence
from reliquary.protocols.wsrm.state import State

RETRANSMIT: Final = "wsrm-retransmit"
"""The timer of each outgoing sequence."""
_MOST_DOUBLINGS: Final = 32


def span_of(state: State, sequence: Sequence) -> Duration:
    """Return the current length of the wait."""
    settings = state.settings
    doubled = settings.retransmission << min(sequence.timeouts, _MOST_DOUBLINGS)
    return Duration(min(doubled, max(settings.longest_retransmission, settings.retransmission)))


def start_wait(state: State, sequence: Sequence, now: Instant) -> None:
    """Wait from now on for the whole length."""
    span = span_of(state, sequence)
    sequence.deadline = later(now, span)
    if not sequence.fires or sequence.fires > sequence.deadline:
        sequence.fires = sequence.deadline
        state.draft.ask(SetTimer((RETRANSMIT, sequence.number), span))


def keep_waiting(state: State, sequence: Sequence, now: Instant) -> None:
    """Wait from now on, unless a wait has begun."""
    if not sequence.deadline:
        start_wait(state, sequence, now)


def stop_wait(state: State, sequence: Sequence) -> None:
    """Stop the wait, because nothing is outstanding, or nothing can come."""
    sequence.deadline = 0
    if sequence.fires:
        sequence.fires = 0
        state.draft.ask(CancelTimer((RETRANSMIT, sequence.number)))


def is_over(state: State, sequence: Sequence, now: Instant) -> bool:
    """Return whether the timer fired because the wait is over; if it fired too early, set it again."""
    sequence.fires = 0
    if not sequence.deadline:
        return False
    left = sequence.deadline - now
    if left <= 0:
        sequence.deadline = 0
        return True
    # a clock that was set back must not make the wait longer
    left = min(left, span_of(state, sequence))
    sequence.fires = sequence.deadline = later(now, Duration(left))
    state.draft.ask(SetTimer((RETRANSMIT, sequence.number), Duration(left)))
    return False
