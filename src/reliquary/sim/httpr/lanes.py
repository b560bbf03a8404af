"""What goes wrong between agents, beside what does on all roads.

stalled   a connection stands still, maybe for longer than its client waits: what is on it arrives late
torn      a body ends in the middle, with its connection
haunted   a response comes to a client that has hung up
deaf      a server does not notice that a client has hung up
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from reliquary.sim.between.roads import Roads
from reliquary.sim.chance import SeededChance


@dataclass(slots=True)
class Lanes(Roads):
    """Probabilities for each request."""

    stalled: float = 0.0
    torn: float = 0.0
    haunted: float = 0.0
    deaf: float = 0.0

    @classmethod
    def drawn(cls, chance: SeededChance) -> Lanes:
        """The lanes of a seed."""
        return cls(
            **asdict(Roads.drawn(chance)),
            stalled=chance.pick((0.0, 0.02, 0.1)),
            torn=chance.pick((0.0, 0.02, 0.1)),
            haunted=chance.pick((0.0, 0.5)),
            deaf=chance.pick((0.0, 0.5, 0.9)),
        )

    def clear_up(self) -> None:
        """From now on nothing goes wrong."""
        Roads.clear_up(self)
        self.stalled = self.torn = self.haunted = self.deaf = 0.0
