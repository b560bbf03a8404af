"""A response while it comes: read as it arrives, its large bodies on their way to disk.

begun --> taken --> taken --> ended --> whole, when the last piece is stored
    '---------'---------'--------'----> failed: what was stored of it is dropped
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.net.http import BadResponse, RequestFailed
from reliquary.net.httpr.bodies import Bodies
from reliquary.net.httpr.intake import Intake
from reliquary.protocols.httpr.codec.faults import OK, HttprFault
from reliquary.protocols.httpr.codec.reader import Cut, ResponseReader
from reliquary.protocols.httpr.codec.values import BatchLimits
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import Failure, ResponseArrived

NO_BATCH: Final = BatchLimits(0, 0)
"""Of a response to a request that fetches nothing."""


class Incoming:
    """The response to one request."""

    __slots__ = (
        "_changed",
        "_ended",
        "_given_up",
        "_intake",
        "_reader",
        "bytes",
        "failure",
        "request",
        "why",
    )

    def __init__(self, request: SendRequest, bodies: Bodies, changed: Callable[[], None]) -> None:
        """`changed` is called whenever more, or less, is possible with it than before."""
        self.request = request
        self.bytes = 0
        self.failure: Failure | None = None
        self.why = ""
        self._changed = changed
        self._reader = ResponseReader(request.limits or NO_BATCH)
        self._intake = Intake(bodies, self._stored)
        self._ended = False
        self._given_up = False

    @property
    def is_storing(self) -> bool:
        """Whether a piece is on its way to disk: nothing more is to be read meanwhile."""
        return self._intake.is_storing

    @property
    def is_whole(self) -> bool:
        """Whether it can be told."""
        return self._ended and not self.is_storing and self.failure is None

    def arrived(self) -> ResponseArrived:
        """What is told of it; its large bodies are the machine's from now on."""
        request, header, intake = self.request, self._reader.header, self._intake
        assert header is not None, "a whole response has a header"
        return ResponseArrived(
            request.channel, request.epoch, request.number, header, tuple(intake.batch), intake.disposition
        )

    def give_up(self) -> None:
        """Nobody will be told: let go of what was stored."""
        self._given_up = True
        self._intake.give_up()

    # -- what the connection tells

    def begun(self, status: int) -> None:
        """Only 200 carries HTTPR (F-11)."""
        if status != OK:
            self._fail(Failure.NOT_HTTPR, f"the status is {status}, not {OK}")

    def taken(self, data: bytes) -> None:
        """A part of the body."""
        self.bytes += len(data)
        if self.failure is not None:
            return
        try:
            self._intake.take(self._reader.feed(data))
        except HttprFault as fault:
            self._fail(Failure.NOT_HTTPR, str(fault))
        else:
            self._changed()

    def ended(self) -> None:
        """All of it has come."""
        if self.failure is not None:
            return
        try:
            self._reader.end()
        except Cut as cut:
            self._fail(Failure.LOST, str(cut))
        else:
            self._ended = True
            self._changed()

    def failed(self, why: RequestFailed) -> None:
        """Not all of it will come."""
        self._fail(Failure.NOT_HTTPR if isinstance(why, BadResponse) else Failure.LOST, str(why))

    # -- what it makes of it

    def _stored(self) -> None:
        if self._intake.refusal:
            self._fail(Failure.LOST, f"a large body could not be stored: {self._intake.refusal}")
        else:
            self._changed()

    def _fail(self, failure: Failure, why: str) -> None:
        if self.failure is None and not self._given_up:
            self.failure, self.why = failure, why
            self._intake.give_up()
            self._changed()
