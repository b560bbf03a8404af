"""Where HTTPR's durable state lies (3.12): one row a channel, for source and sink together.

httpr_channels  number   requester, channel and responder, and how far both directions got
httpr_numbers   one row  counters that only grow

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
    """Our end of the channel."""

    SERVER = "server"
    CLIENT = "client"


class Memory(Enum):
    """How far our record of the batches that we sent can be trusted (`memory`)."""

    CURRENT = "current"
    RESTORED = "restored"
    """The store was restored from a backup, and the peer was not asked yet how far the channel got."""
    OUTDATED = "outdated"
    """The channel went on after the backup, or may have: who has the messages of that time is not known."""


class Channel(msgspec.Struct, frozen=True, omit_defaults=True):
    """Source and sink state, 3.12.1 and 3.12.2."""

    number: int
    role: Role
    requester: str
    name: str
    """The identifier of the channel."""
    responder: str
    last_source_id: int = NOTHING
    """The id of the latest batch that we sent.  It only grows, even if the channel is forgotten (HR-102)."""
    source_forgotten: bool = False
    """All batches are settled, and the peer knows it: `last-pulled-id` is zeros until the next batch."""
    in_doubt: tuple[int, ...] = ()
    """indoubt-ids, oldest first; their messages are reserved under (number, id)."""
    last_received_id: int = NOTHING
    last_received_outcome: Outcome = Outcome.COMMIT
    last_sent_id: int = NOTHING
    """The largest id that the peer is known to have used."""
    pulled: bool = False
    """For a server: whether its client fetches messages, so that our client agent does not push them."""
    owner: str = ""
    """For a server: the SID of the only user that may use it; empty while only anonymous users have."""
    memory: Memory = Memory.CURRENT
    backup_id: int = NOTHING
    """While `memory` is RESTORED: the id of the latest batch that the backup knows."""
    sink_restored: bool = False
    """The ids that came are those of a backup, and the peer has not shown yet that it still counts so."""

    @property
    def next_id(self) -> int:
        """An id above all that we or the peer know (HR-052, HR-103, HR-104)."""
        assert self.last_source_id < LARGEST_ID, "there are no more ids"
        return self.last_source_id + 1

    @property
    def has_source_state(self) -> bool:
        """Return whether the peer may still have to forget how far we sent."""
        return self.last_source_id != NOTHING and not self.source_forgotten

    @property
    def has_sink_state(self) -> bool:
        """Return whether anything is known of what the peer sent."""
        received = self.last_received_id or self.last_sent_id
        return bool(received) or self.last_received_outcome is not Outcome.COMMIT

    @property
    def identity(self) -> tuple[Role, str, str, str]:
        """The ordered triple of 1.4, and which end of it we are."""
        return self.role, self.requester, self.name, self.responder


class Numbers(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counters that never decrease, kept in one row."""

    channel: int = 0
    """The number of the newest channel."""
    session: int = 0
    """The number of the newest session, at least the microseconds since 1970: a lost row repeats none."""
    era: int = NOTHING
    """When the store was last restored, microseconds since 1970: ids of new channels begin above it."""


CHANNELS: Final = Table("httpr_channels", Channel)
NUMBERS: Final = Table("httpr_numbers", Numbers)

_ALL: Final[tuple[Table[Any], ...]] = (CHANNELS, NUMBERS)
TABLES: Final[tuple[str, ...]] = tuple(table.name for table in _ALL)

ONLY: Final = b"\0"
channel_key = Layout(">I").pack
