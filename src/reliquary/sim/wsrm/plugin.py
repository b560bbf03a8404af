"""Adds WS-ReliableMessaging to a world of several sites.

duplication   a message that arrives a second time is found when it is stored
order         messages of one application and priority to an ordered endpoint are stored in order
left          no number is without an acknowledgement, no message and no request is buffered
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from reliquary.base.time import Duration
from reliquary.base.turn import Effect, Event
from reliquary.protocols.wsrm.effects import HangUp, Post
from reliquary.protocols.wsrm.events import Addressed, CallerLeft, PostArrived, PostEnded
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.protocol import wsrm
from reliquary.protocols.wsrm.schemes import ENDPOINT_PATH
from reliquary.protocols.wsrm.settings import EndpointSettings, WsrmSettings
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.travel.failures import Failure
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import Sending
from reliquary.sim.process import Process
from reliquary.sim.world.network_faults import NetworkFaults
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.promises import Arrival, Deliveries
from reliquary.sim.world.requests import Close, Ending, Request
from reliquary.sim.world.witness import SiteWitness
from reliquary.sim.wsrm.drawing import LONGEST_INACTIVITY, drawn_settings
from reliquary.sim.wsrm.envelopes import Envelopes
from reliquary.sim.wsrm.monitor import WsrmMonitor
from reliquary.sim.wsrm.promises import outlived_in, renumbered_in


class WsrmPlugin(Plugin):
    """The WS-RM of one run: every site is source and destination."""

    name: ClassVar[str] = "wsrm"
    is_gateway: ClassVar[bool] = True
    settling: ClassVar[Duration] = Duration(2 * LONGEST_INACTIVITY)

    def __init__(self) -> None:
        self.envelopes = Envelopes()
        self.settings: dict[str, WsrmSettings] = {}
        self._late: set[bytes] = set()

    def draw_faults(self, chance: SeededChance) -> NetworkFaults:
        """Draw the faults between sites; requests may also be reordered."""
        faults = NetworkFaults.drawn(chance)
        faults.overtaken = chance.pick((0.0, 0.05, 0.3))
        return faults

    def draw_settings(self, chance: SeededChance, names: tuple[str, ...]) -> None:
        """Draw windows, timers and versions for each site."""
        self.settings = drawn_settings(chance, names, self.patience)

    # -- the machine and its network

    def protocol(self, site: str) -> Protocol:
        """Return WS-RM with the settings of a site."""
        return wsrm(self.settings[site])

    def first_events(self, site: str) -> tuple[Event, ...]:
        """Return the address under which other sites reach this one."""
        return (Addressed(f"http://{site}", frozenset({site})),)

    def request(self, effect: Effect) -> Request | Close | None:
        """Return the request, or the end of a connection, in an effect."""
        if isinstance(effect, HangUp):
            return Close((effect.connection, effect.epoch))
        assert isinstance(effect, Post), f"WS-RM has no effect {effect}"
        return Request(
            server=urlsplit(effect.url).netloc,
            arrives=partial(_arrived, effect),
            ended=partial(_ended, effect),
            connection=(effect.connection, effect.epoch),
            left=CallerLeft,
        )

    # -- names of queues

    def queue_name(self, site: str, queue: str) -> str:
        """Return the name of a queue for senders at other sites."""
        return f"DIRECT=WSRM://{site}{ENDPOINT_PATH}{queue}"

    # -- messages that go on by another protocol

    def pass_on(self, site: str, queue: str, onward: str) -> None:
        """Configure an endpoint that passes messages on."""
        chosen = self.settings[site]
        endpoints = (*chosen.endpoints, EndpointSettings(name=queue, queue=onward, window=chosen.window))
        self.settings[site] = replace(chosen, endpoints=endpoints)

    # -- checks

    def monitor(self, witness: SiteWitness) -> WsrmMonitor:
        """Return the checks of one site while it runs."""
        return WsrmMonitor(witness, self.envelopes, self.settings[witness.site])

    def durable_state(self, state: State) -> Mapping[str, object]:
        """Return sequences of both directions, the received numbers, and those without an acknowledgement."""
        incoming, outgoing = state.destination.sequences, state.source.sequences
        return {
            "counters": state.counters,
            "inbound": {number: each.row for number, each in incoming.items()},
            "received": {number: each.received for number, each in incoming.items()},
            "buffered": {number: each.buffered for number, each in incoming.items()},
            "requests": {number: each.requests for number, each in incoming.items()},
            "outbound": {number: each.row for number, each in outgoing.items()},
            "numbered": {
                number: {place: flight.lookup_id for place, flight in each.flights.items()}
                for number, each in outgoing.items()
            },
        }

    def left_behind(self, process: Process) -> Mapping[str, object]:
        """Return numbers without acknowledgement, messages after a gap, and requests that wait for a
        reply."""
        state = process.machine(Wsrm).state
        incoming, outgoing = state.destination.sequences, state.source.sequences
        return {
            "unacknowledged numbers": {n: list(each.flights) for n, each in outgoing.items() if each.flights},
            "messages behind a gap": {
                n: list(each.buffered) for n, each in incoming.items() if each.buffered
            },
            "requests that wait for a reply": state.backchannel.unanswered,
            "requests that are not judged": state.turn.exchanges,
        }

    def check_promises(self, deliveries: Deliveries) -> None:
        """Check the order of all messages that arrived."""
        self._late = renumbered_in(deliveries) | outlived_in(deliveries)
        super().check_promises(deliveries)

    def ordered_stream(self, sending: Sending, arrival: Arrival) -> Hashable | None:
        """Return sender, endpoint and priority as one stream, for an ordered endpoint."""
        endpoint = self.settings[arrival.site].endpoint(arrival.name)
        ordered = endpoint is not None and endpoint.ordered
        return (sending.queue, sending.priority) if ordered else None

    def may_be_late(self, body: bytes) -> bool:
        """Return whether its sequence ended before it came, or while it waited after a gap."""
        return body in self._late


def _arrived(post: Post, caller: int) -> PostArrived:
    endpoint = unquote(urlsplit(post.url).path.removeprefix(ENDPOINT_PATH))
    return PostArrived(caller, endpoint, post.content_type, post.body)


def _ended(post: Post, ending: Ending) -> PostEnded:
    if ending.failure is not None:
        failure = Failure[ending.failure.name]
        return PostEnded(post.connection, post.epoch, post.ticket, failure=failure)
    if ending.status:
        return PostEnded(post.connection, post.epoch, post.ticket, ending.status)
    answer = ending.answer
    return PostEnded(
        post.connection, post.epoch, post.ticket, answer.status, answer.content_type, answer.body
    )
