"""Defines the tables of the client on disk.

mqqp_doubts   queue and message identifier   a message that was delivered, and whose removal was not confirmed
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

import msgspec

from reliquary.base.rows import Table
from reliquary.queueing.model.message import ObjectId


class Doubt(msgspec.Struct, frozen=True):
    """A message that an application has, and that its server may still have (F-06)."""

    queue: str
    """The key of the queue's direct name."""
    identifier: ObjectId
    until: int
    """The time when the doubt is forgotten, in microseconds since 1970."""


DOUBTS: Final = Table("mqqp_doubts", Doubt)
TABLES: Final[tuple[str, ...]] = (DOUBTS.name,)

_IDENTIFIER: Final = Layout(">16sI")


def doubt_key(queue: str, identifier: ObjectId) -> bytes:
    """Return the key of a message: its queue, and its identifier."""
    return queue.encode() + b"\0" + _IDENTIFIER.pack(identifier.lineage.bytes, identifier.uniquifier)
