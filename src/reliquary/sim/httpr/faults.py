"""Draws the faults between HTTPR agents, in addition to the faults between all sites.

stalled           a connection stands still, maybe for longer than its client waits: requests arrive late
truncated         a body ends in the middle, with its connection
late response     a response comes to a client that has closed the connection
close unnoticed   a server does not notice that a client has closed the connection
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from reliquary.sim.chance import SeededChance
from reliquary.sim.world.network_faults import NetworkFaults


@dataclass(slots=True)
class HttprFaults(NetworkFaults):
    """The probability of each fault for one request."""

    stalled: float = 0.0
    truncated: float = 0.0
    late_response: float = 0.0
    close_unnoticed: float = 0.0

    @classmethod
    def drawn(cls, chance: SeededChance) -> HttprFaults:
        """Return the faults of a seed."""
        return cls(
            **asdict(NetworkFaults.drawn(chance)),
            stalled=chance.pick((0.0, 0.02, 0.1)),
            truncated=chance.pick((0.0, 0.02, 0.1)),
            late_response=chance.pick((0.0, 0.5)),
            close_unnoticed=chance.pick((0.0, 0.5, 0.9)),
        )

    def end(self) -> None:
        """End all faults, so that nothing fails from now on."""
        NetworkFaults.end(self)
        self.stalled = self.truncated = self.late_response = self.close_unnoticed = 0.0
