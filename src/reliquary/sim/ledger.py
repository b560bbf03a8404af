"""Adds up the facts: the queue of each message, computed without the machine that states the facts.

It is a second, much simpler computation of the state. After a crash it is built again from the turns that
the disk has kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Self
from uuid import UUID

from reliquary.base.turn import Fact
from reliquary.queueing.feed.facts import (
    ConsumerDropped,
    ConsumerLost,
    ConsumerPlaced,
    FeedsLooked,
    QueueKept,
    RetainedDropped,
)
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.queue import Queue
from reliquary.queueing.model.staging import numbers_of
from reliquary.queueing.model.tables import Copy, PreparedTransaction
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.queueing.staging import facts as staging
from reliquary.sim.hidden import HiddenPositions
from reliquary.sim.history import Turned, Violation, named, shown

Key = tuple[int, int]
"""A queue's number and a LookupIdentifier."""
ITSELF: Final = frozenset({MessageClass.NORMAL, MessageClass.NACK_RECEIVE_REJECTED})
"""The classes of a message itself in a queue: sent, moved or in the poison queue; all others are copies."""


@dataclass(frozen=True, slots=True)
class PlacedMessage:
    """A message with its position in a queue."""

    body: bytes
    position: Position
    since: int
    """The turn that stored it there."""


Judge = Callable[["Ledger", int, PlacedMessage, MessageClass, Turned], None]
Rule = Callable[["Ledger", Any, Turned, bool], None]
MANAGER: Final = "reliquary.queueing."
"""The package that defines the manager's facts."""


class Ledger:
    """The state that the facts describe."""

    def __init__(self) -> None:
        self.judge: Judge = _nothing
        """A function that is called whenever a message leaves a queue."""
        self.queues: dict[int, Queue] = {}
        self.deleted: set[str] = set()
        """Path names of queues that were deleted at some time."""
        self.places: dict[Key, PlacedMessage] = {}
        self.whereabouts: dict[int, int] = {}
        """The number of the queue of each LookupIdentifier."""
        self.copies: set[int] = set()
        """The LookupIdentifiers of journal and dead-letter copies, wherever they were moved since."""
        self.prepared: dict[UUID, PreparedTransaction] = {}
        self.outcomes: dict[UUID, bool] = {}
        """For each ended transaction that was prepared: whether it was committed."""
        self.bodies: dict[int, bytes] = {}
        """The body by the number under which the message is stored."""
        self.stored: dict[bytes, int] = {}
        """The turn in which a message was stored."""
        self.travelling: dict[bytes, Key] = {}
        """The position of each message in an outgoing queue."""
        self.arrived: dict[bytes, int] = {}
        """The turn in which a message from an outgoing queue got to its destination queue."""
        self.reached: set[bytes] = set()
        """The messages that were in a queue from which they can be received."""
        self.left: dict[bytes, tuple[int, MessageClass]] = {}
        """The turn in which a message left its queue permanently, and the reason."""
        self.ends: dict[bytes, set[MessageClass]] = defaultdict(set)
        """All reasons why a message left its queue permanently; a renumbered message may arrive twice."""
        self.changed: dict[bytes, int] = {}
        """The number of the last batch that changed a message."""
        self.entered = 0
        self.gone: Counter[str] = Counter()
        """The number of positions that were removed permanently, by reason."""
        self.published: dict[str, int] = {}
        """The last batch of each query."""
        self._hidden = HiddenPositions()
        self.unkept: Counter[Copy] = Counter()
        """The number of copies and acknowledgements that could not be stored."""

    @classmethod
    def of(cls, turns: Iterable[Turned], process_number: int) -> Self:
        """Return the ledger after a crash: without lost facts, and without express messages of ended
        processes."""
        ledger = cls()
        for turned in turns:
            if turned.kept:
                ledger.take(turned, durable_only=turned.process_number != process_number)
        return ledger

    def take(self, turned: Turned, *, durable_only: bool = False) -> None:
        """Apply the facts of a turn."""
        for stated in turned.facts:
            if not (durable_only and stated.volatile) or isinstance(stated, staging.MessagesStaged):
                for fact in self._hidden.visible(stated):
                    _rule_for(type(fact))(self, fact, turned, durable_only)
        for body in self.travelling.keys() & self.arrived.keys():
            raise Violation(f"duplication: {shown(body)} arrived and is still on its way")

    def enter(self, queue: int, position: Position, body: bytes, turned: Turned) -> None:
        """Record that a message is in a queue."""
        key = (queue, position.lookup_id)
        if key in self.places:
            raise Violation(
                f"two messages at one place: {shown(self.places[key].body)} and {shown(body)} at {key}"
            )
        if queue not in self.queues:
            raise Violation(f"{shown(body)} is in queue {queue}, which does not exist")
        self.places[key] = PlacedMessage(body, position, turned.number)
        self.whereabouts[position.lookup_id] = queue
        if self.queues[queue].outgoing:
            self.travelling[body] = key
        elif position.lookup_id not in self.copies:
            self.reached.add(body)
        if not position.express:
            self.changed[body] = turned.batch

    def enter_again(self, body: bytes, turned: Turned) -> None:
        """Record a message that was here before: only one that returns from an outgoing queue may
        come again."""
        if body not in self.travelling or body in self.arrived:
            raise Violation(f"{shown(body)} is stored twice, in turns {self.stored[body]}, {turned.number}")
        self.arrived[body] = turned.number

    def withdraw(self, queue: int, position: Position, turned: Turned, reason: MessageClass) -> PlacedMessage:
        """Record that a message leaves a queue, and return it."""
        place = self.places.pop((queue, position.lookup_id), None)
        if place is None:
            raise Violation(f"position {position.lookup_id:#x} leaves queue {queue}, and is not there")
        del self.whereabouts[position.lookup_id]
        self.judge(self, queue, place, reason, turned)
        if self.travelling.get(place.body) == (queue, position.lookup_id):
            del self.travelling[place.body]
        stays = reason in ITSELF or reason is MessageClass.ACK_REACH_QUEUE
        if position.lookup_id not in self.copies and not stays:
            self.left[place.body] = (turned.number, reason)
            self.ends[place.body].add(reason)
        if not position.express:
            self.changed[place.body] = turned.batch
        return place


