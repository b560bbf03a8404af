"""Defines the changes of the durable state of the client, which only `apply` makes."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.protocols.mqqp.client.tables import Doubt
from reliquary.queueing.model.message import ObjectId


class MessageDoubted(Fact, frozen=True):
    """A message is delivered, and its server may have kept it: it must not be delivered again."""

    doubt: Doubt


class DoubtEnded(Fact, frozen=True):
    """The server has removed the message for certain, or the time of the doubt is over."""

    queue: str
    identifier: ObjectId
