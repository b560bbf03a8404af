"""Adds SRMP to a world of several sites.

left      no number is outstanding, no POST is waited for
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from reliquary.base.time import HOUR, MILLISECOND, SECOND, Duration
from reliquary.base.turn import Effect, Event
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.events import Addressed, PostArrived, PostEnded
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.srmp.redirection import Redirection, redirected
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.travel.failures import Failure
from reliquary.sim.chance import SeededChance
from reliquary.sim.process import Process
from reliquary.sim.srmp.monitor import SrmpMonitor
from reliquary.sim.srmp.posts import Posts
from reliquary.sim.srmp.promises import check_duplication, renumbered_in
from reliquary.sim.world.applications import Destinations
from reliquary.sim.world.promises import Deliveries
from reliquary.sim.world.receipts import check_receipts
from reliquary.sim.world.requests import Close, Ending, Request
from reliquary.sim.world.streams import StreamPlugin
from reliquary.sim.world.witness import SiteWitness


class SrmpPlugin(StreamPlugin):
    """The SRMP of one run: every site sends and receives."""

    name: ClassVar[str] = "srmp"
    is_gateway: ClassVar[bool] = True

    def __init__(self) -> None:
        self.posts = Posts()
        self.settings: dict[str, SrmpSettings] = {}
        self._renumbered: set[bytes] = set()

    def draw_settings(self, chance: SeededChance, names: tuple[str, ...]) -> None:
        """Draw small windows and short timers for each site."""
        self.settings = drawn_settings(chance, names, self.patience)

    # -- the machine and its network

    def protocol(self, site: str) -> Protocol:
        """Return SRMP with the settings of a site."""
        return srmp(self.settings[site])

    def first_events(self, site: str) -> tuple[Event, ...]:
        """Return the address under which other sites reach this one."""
        return (Addressed(site, frozenset({site})),)

    def request(self, effect: Effect) -> Request | Close | None:
        """Return the POST or the end of a session in an effect; multicast is not simulated."""
        if isinstance(effect, EndSession):
            return Close((effect.session, effect.epoch))
        if not isinstance(effect, Post):
            return None
        return Request(
            server=effect.server.partition("://")[2],
            arrives=partial(_arrived, effect),
            ended=partial(_ended, effect),
            connection=(effect.session, effect.epoch),
        )

    # -- names of queues

    def queue_name(self, site: str, queue: str) -> str:
        """Return the name of a queue for senders at other sites."""
        return f"DIRECT=http://{site}/msmq/private$/{queue}"

    # -- messages that go on by another protocol

    def pass_on(self, site: str, queue: str, onward: str) -> None:
        """Redirect messages for the URL of a queue."""
        chosen, url = self.settings[site], self.queue_name(site, queue).removeprefix("DIRECT=")
        redirections = (*chosen.inbound_redirections, Redirection(url, onward))
        self.settings[site] = replace(chosen, inbound_redirections=redirections)

    def can_carry(self, source: str, target: str, *, to_gateway: bool) -> bool:
        """Return whether messages go directly to the target: a forwarder may be a site of the chain."""
        del to_gateway
        return redirected(self.settings[source].outbound_redirections, f"http://{target}/") is None

    # -- applications

    def destinations(self, site: str, others: tuple[str, ...]) -> Destinations:
        """Return the destinations of messages, with wrong queues if the sender gets a notice of the
        refusal."""
        del site
        # when a third site passes messages on, the sender is not notified that the second one refused them
        forwarded = any(settings.store_and_forward for settings in self.settings.values())
        return Destinations(others, self.queue_name, mistakes=not forwarded)

    # -- checks

    def monitor(self, witness: SiteWitness) -> SrmpMonitor:
        """Return the checks of one site while it runs."""
        return SrmpMonitor(witness, self.posts)

    def may_wait(self, position: Position) -> bool:
        """Return whether a message requests dead letters: in a stream it stays until its reader has it."""
        return position.dead_letter

    def left_behind(self, process: Process) -> Mapping[str, object]:
        """Return numbers without a receipt, POSTs without an answer, and messages without a verdict."""
        state = process.machine(Srmp).state
        return {
            "numbers": {queue: sent.awaiting for queue, sent in state.sent.items() if sent.awaiting},
            "POSTs": {n: session.posted for n, session in state.sender.sessions.items() if session.posted},
            "messages that come in": state.receiver.arriving,
        }

    def check_promises(self, deliveries: Deliveries) -> None:
        """Check that no message arrived twice or out of order, and that receipts are true."""
        self._renumbered = renumbered_in(deliveries)
        check_duplication(deliveries, self.settings, self._renumbered)
        super().check_promises(deliveries)
        check_receipts(deliveries)

    def may_be_late(self, body: bytes) -> bool:
        """Return whether a message may be late: its stream was given up, and it got a second number."""
        return body in self._renumbered


def _arrived(post: Post, caller: int) -> PostArrived:
    return PostArrived(caller, post.content_type, post.body, post.hops)


def _ended(post: Post, ending: Ending) -> PostEnded:
    if ending.failure is not None:
        failure = Failure[ending.failure.name]
        return PostEnded(post.session, post.epoch, post.lookup_id, failure=failure)
    status = ending.status or ending.answer.status
    return PostEnded(post.session, post.epoch, post.lookup_id, status)


def drawn_settings(
    chance: SeededChance, names: tuple[str, ...], patience: Duration
) -> dict[str, SrmpSettings]:
    """Return small windows and short timers for each site; one site may pass on the messages of another."""
    forwarder = names[-1] if len(names) > 2 and chance.happens(0.5) else ""
    found = {}
    for name in names:
        coalescing = Duration(chance.pick((MILLISECOND, 20 * MILLISECOND, 100 * MILLISECOND)))
        redirections: tuple[Redirection, ...] = ()
        if forwarder and name == names[0]:
            redirections = (Redirection(f"http://{names[1]}/*", f"http://{forwarder}/"),)
        found[name] = SrmpSettings(
            receipts_host=name,
            store_and_forward=name == forwarder,
            outbound_redirections=redirections,
            retransmission=Duration(chance.pick((100, 300, 1000)) * MILLISECOND),
            resend_ladder=tuple(
                Duration(span * MILLISECOND) for span in chance.pick(((300, 300, 1000, 5000), (1000, 3000)))
            ),
            missing_queue_time=Duration(2 * SECOND),
            session_cleanup=Duration(chance.pick((500, 3000)) * MILLISECOND),
            response_time=patience,
            coalescing=coalescing,
            longest_coalescing=Duration(chance.between(1, 4) * coalescing),
            most_coalesced=chance.pick((1, 3, 1000)),
            in_flight=chance.pick((1, 2, 4)),
            window=chance.pick((1, 3, 8)),
            history_size=chance.pick((4, 1000)),
            history_age=Duration(chance.pick((SECOND, 2 * HOUR))),
        )
    return found