def _queue_stated(ledger: Ledger, fact: facts.QueueCreated | facts.QueueChanged, *_: Any) -> None:
    ledger.queues[fact.queue.number] = fact.queue
    if fact.queue.deleting:
        ledger.deleted.add(fact.queue.pathname.casefold())


def _queue_deleted(ledger: Ledger, fact: facts.QueueDeleted, *_: Any) -> None:
    left = [shown(place.body) for (queue, _), place in ledger.places.items() if queue == fact.number]
    if left:
        raise Violation(f"queue {fact.number} is gone with messages in it: {left}")
    del ledger.queues[fact.number]


def _stored(ledger: Ledger, fact: facts.MessagesStored, turned: Turned, durable_only: bool) -> None:
    for position, message in zip(fact.positions, fact.messages, strict=True):
        if durable_only and position.express:
            continue
        body = named(message)
        if body in ledger.stored:
            ledger.enter_again(body, turned)
        ledger.entered += 1
        ledger.stored.setdefault(body, turned.number)
        ledger.bodies[position.message] = body
        if position.reason is not MessageClass.NORMAL:
            ledger.copies.add(position.lookup_id)
        ledger.enter(fact.queue, position, body, turned)


def _staged(ledger: Ledger, fact: staging.MessagesStaged, *_: Any) -> None:
    """Record staged bodies by their numbers; a part that survives a crash may have unsynced messages."""
    for number, message in zip(numbers_of(fact.chunk), fact.messages, strict=True):
        ledger.bodies[number] = message.body


def _placed(ledger: Ledger, fact: staging.StagePublished, turned: Turned, _: bool) -> None:
    for position in fact.positions:
        body = ledger.bodies[position.message]
        if body in ledger.stored:
            raise Violation(f"duplication: {shown(body)} is published again in turn {turned.number}")
        ledger.entered += 1
        ledger.stored[body] = turned.number
        ledger.enter(fact.queue, position, body, turned)


