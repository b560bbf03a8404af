"""What must hold in the end for all that went from site to site by SRMP, beside that nothing is lost.

duplication   it is there once; twice only if its identifier was forgotten in between, as the settings allow
order         what an application sends in transactions to one queue is stored there in its order
receipts      what a receipt says is so, it is said once, and nothing is missing where nobody crashed
drained       outgoing queues are empty, no number is outstanding, no POST is waited for
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from reliquary.base.turn import Fact
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import State as SrmpState
from reliquary.queueing.message import Acknowledgement, MessageClass
from reliquary.queueing.state import State
from reliquary.sim.between.promises import Arrival, Books, check_left, check_loss, in_order, under_way
from reliquary.sim.exchange.register import Letters
from reliquary.sim.history import History, Sending, Violation, named, shown
from reliquary.streams import facts as streams

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


@dataclass(slots=True)
class SrmpBooks(Books):
    """All sites' facts, and the numbers that messages got in streams."""

    numbered: dict[tuple[str, int, int], int] = field(default_factory=lambda: defaultdict(int))
    """How often a message of an outgoing queue got a number."""
    renumbered: set[bytes] = field(default_factory=set)
    """Messages that got a second number, because their stream was given up."""

    def hear(self, site: str, fact: Fact, places: dict[tuple[int, int], bytes]) -> None:
        """Count the numbers."""
        if isinstance(fact, streams.MessagesNumbered):
            for lookup_id in fact.lookup_ids:
                key = (site, fact.queue, lookup_id)
                self.numbered[key] += 1
                if self.numbered[key] > 1:
                    self.renumbered.add(places[fact.queue, lookup_id])


def check_promises(register: Letters, settings: dict[str, SrmpSettings]) -> None:
    """All but the last of them."""
    books = SrmpBooks.of(register)
    check_loss(register, books)
    check_duplication(register, books, settings)
    check_order(register, books)
    check_receipts(register, books)


def check_duplication(register: Letters, books: SrmpBooks, settings: dict[str, SrmpSettings]) -> None:
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
        fact for turned in later for fact in turned.facts if isinstance(fact, streams.IdentifierRemembered)
    ]
    count = sum(fact.express == one.position.express for fact in remembered)
    moments = [turned.now for turned in later] + [other.turned.now]
    return count >= settings.history_size or max(moments) - one.turned.now >= settings.history_age


def check_order(register: Letters, books: SrmpBooks) -> None:
    """What one application sent in transactions to one queue is stored there as it was sent."""
    last: dict[tuple[str, str], Sending] = {}
    for site in register.sites:
        for arrival in in_order(books, site):
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


def check_receipts(register: Letters, books: SrmpBooks) -> None:
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


def _is_true(register: Letters, books: SrmpBooks, sending: Sending, kind: MessageClass) -> bool:
    site, _ = register.whereto(sending)
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
    register: Letters, books: SrmpBooks, told: dict[tuple[bytes, MessageClass], set[bytes]]
) -> None:
    for sending in register.sendings.values():
        site, _ = register.whereto(sending)
        came = bool(books.arrivals[sending.body])
        read = MessageClass.ACK_RECEIVE in books.ends[site, sending.body]
        for kind, due in ((MessageClass.ACK_REACH_QUEUE, came), (MessageClass.ACK_RECEIVE, read)):
            if due and sending.asks in ASKED[kind] and (sending.body, kind) not in told:
                raise Violation(f"receipt: nobody said {kind.name} of {shown(sending.body)}")


def check_drained(site: str, manager: State, srmp_state: SrmpState) -> None:
    """Nothing of what goes elsewhere is left."""
    check_left(
        site,
        {
            "messages": under_way(manager),
            "numbers": {queue: sent.awaiting for queue, sent in srmp_state.sent.items() if sent.awaiting},
            "POSTs": {n: session.posted for n, session in srmp_state.sessions.items() if session.posted},
            "messages that come in": srmp_state.arriving,
        },
    )
