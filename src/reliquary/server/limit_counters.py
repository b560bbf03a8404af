"""How much of the budget of all connections is in use, as metrics."""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.net.counters import Family, single
from reliquary.net.tcp.budget import Budget


def families(budget: Budget) -> Iterable[Family]:
    """Yield what is held now; the limits are settings."""
    held = "Bytes of requests that come in parts or wait for their answer, of those that are not small."
    yield single("body_memory_bytes", "gauge", held, budget.bodies.used)
    untaken = "Bytes of large answers that are foreseen, or that clients have not taken."
    yield single("answer_memory_bytes", "gauge", untaken, budget.answers.used)
