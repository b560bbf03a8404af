"""Why a message left an outgoing queue: somebody else has it, or its time is over, or it was refused.

arrived     another site has it on its disk; one that is express was at least in its memory
expired     its time to reach the queue has run out
purged      the outgoing queue was purged
refused     its destination does not want it, as the protocol says
"""

from __future__ import annotations

from typing import Generic, TypeVar

from reliquary.base.time import SECOND
from reliquary.queueing.message import MessageClass
from reliquary.sim.between.register import Register
from reliquary.sim.history import History, Turned, Violation, shown
from reliquary.sim.ledger import Ledger, Place
from reliquary.sim.reasons import Reasons

Known = TypeVar("Known", bound=Register)


class TravelReasons(Reasons, Generic[Known]):
    """Judges what leaves outgoing queues by what other sites know."""

    def __init__(self, history: History, register: Known, site: str) -> None:
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
                return self._was_refused(place, reason)

    def _has_arrived(self, place: Place) -> bool:
        """Whether it got to another site."""
        return self._register.is_elsewhere(place.body, self._site, express=place.position.express)

    def _was_refused(self, place: Place, reason: MessageClass) -> bool:
        """Whether another site does not want it, for this reason."""
        raise NotImplementedError
