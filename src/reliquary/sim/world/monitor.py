"""Defines the checks of a protocol at one site while it runs; the witness has the checks for every
protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from reliquary.base.turn import Effect, Fact, Reply, Turn
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.rules.era import of_older_era
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import Turned
from reliquary.sim.ledger import PlacedMessage

if TYPE_CHECKING:
    from reliquary.sim.world.witness import SiteWitness


class Monitor:
    """The checks of one protocol at one site; by default there are none."""

    def __init__(self, witness: SiteWitness) -> None:
        self.witness = witness
        self.register = witness.register
        self.site = witness.site

    # -- reads of queues of other sites

    def is_elsewhere(self, request: object) -> bool:
        """Return whether an application requests messages of a queue of another site."""
        del request
        return False

    # -- what a turn is for, before its facts are judged

    def read_by(self, turned: Turned) -> Iterable[bytes]:
        """Return the messages that an application of another site has received, which this turn removes."""
        del turned
        return ()

    def purged_by(self, turned: Turned) -> Iterable[str]:
        """Return the names of the queues that another site purges in this turn."""
        del turned
        return ()

    # -- turns and what leaves

    def turned(self, turned: Turned, turn: Turn) -> None:
        """Record that a turn was run at the site."""

    def shown_by_answer(self, turned: Turned, to: int, answer: object) -> int:
        """Return the batch that must be on disk before an answer leaves, in addition to that of its turn."""
        del turned, to, answer
        return 0

    def shown_by_effect(self, effect: Effect) -> int:
        """Return the batch that must be on disk before an effect leaves, in addition to that of its turn."""
        del effect
        return 0

    def answered(self, process_number: int, reply: Reply, disk: SimulatedDisk) -> None:
        """Check an answer of the machine before a client gets it."""

    def leaves(self, effect: Effect, disk: SimulatedDisk) -> None:
        """Check an effect of the machine before the network performs it."""

    # -- messages that leave

    def has_arrived(self, place: PlacedMessage) -> bool:
        """Return whether a message that left this site as delivered got to another one."""
        return self.register.is_elsewhere(place.body, self.site, express=place.position.express)

    def was_refused(self, place: PlacedMessage, reason: MessageClass) -> bool:
        """Return whether another site did not accept a message, for this reason."""
        del place, reason
        return False

    def may_be_unknown(self, place: PlacedMessage) -> bool:
        """Return whether a message may have been delivered without a record: it was here when the store was
        restored.

        A transaction that was prepared before, and committed since, counts as well.
        """
        sending, process = self.register.sendings.get(place.body), self.witness.host.process
        in_transaction = sending is not None and sending.transaction is not None
        was_prepared = process is not None and of_older_era(process.manager.state, place.position.lookup_id)
        return self.witness.is_older(place) or (in_transaction and was_prepared)

    def has_forgotten(self, name: bytes) -> bool:
        """Return whether the protocol had a message outside of queues, in a store that a backup replaced."""
        del name
        return False

    # -- streams

    def facts_of_streams(self, turned: Turned) -> Iterator[Fact]:
        """Yield the facts of a turn without those about outgoing queues that another protocol carries."""
        queues = self.witness.ledger.queues
        for fact in turned.facts:
            queue = queues.get(getattr(fact, "queue", 0))
            outgoing = None if queue is None else queue.outgoing
            if outgoing is None or self.witness.monitor_for(outgoing.destination) is self:
                yield fact

    # -- crashes

    def crashed(self) -> None:
        """Mark the turns that were lost: the process has ended with its volatile state."""

    def restored(self) -> None:
        """Mark the turns that are forgotten: the store was replaced by a backup."""
        self.crashed()
