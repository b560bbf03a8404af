"""Defines how long the log of administrative acts is kept: the table [acts] of the settings.

[acts]                             RELIQUARY_ACTS_...
enabled = true
folder = "/var/log/reliquary"      without it, `acts` in the folder of the store
keep_days = 365                    files with older lines are deleted; 0 keeps all
keep_bytes = 104857600             the oldest files are deleted above it; 0 is no limit
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any, Final, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.console.acts_file import NAME, KeptActs
from reliquary.server.values import as_path


@dataclass(frozen=True, slots=True, kw_only=True)
class ActsOptions:
    """The settings of the log of acts."""

    enabled: bool = True
    """Whether administrative acts are logged."""
    folder: Path | None = None
    """The folder of the files; without it, `acts` in the folder of the store."""
    keep_days: float = 365
    """Files with older lines are deleted; 0 keeps all files."""
    keep_bytes: int = 100 * 1024 * 1024
    """The oldest files are deleted when all together are larger; 0 is no limit."""

    def __post_init__(self) -> None:
        if not (isfinite(self.keep_days) and self.keep_days >= 0):
            raise UsageError(f"acts.keep_days is 0 or a number of days, not {self.keep_days}")
        if self.keep_bytes < 0:
            raise UsageError(f"acts.keep_bytes is 0 or a number of bytes, not {self.keep_bytes}")

    def kept(self) -> KeptActs:
        """Return how long lines are kept."""
        return KeptActs(self.keep_days or None, self.keep_bytes or None)

    def place(self, store: Path) -> Path:
        """Return the folder of the log of this store."""
        return self.folder or store / NAME


NAMES: Final = tuple(one.name for one in fields(ActsOptions))
_TYPES: Final = get_type_hints(ActsOptions)


def convert(name: str, value: object, *, strict: bool) -> Any:
    """Return one setting of the table, converted to its type."""
    return msgspec.convert(value, _TYPES[name], strict=strict, dec_hook=as_path)
