"""Why a message left an outgoing queue: somebody else has it, or its time is over, or it was refused.

arrived     another site has it on its disk; one that is express was at least in its memory
received    it asked for dead letters in a stream, so it waits until its reader has it
expired     its time to reach the queue has run out
purged      the outgoing queue was purged
refused     its destination answered 400
returned    its destination let it go without a reader, and said so
"""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.queueing.message import MessageClass
from reliquary.sim.exchange.register import Register
from reliquary.sim.history import History, Turned, Violation, shown
from reliquary.sim.ledger import Ledger, Place
from reliquary.sim.reasons import Reasons


class TravelLedger(Ledger):
    """A ledger of a site to which a message may come again; `promises` judges whether it might."""

    def enter_again(self, body: bytes, turned: Turned) -> None:
        """Nothing is said of it here."""


class TravelReasons(Reasons):
    """Judges what leaves outgoing queues by what other sites know."""

    def __init__(self, history: History, register: Register, site: str) -> None:
        super().__init__(history)
        self._register = register
        self._site = site

    def judge(self, ledger: Ledger, queue: int, place: Place, reason: MessageClass, turned: Turned) -> None:
        """Whether a message may leave its queue for this reason now."""
        if ledger.queues[queue].outgoing is None:
            super().judge(ledger, queue, place, reason, turned)
        elif not self._may_go(ledger, queue, place, reason, turned):
            raise Violation(
                f"loss: {shown(place.body)} left {ledger.queues[queue].pathname} of {self._site}"
                f" as {reason.name} in turn {turned.number} ({type(turned.event).__name__}),"
                f" and that is not so"
            )

    def _may_go(self, ledger: Ledger, queue: int, place: Place, reason: MessageClass, turned: Turned) -> bool:
        match reason:
            case MessageClass.ACK_REACH_QUEUE:
                return self._has_arrived(place)
            case MessageClass.NACK_REACH_QUEUE_TIMEOUT | MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER:
                return 0 < place.position.expires <= turned.now + SECOND
            case MessageClass.NACK_PURGED if self._last_purge(ledger, queue) > place.since:
                return True
            case _:
                return place.body in self._register.refused or self._was_returned(place, reason)

    def _has_arrived(self, place: Place) -> bool:
        register = self._register
        sending = register.sendings.get(place.body)
        if sending is None:
            return place.body in register.taken  # a receipt: those about streams are stored nowhere
        if not register.is_elsewhere(place.body, self._site, express=place.position.express):
            return False
        waits = sending.transaction is not None and place.position.dead_letter
        if not waits or register.home(sending) != self._site:
            return True
        return register.end_of(place.body) is MessageClass.ACK_RECEIVE

    def _was_returned(self, place: Place, reason: MessageClass) -> bool:
        return place.body in self._register.sendings and self._register.end_of(place.body) is reason
