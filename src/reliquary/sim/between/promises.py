"""What must hold in the end for all that went from site to site, whatever protocol took it there.

loss     a confirmed message is where it was sent, or `travel` has judged why not
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from reliquary.base.turn import Fact
from reliquary.queueing import facts
from reliquary.queueing.message import Message, MessageClass, Position
from reliquary.queueing.queue import Queue
from reliquary.queueing.state import State
from reliquary.sim.between.register import Register
from reliquary.sim.history import History, Standing, Turned, Violation, named, shown


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message was stored in a queue that is read at this site."""

    site: str
    turned: Turned
    queue: Queue
    position: Position
    message: Message

    @property
    def name(self) -> str:
        """What the queue is called."""
        return self.queue.pathname.rpartition("\\")[2].casefold()


@dataclass(slots=True)
class Books:
    """All sites' facts, sorted by message; what a crash took is not among them."""

    arrivals: dict[bytes, list[Arrival]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[tuple[str, bytes], set[MessageClass]] = field(default_factory=lambda: defaultdict(set))
    """Why a message left queues of a site."""
    passing: frozenset[str] = frozenset()
    """Queues that are no end of the way, though they are not outgoing: another site fetches from them."""

    @classmethod
    def of(cls, register: Register, passing: frozenset[str] = frozenset()) -> Self:
        """Read everything once."""
        books = cls(passing=passing)
        for site, each in register.sites.items():
            books.read(site, each.history)
        return books

    def read(self, site: str, history: History) -> None:
        """The facts of one site."""
        queues: dict[int, Queue] = {}
        names: dict[int, bytes] = {}
        copies: set[int] = set()
        places: dict[tuple[int, int], bytes] = {}
        for turned in history.turns:
            for fact in turned.facts:
                if isinstance(fact, facts.QueueCreated):
                    queues[fact.queue.number] = fact.queue
                if turned.lost and not fact.volatile:
                    continue
                match fact:
                    case facts.MessagesStored():
                        for position, message in zip(fact.positions, fact.messages, strict=True):
                            names[position.message] = named(message)
                            places[fact.queue, position.lookup_id] = named(message)
                            self._stored(Arrival(site, turned, queues[fact.queue], position, message))
                    case facts.PositionCopied():
                        copies.add(fact.position.lookup_id)
                    case facts.PositionsRemoved():
                        for position in fact.positions:
                            if position.lookup_id not in copies:
                                self.ends[site, names[position.message]].add(fact.reason)
                    case facts.PositionMoved() if fact.position.lookup_id not in copies:
                        self.ends[site, names[fact.position.message]].add(fact.reason)
                        copies.add(fact.position.lookup_id)
                    case _:
                        self.hear(site, fact, places)

    def _stored(self, arrival: Arrival) -> None:
        outgoing = arrival.queue.outgoing is not None or arrival.name in self.passing
        if not outgoing and arrival.position.reason is MessageClass.NORMAL:
            self.arrivals[named(arrival.message)].append(arrival)

    def hear(self, site: str, fact: Fact, places: dict[tuple[int, int], bytes]) -> None:
        """What a protocol says; `places` has the messages by queue and LookupIdentifier."""


def check_loss(register: Register, books: Books) -> None:
    """Every confirmed recoverable message is or was at its destination, or there is a reason."""
    for sending in register.sendings.values():
        target = register.whereto(sending)
        wrong = [each for each in books.arrivals[sending.body] if (each.site, each.name) != target]
        if wrong:
            raise Violation(f"{shown(sending.body)} was sent to {sending.queue} and is at {wrong[0].queue}")
        if sending.standing is not Standing.CONFIRMED or sending.express or books.arrivals[sending.body]:
            continue
        if not any(reason.is_failure for reason in _ends(register, books, sending.body)):
            raise Violation(f"loss: {shown(sending.body)} was confirmed, and never came to {sending.queue}")


def _ends(register: Register, books: Books, name: bytes) -> Iterator[MessageClass]:
    for site in register.sites:
        yield from books.ends[site, name]


def in_order(books: Books, site: str) -> list[Arrival]:
    """What came to a site, as it came."""
    found = [each for arrivals in books.arrivals.values() for each in arrivals if each.site == site]
    return sorted(found, key=lambda one: (one.turned.number, one.position.lookup_id))


def under_way(manager: State, passing: frozenset[str] = frozenset()) -> dict[str, int]:
    """How many messages each outgoing queue has, and each from which another site fetches."""
    found = {
        queue.record.pathname: len(queue.order) + len(queue.order.locked)
        for queue in manager.queues.values()
        if queue.link is not None or queue.record.pathname.rpartition("\\")[2].casefold() in passing
    }
    return {path: count for path, count in found.items() if count}


def check_left(site: str, left: dict[str, object]) -> None:
    """Nothing of what goes elsewhere is left."""
    for what, which in left.items():
        if which:
            raise Violation(f"left behind: {site} has {what} that never leave: {which}")
