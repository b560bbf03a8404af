"""Keeps the open hand-outs: positions that receives have locked."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class HandOuts:
    """The hand-outs of this process that have rows (`changes.hand_outs`).

    Written by: changes.hand_outs.
    """

    last: int = 0
    """The number of the newest hand-out; the rows of an earlier process are deleted by recovery."""
    open: dict[int, int] = field(default_factory=dict)
    """The number of positions of each hand-out that are neither removed nor written again."""
