"""Defines the object that adds a protocol to a world; there is one for each run.

A protocol whose effects are requests to other sites, and which delivers once, needs three methods:

    class Example(Plugin):
        name = "example"

        def protocol(self, site):           the machine of a site, with its settings
        def request(self, effect):          the request in an effect: its site, its content and its answer
        def queue_name(self, site, queue):  the name of a queue for senders at other sites

`simulate(seed, [Example])` runs it; everything else has a default.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from reliquary.base.time import SECOND, Duration
from reliquary.base.turn import Effect, Event
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.names.formats import DirectName, parse_single
from reliquary.queueing.model.protocol import Protocol
from reliquary.sim.applications import Application, ApplicationContext
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import Sending
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.applications import Destinations, senders_to
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.network import SiteNetwork
from reliquary.sim.world.network_faults import NetworkFaults
from reliquary.sim.world.promises import Arrival, Deliveries, check_order
from reliquary.sim.world.register import Register, local_name
from reliquary.sim.world.requests import Close, Request, RequestNetwork
from reliquary.sim.world.witness import SiteWitness


class Plugin(ABC):
    """One protocol in one run."""

    name: ClassVar[str]
    """The name of its `Protocol`, and its name on the command line."""
    steps: ClassVar[int] = 300
    """The number of turns of all managers together before the faults end."""
    site_counts: ClassVar[Sequence[int]] = (2, 2, 3)
    """The possible numbers of sites; one of them is drawn."""
    patience: ClassVar[Duration] = Duration(SECOND)
    """The time that a client waits for an answer."""
    settling: ClassVar[Duration] = Duration(0)
    """The time after the faults until all requests that were given up have ended."""
    fetched_queues: ClassVar[frozenset[str]] = frozenset()
    """Queues of every site from which other sites fetch: no local application reads them."""
    local_queues: ClassVar[frozenset[str]] = frozenset()
    """Queues to which applications of their own site send, for a protocol that only reads."""
    is_gateway: ClassVar[bool] = False
    """Whether it can bring messages to a site that passes them on by another protocol."""
    ends_chains: ClassVar[bool] = False
    """Whether it can be the last protocol of a chain, although it is no gateway."""
    register: Register
    """The register of the world, which sets it first."""

    # -- what is drawn from chance

    def draw_faults(self, chance: SeededChance) -> NetworkFaults:
        """Draw the faults between the sites of a seed."""
        return NetworkFaults.drawn(chance)

    def draw_settings(self, chance: SeededChance, names: tuple[str, ...]) -> None:
        """Draw the settings of all sites and keep them; a protocol without settings draws none."""
        del chance, names

    # -- the machine and its network

    @abstractmethod
    def protocol(self, site: str) -> Protocol:
        """Return the protocol of a site, with the settings that were drawn for it."""

    def first_events(self, site: str) -> tuple[Event, ...]:
        """Return the events that the machine gets at each start, after the manager has started."""
        del site
        return ()

    def network(self, scheduler: Scheduler, chance: SeededChance, faults: Any) -> SiteNetwork:
        """Return the network for its effects; by default, each effect is a request to another site."""
        return RequestNetwork(scheduler, chance, faults, self.patience, self.request)

    def request(self, effect: Effect) -> Request | Close | None:
        """Return the request in an effect; None for an effect that does not use the network."""
        raise AssertionError(
            f"{self.name} has no network of its own, and does not say what {effect} requests"
        )

    # -- names of queues

    @abstractmethod
    def queue_name(self, site: str, queue: str) -> str:
        """Return the name of a queue for senders at other sites."""

    def claims(self, queue: str) -> bool:
        """Return whether this protocol carries messages to a queue of this name."""
        carrier = self.protocol(next(iter(self.register.sites))).carrier
        return carrier is not None and carrier.claims(parse_single(queue))

    def target(self, sending: Sending) -> tuple[str, str]:
        """Return the site and the destination queue of a message."""
        name = parse_single(sending.queue)
        assert isinstance(name, DirectName), f"{sending.queue} does not say which site has the queue"
        return name.authority, local_name(name.queue_path)

    # -- messages that go on by another protocol

    def gateway_name(self, site: str, queue: str) -> str:
        """Return the name, for senders at other sites, of a queue whose messages the site passes on."""
        return self.queue_name(site, queue)

    def pass_on(self, site: str, queue: str, onward: str) -> None:
        """Change the settings of a site, so that messages for this name are passed on to another
        destination."""
        raise AssertionError(f"{self.name} is no gateway, and cannot pass {queue} of {site} on to {onward}")

    def can_carry(self, source: str, target: str, *, to_gateway: bool) -> bool:
        """Return whether messages go from site to site in their order, with the settings that were drawn."""
        del source, target, to_gateway
        return True

    # -- applications

    def applications(
        self, site: str, context: ApplicationContext, others: tuple[str, ...]
    ) -> Iterable[Application]:
        """Return the applications of a site that use this protocol; the readers of each site serve all
        protocols."""
        return senders_to(self.destinations(site, others), f"{site}/{self.name}", context)

    def destinations(self, site: str, others: tuple[str, ...]) -> Destinations:
        """Return the destinations to which applications of a site send messages, with their options."""
        del site
        return Destinations(others, self.queue_name, mistakes=False, receipts=False)

    # -- checks

    def monitor(self, witness: SiteWitness) -> Monitor:
        """Return the checks of one site while it runs."""
        return Monitor(witness)

    def durable_state(self, state: Any) -> Mapping[str, object]:
        """Return the parts of its machine's state that a restart does not change, by name."""
        del state
        return {}

    def may_come_again(self, body: bytes) -> bool:
        """Return whether a message may be stored at a site where it was stored before."""
        del body
        return False

    def may_be_refused(self, sending: Sending) -> bool:
        """Return whether the target may drop a message permanently without a notice to its sender."""
        del sending
        return False

    def may_have_refused(self, sending: Sending, kind: MessageClass) -> bool:
        """Return whether the target may have refused a message with this acknowledgement instead of storing
        it."""
        del sending, kind
        return False

    def may_wait(self, position: Position) -> bool:
        """Return whether a message that arrived stays in its outgoing queue until a further report of its
        target."""
        del position
        return False

    def left_behind(self, process: Process) -> Mapping[str, object]:
        """Return the parts that must be empty at the end, in addition to the outgoing queues, by name."""
        del process
        return {}

    def check_promises(self, deliveries: Deliveries) -> None:
        """Check the promises of the protocol at the end; losses are checked for every protocol."""
        check_order(self.register, deliveries, self)

    def ordered_stream(self, sending: Sending, arrival: Arrival) -> Hashable | None:
        """Return the stream of a message; messages of one sender arrive in order in it; None for no
        stream."""
        del sending, arrival
        return None

    def may_be_late(self, body: bytes) -> bool:
        """Return whether a message may be stored after later ones of its stream."""
        del body
        return False
