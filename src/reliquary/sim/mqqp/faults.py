"""Draws the faults between sites that use MQQP, in addition to the faults between all sites.

They are rarer than those of other protocols, because a read takes many calls over one link.  A request or
a response that is lost takes its connection with it: no data passes any more, and each end notices it at
its own time.  `rejected` is a fault of the server's RPC runtime, which its machine never sees.

cancelled      a call that waits is cancelled (co_cancel), or forgotten by its client (orphaned)
end lost       the end of a receive does not arrive: its client does not know whether the message is removed
cut every      a connection breaks at any moment, whether something is on it or not
end unnoticed  a client or a server notices late that a connection has ended: messages stay locked until then
"""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.base.time import MILLISECOND, SECOND
from reliquary.sim.chance import SeededChance
from reliquary.sim.world.network_faults import NetworkFaults


@dataclass(slots=True)
class MqqpFaults(NetworkFaults):
    """The probability of each fault for one call, and spans in microseconds."""

    cancelled: float = 0.0
    end_unnoticed: float = 0.0
    end_lost: float = 0.0
    cut_every: int = 0
    latest_notice: int = SECOND
    """The time after which both ends have noticed that a connection is stuck."""

    @classmethod
    def drawn(cls, chance: SeededChance) -> MqqpFaults:
        """Return the faults of a seed."""
        return cls(
            lost=chance.pick((0.0, 0.003, 0.02)),
            answer_lost=chance.pick((0.0, 0.003, 0.02)),
            cut=chance.pick((0.0, 0.01, 0.04)),
            rejected=chance.pick((0.0, 0.0, 0.01)),
            partition_every=chance.pick((0, 0, 4 * SECOND)),
            slowest=chance.pick((MILLISECOND, 4 * MILLISECOND, 20 * MILLISECOND)),
            cancelled=chance.pick((0.0, 0.01, 0.05)),
            end_lost=chance.pick((0.0, 0.02, 0.1)),
            cut_every=chance.pick((0, 80 * MILLISECOND, 500 * MILLISECOND)),
            end_unnoticed=chance.pick((0.0, 0.3, 0.8)),
            latest_notice=chance.pick((50 * MILLISECOND, SECOND, 4 * SECOND)),
        )

    def end(self) -> None:
        """End all faults, so that nothing fails from now on."""
        NetworkFaults.end(self)
        self.cancelled = self.end_unnoticed = self.end_lost = 0.0
        self.cut_every = 0
