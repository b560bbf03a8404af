"""Names the durable state of MQQB, which is in the five tables of its streams (`reliquary.streams.tables`).

Session counters, windows and timers are never stored: a new session begins with zeros (3.1.3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.streams.acceptance import ACCEPTANCE, Acceptance, NumberRelation, StreamRelation, Verdict
from reliquary.streams.tables import StreamTables

NAME: Final = "mqqb"
"""The name of this carrier in the queue manager; the names of its tables begin with it."""
STREAM_TABLES: Final = StreamTables(NAME)
TABLES: Final[tuple[str, ...]] = STREAM_TABLES.names

BEGINS_ANYWHERE: Final[Mapping[tuple[StreamRelation, NumberRelation], Verdict]] = {
    (StreamRelation.NONE_KEPT, NumberRelation.SKIP): Verdict.BEGIN,
    (StreamRelation.NEWER, NumberRelation.SKIP): Verdict.BEGIN,
}
"""A stream may begin with any number if its message names no previous one (3.1.5.8.6, QB-259)."""
MQQB_ACCEPTANCE: Final[Acceptance] = {**ACCEPTANCE, **BEGINS_ANYWHERE}
