"""Checks the rules of the client of a site.

ended       each message that was handed out on trial is ended at most once, and only that
delivered   a message that is acknowledged for an application is given to it, unless the process ends or the
            application goes away before; or the application has asked for that, or has had it before
again       no application of the site gets a message that one of them has received for good, unless the
            client may forget it
doubts      a message is remembered as delivered only in the turn that delivers it
"""

from __future__ import annotations

from collections import Counter
from uuid import UUID

from reliquary.base.turn import Reply, Turn
from reliquary.protocols.mqqp.client.facts import MessageDoubted
from reliquary.protocols.mqqp.codec import qm2qm
from reliquary.protocols.mqqp.codec.qm2qm import Acknowledge, EndReceive, Request
from reliquary.protocols.mqqp.effects import CallServer, EndLink
from reliquary.protocols.mqqp.events import LinkLost, ServerFaulted, ServerResponded
from reliquary.queueing.model.events import CallerGone, LookUpMessage, Received, ReceiveMessages
from reliquary.sim.history import Turned, Violation, named, shown
from reliquary.sim.mqqp.packets import Packets, is_locked
from reliquary.sim.mqqp.readings import Readings, is_elsewhere, may_come_again
from reliquary.sim.reasons import is_for_good
from reliquary.sim.world.witness import SiteWitness


class ClientMonitor:
    """Checks the client of one site."""

    def __init__(self, witness: SiteWitness, packets: Packets, readings: Readings, *, forgets: bool) -> None:
        """`forgets`: whether it forgets messages in doubt so soon that one may be delivered twice."""
        self._witness = witness
        self._forgets = forgets
        self._packets = packets
        self._readings = readings
        self._delivered: dict[bytes, int] = {}
        """The messages that were delivered to applications of the site that receive permanently, over all
        restarts, with the number of restores of their server at that time."""
        self._given: dict[bytes, Turned] = {}
        """The messages that the site delivered to them, with the turn; a crash may have prevented the
        delivery."""
        self.reset()

    def reset(self) -> None:
        """Forget the state that ends with a process."""
        self._calls: dict[tuple[int, int], Request] = {}
        """Calls without an answer, by link and number."""
        self._trials: dict[tuple[int, UUID], bytes] = {}
        """Messages that are locked for this site, by link and handle."""
        self._ending: dict[tuple[int, int], bytes] = {}
        """Messages whose removal was requested, by the call."""
        self._owed: Counter[bytes] = Counter()
        """Messages that are acknowledged, and that no application has got yet."""
        self._gone = 0
        """The number of messages that ended applications may have missed."""

    def restored(self) -> None:
        """Forget the messages that were delivered since the backup: the client has forgotten them too."""
        for body, turned in self._given.items():
            if turned.forgotten:
                self._delivered.pop(body, None)

    @property
    def owed(self) -> list[str]:
        """Return acknowledged messages that no application got, although no application ended."""
        return [shown(each) for each in self._owed] if self._owed.total() > self._gone else []

    # -- turns

    def turned(self, turned: Turned, turn: Turn) -> None:
        """Record the responses of the server, and check the calls to it."""
        event = turned.event
        match event:
            case ServerResponded():
                self._responded(event)
            case ServerFaulted():
                self._calls.pop((event.link, event.call), None)
                self._ending.pop((event.link, event.call), None)
            case LinkLost():
                self._forget(event.link)
            case CallerGone():
                request = self._witness.history.requests.get((turned.process_number, event.caller))
                if is_for_good(request) and is_elsewhere(request):
                    self._gone += getattr(request, "count", 1)
            case _:
                pass
        self._answered(turned)
        for effect in turn.effects:
            if isinstance(effect, CallServer):
                self._called(turned, effect)
            elif isinstance(effect, EndLink):
                self._forget(effect.link)

    def _answered(self, turned: Turned) -> None:
        """Record the messages that applications get in this turn, and check which are remembered."""
        identifiers = set()
        for to, answer in turned.answers:
            request = self._witness.history.requests.get((turned.process_number, to))
            if isinstance(answer, Received) and is_elsewhere(request):
                good = is_for_good(request)
                for delivered in answer.messages:
                    body = named(delivered.message)
                    self._owed.pop(body, None)
                    identifiers.add(delivered.message.identifier)
                    if good:
                        self._given[body] = turned
        for fact in turned.facts:
            if isinstance(fact, MessageDoubted) and fact.doubt.identifier not in identifiers:
                raise Violation(
                    f"doubt: {self._witness.site} remembers {fact.doubt.identifier} as delivered in turn"
                    f" {turned.number}, and delivers it to no application"
                )

    def _was_given(self, body: bytes) -> bool:
        """Return whether the site delivered a message to an application before; a crash may have prevented
        that."""
        turned = self._given.get(body)
        return turned is not None and turned.kept

    def _forget(self, link: int) -> None:
        """Forget a link: no more messages come over it, and its server returns the locked ones."""
        self._calls = {key: each for key, each in self._calls.items() if key[0] != link}
        self._trials = {key: each for key, each in self._trials.items() if key[0] != link}
        self._ending = {key: each for key, each in self._ending.items() if key[0] != link}

    def _responded(self, event: ServerResponded) -> None:
        key = event.link, event.call
        request = self._calls.pop(key, None)
        if request is None:  # the link was ended while this was on its way
            return
        body = self._ending.pop(key, None)
        if body is not None and isinstance(event.response, qm2qm.HandleReturned):
            if not event.response.status:
                self._readings.acknowledged.add(body)
            return
        message = self._packets.read(event.response)
        if message is not None and is_locked(event.response):
            assert isinstance(event.response, qm2qm.ReadStarted | qm2qm.ReadStarted2)
            self._trials[event.link, event.response.handle] = named(message)

    def _called(self, turned: Turned, effect: CallServer) -> None:
        key = effect.link, effect.call
        if key in self._calls:
            raise Violation(f"{self._witness.site} makes call {key} a second time")
        self._calls[key] = request = effect.request
        if not isinstance(request, EndReceive):
            return
        body = self._trials.pop((effect.link, request.handle), None)
        if body is None:
            raise Violation(
                f"end: {self._witness.site} ends a read in turn {turned.number} that it has ended before, or"
                f" never begun"
            )
        if request.acknowledge is Acknowledge.ACK:
            self._ending[key] = body
            if body not in self._witness.history.intended and not self._was_given(body):
                self._owed[body] += 1

    # -- what leaves

    def answered(self, process_number: int, reply: Reply) -> None:
        """Check that no application gets a message that another one of this site has received permanently."""
        answer = reply.answer
        request = self._witness.history.requests.get((process_number, reply.to))
        if not isinstance(answer, Received) or not is_elsewhere(request):
            return
        if not isinstance(request, ReceiveMessages) and not (
            isinstance(request, LookUpMessage) and not request.peek
        ):
            return
        for delivered in answer.messages:
            body = named(delivered.message)
            again = self._forgets or may_come_again(self._witness.register, body)
            if self._delivered.get(body, -1) == self._readings.returned[body] and not again:
                raise Violation(
                    f"duplication: an application of {self._witness.site} has received {shown(body)} for"
                    f" good, and caller {reply.to} gets it again"
                )
            if is_for_good(request):
                self._delivered[body] = self._readings.returned[body]
