"""Lists the tables of MQQP, which are those of its client."""

from __future__ import annotations

from typing import Final

from reliquary.protocols.mqqp.client.tables import TABLES as CLIENT_TABLES

TABLES: Final = CLIENT_TABLES
