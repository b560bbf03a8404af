"""Acknowledgements and reports on their way: what a turn owes is sent before the turn ends.

    leave, admit, bury --> state.owed --> send_news --> administration and tracing queues

So the news and what it tells of are in one write: after a crash there are both or neither.  News ask
for nothing themselves, so this ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.model.history.notes import OURSELVES
from reliquary.queueing.model.message import Message, size_of
from reliquary.queueing.model.queue import exceeds
from reliquary.queueing.model.state import Owed, QueueState, State
from reliquary.queueing.model.tables import Copy
from reliquary.queueing.model.travel.transfer import ReceiptDue
from reliquary.queueing.rules import acknowledge, destinations, trace
from reliquary.queueing.rules.enqueue import insert, manager_is_full
from reliquary.queueing.rules.losses import lose
from reliquary.queueing.rules.outgoing import link_of


@dataclass(slots=True)
class _Bundle:
    """What goes to one queue."""

    queue: QueueState
    messages: list[Message] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    total: int = 0


class _Post:
    """The news of one turn, by the queue they go to."""

    def __init__(self, state: State, now: Instant) -> None:
        self._state = state
        self._now = now
        self._routes: dict[str, QueueState | str] = {}
        self._bundles: dict[int, _Bundle] = {}
        self._total = 0

    def add(self, owed: Owed, copy: Copy, name: str, message: Message) -> None:
        """Put one message into the post, or say why it is lost."""
        route = self._route(name)
        why = route if isinstance(route, str) else self._put(route, message)
        if why:
            lose(self._state, owed.queue, copy, f"{name}: {why}")

    def _route(self, name: str) -> QueueState | str:
        if name not in self._routes:
            self._routes[name] = _find(self._state, name, self._now)
        return self._routes[name]

    def _put(self, queue: QueueState, message: Message) -> str:
        """Why it cannot be put, if so."""
        bundle = self._bundles.setdefault(queue.number, _Bundle(queue))
        size = size_of(message)
        total = bundle.total + size
        # flow control stops applications and not this: what happened cannot be made not to happen
        if exceeds(queue.record.settings.quota, queue.total_bytes + queue.reserved + total):
            return f"the queue's quota is {queue.record.settings.quota} kilobytes"
        if not _can_be_said(queue, message):
            return f"over HTTP nobody can be told of {message.message_class:#x}"
        if manager_is_full(self._state, self._total + size):
            return f"the manager's quota is {self._state.identity().quota} kilobytes"
        bundle.messages.append(message)
        bundle.sizes.append(size)
        bundle.total = total
        self._total += size
        return ""

    def send(self) -> None:
        """Store it all."""
        for bundle in self._bundles.values():
            if bundle.messages:
                insert(self._state, bundle.queue, bundle.messages, bundle.sizes, self._now)


def send_news(state: State, now: Instant) -> None:
    """Send what this turn owes."""
    if not state.owed:
        return
    owed, state.owed = state.owed, []
    post = _Post(state, now)
    for each in owed:
        if each.asks & acknowledge.FINAL:
            _tell_sender(state, each)
        if each.asks & acknowledge.ACKNOWLEDGED:
            _acknowledge(state, post, each)
        if each.asks & acknowledge.TRACED:
            _report(state, post, each, now)
    before, state.bringer = state.bringer, OURSELVES
    post.send()
    state.bringer = before


def _find(state: State, name: str, now: Instant) -> QueueState | str:
    """The queue that news can be put into, or why there is none."""
    try:
        queue = destinations.route(state, name, now)
    except UsageError as why:
        return str(why)
    if isinstance(queue, HResult):
        return queue.sentence
    if queue.record.settings.transactional:
        return "it takes messages of transactions only"
    return queue


def _can_be_said(queue: QueueState, message: Message) -> bool:
    """Whether those who read this queue would understand it; what is ignored there need not go."""
    outgoing = queue.record.outgoing
    if outgoing is None:
        return True
    if outgoing.multicast:
        return False
    carrier = link_of(queue).carrier
    return carrier is None or message.message_class in carrier.acknowledgements


def _acknowledge(state: State, post: _Post, owed: Owed) -> None:
    queue = state.queues.get(owed.queue)
    destination = f"DIRECT=OS:{queue.record.pathname}" if queue else ""
    for name in acknowledge.names(owed.message):
        message = acknowledge.acknowledgement(owed.message, owed.reason, name, destination)
        post.add(owed, Copy.ACKNOWLEDGEMENT, name, message)


def _report(state: State, post: _Post, owed: Owed, now: Instant) -> None:
    queue = state.queues[owed.queue].record
    message = trace.report(owed.message, owed.reason, queue, state.identity().identifier, now)
    post.add(owed, Copy.REPORT, trace.queue_name(owed.message), message)


def _tell_sender(state: State, owed: Owed) -> None:
    """DM-063: how it goes over the wire is for the protocol it came by."""
    carrier = state.carriers.brought(owed.message)
    if carrier is not None:
        state.draft.tell(ReceiptDue(carrier.name, owed.queue, owed.message, owed.reason))
