"""Judges why a message left an outgoing queue: another site has it, its time is over, or it was refused.

arrived     another site has it on its disk; an express one was at least in its memory
expired     its time to reach the queue has run out, or its protocol may give it up
purged      the outgoing queue was purged
refused     its destination did not accept it, as the monitor of the protocol says; or another message of its
            transaction left this queue for this reason: a transaction arrives whole, or its beginning does
fetched     it left a queue from which another site fetches, and that site has it
not known   the store was restored, and it is unknown if it was delivered before
read        an application of another site has acknowledged it, or has purged the queue, over a protocol
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from reliquary.base.time import SECOND
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.sim.history import History, Turned, Violation, shown
from reliquary.sim.ledger import Ledger, PlacedMessage
from reliquary.sim.reasons import Reasons
from reliquary.sim.world.monitor import Monitor
from reliquary.sim.world.register import local_name

if TYPE_CHECKING:
    from reliquary.sim.world.witness import SiteWitness


class TravelReasons(Reasons):
    """Judges the removal of messages from outgoing queues, and from queues of which others fetch, by facts of
    other sites."""

    def __init__(self, history: History, witness: SiteWitness) -> None:
        super().__init__(history)
        self._witness = witness
        self._read: set[bytes] = set()
        """The messages that applications of other sites acknowledge in this turn."""
        self._broken: set[tuple[int, UUID, MessageClass]] = set()
        """The outgoing queues, transactions and reasons of messages that failed."""

    def observe(self, ledger: Ledger, turned: Turned) -> None:
        """Record the requests of a turn, also of another site, before its facts are judged."""
        super().observe(ledger, turned)
        monitors = self._witness.monitors.values()
        self._read = {body for each in monitors for body in each.read_by(turned)}
        for monitor in monitors:
            for queue in monitor.purged_by(turned):
                self._note_purge(queue, turned)

    def _was_wanted(self, body: bytes, turned: Turned) -> bool:
        return body in self._read or super()._was_wanted(body, turned)

    def judge(
        self, ledger: Ledger, queue: int, place: PlacedMessage, reason: MessageClass, turned: Turned
    ) -> None:
        """Raise Violation if a message may not leave its queue for this reason now."""
        record = ledger.queues[queue]
        name = local_name(record.pathname)
        if record.outgoing is not None:
            monitor = self._witness.monitor_for(record.outgoing.destination)
            fine = self._may_go(monitor, ledger, queue, place, reason, turned)
            fine = self._share_outcome(queue, place, reason, fine=fine)
        elif reason in (MessageClass.ACK_RECEIVE, NOT_KNOWN) and self._witness.register.is_fetched(name):
            monitor = self._witness.monitor_for(name)
            fine = monitor.may_be_unknown(place) if reason is NOT_KNOWN else monitor.has_arrived(place)
        else:
            super().judge(ledger, queue, place, reason, turned)
            return
        if not fine:
            raise Violation(
                f"loss: {shown(place.body)} left {record.pathname} of {self._witness.site} as {reason.name}"
                f" in turn {turned.number} ({type(turned.event).__name__}), and that is not so"
            )

    def _share_outcome(self, queue: int, place: PlacedMessage, reason: MessageClass, *, fine: bool) -> bool:
        """Return whether a message may leave if others of its transaction failed."""
        sending = self._witness.register.sendings.get(place.body)
        if sending is None or sending.transaction is None or not reason.is_failure:
            return fine
        key = queue, sending.transaction, reason
        if fine:
            self._broken.add(key)
        return key in self._broken

    def _may_go(
        self,
        monitor: Monitor,
        ledger: Ledger,
        queue: int,
        place: PlacedMessage,
        reason: MessageClass,
        turned: Turned,
    ) -> bool:
        match reason:
            case MessageClass.ACK_REACH_QUEUE:
                return monitor.has_arrived(place)
            case MessageClass.NACK_REACH_QUEUE_TIMEOUT | MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER:
                expired = 0 < place.position.expires <= turned.now + SECOND
                return expired or monitor.was_refused(place, reason)
            case MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED:
                return monitor.may_be_unknown(place) or place.body in self._witness.register.put_aside
            case MessageClass.NACK_PURGED if self._last_purge(ledger, queue) > place.since:
                return True
            case _:
                return monitor.was_refused(place, reason)
