"""Defines the tables with the durable state of incoming sequences.

wsrm_inbound    sequence                   the values that were agreed at its creation
wsrm_received   sequence                   its phase, and the numbers of all messages that it brought
wsrm_held       sequence, message number   a message that waits for those before it
wsrm_requests   sequence, message number   the MessageID of a request, for RelatesTo of its reply

Nothing about room is stored: it follows from the queue and from the buffered messages.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any, Final

import msgspec

from reliquary.base.rows import Table
from reliquary.protocols.wsrm.codec.values import Dialect, Reference
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.queueing.model.message import Message, ObjectId

Ranges = tuple[tuple[int, int], ...]
"""Disjoint and sorted ranges; both ends belong to a range."""


class Inbound(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The values that were agreed when a sequence was created; only the last two are added later."""

    number: int
    identifier: str
    endpoint: str
    """The name after /wsrm/; empty for a sequence that the own source offered."""
    queue: str
    """The destination of its messages: a path name or a format name."""
    dialect: Dialect
    acks_to: Reference
    created: int
    """The time of creation, in microseconds since 1970."""
    life: int
    """Expires as it was granted, in microseconds."""
    owner: str = ""
    """The SID of the only user who may use it; empty if it was created anonymously."""
    secure: bool = False
    """UsesSequenceSSL: its messages must come over TLS."""
    message_id: str = ""
    """The MessageID of CreateSequence, by which a repeated request is recognized."""
    offer: str = ""
    """The identifier of the sequence that its client offered and that was accepted; empty for none."""
    reply_url: str = ""
    """The address for messages of the offered sequence; empty for a client that cannot be reached."""
    offered: int = 0
    """The number of the accepted sequence; 0 for none."""
    restored: bool = False
    """The store was restored: its ranges are older than those of its peer, so the sequence cannot be used."""

    @property
    def expires(self) -> int:
        """The time at which the sequence expires, in microseconds since 1970."""
        return self.created + self.life


class Received(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The progress of a sequence."""

    ranges: Ranges = ()
    """The numbers of all messages that were received and are acknowledged."""
    phase: Phase = Phase.OPEN
    last: int = 0
    """The number of the last message, if its source has named it; otherwise 0."""
    ended: int = 0
    """When it ended, microseconds since 1970."""


class Buffered(msgspec.Struct, frozen=True, gc=False):
    """A message that is acknowledged and not in its queue yet."""

    message: Message


class Request(msgspec.Struct, frozen=True, gc=False):
    """The MessageID of a request, if it cannot be derived from the identifier of the message."""

    identifier: ObjectId
    message_id: str


INBOUND: Final = Table("wsrm_inbound", Inbound)
RECEIVED: Final = Table("wsrm_received", Received)
BUFFERED: Final = Table("wsrm_held", Buffered)
REQUESTS: Final = Table("wsrm_requests", Request)

_ALL: Final[tuple[Table[Any], ...]] = (INBOUND, RECEIVED, BUFFERED, REQUESTS)
TABLES: Final[tuple[str, ...]] = tuple(table.name for table in _ALL)

_MESSAGE: Final = Layout(">IQ")
message_key = _MESSAGE.pack
"""The function for the key of a message: the number of its sequence, and its own number."""


def message_of_key(key: bytes) -> tuple[int, int]:
    """Return the sequence and the message number of a key."""
    sequence, number = _MESSAGE.unpack(key)
    return sequence, number
