"""Defines the tables of HTTPR's durable state (3.12): one row for each channel, with source and sink.

httpr_channels  number   requester, channel and responder, and the ids of both directions
httpr_numbers   one row  counters that never decrease

The messages of a batch in doubt are in the queue manager's `reservations`, under channel and batch.
"""

from __future__ import annotations

from enum import Enum
from struct import Struct as Layout
from typing import Any, Final

import msgspec

from reliquary.base.rows import Table
from reliquary.protocols.httpr.codec.values import LARGEST_ID, NOTHING, Outcome


class Role(Enum):
    """The end of the channel that this manager is."""

    SERVER = "server"
    CLIENT = "client"


class Memory(Enum):
    """How far the record of sent batches can be trusted (`memory`)."""

    CURRENT = "current"
    RESTORED = "restored"
    """The store was restored from a backup, and the peer has not yet named its last id."""
    OUTDATED = "outdated"
    """The channel was or may have been used after the backup.

    Who has the messages of that time is unknown.
    """


class Channel(msgspec.Struct, frozen=True, omit_defaults=True):
    """The source and sink state of a channel, 3.12.1 and 3.12.2."""

    number: int
    role: Role
    requester: str
    name: str
    """The identifier of the channel."""
    responder: str
    last_source_id: int = NOTHING
    """The id of the latest batch that was sent.

    It never decreases, even if the channel is forgotten (HR-102).
    """
    source_forgotten: bool = False
    """All batches are settled, and the peer knows it: `last-pulled-id` is zeros until the next batch."""
    in_doubt: tuple[int, ...] = ()
    """The indoubt-ids, oldest first; their messages are reserved under (number, id)."""
    last_received_id: int = NOTHING
    last_received_outcome: Outcome = Outcome.COMMIT
    last_sent_id: int = NOTHING
    """The largest id that the peer is known to have used."""
    pulled: bool = False
    """For a server: whether its client fetches messages, so that our client agent does not push them."""
    owner: str = ""
    """For a server: the SID of the only user that may use it; empty as long as only anonymous users did."""
    memory: Memory = Memory.CURRENT
    backup_id: int = NOTHING
    """If `memory` is RESTORED: the id of the latest batch in the backup."""
    sink_restored: bool = False
    """The received ids are those of a backup, and the peer has not yet shown that they are still in use."""

    @property
    def next_id(self) -> int:
        """An id above all ids that this manager or the peer knows (HR-052, HR-103, HR-104)."""
        assert self.last_source_id < LARGEST_ID, "there are no more ids"
        return self.last_source_id + 1

    @property
    def has_source_state(self) -> bool:
        """Whether the peer may still have to forget the ids of our batches."""
        return self.last_source_id != NOTHING and not self.source_forgotten

    @property
    def has_sink_state(self) -> bool:
        """Whether any id of the peer's batches is known."""
        received = self.last_received_id or self.last_sent_id
        return bool(received) or self.last_received_outcome is not Outcome.COMMIT

    @property
    def identity(self) -> tuple[Role, str, str, str]:
        """The ordered triple of 1.4, and which end of it this manager is."""
        return self.role, self.requester, self.name, self.responder


class Numbers(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counters that never decrease, kept in one row."""

    channel: int = 0
    """The number of the newest channel."""
    session: int = 0
    """The number of the newest session, at least the microseconds since 1970: a lost row repeats none."""
    era: int = NOTHING
    """The time of the last restore, in microseconds since 1970: ids of new channels begin above it."""


CHANNELS: Final = Table("httpr_channels", Channel)
NUMBERS: Final = Table("httpr_numbers", Numbers)

_ALL: Final[tuple[Table[Any], ...]] = (CHANNELS, NUMBERS)
TABLES: Final[tuple[str, ...]] = tuple(table.name for table in _ALL)

ONLY: Final = b"\0"
channel_key = Layout(">I").pack
