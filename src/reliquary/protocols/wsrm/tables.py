"""Lists all database tables of WS-ReliableMessaging."""

from __future__ import annotations

from typing import Final

from reliquary.protocols.wsrm.destination import tables as destination
from reliquary.protocols.wsrm.numbering import COUNTERS
from reliquary.protocols.wsrm.source import tables as source

TABLES: Final[tuple[str, ...]] = (COUNTERS.name, *destination.TABLES, *source.TABLES)
