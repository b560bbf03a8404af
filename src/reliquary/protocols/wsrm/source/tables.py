"""Defines the tables with the durable state of the source.

wsrm_outbound   number of the sequence        its dialect, its destination, and its progress
wsrm_numbered   sequence and message number   the message that has this number and no acknowledgement
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any, Final

import msgspec

from reliquary.base.rows import Table
from reliquary.protocols.wsrm.codec.values import Dialect, Incomplete, Reference
from reliquary.protocols.wsrm.source.phases import Phase

Ranges = tuple[tuple[int, int], ...]
"""Disjoint and sorted ranges; both ends belong to a range."""


class Outbound(msgspec.Struct, frozen=True, omit_defaults=True):
    """The row of an outgoing sequence."""

    number: int
    """The local number of the sequence, which no other sequence ever has."""
    dialect: Dialect
    queue: int = 0
    """The outgoing queue; 0 for an offered sequence that no queue has used."""
    destination: str = ""
    """The format name of that queue."""
    phase: Phase = Phase.CREATING
    create_id: str = ""
    """The MessageID of CreateSequence, which identifies a repeated one; empty for an offered sequence."""
    identifier: str = ""
    """The identifier that the peer chose; empty until the sequence is created."""
    target: Reference | None = None
    """The value of To in its messages; None for a client that cannot be reached."""
    offered_by: int = 0
    """The incoming sequence with its offer; 0 for an own sequence."""
    offer: str = ""
    """The identifier of the sequence that was offered for replies; empty without an offer, or if refused."""
    last: int = 0
    """The highest message number that was assigned."""
    acknowledged: Ranges = ()
    renewed_at: int = 0
    """The time after which no number is assigned, before the peer forgets it, in microseconds since 1970.

    0 for never.
    """
    incomplete: Incomplete | None = None
    """The peer's treatment of messages behind a gap when the sequence ends; None where it did not
    announce it.
    """
    last_message: bool = False
    """For WS-RM 1.0: whether the number `last` belongs to the empty LastMessage."""
    restored: bool = False
    """The store was restored: the peer may have numbers above `last`, and none is assigned any more."""


class Numbered(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message that has a number and no acknowledgement."""

    lookup_id: int = 0
    """The position in the outgoing queue; 0 for a message that left the queue by itself."""


OUTBOUND: Final = Table("wsrm_outbound", Outbound)
NUMBERED: Final = Table("wsrm_numbered", Numbered)

_ALL: Final[tuple[Table[Any], ...]] = (OUTBOUND, NUMBERED)
TABLES: Final[tuple[str, ...]] = tuple(table.name for table in _ALL)

_NUMBERED_KEY: Final = Layout(">IQ")
numbered_key = _NUMBERED_KEY.pack
"""The function for the key of a message: its sequence, and its number in it."""
read_numbered_key = _NUMBERED_KEY.unpack
