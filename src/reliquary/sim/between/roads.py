"""What goes wrong between sites, and how often: each seed has its own roads, some have good ones.

lost         a POST never arrives, and nothing after it on its connection
silenced     a POST arrives, its answer does not
cut          a connection breaks while POSTs are on it
repeated     somebody in between delivers a POST a second time, maybe much later
turned away  somebody in between says no: 5xx, and the server never saw it
disowned     somebody in between says 502 to what the server has taken
closed       two sites cannot reach each other for a while
"""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.base.time import MILLISECOND, SECOND
from reliquary.sim.chance import SeededChance


@dataclass(slots=True)
class Roads:
    """Probabilities for each POST, and spans in microseconds."""

    lost: float = 0.0
    silenced: float = 0.0
    cut: float = 0.0
    repeated: float = 0.0
    turned_away: float = 0.0
    disowned: float = 0.0
    closed_every: int = 0
    slowest: int = 5 * MILLISECOND
    latest_repeat: int = 2 * SECOND

    @classmethod
    def drawn(cls, chance: SeededChance) -> Roads:
        """The roads of a seed."""
        return cls(
            lost=chance.pick((0.0, 0.01, 0.1)),
            silenced=chance.pick((0.0, 0.01, 0.1)),
            cut=chance.pick((0.0, 0.02, 0.1)),
            repeated=chance.pick((0.0, 0.05, 0.3)),
            turned_away=chance.pick((0.0, 0.02, 0.1)),
            disowned=chance.pick((0.0, 0.02, 0.1)),
            closed_every=chance.pick((0, SECOND, 4 * SECOND)),
            slowest=chance.pick((2 * MILLISECOND, 10 * MILLISECOND, 60 * MILLISECOND)),
            latest_repeat=chance.pick((50 * MILLISECOND, 2 * SECOND, 20 * SECOND)),
        )

    def clear_up(self) -> None:
        """From now on nothing goes wrong."""
        self.lost = self.silenced = self.cut = self.repeated = self.turned_away = self.disowned = 0.0
        self.closed_every = 0
