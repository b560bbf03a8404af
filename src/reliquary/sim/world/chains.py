"""Simulates chains: messages that several protocols carry, because each site between the first and the last
passes them on.

    first site --one protocol--> gateway --another--> gateway --a third--> last site, `ledger`
                 the settings map its queue name to a destination of the next protocol

Messages that one application sends into a chain, in transactions, are stored at its end once and in
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeVar

from reliquary.queueing.model.message import FOREVER, MessageClass
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.sim.applications import Application, ApplicationContext
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import SenderKnowledge, Sending, Violation, named, shown
from reliquary.sim.world.applications import LEDGER, Destinations, TransactionalSender

if TYPE_CHECKING:
    from reliquary.sim.world.plugin import Plugin
    from reliquary.sim.world.promises import Deliveries

LONG: Final = (FOREVER, 0x54600)
"""Lifetimes without an end, so that a missing message is certainly lost and not expired."""
Item = TypeVar("Item")
EXCUSES: Final = frozenset(
    {
        MessageClass.NACK_PURGED,
        MessageClass.NACK_QUEUE_PURGED,
        MessageClass.NACK_REACH_QUEUE_TIMEOUT,
        NOT_KNOWN,
    }
)
"""The reasons why a message may never reach the end of a chain: a purge, a protocol that gave up, a
restore."""
TRIES: Final = 12
"""The number of attempts to draw a chain that all its protocols support."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain: the sites in their order, and the protocol between each two of them."""

    number: int
    sites: tuple[str, ...]
    plugins: tuple[Plugin, ...]

    @property
    def queue(self) -> str:
        """Return the name that gateways use for its messages; no site has this queue."""
        return f"onward{self.number}"

    @property
    def entry(self) -> str:
        """Return the name that applications at the first site send to."""
        return self._names()[0]

    @property
    def target(self) -> tuple[str, str]:
        """Return the site and the queue at its end."""
        return self.sites[-1], LEDGER

    def _names(self) -> list[str]:
        """Return the name of each hop's destination, for senders at the site before it."""
        between = zip(self.plugins[:-1], self.sites[1:-1], strict=True)
        last = self.plugins[-1].queue_name(*self.target)
        return [*(plugin.gateway_name(site, self.queue) for plugin, site in between), last]

    def arrange(self) -> None:
        """Configure each site between to pass messages on by the next protocol."""
        onward = self._names()[1:]
        for plugin, site, name in zip(self.plugins[:-1], self.sites[1:-1], onward, strict=True):
            plugin.pass_on(site, self.queue, name)

    def is_possible(self) -> bool:
        """Return whether each protocol can bring messages from site to site in their order."""
        hops = zip(self.plugins, pairwise(self.sites), strict=True)
        return all(
            plugin.can_carry(source, target, to_gateway=target != self.sites[-1])
            and (plugin.is_gateway or target == self.sites[-1])
            for plugin, (source, target) in hops
        )

    def sites_after(self, site: str) -> tuple[str, ...]:
        """Return the sites that a message reaches after this one; all of them for a site outside the
        chain."""
        return self.sites[self.sites.index(site) + 1 :] if site in self.sites else self.sites

    def senders(self, site: str, context: ApplicationContext) -> Iterator[Application]:
        """Yield the application that sends into the chain, at its first site."""
        if site == self.sites[0]:
            destinations = Destinations(
                self.sites[-1:], lambda *_: self.entry, mistakes=False, receipts=False, times=LONG
            )
            yield TransactionalSender(f"{site}/chain{self.number}", context, destinations)


def drawn_chains(chance: SeededChance, plugins: Sequence[Plugin], names: Sequence[str]) -> tuple[Chain, ...]:
    """Draw one or two chains over all protocols, and configure them; none for a single protocol."""
    if len(plugins) < 2 or len(names) <= len(plugins):
        return ()
    if not all(each.is_gateway or each.ends_chains for each in plugins):
        return ()
    found: list[Chain] = []
    wanted = chance.between(1, 2)
    for _ in range(TRIES):
        if len(found) == wanted:
            break
        sites = drawn(chance, names, len(plugins) + 1)
        chain = Chain(len(found) + 1, sites, drawn(chance, plugins, len(plugins)))
        if chain.is_possible():
            chain.arrange()
            found.append(chain)
    return tuple(found)


def drawn(chance: SeededChance, items: Sequence[Item], count: int) -> tuple[Item, ...]:
    """Draw `count` of the items, in random order."""
    left = list(items)
    return tuple(left.pop(chance.between(0, len(left) - 1)) for _ in range(count))


def _check_none_refused(entries: Mapping[str, Chain], deliveries: Deliveries) -> None:
    """Check that no site of a chain refuses a message; a refusal shows that the site got a corrupted
    message."""
    for sending in deliveries.register.sendings.values():
        if sending.queue not in entries or sending.standing is not SenderKnowledge.CONFIRMED:
            continue
        if deliveries.was_taken_by_restore(sending.body):
            continue
        if deliveries.register.last_plugin(sending).may_be_refused(sending):
            continue
        ends = set(deliveries.ends_of(sending.body))
        if not deliveries.arrivals[sending.body] and ends.isdisjoint(EXCUSES):
            raise Violation(f"loss: {shown(sending.body)} never came to the end of its chain, {sorted(ends)}")


def check_chains(chains: Sequence[Chain], deliveries: Deliveries) -> None:
    """Check that a message of a chain is at its end once, and in the order of sending."""
    entries = {each.entry: each for each in chains}
    _check_none_refused(entries, deliveries)
    last: dict[str, Sending] = {}
    for site in deliveries.register.sites:
        for arrival in deliveries.at(site):
            sending = deliveries.register.sendings.get(named(arrival.message))
            if sending is None or sending.queue not in entries or arrival.turned.lost:
                continue
            if any(plugin.may_be_late(sending.body) for plugin in entries[sending.queue].plugins):
                continue
            before = last.get(sending.sender)
            if before is not None and before.number >= sending.number:
                what = "duplication" if before is sending else "order"
                raise Violation(
                    f"{what}: {shown(sending.body)} came to {site} over several protocols in turn"
                    f" {arrival.turned.number}, after {shown(before.body)}"
                )
            last[sending.sender] = sending
