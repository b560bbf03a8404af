"""Send the acknowledgements and reports of a turn at its end, as [MS-MQQB] 3.1.7.15 and 3.1.5.8.9 say.

    leave, admit, move_to_dead_letters --> turn.owed --> send_news --> administration and tracing queues

Acknowledgements and reports are called news here.  News and the change that they report are in one write:
after a crash there are both or neither.  News ask for no acknowledgement, so they cause no further news.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.model.history.notes import OURSELVES
from reliquary.queueing.model.message import Message, size_of
from reliquary.queueing.model.parts.turn import Owed
from reliquary.queueing.model.queue import exceeds
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Copy
from reliquary.queueing.model.travel.transfer import ReceiptDue
from reliquary.queueing.rules import acknowledge, destinations, trace
from reliquary.queueing.rules.enqueue import insert, manager_is_full
from reliquary.queueing.rules.losses import lose
from reliquary.queueing.rules.outgoing import link_of


@dataclass(slots=True)
class _Bundle:
    """The acknowledgements and reports of one turn for one queue."""

    queue: QueueState
    messages: list[Message] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    total: int = 0


class _Outbox:
    """The acknowledgements and reports of one turn, by the queue that they go to."""

    def __init__(self, state: State, now: Instant) -> None:
        self._state = state
        self._now = now
        self._routes: dict[str, QueueState | str] = {}
        self._bundles: dict[int, _Bundle] = {}
        self._total = 0

    def add(self, owed: Owed, copy: Copy, name: str, message: Message) -> None:
        """Add one message; if it cannot be sent, count it as lost with the reason."""
        route = self._route(name)
        why = route if isinstance(route, str) else self._put(route, message)
        if why:
            lose(self._state, owed.queue, copy, f"{name}: {why}")

    def _route(self, name: str) -> QueueState | str:
        """Return the queue for this name, or why there is none; each name is looked up once a turn."""
        if name not in self._routes:
            self._routes[name] = _find(self._state, name, self._now)
        return self._routes[name]

    def _put(self, queue: QueueState, message: Message) -> str:
        """Add a message for this queue; return why it cannot be sent, or an empty text."""
        bundle = self._bundles.setdefault(queue.number, _Bundle(queue))
        size = size_of(message)
        total = bundle.total + size
        # flow control does not stop news, because the change that they report has been made already
        if exceeds(queue.record.settings.quota, queue.total_bytes + queue.counts.reserved + total):
            return f"the queue's quota is {queue.record.settings.quota} kilobytes"
        if not _can_carry(queue, message):
            return f"the sender cannot be notified over HTTP of class {message.message_class:#x}"
        if manager_is_full(self._state, self._total + size):
            return f"the manager's quota is {self._state.identity().quota} kilobytes"
        bundle.messages.append(message)
        bundle.sizes.append(size)
        bundle.total = total
        self._total += size
        return ""

    def send(self) -> None:
        """Put all collected messages into their queues."""
        for bundle in self._bundles.values():
            if bundle.messages:
                insert(self._state, bundle.queue, bundle.messages, bundle.sizes, self._now)


def send_news(state: State, now: Instant) -> None:
    """Send the acknowledgements, reports and receipts that this turn owes."""
    if not state.turn.owed:
        return
    owed, state.turn.owed = state.turn.owed, []
    outbox = _Outbox(state, now)
    for each in owed:
        if each.asks & acknowledge.FINAL:
            _request_receipt(state, each)
        if each.asks & acknowledge.ACKNOWLEDGED:
            _acknowledge(state, outbox, each)
        if each.asks & acknowledge.TRACED:
            _report(state, outbox, each, now)
    before, state.turn.initiator = state.turn.initiator, OURSELVES
    outbox.send()
    state.turn.initiator = before


def _find(state: State, name: str, now: Instant) -> QueueState | str:
    """Return the queue for acknowledgements with this name, or the reason why there is none (QB-318)."""
    try:
        queue = destinations.route(state, name, now)
    except UsageError as why:
        return str(why)
    if isinstance(queue, HResult):
        return destinations.why_refused(queue, name)
    if queue.record.settings.transactional:
        return "it takes messages of transactions only"
    return queue


def _can_carry(queue: QueueState, message: Message) -> bool:
    """Return whether the protocol of the queue can carry this class of acknowledgement."""
    outgoing = queue.record.outgoing
    if outgoing is None:
        return True
    if outgoing.multicast:
        return False
    carrier = link_of(queue).carrier
    return carrier is None or message.message_class in carrier.acknowledgements


def _acknowledge(state: State, outbox: _Outbox, owed: Owed) -> None:
    """Add the acknowledgements for all administration queues of a message."""
    queue = state.queues.get(owed.queue)
    destination = f"DIRECT=OS:{queue.record.pathname}" if queue else ""
    for name in acknowledge.names(owed.message):
        message = acknowledge.acknowledgement(owed.message, owed.reason, name, destination)
        outbox.add(owed, Copy.ACKNOWLEDGEMENT, name, message)


def _report(state: State, outbox: _Outbox, owed: Owed, now: Instant) -> None:
    """Add the report of one step of a traced message."""
    queue = state.queues[owed.queue].record
    message = trace.report(owed.message, owed.reason, queue, state.identity().identifier, now)
    outbox.add(owed, Copy.REPORT, trace.queue_name(owed.message), message)


def _request_receipt(state: State, owed: Owed) -> None:
    """Signal to the protocol that brought a message that its sender is to get a receipt (DM-063)."""
    carrier = state.travel.carriers.brought(owed.message)
    if carrier is not None:
        state.draft.signal(ReceiptDue(carrier.name, owed.queue, owed.message, owed.reason))
