"""Work that is left to the end of a turn: what may be sent is sent once, for all that happened in it."""

from __future__ import annotations

from reliquary.base.turn import Signal
from reliquary.protocols.wsrm.state import State


class PostsDue(Signal, frozen=True):
    """WS-RM to itself: look what outgoing queues can send; the manager has handed out what it has."""


def schedule_posts(state: State, queue: int) -> None:
    """Look at the end of this turn what an outgoing queue can send."""
    if not state.source.queues_due:
        state.draft.signal(PostsDue())
    state.source.queues_due[queue] = None
