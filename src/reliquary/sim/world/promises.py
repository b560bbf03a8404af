"""Checks at the end the messages that went from site to site, by any protocol.

loss     a confirmed message is at its destination, or `reasons` has judged why not, or a restore took it: a
         site that was restored had it on its disk after the backup, and had not passed it on
order    what one application sent in one stream is stored as it was sent, where a protocol promises that
left     nothing is in an outgoing queue, or in a queue from which another site fetches, but what waits for
         words of a site that has forgotten it
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reliquary.base.turn import Fact
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.queue import Queue
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.sim.history import History, SenderKnowledge, Sending, Turned, Violation, named, shown
from reliquary.sim.mirror import available
from reliquary.sim.world.register import Register, local_name

if TYPE_CHECKING:
    from reliquary.sim.world.plugin import Plugin


@dataclass(frozen=True, slots=True)
class Arrival:
    """The storage of a message in a queue that is read at this site."""

    site: str
    turned: Turned
    queue: Queue
    position: Position
    message: Message

    @property
    def name(self) -> str:
        """Return the name of the queue, without computer and folder."""
        return local_name(self.queue.pathname)


@dataclass(slots=True)
class Deliveries:
    """All sites' facts, sorted by message; facts that a crash lost are not among them, forgotten ones are."""

    register: Register
    arrivals: dict[bytes, list[Arrival]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[tuple[str, bytes], set[MessageClass]] = field(default_factory=lambda: defaultdict(set))
    """The reasons why a message left queues of a site."""
    forgotten: dict[tuple[str, bytes], set[MessageClass]] = field(default_factory=lambda: defaultdict(set))
    """The reasons why a message left queues of a site before a restore, which the site has forgotten."""
    put_aside: set[bytes] = field(default_factory=set)
    """Dead letters that may have arrived before a restore."""
    places: dict[tuple[str, int, int], bytes] = field(default_factory=dict)
    """The message at a position: by site, number of the queue and LookupIdentifier."""

    def __post_init__(self) -> None:
        for site, each in self.register.sites.items():
            self._read(site, each.history)

    def _read(self, site: str, history: History) -> None:
        """Add the facts of one site."""
        queues: dict[int, Queue] = {}
        names: dict[int, bytes] = {}
        copies: set[int] = set()
        for turned, fact in stated(history):
            match fact:
                case facts.QueueCreated():
                    queues[fact.queue.number] = fact.queue
                case facts.MessagesStored():
                    for position, message in zip(fact.positions, fact.messages, strict=True):
                        names[position.message] = named(message)
                        self.places[site, fact.queue, position.lookup_id] = named(message)
                        if position.reason is not MessageClass.NORMAL:  # a dead letter from the beginning
                            copies.add(position.lookup_id)
                        self._stored(Arrival(site, turned, queues[fact.queue], position, message))
                case facts.PositionCopied():
                    copies.add(fact.position.lookup_id)
                case facts.PositionsRemoved():
                    for position in fact.positions:
                        is_known = not turned.lost or position.message in names
                        if is_known and position.lookup_id not in copies:
                            self._ended(site, turned, names[position.message], fact.reason)
                case facts.PositionMoved() if fact.position.lookup_id not in copies:
                    self._ended(site, turned, names[fact.position.message], fact.reason)
                    if turned.kept:  # otherwise it is stored once more
                        copies.add(fact.position.lookup_id)
                case _:
                    pass

    def _ended(self, site: str, turned: Turned, name: bytes, reason: MessageClass) -> None:
        (self.forgotten if turned.forgotten else self.ends)[site, name].add(reason)

    def _stored(self, arrival: Arrival) -> None:
        if arrival.position.reason is NOT_KNOWN and arrival.turned.kept:
            self.put_aside.add(named(arrival.message))
        under_way = arrival.queue.outgoing is not None or self.register.is_fetched(arrival.name)
        if not under_way and arrival.position.reason is MessageClass.NORMAL:
            self.arrivals[named(arrival.message)].append(arrival)

    def at(self, site: str) -> list[Arrival]:
        """Return the arrivals at a site, in their order."""
        found = [each for arrivals in self.arrivals.values() for each in arrivals if each.site == site]
        return sorted(found, key=lambda one: (one.turned.number, one.position.lookup_id))

    def ends_of(self, name: bytes) -> Iterator[MessageClass]:
        """Yield the reasons why a message left queues, at all sites."""
        for site in self.register.sites:
            yield from self.ends[site, name]
        if name in self.put_aside:
            yield NOT_KNOWN

    def ever_ended(self, site: str, name: bytes) -> set[MessageClass]:
        """Return the reasons why a message left queues of a site, also reasons that the site has
        forgotten."""
        return self.ends[site, name] | self.forgotten[site, name]

    def was_taken_by_restore(self, name: bytes) -> bool:
        """Return whether a message was on a site's disk and missing in the backup that replaced the disk."""
        return any(site.has_forgotten(name) for site in self.register.sites.values())


def stated(history: History) -> Iterator[tuple[Turned, Fact]]:
    """Yield the facts of a site, each with its turn; without those that a crash took, except of new queues.

    Express messages may be in a queue whose creation was lost with them.  Of a removal that was lost, its
    express messages stay removed: an express acknowledgement of them may have been read before the crash.
    """
    for turned in history.turns:
        for fact in turned.facts:
            if not turned.lost or fact.volatile or isinstance(fact, facts.QueueCreated):
                yield turned, fact
            elif isinstance(fact, facts.PositionsRemoved):
                express = tuple(each for each in fact.positions if each.express)
                yield turned, replace(fact, positions=express)


def check_loss(register: Register, deliveries: Deliveries) -> None:
    """Check that every confirmed recoverable message is or was at its destination, or has a reason."""
    for sending in register.sendings.values():
        target, arrivals = register.target(sending), deliveries.arrivals[sending.body]
        wrong = [each for each in arrivals if (each.site, each.name) != target]
        if wrong:
            raise Violation(f"{shown(sending.body)} was sent to {sending.queue} and is at {wrong[0].queue}")
        if sending.standing is not SenderKnowledge.CONFIRMED or sending.express or arrivals:
            continue
        failed = any(reason.is_failure for reason in deliveries.ends_of(sending.body))
        if failed or register.last_plugin(sending).may_be_refused(sending):
            continue
        if not deliveries.was_taken_by_restore(sending.body):
            raise Violation(f"loss: {shown(sending.body)} was confirmed, and never came to {sending.queue}")


def check_order(register: Register, deliveries: Deliveries, plugin: Plugin) -> None:
    """Check that the messages of one application in one stream are stored in the order of sending.

    A copy of a message that a restore took from its sender may still be on its way.  The sender does not know
    of the message any more, so nothing can wait for it, and it may come after later ones.
    """
    last: dict[Hashable, Sending] = {}
    for site in register.sites:
        for arrival in deliveries.at(site):
            sending = register.sendings.get(named(arrival.message))
            if sending is None or sending.queue in register.chains:  # `chains` checks those
                continue
            if register.plugin_for(sending.queue) is not plugin:
                continue
            if arrival.turned.lost:  # an express message that a crash lost comes again
                continue
            stream = plugin.ordered_stream(sending, arrival)
            if stream is None or deliveries.was_taken_by_restore(sending.body):
                continue
            before = last.get((sending.sender, site, stream))
            is_later = before is not None and before.number >= sending.number
            if before is not None and is_later and not plugin.may_be_late(sending.body):
                raise Violation(
                    f"order: {shown(sending.body)} came to {site} in turn {arrival.turned.number},"
                    f" after {shown(before.body)}, which was sent later"
                )
            last[sending.sender, site, stream] = sending


def under_way(manager: State, register: Register) -> dict[str, int]:
    """Return the number of messages in each outgoing queue, and in each queue from which another
    site fetches.
    """
    found = {
        queue.record.pathname: sum(
            not register.may_stay(named(manager.messages.get(position)), position)
            for position in (*available(queue), *queue.order.locked.values())
        )
        for queue in manager.queues.values()
        if queue.link is not None or register.is_fetched(local_name(queue.record.pathname))
    }
    return {path: count for path, count in found.items() if count}


def check_left(site: str, left: Mapping[str, object]) -> None:
    """Check that no message for other sites is left at this one."""
    for what, which in left.items():
        if which:
            raise Violation(f"left behind: {site} has {what} that never leave: {which}")
