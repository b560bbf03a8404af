"""Two hosts with stand-ins for processes, and the network of MQQP between them; no faults by default."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from reliquary.base.time import SECOND
from reliquary.base.turn import Effect
from reliquary.protocols.mqqp.codec.qm2qm import (
    NO_HANDLE,
    Acknowledge,
    EndReceive,
    GetVersion,
    HandleReturned,
    Request,
    VersionReturned,
)
from reliquary.protocols.mqqp.codec.qmcomm import OpenRemoteQueue
from reliquary.protocols.mqqp.effects import CallServer, Respond
from reliquary.protocols.mqqp.events import ClientBound, ClientCalled
from reliquary.sim.chance import SeededChance
from reliquary.sim.mqqp.connections import Plan
from reliquary.sim.mqqp.faults import MqqpFaults
from reliquary.sim.mqqp.network import MqqpNetwork
from reliquary.sim.scheduler import Scheduler
from tests.sim.world.two_sites import StubHost

ENDED = HandleReturned(NO_HANDLE, 0)
VERSION = VersionReturned(6, 1, 7601)
VERSION_CALL = GetVersion()
OPEN = OpenRemoteQueue("DIRECT=OS:b\\private$\\inbox", 1, 0, UUID(int=7))


class TwoSites:
    """A simulated network in which a.example calls b.example."""

    def __init__(self, seed: int = 1, plan: Plan | None = None, **faults: Any) -> None:
        chance = SeededChance(seed)
        self.scheduler = Scheduler(chance)
        self.faults = MqqpFaults(**faults)
        self.network = MqqpNetwork(self.scheduler, chance, self.faults)
        if plan is not None:
            self.network.plans = (plan,)
        self.here, self.there = StubHost(), StubHost()
        self.client, self.server = self.here.process, self.there.process
        self.network.join("a.example", self.here)  # type: ignore[arg-type]
        self.network.join("b.example", self.there)  # type: ignore[arg-type]
        self._calls = 0

    def call(self, *requests: Request, link: int = 1, server: str = "B") -> None:
        """Call as the client, over one link."""
        for request in requests:
            self._calls += 1
            self.perform(CallServer(link, self._calls, server, 0, request))

    def perform(self, effect: Effect) -> None:
        """Perform an effect of the client."""
        self.network.perform("a.example", self.client, effect)

    def serve(self, effect: Effect) -> None:
        """Perform an effect of the server."""
        self.network.perform("b.example", self.server, effect)

    def respond(self, called: ClientCalled) -> None:
        """Answer a call as the server, with its version, or report that a read has ended."""
        response = ENDED if isinstance(called.request, EndReceive) else VERSION
        self.serve(Respond(called.connection, called.call, response))

    def passes(self, span: int = SECOND // 2) -> None:
        """Advance the simulated clock by a span."""
        self.scheduler.pass_time(span)

    @property
    def arrived(self) -> list[ClientCalled]:
        """Return the calls that reached the server, in their order."""
        return [each for each in self.server.events if isinstance(each, ClientCalled)]

    @property
    def bound(self) -> list[ClientBound]:
        """Return the binds that reached the server."""
        return [each for each in self.server.events if isinstance(each, ClientBound)]

    @property
    def losses(self) -> list[str]:
        """Return the ends of connections that the server noticed."""
        kinds = ("ConnectionLost", "AssociationLost")
        names = [type(each).__name__ for each in self.server.events]
        return [each for each in names if each in kinds]


def ends(count: int) -> list[Request]:
    """Return calls that can be distinguished."""
    return [EndReceive(UUID(int=number), Acknowledge.ACK) for number in range(1, count + 1)]
