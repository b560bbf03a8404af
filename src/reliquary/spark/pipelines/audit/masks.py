"""The mask of a trace: a bit for each event that happened to a message, and bits for what it promises.

    bits 1 to 39    the events of the history, by their numbers
    bits 40 to 47   how it was sent, where it was, and what other managers acknowledged
    bits 48 to 50   its lane

`traces` sets the bits, and the conditions of `rules` test them.
"""

from __future__ import annotations

from typing import Final

from reliquary.wire.history import HistoryEvent

EVENT_NAMES: Final = tuple(event.word for event in sorted(HistoryEvent))
"""The events of the history; the bit of each in the mask of a trace is one higher than its place here."""

TRANSACTIONAL: Final = 1 << 40
"""It was sent in a transaction or in a stream."""
REACHED: Final = 1 << 41
"""Another manager acknowledged that it is in its queue."""
READ: Final = 1 << 42
"""Another manager acknowledged that it was received."""
BATCHED: Final = 1 << 43
"""It came by a protocol that keeps the order without numbers."""
FETCHED: Final = 1 << 44
"""Another manager fetched it from a queue of this one."""
OUTGOING: Final = 1 << 45
"""It was put into an outgoing queue."""
LOCAL: Final = 1 << 46
"""It was put into a queue of applications."""
UNPROMISED: Final = 1 << 47
"""Its arrival is not promised: an express message, or a receipt that a manager wrote to another."""
LANE: Final = 48
"""The three bits from here on are its lane: messages of one lane keep their order in a queue."""

ORDERED: Final = ("httpr",)
"""Protocols that keep the order of messages that have no number, and that fetch from queues of others."""
SEQUENCED: Final = ("wsrm",)
"""Protocols whose arrivals have the sequence and the number in it as their batch."""
UNSURE: Final = ("multicast",)
"""Protocols that send without knowing who listens."""
COPIES: Final = ("journal", "dead-letter")
"""Kinds of queues that hold copies: what is read there was delivered before."""


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
"""After one of these a message is not in doubt."""
OUT_OF_LINE: Final = bit(
    "returned", "released", "delayed", "due", "prepared", "moved", "poisoned", "rejected"
)
"""A message to which one of these happened may be overtaken."""
GONE: Final = bit("received", "expired", "purged", "rejected", "moved", "dead-lettered", "poisoned")
"""The events by which a message that arrived can have left its queue."""
