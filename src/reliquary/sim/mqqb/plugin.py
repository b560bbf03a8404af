"""Adds MQQB to a world of several sites.

left      no number is outstanding, no message is judged
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, Final

from reliquary.base.time import HOUR, MILLISECOND, SECOND, Duration, seconds
from reliquary.base.turn import Event
from reliquary.protocols.mqqb.events import Addressed
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.protocols.mqqb.protocol import mqqb
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.names.formats import DirectName, parse_single
from reliquary.queueing.model.protocol import Protocol
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import Sending
from reliquary.sim.mqqb.monitor import Carried, MqqbMonitor, waits_for_final
from reliquary.sim.mqqb.network import StreamNetwork
from reliquary.sim.mqqb.promises import check_duplication
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.applications import Destinations
from reliquary.sim.world.network import SiteNetwork
from reliquary.sim.world.promises import Deliveries
from reliquary.sim.world.receipts import check_receipts
from reliquary.sim.world.register import local_name
from reliquary.sim.world.streams import StreamPlugin
from reliquary.sim.world.witness import SiteWitness

ADDRESS: Final = "10.0.0.{}"
REFUSALS: Final = frozenset(
    {
        MessageClass.NACK_BAD_DEST_QUEUE,
        MessageClass.NACK_QUEUE_EXCEED_QUOTA,
        MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE,
        MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE,
    }
)
"""The reasons that a destination sends for a message that never was in one of its queues."""


class Names(Enum):
    """The forms of the queue names of a site; all names of one site use one session."""

    HOST = "host"
    ADDRESS = "address"
    BOTH = "both"
    """Some queues have the host name, others the address."""


class MqqbPlugin(StreamPlugin):
    """The MQQB of one run: every site sends and receives."""

    name: ClassVar[str] = "mqqb"
    ends_chains: ClassVar[bool] = True
    settling: ClassVar[Duration] = Duration(90 * SECOND)

    def __init__(self) -> None:
        self.carried = Carried()
        self.settings: dict[str, MqqbSettings] = {}
        self.addresses: dict[str, str] = {}
        """The IP address of each site."""
        self.names: dict[str, Names] = {}
        """The form of the names that other sites use for each site."""

    def draw_settings(self, chance: SeededChance, names: tuple[str, ...]) -> None:
        """Draw small windows and short timers for each site."""
        self.addresses = {name: ADDRESS.format(place) for place, name in enumerate(names, 1)}
        self.names = {name: chance.pick(tuple(Names)) for name in names}
        self.settings = {name: _drawn(chance) for name in names}

    # -- the machine and its network

    def protocol(self, site: str) -> Protocol:
        """Return MQQB with the settings of a site."""
        return mqqb(self.settings[site])

    def first_events(self, site: str) -> tuple[Event, ...]:
        """Return the address and the name under which other sites reach this one."""
        return (Addressed(frozenset({self.addresses[site]}), frozenset({site})),)

    def network(self, scheduler: Scheduler, chance: SeededChance, faults: Any) -> SiteNetwork:
        """Return a network that carries byte streams between the sites."""
        return StreamNetwork(scheduler, chance, faults, self.addresses)

    # -- names of queues

    def queue_name(self, site: str, queue: str) -> str:
        """Return the name of a queue for senders at other sites."""
        names = self.names[site]
        if names is Names.ADDRESS or (names is Names.BOTH and len(queue) % 2):
            return f"DIRECT=TCP:{self.addresses[site]}\\private$\\{queue}"
        return f"DIRECT=OS:{site}\\private$\\{queue}"

    def target(self, sending: Sending) -> tuple[str, str]:
        """Return the site and the queue that a message is for."""
        name = parse_single(sending.queue)
        assert isinstance(name, DirectName), f"{sending.queue} does not say which site has the queue"
        sites = {address: site for site, address in self.addresses.items()}
        return sites.get(name.host, name.host), local_name(name.queue_path)

    # -- applications

    def destinations(self, site: str, others: tuple[str, ...]) -> Destinations:
        """Return the destinations of messages, with wrong queues."""
        del site
        return Destinations(others, self.queue_name)

    # -- checks

    def monitor(self, witness: SiteWitness) -> MqqbMonitor:
        """Return the checks that run at one site."""
        return MqqbMonitor(witness, self.carried)

    def may_wait(self, position: Position) -> bool:
        """Return whether a message requests a final acknowledgement: in a stream it stays until it was
        received."""
        return waits_for_final(position)

    def may_be_refused(self, sending: Sending) -> bool:
        """Return whether the target may drop a message without a notice to its sender."""
        site, _ = self.register.target(sending)
        monitor = self.register.sites[site].monitors[self.name]
        assert isinstance(monitor, MqqbMonitor)
        return sending.body in self.carried.too_late or monitor.may_be_refused(sending.body)

    def left_behind(self, process: Process) -> Mapping[str, object]:
        """Return numbers without an acknowledgement, and messages without a verdict."""
        state = process.machine(Mqqb).state
        return {
            "numbers": {queue: sent.awaiting for queue, sent in state.sent.items() if sent.awaiting},
            "messages that come in": state.receiver.arriving,
        }

    def check_promises(self, deliveries: Deliveries) -> None:
        """Check that no message arrived twice or out of order, and that acknowledgements are true."""
        check_duplication(deliveries, self.settings, self)
        super().check_promises(deliveries)
        check_receipts(deliveries)

    def may_have_refused(self, sending: Sending, kind: MessageClass) -> bool:
        """Return whether a message arrived at its destination, which may have refused it for this reason.

        If a message of a transaction was refused, its own site gives up the others for this reason too.
        """
        if kind in REFUSALS and kind in self.register.sites[self.register.sending_site(sending)].ends_of(
            sending.body
        ):
            return True
        if sending.body not in self.carried.came:
            return False
        if kind is MessageClass.NACK_REACH_QUEUE_TIMEOUT:
            return sending.body in self.carried.too_late
        said = int(kind) in self.carried.refused[sending.body]  # the reason is in a final acknowledgement
        return kind in REFUSALS and (said or self.may_be_refused(sending))


def _drawn(chance: SeededChance) -> MqqbSettings:
    """Return settings with small windows and short timers."""
    order_ack = Duration(chance.pick((MILLISECOND, 20 * MILLISECOND, 100 * MILLISECOND)))
    return MqqbSettings(
        window=chance.pick((1, 2, 4, 64)),
        initialization=Duration(chance.pick((500, 3000)) * MILLISECOND),
        cleanup=Duration(chance.pick((500, 3000)) * MILLISECOND),
        retry=Duration(chance.pick((100, 300, 1000)) * MILLISECOND),
        ack_wait=seconds(20),
        ack_wait_factor=1,
        resend_ladder=tuple(
            Duration(span * MILLISECOND) for span in chance.pick(((300, 300, 1000, 5000), (1000, 3000)))
        ),
        order_ack=order_ack,
        longest_order_ack=Duration(chance.between(1, 4) * order_ack),
        most_coalesced=chance.pick((1, 3, 1000)),
        awaiting=chance.pick((1, 3, 8)),
        history_size=chance.pick((4, 1000)),
        history_age=Duration(chance.pick((30 * SECOND, 2 * HOUR))),
    )
