"""Defines the flow control of the source, [MS-WSRVCRM] 3.2, as one table: state x event -> state and action.

                    acknowledgement: full (start the timer)
    NOT_POLLING ---------------------------------------------> POLLING --. timer: AckRequested,
         ^                                                        |  ^---'        start it again
         |          acknowledgement: room (cancel the timer)      |
         '--------------------------------------------------------'
    ENDED     from both, when the sequence terminates

In addition there is a window: the last BufferRemaining limits the unacknowledged messages.  A peer
without BufferRemaining that takes fewer messages than the window gets as many as it took.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Polling(Enum):
    """The state of the source for one sequence (H-08)."""

    NOT_POLLING = "not-polling"
    POLLING = "polling"
    """No new message is sent (FC-030); the timer runs."""
    ENDED = "ended"
    """The sequence has ended, and events have no effect (H-09)."""


class FlowEvent(Enum):
    """The events SEQ_ACK_RECEIVED with its argument, POLLING_TIMER_EXPIRED and SEQ_TERMINATED."""

    ROOM = "room"
    """An acknowledgement whose BufferRemaining is above 0."""
    FULL = "full"
    """An acknowledgement whose BufferRemaining is 0."""
    UNSAID = "unsaid"
    """An acknowledgement without BufferRemaining: the argument is -1 (FC-039)."""
    TIMER = "timer"
    TERMINATED = "terminated"


class Action(Enum):
    """The action in addition to the change of state."""

    NONE = "none"
    START = "start"
    """Reset the timer to its full interval, and start it."""
    CANCEL = "cancel"
    POLL = "poll"
    """Send AckRequested; reset and restart the timer."""


def _table() -> dict[tuple[Polling, FlowEvent], tuple[Polling, Action]]:
    no, yes, end = Polling.NOT_POLLING, Polling.POLLING, Polling.ENDED
    none, start, cancel, poll = Action.NONE, Action.START, Action.CANCEL, Action.POLL
    return {
        (no, FlowEvent.ROOM): (no, none),  # FC-042
        (no, FlowEvent.FULL): (yes, start),  # FC-043
        (no, FlowEvent.UNSAID): (no, none),  # FC-042
        (no, FlowEvent.TIMER): (no, none),  # a timer that was cancelled too late
        (no, FlowEvent.TERMINATED): (end, none),  # FC-045
        (yes, FlowEvent.ROOM): (no, cancel),  # FC-040
        (yes, FlowEvent.FULL): (yes, none),  # FC-041: the timer runs on (F-03)
        (yes, FlowEvent.UNSAID): (yes, none),  # FC-041
        (yes, FlowEvent.TIMER): (yes, poll),  # FC-036
        (yes, FlowEvent.TERMINATED): (end, cancel),  # FC-045
        (end, FlowEvent.ROOM): (end, none),
        (end, FlowEvent.FULL): (end, none),
        (end, FlowEvent.UNSAID): (end, none),
        (end, FlowEvent.TIMER): (end, none),
        (end, FlowEvent.TERMINATED): (end, none),
    }


NEXT: Final[Mapping[tuple[Polling, FlowEvent], tuple[Polling, Action]]] = _table()


def said(buffer: int) -> FlowEvent:
    """Return the event for the BufferRemaining of an acknowledgement.

    A negative value means none (FC-038).
    """
    if buffer < 0:
        return FlowEvent.UNSAID  # FC-039
    return FlowEvent.ROOM if buffer else FlowEvent.FULL


BEFORE_ONE_MORE: Final = 8
"""A peer must take this multiple of its window before one more message is tried."""


@dataclass(slots=True)
class Flow:
    """The known room of the peer for one sequence; it is not durable, and starts empty (T23)."""

    polling: Polling = Polling.NOT_POLLING  # FC-032
    buffer: int | None = None
    """The last BufferRemaining; None if none has come."""
    heard: bool = False
    """Whether an acknowledgement came since the connection began."""
    cap: int | None = None
    """How many messages a peer without BufferRemaining took at a time; None as long as it took all."""
    taken: int = 0
    """Messages that it took since the cap was last changed."""

    def happen(self, event: FlowEvent) -> Action:
        """Change the state by the table, and return the action."""
        self.polling, action = NEXT[self.polling, event]
        return action

    def limit(self, window: int, *, probing: bool) -> int:
        """Return how many messages may be unacknowledged.

        A connection without any acknowledgement is probed with one message: the room is known before
        more are sent, so that a destination with little room drops none of them.
        """
        if probing and not self.heard:
            return 1
        known = self.cap if self.buffer is None else self.buffer
        return window if known is None else min(window, known)

    def connect(self) -> None:
        """Forget how many messages the peer takes at a time, because the connection is new."""
        self.heard, self.cap, self.taken = False, None, 0

    def drop(self, ahead: int) -> None:
        """Record that the peer did not take a message.

        `ahead` of it were sent since the first one not taken.
        """
        self.cap, self.taken = max(ahead if self.cap is None else min(ahead, self.cap), 1), 0

    def take(self, count: int) -> None:
        """Record that the peer took messages; after many of them one more may be sent at a time."""
        self.taken += count
        if self.cap is not None and self.taken >= self.cap * BEFORE_ONE_MORE:
            self.cap, self.taken = self.cap + 1, 0
