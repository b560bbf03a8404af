"""Processes one request to the server agent, from its first byte to its answer.

                                     the header is here, the batch is not: RequestBegun
                                       |
    begin --> feed --> feed --> ... --> end --> RequestArrived --> Answer --> the response
                 |                       |
                 '-----------------------'--> a fault: RequestArrived without a batch; nothing more is
                 |                            read, and the connection closes after the answer
                 '--> lost: the stored parts are dropped, and no event is submitted (HR-117)

While a piece of a large body is stored, nothing more is read from the connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from reliquary.base.faults import UsageError
from reliquary.net.http import Request, Responder
from reliquary.net.httpr.intake import Intake
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.reader import BodyIncomplete, RequestReader
from reliquary.protocols.httpr.codec.values import ErrorNumber, RequestHeader
from reliquary.queueing.model.security.principals import Principal

if TYPE_CHECKING:
    from reliquary.net.httpr.receiving import Receiving

ALLOW: Final = ((b"allow", b"POST"),)
NO_TYPE: Final = b""


class Arrival:
    """The request, and how it is answered."""

    __slots__ = (
        "_begun",
        "_ended",
        "_intake",
        "_over",
        "_paused",
        "_reader",
        "_receiving",
        "by",
        "caller",
        "connection",
        "count",
        "denied",
        "responder",
        "service",
    )

    def __init__(
        self, receiving: Receiving, request: Request, responder: Responder, by: Principal, denied: str
    ) -> None:
        self._receiving = receiving
        self.service = request.path[receiving.service_at :]
        self.connection = request.connection
        self.responder = responder
        self.by = by
        self.caller = 0
        """The number under which the engine answers, once the event was submitted."""
        self.count = 0
        """The number of messages in the batch, once it is complete."""
        self.denied = denied
        """The reason why the client may not send this request; empty if it may."""
        self._reader = RequestReader(receiving.limits_for(self.service))
        self._intake = Intake(receiving.bodies, self._stored)
        self._begun = False  # the header was reported
        self._ended = False  # the whole request has come
        self._over = False  # the request was reported, or never will be
        self._paused = False  # nothing is read until a piece is stored

    @property
    def header(self) -> RequestHeader | None:
        """The header of the request; None before it is read, or if it cannot be read."""
        return self._reader.header

    # -- called by the connection

    def feed(self, data: bytes) -> None:
        """Read a part of the request."""
        if self._over:
            return
        try:
            self._intake.take(self._reader.feed(data))
        except HttprFault as fault:
            self._fail(fault.number, fault.why)
        else:
            if self._intake.is_storing or not self._reader.done:  # else `end` follows
                self._go_on()

    def end(self) -> None:
        """Record that the whole request has come; report it, or its fault."""
        if self._over:
            return
        try:
            self._reader.end()
        except BodyIncomplete as wrong:  # the envelope is complete, so no byte was lost
            self._fail(ErrorNumber.HTTP_R_PROTOCOL_ERROR, str(wrong))
        except HttprFault as fault:
            self._fail(fault.number, fault.why)
        else:
            self._ended = True
            self._go_on()

    def lost(self) -> None:
        """Drop the stored parts of the request, because the rest will not come."""
        self._over = True
        self._intake.give_up()

    # -- reports to the server agent

    def _stored(self) -> None:
        if self._over:
            return
        if self.responder.connected:
            self._go_on()
        else:  # the connection ended while the last piece was being stored: no report may follow
            self.lost()

    def _go_on(self) -> None:
        intake, header = self._intake, self._reader.header
        if intake.is_storing:
            if not self._paused:
                self._paused = True
                self.responder.pause_body()
            return
        if intake.refusal:
            self._fail(ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE, intake.refusal)
            return
        if header is not None:
            refusal = self._receiving.refusal(self.denied)
            if refusal is not None:
                self._fail(*refusal)
                return
        if self._ended:
            self._over = True
            self.count = len(intake.batch)
            self._receiving.arrived(self, intake)
        elif header is not None and not self._begun and not self._reader.done:
            self._begun = True
            self._receiving.begun(self, header)
        self._read_on()

    def _fail(self, number: ErrorNumber, why: str) -> None:
        self._over = True
        self._intake.give_up()
        self._receiving.failed(self, number, why)
        self._read_on()

    def _read_on(self) -> None:
        if self._paused:
            self._paused = False
            self.responder.resume_body()


class OtherMethod:
    """A request that is no POST: it is answered with 405, and its body is ignored."""

    def __init__(self, responder: Responder) -> None:
        self._responder = responder
        self._answered = False

    def feed(self, data: bytes) -> None:
        """Ignore the body, and answer at once."""
        del data
        self.end()

    def end(self) -> None:
        """Answer with 405, at the first call only."""
        if not self._answered:
            self._answered = True
            self._responder.respond(405, b"", NO_TYPE, ALLOW)

    def lost(self) -> None:
        """Do nothing, because no part of the request was stored."""


class Departure:
    """A response that is sent piece by piece, as fast as the client takes it."""

    __slots__ = ("_pieces", "_receiving", "_responder")

    def __init__(self, receiving: Receiving, responder: Responder, pieces: Iterator[bytes]) -> None:
        self._receiving = receiving
        self._responder = responder
        self._pieces = pieces

    def go_on(self) -> None:
        """Send the next piece; a client drops a batch whose terminator does not come (HR-117)."""
        if self._receiving.stopped:
            self._receiving.broken(self._responder, "the server has stopped")
            return
        try:
            piece = next(self._pieces, None)
        except (UsageError, UnicodeError) as why:
            self._receiving.broken(self._responder, str(why))
            return
        if piece is None:
            self._responder.end()
        else:
            self._responder.write(piece)
            self._responder.when_taken(self.go_on)
