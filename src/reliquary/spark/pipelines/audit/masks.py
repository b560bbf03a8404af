"""Defines the mask of a trace: a bit for each event of a message, and bits for its promises.

    bits 1 to 39    the events of the history, by their numbers
    bits 40 to 47   how it was sent, where it was, and what other managers acknowledged
    bits 48 to 50   its lane

`traces` sets the bits, and the conditions of `rules` test them.
"""

from __future__ import annotations

from typing import Final

from reliquary.wire.history import HistoryEvent

EVENT_NAMES: Final = tuple(event.word for event in sorted(HistoryEvent))
"""The events of the history; the bit of each in the mask of a trace is its index here plus one."""

TRANSACTIONAL: Final = 1 << 40
"""The message was sent in a transaction or in a stream."""
REACHED: Final = 1 << 41
"""Another manager acknowledged that the message is in its queue."""
READ: Final = 1 << 42
"""Another manager acknowledged that the message was received."""
BATCHED: Final = 1 << 43
"""The message came by a protocol that keeps the order without numbers."""
FETCHED: Final = 1 << 44
"""Another manager fetched the message from a queue of this one."""
OUTGOING: Final = 1 << 45
"""The message was put into an outgoing queue."""
LOCAL: Final = 1 << 46
"""The message was put into a queue of applications."""
UNPROMISED: Final = 1 << 47
"""Its arrival is not promised: an express message, or a receipt that a manager wrote to another."""
LANE: Final = 48
"""The three bits from here on are its lane: messages of one lane keep their order in a queue."""

ORDERED: Final = ("httpr",)
"""Protocols that keep the order of messages that have no number, and that fetch from queues of others."""
SEQUENCED: Final = ("wsrm",)
"""Protocols whose arrivals have the sequence and the number in it as their batch."""
UNSURE: Final = ("multicast",)
"""The protocols that send without knowing their receivers."""
COPIES: Final = ("journal", "dead-letter")
"""The kinds of queues with copies: a message that is read there was delivered before."""


def bit(*events: str) -> int:
    """Return the mask of these events.

    >>> bit("accepted"), bit("accepted", "arrived")
    (2, 6)
    """
    return sum(1 << (EVENT_NAMES.index(event) + 1) for event in events)


SETTLING: Final = bit(
    "released", "delivered", "received", "expired", "purged", "rejected", "moved", "dead-lettered",
    "poisoned", "committed", "aborted", "accepted", "queued", "arrived", "returned",
)  # fmt: skip
"""The events after which a message is not in doubt."""
OUT_OF_LINE: Final = bit(
    "returned", "released", "delayed", "due", "prepared", "moved", "poisoned", "rejected"
)
"""The events after which a message may be overtaken."""
GONE: Final = bit("received", "expired", "purged", "rejected", "moved", "dead-lettered", "poisoned")
"""The events by which a message that arrived can have left its queue."""
