"""Counters and gauges as data: each endpoint describes its own, and the control plane prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

Kind = Literal["counter", "gauge"]

Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


class Section(IntEnum):
    """Where a family stands on the page of metrics."""

    MANAGER = 1
    TRAFFIC = 2
    """What came and went by the endpoints."""
    HISTORY = 3
    MACHINES = 4
    """What the machines of protocols count."""


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with all its samples."""

    name: str
    """Without the prefix that all metrics of a server have."""
    kind: Kind
    meaning: str
    """One sentence with a full stop."""
    samples: Sequence[Sample]
    section: Section = Section.TRAFFIC


def single(name: str, kind: Kind, meaning: str, value: float, section: Section = Section.TRAFFIC) -> Family:
    """Return a metric that has one value and no labels."""
    return Family(name, kind, meaning, [({}, value)], section)
