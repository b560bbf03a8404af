"""Collects, for all sites together, where each message was sent, and which sites have it or had it."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from reliquary.queueing.model.message import Position
from reliquary.sim.history import Sending

if TYPE_CHECKING:
    from reliquary.sim.world.chains import Chain
    from reliquary.sim.world.plugin import Plugin
    from reliquary.sim.world.witness import SiteWitness


class Register:
    """The sites of a run by authority, and their protocols."""

    def __init__(self, plugins: tuple[Plugin, ...]) -> None:
        self.plugins = plugins
        self._carriers: dict[str, Plugin] = {}
        """The protocols by the names of queues, for names that were looked up."""
        self.chains: dict[str, Chain] = {}
        """Chains, by the name that applications send to."""
        self.sendings: dict[bytes, Sending] = {}
        """All messages that were sent, at any site."""
        self.sites: dict[str, SiteWitness] = {}
        self.seen: dict[bytes, set[str]] = defaultdict(set)
        """The sites at which a message was ever in a queue, even if a crash undid it."""
        self.origin: dict[bytes, str] = {}
        """The site at which a message was first in a queue."""
        self.put_aside: set[bytes] = set()
        """The messages that became dead letters at a restored site, because they may have arrived before."""

    def is_elsewhere(self, name: bytes, site: str, *, express: bool) -> bool:
        """Return whether another site has or had a message: on its disk, or in memory for an express one."""
        if express:
            return bool(self.seen[name] - {site})
        sending = self.sendings.get(name)
        chain = None if sending is None else self.chains.get(sending.queue)
        others = self.sites if chain is None else chain.sites_after(site)
        return any(self.sites[other].keeps(name) for other in others if other != site)

    def sending_site(self, sending: Sending) -> str:
        """Return the authority of the site whose application sent the message."""
        return sending.sender.partition("/")[0]

    def target(self, sending: Sending) -> tuple[str, str]:
        """Return the site and the destination queue of a message."""
        chain = self.chains.get(sending.queue)
        return self.plugin_for(sending.queue).target(sending) if chain is None else chain.target

    def last_plugin(self, sending: Sending) -> Plugin:
        """Return the protocol that brings a message to its destination."""
        chain = self.chains.get(sending.queue)
        return self.plugin_for(sending.queue) if chain is None else chain.plugins[-1]

    def may_come_again(self, sending: Sending) -> bool:
        """Return whether a message may be stored at a site where it was stored before."""
        chain = self.chains.get(sending.queue)
        carriers = (self.plugin_for(sending.queue),) if chain is None else chain.plugins
        return any(each.may_come_again(sending.body) for each in carriers)

    def may_stay(self, name: bytes, position: Position) -> bool:
        """Return whether a message that waits only for its final report may stay in an outgoing queue
        permanently.

        Its target was restored and forgot it; or its own site was restored and forgot the report.
        """
        sending = self.sendings.get(name)
        if sending is None or not self.plugin_for(sending.queue).may_wait(position):
            return False
        target = self.sites[self.target(sending)[0]]
        forgotten = any(name in ledger.stored for ledger in target.replaced)
        return forgotten or bool(self.sites[self.sending_site(sending)].replaced)

    def is_fetched(self, queue: str) -> bool:
        """Return whether other sites fetch from a queue of this name, so that its messages are passed on."""
        return any(queue in each.fetched_queues for each in self.plugins)

    def plugin_for(self, queue: str) -> Plugin:
        """Return the protocol that carries messages to a queue of this name, or fetches or reads them."""
        plugin = self._carriers.get(queue)
        if plugin is None:
            fetched = (each for each in self.plugins if queue in each.fetched_queues | each.local_queues)
            claimed = (each for each in self.plugins if each.claims(queue))
            plugin = self._carriers[queue] = next(chain(fetched, claimed))
        return plugin


def local_name(pathname: str) -> str:
    """Return the name of a queue at its own site: in lower case, without computer and folder."""
    return pathname.rpartition("\\")[2].casefold()
