"""Adds MQQP to a world of several sites.

loss         a message that is not received is in its queue in the end, and is read there
duplication  a message that a reader has acknowledged is not shown again
order        one application gets what one sender sent in its order
left         no handle, lock, read, link or message is left when all applications have finished

Modules of this folder:

    network        carries calls between the sites
    connections    links, connections and calls as values
    faults         the faults between sites
    stubs          some calls go through the codec, in an encoding that is drawn
    drawing        the settings of a seed
    applications   senders at the queues' own sites, and readers at others
    packets        what the packets of a run say
    readings       what all monitors together know of reads
    serving        what is checked at the server
    reading        what is checked at the client
    monitor        both, at one site
    promises       what must hold in the end
    leavings       what must be empty in the end
    plugin         all of these together
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from reliquary.base.time import SECOND, Duration
from reliquary.base.turn import Event
from reliquary.protocols.mqqp.events import PortsKnown
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.protocol import mqqp
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.protocol import Protocol
from reliquary.sim.applications import Application, ApplicationContext
from reliquary.sim.chance import SeededChance
from reliquary.sim.checkers import check_acknowledgements
from reliquary.sim.history import Sending
from reliquary.sim.mqqp.applications import applications_of
from reliquary.sim.mqqp.drawing import drawn_settings
from reliquary.sim.mqqp.faults import MqqpFaults
from reliquary.sim.mqqp.leavings import left_at_client, left_at_manager, left_at_server
from reliquary.sim.mqqp.monitor import MqqpMonitor
from reliquary.sim.mqqp.network import PORTS, MqqpNetwork
from reliquary.sim.mqqp.packets import Packets
from reliquary.sim.mqqp.promises import check_delivered, check_order
from reliquary.sim.mqqp.readings import Readings
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.applications import INBOX, LEDGER, NOWHERE
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.promises import Deliveries
from reliquary.sim.world.witness import SiteWitness


class MqqpPlugin(Plugin):
    """The MQQP of one run: every site reads the queues of the others."""

    name: ClassVar[str] = "mqqp"
    steps: ClassVar[int] = 900
    local_queues: ClassVar[frozenset[str]] = frozenset({INBOX, LEDGER})
    settling: ClassVar[Duration] = Duration(20 * SECOND)

    def __init__(self) -> None:
        self.packets = Packets()
        self.readings = Readings()
        self.settings: dict[str, MqqpSettings] = {}

    def draw_faults(self, chance: SeededChance) -> MqqpFaults:
        """Draw the faults between the sites of a seed."""
        return MqqpFaults.drawn(chance)

    def draw_settings(self, chance: SeededChance, names: tuple[str, ...]) -> None:
        """Draw times and limits for each site."""
        self.settings = drawn_settings(chance, names)

    # -- the machine and its network

    def protocol(self, site: str) -> Protocol:
        """Return MQQP with the settings of a site."""
        return mqqp(self.settings[site])

    def first_events(self, site: str) -> tuple[Event, ...]:
        """Return the ports on which the site listens."""
        del site
        return (PortsKnown(PORTS["qmcomm"], PORTS["qm2qm"]),)

    def network(self, scheduler: Scheduler, chance: SeededChance, faults: MqqpFaults) -> MqqpNetwork:
        """Return a network that carries DCE/RPC calls between the sites."""
        return MqqpNetwork(scheduler, chance, faults)

    # -- names of queues

    def queue_name(self, site: str, queue: str) -> str:
        """Return the name of a queue for readers at other sites: with the computer's name."""
        return f"DIRECT=OS:{site.partition('.')[0]}\\private$\\{queue}"

    def target(self, sending: Sending) -> tuple[str, str]:
        """Return the queue of the sender's own site."""
        return self.register.sending_site(sending), sending.queue

    # -- applications

    def applications(
        self, site: str, context: ApplicationContext, others: tuple[str, ...]
    ) -> Iterable[Application]:
        """Return senders to queues of this site, and readers of queues of the other sites."""
        names = [self.queue_name(other, queue) for other in others for queue in (INBOX, INBOX, LEDGER)]
        sources = [*names, *names, *names, *(each.upper() for each in names)]  # both spellings name one queue
        wrong = [self.queue_name(others[0], NOWHERE), self.queue_name("z.example", INBOX)]
        return applications_of(site, context, sources, wrong, self.readings, receipts=self._is_alone)

    @property
    def _is_alone(self) -> bool:
        """Return whether no other protocol brings acknowledgements, which it would check as its own."""
        return len(self.register.plugins) == 1

    # -- checks

    def monitor(self, witness: SiteWitness) -> MqqpMonitor:
        """Return the checks of one site while it runs."""
        return MqqpMonitor(witness, self.packets, self.readings, self.settings[witness.site])

    def durable_state(self, state: State) -> Mapping[str, object]:
        """Return the messages whose removal is in doubt."""
        return {"doubts": state.client.doubts}

    def left_behind(self, process: Process) -> Mapping[str, object]:
        """Return the objects that clients and applications have open or locked, and messages that no
        application got."""
        state = process.machine(Mqqp).state
        return {
            **left_at_manager(process.manager.state),
            **left_at_server(state.server),
            **left_at_client(state.client),
        }

    def check_promises(self, deliveries: Deliveries) -> None:
        """Check the order of messages that were read, and that all acknowledged messages were delivered."""
        del deliveries
        check_order(self.register, self.readings)
        for site, witness in self.register.sites.items():
            monitor = witness.monitors[self.name]
            assert isinstance(monitor, MqqpMonitor)
            check_delivered(site, monitor.client.owed)
            if self._is_alone:
                check_acknowledgements(witness.history, witness.ledger)
