"""Reads a response while it arrives, and stores its large bodies on disk.

begun --> taken --> taken --> ended --> whole, when the last piece is stored
    '---------'---------'--------'----> failed: its stored parts are dropped
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.net.http.failures import Failure
from reliquary.net.http.headers import Headers
from reliquary.net.http.pending_response import PendingResponse
from reliquary.net.httpr.bodies import Bodies
from reliquary.net.httpr.intake import Intake
from reliquary.protocols.httpr.codec.faults import OK, HttprFault
from reliquary.protocols.httpr.codec.reader import BodyIncomplete, ResponseReader
from reliquary.protocols.httpr.codec.values import BatchLimits
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import ResponseArrived

NO_BATCH: Final = BatchLimits(0, 0)
"""The limits of a response to a request that fetches nothing."""


class Incoming(PendingResponse[SendRequest]):
    """The response to one request of HTTPR; every part of it that comes or is stored is progress."""

    __slots__ = ("_ended", "_intake", "_reader")

    def __init__(self, request: SendRequest, bodies: Bodies, changed: Callable[[], None]) -> None:
        super().__init__(request, changed)
        self.wait = request.wait
        self._reader = ResponseReader(request.limits or NO_BATCH)
        self._intake = Intake(bodies, self._stored)
        self._ended = False

    def arrived(self) -> ResponseArrived:
        """Return the event that reports the response; the machine owns its large bodies from now on."""
        request, header, intake = self.request, self._reader.header, self._intake
        assert header is not None, "a whole response has a header"
        return ResponseArrived(
            request.channel, request.epoch, request.number, header, tuple(intake.batch), intake.disposition
        )

    def give_up(self) -> None:
        """Stop the response: nothing of it is reported any more, and its stored parts are dropped."""
        super().give_up()
        self._intake.give_up()

    # -- called by the connection

    def begun(self, status: int, headers: Headers) -> None:
        """Take the status of the response: only 200 carries HTTPR (F-11)."""
        del headers
        if status != OK:
            self.fail(Failure.BAD_RESPONSE, f"the status is {status}, not {OK}")

    def taken(self, data: bytes) -> None:
        """Read a part of the body."""
        self.body_bytes += len(data)
        if self.failure is not None:
            return
        intake = self._intake
        try:
            intake.take(self._reader.feed(data))
        except HttprFault as fault:
            self.fail(Failure.BAD_RESPONSE, str(fault))
        else:
            self.is_storing = intake.is_storing
            self.changed()

    def ended(self) -> None:
        """Record that the whole body has come."""
        if self.failure is not None:
            return
        try:
            self._reader.end()
        except BodyIncomplete as wrong:
            self.fail(Failure.LOST, str(wrong))
        else:
            self._ended = True
            self.is_whole = not self.is_storing
            self.changed()

    # -- the outcome

    def fail(self, failure: Failure, why: str) -> None:
        """Keep the reason why there is no usable response, and drop the stored parts."""
        if self.failure is None and not self.is_given_up:
            self._intake.give_up()
            super().fail(failure, why)

    def _stored(self) -> None:
        intake = self._intake
        self.is_storing = intake.is_storing
        if intake.refusal:
            self.fail(Failure.LOST, f"a large body could not be stored: {intake.refusal}")
        else:
            self.is_whole = self._ended and not self.is_storing
            self.changed()
