"""Checks the rules of the server of a site.

durable      a recoverable message is on disk before it is shown to another site
locked       a message that is handed out on trial is not handed to another reader until that has ended,
             and to no client that is gone
removed      a message whose removal was confirmed is not shown again, nor one that has left its queue
order        a read that finds a message at once gets the first one that is available
answer       no call is answered twice
wanted       a message leaves its queue as received only when its reader has acknowledged it
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from reliquary.base.turn import Effect, Turn
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import Acknowledge, Action, EndReceive, Request, Response
from reliquary.protocols.mqqp.effects import RaiseFault, Respond
from reliquary.protocols.mqqp.events import AssociationLost, ClientCalled, ConnectionLost
from reliquary.queueing.model.events import Received
from reliquary.queueing.model.message import Delivery, Message
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.expiry import is_over
from reliquary.sim.history import Turned, Violation, named, shown
from reliquary.sim.ledger import ITSELF
from reliquary.sim.mirror import available
from reliquary.sim.mqqp.packets import Packets, is_locked
from reliquary.sim.mqqp.readings import Readings, is_elsewhere, may_come_again
from reliquary.sim.world.register import local_name
from reliquary.sim.world.witness import SiteWitness


@dataclass(frozen=True, slots=True)
class _Trial:
    """A message that is locked for a client."""

    body: bytes
    association: int


class ServerMonitor:
    """Checks the server of one site."""

    def __init__(self, witness: SiteWitness, packets: Packets, readings: Readings) -> None:
        self._witness = witness
        self._packets = packets
        self._readings = readings
        self.reset()

    def reset(self) -> None:
        """Forget the state that ends with a process."""
        self._calls: dict[tuple[int, int], ClientCalled] = {}
        """Calls without an answer, by connection and number."""
        self._trials: dict[UUID, _Trial] = {}
        self._queues: dict[int, str] = {}
        """The queues that clients have opened, by the number of the open queue."""
        self._gone: set[int] = set()
        """Connections whose loss the server has noticed."""

    # -- why messages leave

    def read_by(self, turned: Turned) -> Iterator[bytes]:
        """Yield the message that a client acknowledges in this turn."""
        event = turned.event
        if isinstance(event, ClientCalled) and isinstance(event.request, EndReceive):
            trial = self._trials.get(event.request.handle)
            if trial is not None and event.request.acknowledge is Acknowledge.ACK:
                yield trial.body

    def purged_by(self, turned: Turned) -> Iterator[str]:
        """Yield the queue that a client purges in this turn."""
        event = turned.event
        if isinstance(event, ClientCalled) and isinstance(event.request, qm2qm.PurgeQueue):
            queue = self._queues.get(event.request.queue)
            if queue is not None:
                yield queue

    # -- turns

    def turned(self, turned: Turned, turn: Turn) -> None:
        """Record the calls of clients, and check the messages that they and applications of the site get."""
        event = turned.event
        if isinstance(event, ClientCalled):
            self._calls[event.connection, event.call] = event
        elif isinstance(event, ConnectionLost):
            self._gone.add(event.connection)
        elif isinstance(event, AssociationLost):
            self._run_down(event.association)
        for effect in turn.effects:
            if isinstance(effect, Respond | RaiseFault):
                self._answered(turned, effect)
        self._check_local(turned)

    def _answered(self, turned: Turned, effect: Respond | RaiseFault) -> None:
        called = self._calls.pop((effect.connection, effect.call), None)
        if called is None:
            raise Violation(
                f"answer: call {effect.call} of connection {effect.connection} of {self._witness.site} is"
                f" answered twice, the second time in turn {turned.number}"
            )
        if isinstance(effect, Respond):
            self._responded(turned, called, effect.response)

    def _run_down(self, association: int) -> None:
        for handle, trial in list(self._trials.items()):
            if trial.association == association:
                del self._trials[handle]

    def _responded(self, turned: Turned, called: ClientCalled, response: Response) -> None:
        request = called.request
        match response:
            case qmcomm.RemoteQueueOpened(status=0) if isinstance(request, qmcomm.OpenRemoteQueue):
                assert request.name is not None
                self._queues[response.queue] = local_name(request.name)
            case qm2qm.HandleReturned(status=0) if isinstance(request, EndReceive):
                del self._trials[request.handle]
            case _:
                message = self._packets.read(response)
                if message is not None:
                    self._check_shown(turned, message)
                    if is_locked(response):
                        self._lock(turned, called, message, response)

    def _check_shown(self, turned: Turned, message: Message) -> None:
        body = named(message)
        if may_come_again(self._witness.register, body):
            return
        self._check_not_removed(turned, body)
        left = self._witness.ledger.left.get(body)
        if left is not None and left[0] < turned.number:
            raise Violation(f"duplication: {shown(body)} has left, and is shown in turn {turned.number}")

    def _check_not_removed(self, turned: Turned, body: bytes) -> None:
        if body in self._readings.acknowledged:
            raise Violation(
                f"duplication: the removal of {shown(body)} was confirmed, and {self._witness.site} shows it"
                f" again in turn {turned.number}"
            )

    def _lock(self, turned: Turned, called: ClientCalled, message: Message, response: Response) -> None:
        assert isinstance(response, qm2qm.ReadStarted | qm2qm.ReadStarted2)
        body = named(message)
        is_one = not may_come_again(self._witness.register, body)
        if is_one and any(trial.body == body for trial in self._trials.values()):
            raise Violation(
                f"lock: {shown(body)} is handed out in turn {turned.number} of {self._witness.site},"
                f" and a client has it"
            )
        if called.connection in self._gone:
            raise Violation(
                f"lock: {shown(body)} is handed out in turn {turned.number} of {self._witness.site} over a"
                f" connection that is gone"
            )
        self._trials[response.handle] = _Trial(body, called.association)
        self._readings.handed_out[body] += 1
        if is_one and turned.event is called and _is_plain(called.request):
            self._check_first(turned, called.request, message)

    def _check_first(self, turned: Turned, request: Request, message: Message) -> None:
        """Check that no earlier message is available."""
        process = self._witness.host.process
        assert process is not None
        state = process.manager.state
        queue = _queue_named(state, self._queues[_read_of(request).queue])
        locked = queue.order.locked.values()
        own = next(
            (each for each in locked if state.messages.get(each).identifier == message.identifier), None
        )
        if own is None:
            raise Violation(
                f"lock: {shown(named(message))} is handed out in turn {turned.number} of"
                f" {self._witness.site}, and is not locked"
            )
        first = next((each for each in available(queue) if not is_over(each, turned.now)), None)
        if first is not None and first.lookup_id < own.lookup_id:
            raise Violation(
                f"order: {shown(named(message))} is handed out in turn {turned.number} of"
                f" {self._witness.site} before {shown(state.messages.get(first).body)}"
            )

    def _check_local(self, turned: Turned) -> None:
        """Check that applications of the site get no message again that a client has received permanently."""
        ledger = self._witness.ledger
        for to, answer in turned.answers:
            request = self._witness.history.requests.get((turned.process_number, to))
            if not isinstance(answer, Received) or is_elsewhere(request):
                continue
            locks = getattr(request, "hold", 0) or getattr(request, "transaction", None) is not None
            for delivered in answer.messages:
                body, position = named(delivered.message), delivered.position
                if locks:
                    self._readings.out_of_turn.add(body)
                is_copy = position.reason not in ITSELF or position.lookup_id in ledger.copies
                if not is_copy and not may_come_again(self._witness.register, body):
                    self._check_not_removed(turned, body)

    # -- what leaves

    def shown_by(self, effect: Effect) -> int:
        """Return the batch that must be on disk before a message is shown to another site."""
        if not isinstance(effect, Respond):
            return 0
        message = self._packets.read(effect.response)
        if message is None or message.delivery is Delivery.EXPRESS:
            return 0
        return self._witness.ledger.changed[named(message)]


def _read_of(request: Request) -> qm2qm.ReadDescriptor:
    assert isinstance(request, qm2qm.StartReceive | qm2qm.StartReceive2)
    assert request.read is not None
    return request.read


def _is_plain(request: Request) -> bool:
    """Return whether a request receives from the front of a queue."""
    if not isinstance(request, qm2qm.StartReceive | qm2qm.StartReceive2):
        return False
    read = _read_of(request)
    return read.action == Action.RECEIVE and not read.cursor


def _queue_named(state: State, name: str) -> QueueState:
    return next(each for each in state.queues.values() if local_name(each.record.pathname) == name)
