"""What SRMP asks the network to do, once the facts are on disk."""

from __future__ import annotations

from reliquary.base.turn import Effect


class Post(Effect, frozen=True):
    """Send a message; the answer comes as `PostEnded`.

    The POSTs of one session go out in this order on one connection, several at a time.
    """

    session: int
    epoch: int
    lookup_id: int
    server: str
    """`http://host[:port]` to connect to, after redirection."""
    authority: str
    """The Host header: that of the destination."""
    target: str
    """Path and query."""
    content_type: str
    body: bytes


class EndSession(Effect, frozen=True):
    """Close the connection of a session; POSTs without an answer are cut off and not told of."""

    session: int
    epoch: int
    """The one that ends, as its POSTs name it; those of a later one go on."""


class SendApdu(Effect, frozen=True):
    """Send a message by multicast; `PostEnded` with status 200 comes when it is on the wire."""

    session: int
    epoch: int
    lookup_id: int
    address: str
    """`ip:port`."""
    data: bytes


class ListenTo(Effect, frozen=True):
    """Be a member of these multicast groups (`ip:port`), and of no others."""

    addresses: frozenset[str]
