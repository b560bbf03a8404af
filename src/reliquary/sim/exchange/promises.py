"""What must hold in the end for all that went from site to site.

loss          a confirmed message is where it was sent, or `travel` has judged why not
duplication   it is there once; twice only if its identifier was forgotten in between, as the settings allow
order         what an application sends in transactions to one queue is stored there in its order
receipts      what a receipt says is so, it is said once, and nothing is missing where nobody crashed
drained       outgoing queues are empty, no number is outstanding, no POST is waited for
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from reliquary.protocols.srmp import facts as srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import State as SrmpState
from reliquary.queueing import facts
from reliquary.queueing.message import Acknowledgement, Message, MessageClass, Position
from reliquary.queueing.queue import Queue
from reliquary.queueing.state import State
from reliquary.sim.exchange.register import Register
from reliquary.sim.history import History, Sending, Standing, Turned, Violation, named, shown

ASKED = {
    MessageClass.ACK_REACH_QUEUE: {Acknowledgement.POS_ARRIVAL, Acknowledgement.FULL_REACH_QUEUE},
    MessageClass.ACK_RECEIVE: {Acknowledgement.POS_RECEIVE, Acknowledgement.FULL_RECEIVE},
}
BY_SOURCE = frozenset(
    {
        MessageClass.NACK_REACH_QUEUE_TIMEOUT,
        MessageClass.NACK_PURGED,
        MessageClass.NACK_BAD_DEST_QUEUE,
        MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE,
        MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE,
    }
)
"""What only the site that sends can say of a message."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message was stored in a queue that is read at this site."""

    site: str
    turned: Turned
    queue: Queue
    position: Position
    message: Message


