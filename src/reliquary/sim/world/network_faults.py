"""Draws the faults between sites; in some seeds there are none.

lost              a request never arrives, and no later one on its connection
answer lost       a request arrives, its answer does not
cut               a connection breaks while requests are on it
repeated          a proxy delivers a request a second time, maybe much later
rejected          a proxy answers with an error status, and the server never saw the request
answer replaced   a proxy answers with 502 a request that the server has accepted
overtaken         a proxy with several connections lets later requests pass one, where a protocol allows that
partitioned       two sites cannot reach each other for a while
silenced          what one site asks of another is lost for long, in some seeds: no receipts come back
"""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.base.time import MILLISECOND, SECOND
from reliquary.sim.chance import SeededChance


@dataclass(slots=True)
class NetworkFaults:
    """Probabilities for each request, and spans in microseconds."""

    lost: float = 0.0
    answer_lost: float = 0.0
    cut: float = 0.0
    repeated: float = 0.0
    rejected: float = 0.0
    answer_replaced: float = 0.0
    overtaken: float = 0.0
    partition_every: int = 0
    slowest: int = 5 * MILLISECOND
    latest_repeat: int = 2 * SECOND
    silenced: tuple[str, str] | None = None
    """Two sites: the first cannot reach the second; in the other direction they reach each other."""

    @classmethod
    def drawn(cls, chance: SeededChance) -> NetworkFaults:
        """Return the faults of a seed."""
        return cls(
            lost=chance.pick((0.0, 0.01, 0.1)),
            answer_lost=chance.pick((0.0, 0.01, 0.1)),
            cut=chance.pick((0.0, 0.02, 0.1)),
            repeated=chance.pick((0.0, 0.05, 0.3)),
            rejected=chance.pick((0.0, 0.02, 0.1)),
            answer_replaced=chance.pick((0.0, 0.02, 0.1)),
            partition_every=chance.pick((0, SECOND, 4 * SECOND)),
            slowest=chance.pick((2 * MILLISECOND, 10 * MILLISECOND, 60 * MILLISECOND)),
            latest_repeat=chance.pick((50 * MILLISECOND, 2 * SECOND, 20 * SECOND)),
        )

    def end(self) -> None:
        """End all faults, so that nothing fails from now on."""
        self.lost = self.answer_lost = self.cut = self.repeated = self.rejected = self.answer_replaced = 0.0
        self.overtaken = 0.0
        self.silenced = None
        self.partition_every = 0
