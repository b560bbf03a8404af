"""Defines the changes of HTTPR's durable state, which only `apply` makes.

P1 to P11 are the write points of 3.12, each a set of facts that are written together.
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
    """A batch may be sent from now on and is in doubt; its messages are reserved in this write (P1)."""

    channel: int
    batch: int


class BatchesSettled(Fact, frozen=True):
    """Batches are no longer in doubt; their messages left or were returned in this write (P7, P11)."""

    channel: int
    committed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()


class BatchReceived(Fact, frozen=True):
    """The outcome of a batch from the peer; after COMMIT its messages are in this write (P3, P5, P6)."""

    channel: int
    batch: int
    outcome: Outcome


class PeerReported(Fact, frozen=True):
    """The peer has used no higher id than this, so that a late batch is recognized (P8)."""

    channel: int
    last_sent_id: int


class EraNoted(Fact, frozen=True):
    """The store was restored from a backup, so that peers know more about all channels than this manager."""

    began: int
    """The time at which the transaction began, in microseconds since 1970."""


class MemoryJudged(Fact, frozen=True):
    """The peer has reported the last id of our batches, which shows whether our record is current."""

    channel: int
    memory: Memory
    last_source_id: int
    """No batch gets this id or a lower one."""


class FetchingSeen(Fact, frozen=True):
    """The client of a channel has begun to fetch its messages."""

    channel: int


class Side(Enum):
    """One direction of a channel's state."""

    SOURCE = "source"
    SINK = "sink"


class SideForgotten(Fact, frozen=True):
    """Both agents have forgotten the ids of one direction (P9, P10, P11)."""

    channel: int
    side: Side