def _published(ledger: Ledger, fact: staging.BatchPublished, turned: Turned, _: bool) -> None:
    if fact.record.batch <= ledger.published.get(fact.query, -1):
        raise Violation(f"batch: {fact.record.batch} of {fact.query} comes again in turn {turned.number}")
    ledger.published[fact.query] = fact.record.batch


def _copied(ledger: Ledger, fact: facts.PositionCopied, turned: Turned, _: bool) -> None:
    ledger.entered += 1
    ledger.copies.add(fact.position.lookup_id)
    ledger.enter(fact.queue, fact.position, ledger.bodies[fact.position.message], turned)


def _moved(ledger: Ledger, fact: facts.PositionMoved, turned: Turned, _: bool) -> None:
    place = ledger.withdraw(fact.source, fact.position, turned, fact.reason)
    if fact.reason not in ITSELF:
        ledger.copies.add(fact.position.lookup_id)
    ledger.enter(fact.target, fact.position, place.body, turned)


def _removed(ledger: Ledger, fact: facts.PositionsRemoved, turned: Turned, durable_only: bool) -> None:
    if fact.reason is NOT_KNOWN:
        bodies = [shown(ledger.places[fact.queue, each.lookup_id].body) for each in fact.positions]
        raise Violation(f"loss: {bodies} may have been delivered or not, and are no dead letters")
    for position in fact.positions:
        if not (durable_only and position.express):
            ledger.withdraw(fact.queue, position, turned, fact.reason)
            ledger.gone[fact.reason.name] += 1


def _prepared(ledger: Ledger, fact: facts.TransactionPrepared, turned: Turned, _: bool) -> None:
    ledger.prepared[fact.identifier] = fact.record
    sent = [operation for operation in fact.record.operations if operation.kind == "enqueue"]
    for operation, message in zip(sent, fact.messages, strict=True):
        ledger.bodies[operation.position.message] = message.body
        ledger.changed[message.body] = turned.batch


def _ended(ledger: Ledger, fact: facts.TransactionEnded, *_: Any) -> None:
    if ledger.prepared.pop(fact.identifier, None) is None:
        raise Violation(f"transaction {fact.identifier} ends, and is not prepared")
    ledger.outcomes[fact.identifier] = fact.outcome.committed


def _unkept(ledger: Ledger, fact: facts.CopyLost, *_: Any) -> None:
    ledger.unkept[fact.copy] += 1


def _nothing(*_: Any) -> None:
    pass


_TAKE: Final[dict[type[Fact], Rule]] = {
    facts.ManagerNamed: _nothing,
    facts.QueueCreated: _queue_stated,
    facts.QueueChanged: _queue_stated,
    facts.QueueDeleted: _queue_deleted,
    facts.MessagesStored: _stored,
    facts.PositionCopied: _copied,
    facts.PositionMoved: _moved,
    facts.PositionsRemoved: _removed,
    facts.PositionsHandedOut: _nothing,
    facts.PositionsMarked: _nothing,
    facts.PositionsDelayed: _nothing,
    facts.PositionsDue: _nothing,
    facts.TransactionPrepared: _prepared,
    facts.TransactionEnded: _ended,
    facts.PreparedMessageDropped: _nothing,
    facts.CopyLost: _unkept,
    facts.ReservationBegun: _nothing,
    facts.ReservationsOver: _nothing,
    ConsumerPlaced: _nothing,
    ConsumerDropped: _nothing,
    ConsumerLost: _nothing,
    QueueKept: _nothing,
    FeedsLooked: _nothing,
    RetainedDropped: _nothing,
    staging.MessagesStaged: _staged,
    staging.StagePublished: _placed,
    staging.BatchPublished: _published,
    staging.StageChanged: _nothing,
    staging.BatchBegun: _nothing,
    staging.BatchAdvanced: _nothing,
    staging.ChunksDropped: _nothing,
}


def _rule_for(kind: type[Fact]) -> Rule:
    """Return the rule for a fact: facts of the manager have one, facts of protocols change nothing."""
    assert kind in _TAKE or not kind.__module__.startswith(MANAGER), f"the ledger does not know {kind}"
    return _TAKE.get(kind, _nothing)
