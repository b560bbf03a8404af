"""Checks the rules of MQQP at one site; the rules are in `serving` and in `reading`."""

from __future__ import annotations

from collections.abc import Iterable

from reliquary.base.turn import Effect, Reply, Turn
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import Turned
from reliquary.sim.mqqp.drawing import FOR_EVER
from reliquary.sim.mqqp.packets import Packets
from reliquary.sim.mqqp.reading import ClientMonitor
from reliquary.sim.mqqp.readings import Readings, is_elsewhere
from reliquary.sim.mqqp.serving import ServerMonitor
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.witness import SiteWitness


class MqqpMonitor(Monitor):
    """Checks both roles of one site."""

    def __init__(
        self, witness: SiteWitness, packets: Packets, readings: Readings, settings: MqqpSettings
    ) -> None:
        super().__init__(witness)
        self._readings = readings
        self._server = ServerMonitor(witness, packets, readings)
        self.client = ClientMonitor(witness, packets, readings, forgets=settings.memory < FOR_EVER)

    def is_elsewhere(self, request: object) -> bool:
        """Return whether an application asks for messages of a queue of another site."""
        return is_elsewhere(request)

    def read_by(self, turned: Turned) -> Iterable[bytes]:
        """Return the message that a client of another site acknowledges in this turn."""
        return self._server.read_by(turned)

    def purged_by(self, turned: Turned) -> Iterable[str]:
        """Return the queue that a client of another site purges in this turn."""
        return self._server.purged_by(turned)

    def turned(self, turned: Turned, turn: Turn) -> None:
        """Check the events and the effects of both roles."""
        self._server.turned(turned, turn)
        self.client.turned(turned, turn)

    def shown_by_effect(self, effect: Effect) -> int:
        """Return the batch that a response shows."""
        return self._server.shown_by(effect)

    def answered(self, process_number: int, reply: Reply, disk: SimulatedDisk) -> None:
        """Check the answer that an application gets."""
        del disk
        self.client.answered(process_number, reply)

    def crashed(self) -> None:
        """Forget the state that ended with the process."""
        self._server.reset()
        self.client.reset()

    def restored(self) -> None:
        """Record that the messages in the queues of the site may be read once more."""
        super().restored()
        self.client.restored()
        self._readings.take_back(place.body for place in self.witness.ledger.places.values())
