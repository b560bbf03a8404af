"""What MQQP keeps on disk: only its client has something that must outlive the process."""

from __future__ import annotations

from typing import Final

from reliquary.protocols.mqqp.client.tables import TABLES as CLIENT_TABLES

TABLES: Final = CLIENT_TABLES
