"""The witness of one of several sites: what was stored there is known to all."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Event, Turn
from reliquary.queueing import facts
from reliquary.sim.between.register import Register
from reliquary.sim.history import History, Turned, Violation, named
from reliquary.sim.host import Host
from reliquary.sim.witness import Witness


class SiteObserver(Witness):
    """Watches one of several sites."""

    host: Host

    def __init__(self, history: History, register: Register, site: str) -> None:
        self.history = history
        self.site = site
        self.register = register
        super().__init__(history)

    def keeps(self, name: bytes) -> bool:
        """Whether it is, or was, on this site's disk."""
        turn = self.ledger.stored.get(name)
        return turn is not None and self.history.turns[turn].batch <= self.host.disk.durable

    def turned(self, life: int, batch: int, event: Event, turn: Turn, now: Instant) -> Turned:
        """A turn was run."""
        turned = super().turned(life, batch, event, turn, now)
        for fact in turned.facts:
            if isinstance(fact, facts.MessagesStored):
                for message in fact.messages:
                    self.register.seen[named(message)].add(self.site)
                    self.register.origin.setdefault(named(message), self.site)
        return turned

    def same(self, what: str, live: object, rebuilt: object) -> None:
        """What a restart would find is what is there."""
        if live != rebuilt:
            raise Violation(f"recovery: {what} would come back as {rebuilt}, and is {live}")