@dataclass(slots=True)
class Books:
    """All sites' facts, sorted by message; what a crash took is not among them."""

    arrivals: dict[bytes, list[Arrival]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[tuple[str, bytes], set[MessageClass]] = field(default_factory=lambda: defaultdict(set))
    """Why a message left queues of a site."""
    numbered: dict[tuple[str, int, int], int] = field(default_factory=lambda: defaultdict(int))
    """How often a message of an outgoing queue got a number."""
    renumbered: set[bytes] = field(default_factory=set)
    """Messages that got a second number, because their stream was given up."""

    @classmethod
    def of(cls, register: Register) -> Books:
        """Read everything once."""
        books = cls()
        for site, each in register.sites.items():
            books._read(site, each.history)
        return books

    def _read(self, site: str, history: History) -> None:
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
                            self._stored(site, turned, queues[fact.queue], position, message)
                    case facts.PositionCopied():
                        copies.add(fact.position.lookup_id)
                    case facts.PositionsRemoved():
                        for position in fact.positions:
                            if position.lookup_id not in copies:
                                self.ends[site, names[position.message]].add(fact.reason)
                    case facts.PositionMoved() if fact.position.lookup_id not in copies:
                        self.ends[site, names[fact.position.message]].add(fact.reason)
                        copies.add(fact.position.lookup_id)
                    case srmp.MessagesNumbered():
                        for lookup_id in fact.lookup_ids:
                            key = (site, fact.queue, lookup_id)
                            self.numbered[key] += 1
                            if self.numbered[key] > 1:
                                self.renumbered.add(places[fact.queue, lookup_id])
                    case _:
                        pass

    def _stored(self, site: str, turned: Turned, queue: Queue, position: Position, message: Message) -> None:
        if queue.outgoing is None and position.reason is MessageClass.NORMAL:
            self.arrivals[named(message)].append(Arrival(site, turned, queue, position, message))


def check_promises(register: Register, settings: dict[str, SrmpSettings]) -> None:
    """All but the last of them."""
    books = Books.of(register)
    check_loss(register, books)
    check_duplication(register, books, settings)
    check_order(register, books)
    check_receipts(register, books)


def check_loss(register: Register, books: Books) -> None:
    """Every confirmed recoverable message is or was at its destination, or there is a reason."""
    for sending in register.sendings.values():
        site, queue = _whereto(sending)
        wrong = [each for each in books.arrivals[sending.body] if (each.site, _queue(each)) != (site, queue)]
        if wrong:
            raise Violation(f"{shown(sending.body)} was sent to {sending.queue} and is at {wrong[0].queue}")
        if sending.standing is not Standing.CONFIRMED or sending.express or books.arrivals[sending.body]:
            continue
        if not any(reason.is_failure for reason in _ends(register, books, sending.body)):
            raise Violation(f"loss: {shown(sending.body)} was confirmed, and never came to {sending.queue}")


def _ends(register: Register, books: Books, name: bytes) -> Iterator[MessageClass]:
    for site in register.sites:
        yield from books.ends[site, name]


def _whereto(sending: Sending) -> tuple[str, str]:
    authority, _, path = sending.queue.partition("://")[2].partition("/")
    return authority, path.rpartition("/")[2]


def _queue(arrival: Arrival) -> str:
    return arrival.queue.pathname.rpartition("\\")[2].casefold()


def check_duplication(register: Register, books: Books, settings: dict[str, SrmpSettings]) -> None:
    """Nothing comes twice while its identifier is remembered, and nothing of a stream ever."""
    for name, arrivals in books.arrivals.items():
        for one, other in pairwise(arrivals):
            forgotten = _was_forgotten(register.sites[one.site].history, one, other, settings[one.site])
            in_stream = one.message.sequence is not None and name not in books.renumbered
            passed = one.position.express and one.turned.life != other.turned.life
            if not passed and (in_stream or not forgotten):
                raise Violation(
                    f"duplication: {shown(name)} came to {one.site} in turn {one.turned.number},"
                    f" and again in turn {other.turned.number}"
                )


def _was_forgotten(history: History, one: Arrival, other: Arrival, settings: SrmpSettings) -> bool:
    """Whether the history of identifiers was too small or too short to know the second."""
    later = history.turns[one.turned.number + 1 : other.turned.number]
    remembered = [
        fact for turned in later for fact in turned.facts if isinstance(fact, srmp.IdentifierRemembered)
    ]
    count = sum(fact.express == one.position.express for fact in remembered)
    moments = [turned.now for turned in later] + [other.turned.now]
    return count >= settings.history_size or max(moments) - one.turned.now >= settings.history_age


def check_order(register: Register, books: Books) -> None:
    """What one application sent in transactions to one queue is stored there as it was sent."""
    last: dict[tuple[str, str], Sending] = {}
    for site in register.sites:
        found = [each for arrivals in books.arrivals.values() for each in arrivals if each.site == site]
        for arrival in sorted(found, key=lambda one: (one.turned.number, one.position.lookup_id)):
            name = named(arrival.message)
            sending = register.sendings.get(name)
            if sending is None or sending.transaction is None:
                continue
            before = last.get((sending.sender, site))
            if before is not None and before.number >= sending.number and name not in books.renumbered:
                raise Violation(
                    f"order: {shown(name)} came to {site} in turn {arrival.turned.number},"
                    f" after {shown(before.body)}, which was sent later"
                )
            last[sending.sender, site] = sending


def check_receipts(register: Register, books: Books) -> None:
    """Receipts are true, are not repeated, and where nobody crashed none is missing."""
    labels = {sending.label: sending for sending in register.sendings.values()}
    told: dict[tuple[bytes, MessageClass], set[bytes]] = defaultdict(set)
    for name, arrivals in books.arrivals.items():
        for arrival in arrivals:
            kind = MessageClass(arrival.message.message_class)
            if kind is MessageClass.NORMAL:
                continue
            sending = labels.get(arrival.message.label)
            if sending is None or not _is_true(register, books, sending, kind):
                raise Violation(f"receipt: {shown(name)} came to {arrival.site}, and is not so")
            told[sending.body, kind].add(name)
    for (body, kind), names in told.items():
        if len(names) > max(len(books.arrivals[body]), 1):
            raise Violation(f"receipt: {kind.name} of {shown(body)} is said {len(names)} times")
    if all(site.history.crashes == 0 for site in register.sites.values()):
        _check_complete(register, books, told)


def _is_true(register: Register, books: Books, sending: Sending, kind: MessageClass) -> bool:
    site, _ = _whereto(sending)
    seen = site in register.seen[sending.body] if sending.express else bool(books.arrivals[sending.body])
    ends = books.ends[site, sending.body]
    if sending.asks is None:
        return False
    if kind is MessageClass.ACK_REACH_QUEUE:
        return seen
    if kind is MessageClass.ACK_RECEIVE:
        return kind in ends
    if kind in BY_SOURCE:
        return kind in books.ends[register.home(sending), sending.body]
    once = len(books.arrivals[sending.body]) <= 1
    return kind in ends and not (once and MessageClass.ACK_RECEIVE in ends)


def _check_complete(
    register: Register, books: Books, told: dict[tuple[bytes, MessageClass], set[bytes]]
) -> None:
    for sending in register.sendings.values():
        site, _ = _whereto(sending)
        came = bool(books.arrivals[sending.body])
        read = MessageClass.ACK_RECEIVE in books.ends[site, sending.body]
        for kind, due in ((MessageClass.ACK_REACH_QUEUE, came), (MessageClass.ACK_RECEIVE, read)):
            if due and sending.asks in ASKED[kind] and (sending.body, kind) not in told:
                raise Violation(f"receipt: nobody said {kind.name} of {shown(sending.body)}")


def under_way(manager: State) -> dict[str, int]:
    """How many messages each outgoing queue has."""
    found = {
        queue.record.pathname: len(queue.order) + len(queue.order.locked)
        for queue in manager.queues.values()
        if queue.link is not None
    }
    return {path: count for path, count in found.items() if count}


def check_drained(site: str, manager: State, srmp_state: SrmpState) -> None:
    """Nothing of what goes elsewhere is left."""
    left = {
        "messages": under_way(manager),
        "numbers": {queue: sent.awaiting for queue, sent in srmp_state.sent.items() if sent.awaiting},
        "POSTs": {n: session.posted for n, session in srmp_state.sessions.items() if session.posted},
        "messages that come in": srmp_state.arriving,
    }
    for what, which in left.items():
        if which:
            raise Violation(f"left behind: {site} has {what} that never leave: {which}")
