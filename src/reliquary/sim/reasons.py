"""Checks why a message left its queue: a reader requested it, or one of these reasons is true.

received     the answer of this turn contains it, or its reader acknowledged or committed
expired      its time to be received has run out
purged       the queue was purged after the message came
deleted      its queue is being deleted
arrived      it got from an outgoing queue to where it was meant for, in this very turn
refused      it was on its way, and there was no room or no queue
put aside    it was handed out on trial as often as its queue allows
moved        this turn is a move, or the commit of one
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from reliquary.base.time import SECOND
from reliquary.queueing.model import events, facts
from reliquary.queueing.model.message import MessageClass
from reliquary.sim.history import History, Turned, Violation, named, shown
from reliquary.sim.ledger import Ledger, PlacedMessage


class Reasons:
    """Judges each removal of a message when it is stated."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._purged: dict[int, list[int]] = defaultdict(list)
        """The turns of purges, by queue."""
        self._purge_asked: dict[str, list[int]] = defaultdict(list)
        """The turns that requested a purge, by queue name: a message that was locked then may come back
        before it begins."""
        self._delivered_in: dict[object, set[bytes]] = {}
        """The messages that were handed out in each transaction."""
        self._tries: dict[int, list[int]] = defaultdict(list)
        """The turns in which each position was handed out on trial or in a transaction."""

    def observe(self, ledger: Ledger, turned: Turned) -> None:
        """Record the requests of a turn before its facts are judged."""
        event = turned.event
        if isinstance(event, events.EmptyQueue) and event.reason is MessageClass.NACK_QUEUE_PURGED:
            self._purged[event.number].append(turned.number)
        elif isinstance(event, events.PurgeQueue):
            self._note_purge(event.path, turned)
        for request, answer in received(self._history, turned):
            transaction = getattr(request, "transaction", None)
            on_trial = bool(getattr(request, "hold", 0)) or transaction is not None
            if on_trial or is_for_good(request):
                self._hand_out(ledger, turned, answer, on_trial=on_trial)
            if transaction is not None:
                bodies = self._delivered_in.setdefault(transaction, set())
                bodies.update(named(delivered.message) for delivered in answer.messages)

    def _note_purge(self, path: str, turned: Turned) -> None:
        self._purge_asked[_name(path)].append(turned.number)

    def _hand_out(self, ledger: Ledger, turned: Turned, answer: events.Received, *, on_trial: bool) -> None:
        """Check that a message is not handed out more often than its queue allows, not even after a crash."""
        moved = {fact.position.lookup_id for fact in turned.facts if isinstance(fact, facts.PositionMoved)}
        for delivered in answer.messages:
            body, lookup_id = named(delivered.message), delivered.position.lookup_id
            queue = ledger.whereabouts.get(lookup_id)
            if queue is not None and lookup_id not in moved:
                tried = self._tried(ledger.places[queue, lookup_id])
                limit = ledger.queues[queue].settings.poison_limit
                if 0 < limit <= tried:
                    raise Violation(
                        f"poison: {shown(body)} is handed out in turn {turned.number}, and was tried"
                        f" {tried} times in queue {queue}, which allows {limit}"
                    )
            if on_trial:
                self._tries[lookup_id].append(turned.number)

    def _tried(self, place: PlacedMessage) -> int:
        """Return how often a message was handed out in its queue, without the attempts that a crash undid."""
        turns, tries = self._history.turns, self._tries[place.position.lookup_id]
        return sum(turn >= place.since and turns[turn].kept for turn in tries)

    def judge(
        self, ledger: Ledger, queue: int, place: PlacedMessage, reason: MessageClass, turned: Turned
    ) -> None:
        """Raise Violation if a message may not leave its queue for this reason now."""
        match reason:
            case MessageClass.NORMAL:
                fine = isinstance(turned.event, (events.MoveMessage, events.CommitTransaction))
            case MessageClass.ACK_RECEIVE:
                fine = self._was_wanted(place.body, turned)
            case MessageClass.NACK_RECEIVE_TIMEOUT | MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER:
                fine = 0 < place.position.expires <= turned.now
            case MessageClass.NACK_REACH_QUEUE_TIMEOUT:  # a message has its SentTime in whole seconds
                fine = 0 < place.position.expires <= turned.now + SECOND
            case MessageClass.ACK_REACH_QUEUE:
                fine = ledger.arrived.get(place.body) == turned.number
            case MessageClass.NACK_QUEUE_EXCEED_QUOTA | MessageClass.NACK_BAD_DEST_QUEUE:
                fine = ledger.queues[queue].outgoing is not None
            case MessageClass.NACK_QUEUE_PURGED:
                fine = self._last_purge(ledger, queue) > place.since
            case MessageClass.NACK_RECEIVE_REJECTED:
                fine = 0 < ledger.queues[queue].settings.poison_limit <= self._tried(place)
            case MessageClass.NACK_QUEUE_DELETED:
                fine = ledger.queues[queue].deleting
            case _:
                fine = False
        if not fine:
            raise Violation(
                f"loss: {shown(place.body)} left queue {queue} as {reason.name} in turn {turned.number}"
                f" ({type(turned.event).__name__}), and no request asked for that"
            )

    def _last_purge(self, ledger: Ledger, queue: int) -> int:
        """Return the last turn that requested or continued a purge; an outgoing queue has two names."""
        record = ledger.queues[queue]
        names = [record.pathname, record.outgoing.destination if record.outgoing else ""]
        asked = [turn for name in names for turn in self._purge_asked[_name(name)]]
        turns = [turn for turn in (*self._purged[queue], *asked) if not self._history.turns[turn].forgotten]
        return max(turns, default=-1)

    def _was_wanted(self, body: bytes, turned: Turned) -> bool:
        event = turned.event
        if isinstance(event, events.CommitTransaction) and body in self._delivered_in.get(
            event.transaction, ()
        ):
            return True
        if body in self._history.intended:
            return True
        return any(
            named(delivered.message) == body
            for request, answer in received(self._history, turned)
            if is_for_good(request)
            for delivered in answer.messages
        )


def received(history: History, turned: Turned) -> Iterator[tuple[object, events.Received]]:
    """Yield the answers of a turn that contain messages, each with its request."""
    for to, answer in turned.answers:
        if isinstance(answer, events.Received):
            yield history.requests[turned.process_number, to], answer


def _name(path: str) -> str:
    """Return a path name without its computer and folder."""
    return path.rpartition("\\")[2].casefold()


def is_for_good(request: object) -> bool:
    """Return whether a request removes messages at once, without a second step."""
    match request:
        case events.ReceiveMessages():
            return not request.hold and request.transaction is None
        case events.LookUpMessage():
            return not request.peek and not request.hold and request.transaction is None
        case _:
            return False
