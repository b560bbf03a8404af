"""Computes from the facts when the messages of a large batch become visible, in a second and simpler way.

A large batch gets its positions in several turns.  For a reader nothing has happened before the last of them,
so this account keeps the positions back until the batch is published.
"""

from __future__ import annotations

from collections.abc import Iterator

from reliquary.base.turn import Fact
from reliquary.queueing.staging.facts import BatchPublished, StagePlaced, StagePublished


class HiddenPositions:
    """Positions that no reader may see yet."""

    def __init__(self) -> None:
        self._placed: dict[tuple[str, int], list[StagePlaced]] = {}

    def visible(self, fact: Fact) -> Iterator[Fact]:
        """Yield the facts that are visible to readers; a published batch comes with all its positions."""
        if isinstance(fact, StagePlaced):
            self._placed.setdefault((fact.query, fact.batch), []).append(fact)
            return
        yield fact
        if isinstance(fact, BatchPublished):
            for placed in self._placed.pop((fact.query, fact.record.batch), []):
                yield StagePublished(
                    placed.query, placed.batch, placed.queue, placed.positions, placed.stamped
                )
