"""Reports the use of the budget of all connections as metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reliquary.net.counters import Family, Metric
from reliquary.net.tcp.budget import Budget

HELD: Final = Metric(
    "body_memory_bytes",
    "gauge",
    "Bytes of large requests that arrive in parts or wait for their answer.",
)
UNTAKEN: Final = Metric(
    "answer_memory_bytes",
    "gauge",
    "Bytes of large answers that are expected, or that clients have not read.",
)


def families(budget: Budget) -> Iterable[Family]:
    """Yield the bytes that are held now; the limits are settings."""
    yield HELD.now(budget.bodies.used)
    yield UNTAKEN.now(budget.answers.used)
