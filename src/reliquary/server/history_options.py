"""Defines the settings of the history: the table [history].

[history]                          RELIQUARY_HISTORY_...
enabled = true
folder = "/var/lib/history"        without it, `history` in the folder of the store
every = 10                         seconds between two exports
keep_days = 30                     files with older events are deleted; 0 keeps all
keep_bytes = 10737418240           the oldest files are deleted above it; 0 is no limit
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any, Final, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.engine.history import HistoryOptions as ExportOptions
from reliquary.server.values import as_path
from reliquary.store.history.folder import NAME, Kept

LONGEST: Final = 86_400.0
"""The most seconds between two exports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """All settings of the history."""

    enabled: bool = True
    """Whether events are exported to files."""
    folder: Path | None = None
    """The folder of the files; without it, `history` in the folder of the store."""
    every: float = 10
    """The number of seconds between two exports."""
    keep_days: float = 30
    """Files with older events are deleted; 0 keeps all files."""
    keep_bytes: int = 10 * 1024**3
    """The oldest files are deleted when all together are larger; 0 is no limit."""

    def __post_init__(self) -> None:
        if not 0.1 <= self.every <= LONGEST:
            raise UsageError(f"history.every is 0.1 to {LONGEST:.0f} seconds, not {self.every}")
        if not (isfinite(self.keep_days) and self.keep_days >= 0):
            raise UsageError(f"history.keep_days is 0 or a number of days, not {self.keep_days}")
        if self.keep_bytes < 0:
            raise UsageError(f"history.keep_bytes is 0 or a number of bytes, not {self.keep_bytes}")

    def export(self, store: Path) -> ExportOptions | None:
        """Return the settings of the exporter of this store; None if the history is switched off."""
        if not self.enabled:
            return None
        kept = Kept(self.keep_days or None, self.keep_bytes or None)
        return ExportOptions(self.folder or store / NAME, self.every, kept)


NAMES: Final = tuple(one.name for one in fields(HistoryOptions))
_TYPES: Final = get_type_hints(HistoryOptions)


def convert(name: str, value: object, *, strict: bool) -> Any:
    """Return one setting of the table, converted to its type."""
    return msgspec.convert(value, _TYPES[name], strict=strict, dec_hook=as_path)
