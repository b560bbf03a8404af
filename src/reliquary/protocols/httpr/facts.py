"""Changes of HTTPR's durable state; `apply` is the only place that makes them.

P1 to P11 are the write points of 3.12: what must be written together.
"""

from __future__ import annotations

from enum import Enum

from reliquary.base.turn import Fact
from reliquary.protocols.httpr.codec.values import Outcome
from reliquary.protocols.httpr.tables import Channel, Memory


class ChannelOpened(Fact, frozen=True):
    """A channel was opened, or its owner changed."""

    channel: Channel


class SessionNumbered(Fact, frozen=True):
    """A session got this number, which no other session ever gets (HR-100)."""

    session: int


class BatchPrepared(Fact, frozen=True):
    """P1: a batch may be sent from now on, and is in doubt; its messages are reserved in this write."""

    channel: int
    batch: int


class BatchesSettled(Fact, frozen=True):
    """P7, P11: batches are in doubt no longer; their messages left or were returned in this write."""

    channel: int
    committed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()


class BatchReceived(Fact, frozen=True):
    """P3, P5, P6: the outcome of a batch from the peer; with COMMIT, its messages are in this write."""

    channel: int
    batch: int
    outcome: Outcome


class PeerReported(Fact, frozen=True):
    """P8: the peer has used no higher id than this, so a batch that comes late is recognized."""

    channel: int
    last_sent_id: int


class EraNoted(Fact, frozen=True):
    """The store was restored from a backup: peers know more of all channels than we do."""

    began: int
    """The time at which the transaction began, in microseconds since 1970."""


class MemoryJudged(Fact, frozen=True):
    """The peer has shown how far our batches got, and so what our memory of the channel is worth."""

    channel: int
    memory: Memory
    last_source_id: int
    """No batch gets this id or a lower one."""


class FetchingSeen(Fact, frozen=True):
    """The client of a channel has begun to fetch its messages."""

    channel: int


class Side(Enum):
    """One half of a channel's state."""

    SOURCE = "source"
    SINK = "sink"


class SideForgotten(Fact, frozen=True):
    """P9, P10, P11: both agents have forgotten how far one direction got."""

    channel: int
    side: Side
