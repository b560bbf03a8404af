"""Why a message left an outgoing queue of SRMP, beside what holds for every protocol.

received    it asked for dead letters in a stream, so it waits until its reader has it
refused     its destination answered 400
returned    its destination let it go without a reader, and said so
"""

from __future__ import annotations

from reliquary.queueing.message import MessageClass
from reliquary.sim.between.travel import TravelReasons
from reliquary.sim.exchange.register import Letters
from reliquary.sim.history import Turned
from reliquary.sim.ledger import Ledger, Place


class SrmpLedger(Ledger):
    """A ledger of a site to which a message may come again; `promises` judges whether it might."""

    def enter_again(self, body: bytes, turned: Turned) -> None:
        """Nothing is said of it here."""


class SrmpReasons(TravelReasons[Letters]):
    """Judges what leaves by what was posted."""

    def _has_arrived(self, place: Place) -> bool:
        register = self._register
        sending = register.sendings.get(place.body)
        if sending is None:
            return place.body in register.taken  # a receipt: those about streams are stored nowhere
        if not super()._has_arrived(place):
            return False
        waits = sending.transaction is not None and place.position.dead_letter
        if not waits or register.home(sending) != self._site:
            return True
        return register.end_of(place.body) is MessageClass.ACK_RECEIVE

    def _was_refused(self, place: Place, reason: MessageClass) -> bool:
        register = self._register
        if place.body in register.refused:
            return True
        return place.body in register.sendings and register.end_of(place.body) is reason
