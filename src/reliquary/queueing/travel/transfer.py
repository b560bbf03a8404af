"""What the queue manager and the machines that carry its messages tell each other.

    manager                          carrier (loop-back, later each protocol)
       | ConnectionWanted --------------> |   a message waits, and there is no connection
       | <------------ ConnectionChanged  |   begun, connected, failed, gone
       | SendUserMessage ---------------> |   one at a time for each outgoing queue
       | <---------------- TransferEnded  |   delivered, refused for good, or try again later
       | <--------------- MessageArrived  |   the other direction: a message from elsewhere
       | ArrivalJudged -----------------> |

A carrier answers only for the destinations it serves.  All of it happens inside turns, so facts
of both sides join one write.
"""

from __future__ import annotations

from enum import Enum

from reliquary.base.turn import Signal
from reliquary.queueing.message import Message, MessageClass
from reliquary.queueing.naming.formats import DirectName, MulticastName, SingleName
from reliquary.queueing.travel.link import ConnectionStatus, Happening, OutgoingTransfer


class Wrapper(Enum):
    """Which Send User Message Wrapper is raised: ProtocolData not NULL, or NULL (DM-324)."""

    BINARY = "binary"
    """[MS-MQQB] 3.1.7.16."""
    SRMP = "srmp"
    """[MC-MQSRM] 3.1.7.8."""


def wrapper_for(destination: SingleName) -> Wrapper:
    """How messages go there."""
    by_url = isinstance(destination, DirectName) and destination.protocol.is_http
    return Wrapper.SRMP if by_url or isinstance(destination, MulticastName) else Wrapper.BINARY


class Outcome(Enum):
    """How a transfer ended."""

    DELIVERED = "delivered"
    REFUSED = "refused"
    """For good: the reason says why."""
    TRY_LATER = "try-later"


# -- the manager speaks


class ConnectionWanted(Signal, frozen=True):
    """A message waits for this destination."""

    queue: int
    destination: str
    wrapper: Wrapper


class SendUserMessage(Signal, frozen=True):
    """Send User Message Wrapper, raised by Dispatch Send Message, 3.1.7.3.9."""

    queue: int
    lookup_id: int
    destination: str
    wrapper: Wrapper
    message: Message


class QueuePaused(Signal, frozen=True):
    """Pause Queue, 3.1.7.2.3."""

    queue: int


class QueueResumed(Signal, frozen=True):
    """Resume Queue, 3.1.7.2.4."""

    queue: int


class ManagerOnline(Signal, frozen=True):
    """ConnectionActive is another now, 3.1.4.12 and 3.1.4.13."""

    online: bool


class ArrivalJudged(Signal, frozen=True):
    """What became of a message that arrived; the words of `MessageArrived` say which."""

    carrier: str
    ticket: tuple[int, int]
    outcome: Outcome
    reason: MessageClass


# -- a carrier speaks


class ConnectionChanged(Signal, frozen=True):
    """The connection of an outgoing queue is in another state."""

    queue: int
    happening: Happening
    status: ConnectionStatus
    error: int = 0
    """An HRESULT; 0 for none."""
    addresses: tuple[str, ...] = ()
    """NextHops, where they are known."""


class TransferProgressed(Signal, frozen=True):
    """How far the stream of an outgoing queue got."""

    queue: int
    transfer: OutgoingTransfer


class TransferEnded(Signal, frozen=True):
    """A message that was handed out to be sent has its outcome."""

    queue: int
    lookup_id: int
    outcome: Outcome
    reason: MessageClass = MessageClass.ACK_REACH_QUEUE
    """Of a refusal, a Nack."""


class MessageArrived(Signal, frozen=True):
    """A message from elsewhere, for a queue of this manager; its carrier has verified what it claims."""

    carrier: str
    """Who brings it, and wants to be told."""
    ticket: tuple[int, int]
    """The carrier's own name for it."""
    destination: str
    """A path name or a format name."""
    message: Message
