"""Why a message left a queue that HTTPR takes from, and that it never comes twice to a site."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.message import MessageClass
from reliquary.sim.between.correspondents import NOWHERE
from reliquary.sim.between.travel import TravelReasons
from reliquary.sim.history import Turned, Violation, shown
from reliquary.sim.httpr.register import Channels
from reliquary.sim.ledger import Ledger, Place

OUTBOX: Final = "outbox"
"""A queue from which another site fetches into a queue of its own."""
TRANSIT: Final = "transit"
"""One whose messages are for a third site, and say so."""
PASSING: Final = frozenset({OUTBOX, TRANSIT})


class HttprLedger(Ledger):
    """The ledger of a site to which each message comes once."""

    def enter_again(self, body: bytes, turned: Turned) -> None:
        """HTTPR delivers exactly once."""
        raise Violation(
            f"duplication: {shown(body)} is stored in turn {turned.number}, and was in {self.stored[body]}"
        )


class HttprReasons(TravelReasons[Channels]):
    """Judges what leaves: outgoing queues, and those from which others fetch."""

    def judge(self, ledger: Ledger, queue: int, place: Place, reason: MessageClass, turned: Turned) -> None:
        """Whether a message may leave its queue for this reason now."""
        fetched = ledger.queues[queue].pathname.rpartition("\\")[2].casefold() in PASSING
        if not fetched or reason is not MessageClass.ACK_RECEIVE:
            super().judge(ledger, queue, place, reason, turned)
        elif not self._has_arrived(place):
            raise Violation(
                f"loss: {shown(place.body)} left {ledger.queues[queue].pathname} of {self._site} in turn"
                f" {turned.number} ({type(turned.event).__name__}), and nobody has it"
            )

    def _was_refused(self, place: Place, reason: MessageClass) -> bool:
        sending = self._register.sendings.get(place.body)
        nowhere = sending is not None and sending.queue.endswith(f"#{NOWHERE}")
        return nowhere and reason is MessageClass.NACK_BAD_DEST_QUEUE
