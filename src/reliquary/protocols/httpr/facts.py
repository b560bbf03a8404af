"""What HTTPR states about its durable state; `apply` is the only place that changes it.

The letters are the write points of 3.12: which of them is committed together with which.
"""

from __future__ import annotations

from enum import Enum

from reliquary.base.turn import Fact
from reliquary.protocols.httpr.codec.values import Outcome
from reliquary.protocols.httpr.tables import Channel


class ChannelOpened(Fact, frozen=True):
    """Two agents speak for the first time, or the channel has an owner now, or none any more."""

    channel: Channel


class SessionNumbered(Fact, frozen=True):
    """A session has this number, and no other ever will (HR-100)."""

    session: int


class BatchPrepared(Fact, frozen=True):
    """P1: this batch may be sent from now on, and is in doubt; its messages are held in the same write."""

    channel: int
    batch: int


class BatchesSettled(Fact, frozen=True):
    """P7, P11: these batches are in doubt no longer; their messages left or came back in the same write."""

    channel: int
    committed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()


class BatchReceived(Fact, frozen=True):
    """P3, P5, P6: what became of a batch of the peer's; of COMMIT its messages are in the same write."""

    channel: int
    batch: int
    outcome: Outcome


class PeerReported(Fact, frozen=True):
    """P8: the peer has used no higher id than this, so what comes late is known."""

    channel: int
    last_sent_id: int


class FetchingSeen(Fact, frozen=True):
    """The client of a channel fetches its messages."""

    channel: int


class Side(Enum):
    """One half of a channel's state."""

    SOURCE = "source"
    SINK = "sink"


class SideForgotten(Fact, frozen=True):
    """P9, P10, P11: nobody needs to know any more how far one direction got."""

    channel: int
    side: Side
