"""Names SRMP's durable state, which is in the five tables of its streams (`reliquary.streams.tables`)."""

from __future__ import annotations

from typing import Final

from reliquary.streams.tables import StreamTables

NAME: Final = "srmp"
"""The name of this protocol in the queue manager and in the history."""
STREAM_TABLES: Final = StreamTables(NAME)
TABLES: Final[tuple[str, ...]] = STREAM_TABLES.names
