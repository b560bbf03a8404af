"""Defers sending to the end of a turn, so that one attempt follows all events of the turn."""

from __future__ import annotations

from reliquary.base.turn import Signal
from reliquary.protocols.wsrm.state import State


class PostsDue(Signal, frozen=True):
    """The manager has handed out its messages; WS-RM sends this signal to itself to send what it can."""


def schedule_posts(state: State, queue: int) -> None:
    """Schedule an attempt to send for an outgoing queue at the end of this turn."""
    if not state.source.queues_due:
        state.draft.signal(PostsDue())
    state.source.queues_due[queue] = None
