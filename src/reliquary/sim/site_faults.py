"""Draws the faults at a site; in some seeds there are none.

network   a request or an answer is lost, a connection is cut while a caller waits
disk      a write or a sync fails: an I/O error, or no space left
power     is cut at any moment, and at every named point between two steps of the engine
clock     the calendar is set forwards or back
people    stop the server in good order and start it again
"""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.base.time import HOUR, MILLISECOND, SECOND
from reliquary.sim.chance import SeededChance


@dataclass(slots=True)
class SiteFaults:
    """Probabilities, and spans in microseconds."""

    request_lost: float = 0.0
    answer_lost: float = 0.0
    cut: float = 0.0
    power_at_a_point: float = 0.0
    power_every: int = 0
    disk_fails: float = 0.0
    jump_every: int = 0
    stop_every: int = 0
    slowest_network: int = 2 * MILLISECOND
    slowest_sync: int = 2 * MILLISECOND
    longest_pause: int = 60 * MILLISECOND

    @classmethod
    def drawn(cls, chance: SeededChance) -> SiteFaults:
        """Return the faults of a seed."""
        return cls(
            request_lost=chance.pick((0.0, 0.005, 0.02)),
            answer_lost=chance.pick((0.0, 0.005, 0.02)),
            cut=chance.pick((0.0, 0.01, 0.05)),
            power_at_a_point=chance.pick((0.0, 0.0005, 0.002)),
            power_every=chance.pick((0, SECOND // 2, 3 * SECOND)),
            disk_fails=chance.pick((0.0, 0.0, 0.001, 0.004)),
            jump_every=chance.pick((0, SECOND, 4 * SECOND)),
            stop_every=chance.pick((0, SECOND, 4 * SECOND)),
            slowest_network=chance.pick((MILLISECOND, 5 * MILLISECOND, 40 * MILLISECOND)),
            slowest_sync=chance.pick((MILLISECOND, 10 * MILLISECOND, 50 * MILLISECOND)),
            longest_pause=chance.pick((10 * MILLISECOND, 60 * MILLISECOND, 200 * MILLISECOND)),
        )

    def end(self) -> None:
        """End all faults, so that nothing fails from now on."""
        self.request_lost = self.answer_lost = self.cut = 0.0
        self.power_at_a_point = self.disk_fails = 0.0
        self.power_every = self.jump_every = self.stop_every = 0


def jump(chance: SeededChance) -> int:
    """Return the span by which the calendar is set: mostly short, sometimes long, sometimes negative."""
    far = chance.pick((100 * MILLISECOND, 3 * SECOND, HOUR))
    return chance.between(-far, far)
