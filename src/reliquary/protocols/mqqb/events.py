"""Defines the events from the network and from administrators.

A *session* is one TCP connection.  Its number is never used again while the process runs: the machine counts
1, 2, 3 for connections that it opens (`effects.Dial`), and the network counts -1, -2, -3 for connections that
it accepts.  An event about a session that the machine has closed is ignored.

    Dial --> AddressesFound --> Dialled or DialFailed
    Accepted
    Dialled or Accepted --> PacketsArrived ... --> ConnectionLost
"""

from __future__ import annotations

from reliquary.base.turn import Event
from reliquary.queueing.travel.failures import Failure
from reliquary.streams import events


class Addressed(Event, frozen=True):
    """The server listens; the machine opens no session before this event."""

    addresses: frozenset[str]
    """The IP addresses that mean this manager in `DIRECT=TCP:` names, without brackets and in lower case."""
    names: frozenset[str] = frozenset()
    """Host names that mean this manager in `DIRECT=OS:` names, in lower case, besides its computer name."""


class AddressesFound(Event, frozen=True):
    """The resolver gave these addresses for the host of a `Dial`; the network tries them in this order."""

    session: int
    addresses: tuple[str, ...]


class Dialled(Event, frozen=True):
    """A connection that the machine asked for is open."""

    session: int
    address: str
    """The IP address of the peer that answered, without brackets."""


class DialFailed(Event, frozen=True):
    """No address of a `Dial` answered; the session is over, and `ConnectionLost` does not follow."""

    session: int
    failure: Failure
    why: str = ""
    ping: bool = False
    """Whether a ping had no response, or a response that refuses the session (3.1.5.2.2)."""


class Accepted(Event, frozen=True):
    """A peer opened a connection to this manager."""

    session: int
    """A negative number that the network has not used before."""
    address: str
    """The IP address of the peer, without brackets."""


class PacketsArrived(Event, frozen=True):
    """Whole packets came on a session, in the order of the byte stream, each with its SessionHeader."""

    session: int
    packets: tuple[bytes, ...]


class ConnectionLost(Event, frozen=True):
    """A connection has ended, or the network has closed it because its bytes are not packets."""

    session: int
    why: str = ""
    malformed: bool = False
    """Whether the network closed it because the bytes cannot be divided into packets (3.1.5.1.2)."""


class PingArrived(Event, frozen=True):
    """A datagram came to the ping port; the answer is the effect `SendPing`, or there is none."""

    address: str
    port: int
    data: bytes


class HandOutStored(Event, frozen=True):
    """A turn with this mark, and all before it, are on disk; MQQB sends this event to itself."""

    mark: int


class InboxDue(Event, frozen=True):
    """The sync of the acknowledged messages has begun.

    MQQB sends this event to itself to process further packets.
    """

    session: int


class CloseSession(Event, frozen=True):
    """An administrator closes a session; queues that still have messages for the peer open another one."""

    to: int
    session: str
    """The name of the session: `out-` or `in-` and its number."""


class ResetStream(events.ResetStream, frozen=True):
    """An administrator resets a stream of MQQB."""


class EndSessions(Event, frozen=True):
    """The server stops: acknowledgements that are due are sent, and all sessions are closed (QB-168)."""
