"""Adds HTTPR to a world of several sites.

duplication   a message that arrives a second time is found when it is stored
order         messages of one application and priority on a single path are stored in their order
left          no batch is in doubt, and no message is reserved
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, Final

from reliquary.base.turn import Event
from reliquary.protocols.httpr.events import Addressed
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.httpr.settings import Service
from reliquary.protocols.httpr.state import State
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.protocol import Protocol
from reliquary.sim.applications import Application, ApplicationContext
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import Sending
from reliquary.sim.httpr.applications import ChannelAdministrator, OutboxSender
from reliquary.sim.httpr.channels import Channels
from reliquary.sim.httpr.faults import HttprFaults
from reliquary.sim.httpr.monitor import HttprMonitor
from reliquary.sim.httpr.network import HttprNetwork
from reliquary.sim.httpr.plan import OUTBOX, TRANSIT, Plan
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.applications import INBOX, Destinations
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.promises import Arrival
from reliquary.sim.world.witness import SiteWitness

LONG: Final = (FOREVER, 0x54600)
"""Lifetimes without an end, so that a missing message is certainly lost and not expired."""


class HttprPlugin(Plugin):
    """The HTTPR of one run: every site has both agents."""

    name: ClassVar[str] = "httpr"
    is_gateway: ClassVar[bool] = True
    fetched_queues: ClassVar[frozenset[str]] = frozenset({OUTBOX, TRANSIT})

    def __init__(self) -> None:
        self.channels = Channels()
        self.plan = Plan()

    def draw_faults(self, chance: SeededChance) -> HttprFaults:
        """Draw the faults between the agents of a seed."""
        return HttprFaults.drawn(chance)

    def draw_settings(self, chance: SeededChance, names: tuple[str, ...]) -> None:
        """Draw which site moves which messages to which other site, and the settings for that."""
        self.plan = Plan.drawn(chance, names)

    # -- the machine and its network

    def protocol(self, site: str) -> Protocol:
        """Return HTTPR with the settings of a site."""
        return httpr(self.plan.settings[site])

    def first_events(self, site: str) -> tuple[Event, ...]:
        """Return the address under which other sites reach this one."""
        return (Addressed(f"httpr://{site}", frozenset({site})),)

    def network(self, scheduler: Scheduler, chance: SeededChance, faults: HttprFaults) -> HttprNetwork:
        """Return a network that carries HTTP in bytes; some sites cannot reach others."""
        unreachable = {pair for pair in self.plan.ways if not self.plan.may_dial(*pair)}
        return HttprNetwork(scheduler, chance, faults, self.patience, self.channels, unreachable)

    # -- names of queues

    def queue_name(self, site: str, queue: str) -> str:
        """Return the name of a queue for senders at other sites."""
        return f"DIRECT=HTTPR://{site}/httpr/mq#{queue}"

    def target(self, sending: Sending) -> tuple[str, str]:
        """Return the site and the queue that a message is for, by its name or by the site that fetches it."""
        if sending.queue in self.fetched_queues:
            return self.plan.target_of(self.register.sending_site(sending), sending.queue)
        return super().target(sending)

    # -- messages that go on by another protocol

    def gateway_name(self, site: str, queue: str) -> str:
        """Return the name of a separate service, because a Destination of the manager's service is a
        queue."""
        return f"DIRECT=HTTPR://{site}/httpr/{queue}"

    def pass_on(self, site: str, queue: str, onward: str) -> None:
        """Configure a service that passes messages on."""
        chosen = self.plan.settings[site]
        services = (*chosen.services, Service(name=queue, into=onward))
        self.plan.settings[site] = replace(chosen, services=services)

    def can_carry(self, source: str, target: str, *, to_gateway: bool) -> bool:
        """Return whether there is a single path; no site fetches for a service that passes messages on."""
        if to_gateway:
            return self.plan.may_dial(source, target)
        return self.plan.is_single_path(source, "", target)

    # -- applications

    def applications(
        self, site: str, context: ApplicationContext, others: tuple[str, ...]
    ) -> Iterator[Application]:
        """Return the applications that use outgoing queues or channels, and those that fill queues for other
        sites."""
        yield from super().applications(site, context, others)
        yield ChannelAdministrator(f"{site}/{self.name}.administrator", context)
        if self.plan.outbox is not None and self.plan.outbox[0] == site:
            yield OutboxSender(f"{site}/{self.name}.outbox", context, OUTBOX)
        if self.plan.transit is not None and self.plan.transit[0] == site:
            target = f"httpr://{self.plan.transit[2]}/httpr/mq#{INBOX}"
            yield OutboxSender(f"{site}/{self.name}.transit", context, TRANSIT, target)

    def destinations(self, site: str, others: tuple[str, ...]) -> Destinations:
        """Return the destinations of messages, with wrong queues unless the other site fetches them."""
        # a message that the fetching site does not accept stays in its queue
        mistakes = not any(self.plan.is_fetched(site, other) for other in others)
        return Destinations(others, self.queue_name, mistakes=mistakes, receipts=False, times=LONG)

    # -- checks

    def monitor(self, witness: SiteWitness) -> HttprMonitor:
        """Return the checks of one site while it runs."""
        return HttprMonitor(witness, self.channels)

    def durable_state(self, state: State) -> Mapping[str, object]:
        """Return channels, the numbers of sessions, and the fetchers."""
        return {"channels": state.channels, "numbers": state.numbers, "fetchers": state.fetchers}

    def left_behind(self, process: Process) -> Mapping[str, object]:
        """Return reservations, batches in doubt, administrators without an answer, and pieces of bodies."""
        manager, state = process.manager.state, process.machine(Httpr).state
        return {
            "holds": manager.travel.reservations,
            "batches in doubt": {n: each.in_doubt for n, each in state.channels.items() if each.in_doubt},
            "administrators": [
                number
                for number, each in state.client.channels.items()
                if each.requested.report_callers or each.requested.forget_callers
            ],
            "loose bodies": manager.messages.bodies.loose,
        }

    def ordered_stream(self, sending: Sending, arrival: Arrival) -> Hashable | None:
        """Return sender, queue and priority as one stream if there is one path to the queue."""
        single = self.plan.is_single_path(self.register.sending_site(sending), sending.queue, arrival.site)
        return (sending.queue, sending.priority) if single else None
