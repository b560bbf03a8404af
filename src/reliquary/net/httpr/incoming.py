"""A response while it comes: read as it arrives, its large bodies on their way to disk.

    begun --> taken --> taken --> ended --> whole, when the last piece is stored
        '---------'---------'--------'----> failed: what was stored of it is dropped

A piece is stored before the next is looked at, and the connection reads no more meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.net.http import BadResponse, RequestFailed
from reliquary.net.httpr.bodies import Bodies
from reliquary.protocols.httpr.codec.faults import OK, HttprFault
from reliquary.protocols.httpr.codec.reader import (
    BatchEnded,
    Cut,
    HeaderRead,
    LargeBegun,
    LargeEnded,
    LargePiece,
    MessageRead,
    Read,
    ResponseReader,
)
from reliquary.protocols.httpr.codec.values import BatchLimits, Carried, Disposition, ResponseHeader
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import Failure, ResponseArrived
from reliquary.queueing.events import Answer, PieceStored
from reliquary.queueing.message import StoredBody

NO_BATCH: Final = BatchLimits(0, 0)
"""Of a response to a request that fetches nothing."""


class Incoming:
    """The response to one request."""

    __slots__ = (
        "_batch",
        "_bodies",
        "_body",
        "_changed",
        "_disposition",
        "_ended",
        "_given_up",
        "_header",
        "_large",
        "_parts",
        "_reader",
        "bytes",
        "failure",
        "is_storing",
        "request",
        "why",
    )

    def __init__(self, request: SendRequest, bodies: Bodies, changed: Callable[[], None]) -> None:
        """`changed` is called whenever more, or less, is possible with it than before."""
        self.request = request
        self.bytes = 0
        self.failure: Failure | None = None
        self.why = ""
        self.is_storing = False
        """A piece is on its way to disk."""
        self._bodies = bodies
        self._changed = changed
        self._reader = ResponseReader(request.limits or NO_BATCH)
        self._parts: deque[Read] = deque()
        """Read, and not yet looked at: before them a piece is being stored."""
        self._header: ResponseHeader | None = None
        self._batch: list[Carried] = []
        self._disposition: Disposition | None = None
        self._large = ""
        """The header of the large message that is being stored."""
        self._body: StoredBody | None = None
        """What is stored of it."""
        self._ended = False
        self._given_up = False

    @property
    def is_whole(self) -> bool:
        """Whether it can be told."""
        return self._ended and not self.is_storing and self.failure is None

    def arrived(self) -> ResponseArrived:
        """What is told of it; its large bodies are the machine's from now on."""
        request, header = self.request, self._header
        assert header is not None, "a whole response has a header"
        return ResponseArrived(
            request.channel, request.epoch, request.number, header, tuple(self._batch), self._disposition
        )

    def give_up(self) -> None:
        """Nobody will be told: let go of what was stored; a piece that is on its way goes later."""
        self._given_up = True
        self._parts.clear()
        if not self.is_storing:
            self._drop()

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
            self._parts += self._reader.feed(data)
        except HttprFault as fault:
            self._fail(Failure.NOT_HTTPR, str(fault))
        else:
            self._go_on()

    def ended(self) -> None:
        """All of it has come."""
        if self.failure is not None:
            return
        try:
            self._reader.end()
        except Cut as cut:
            self._fail(Failure.LOST, str(cut))
        except HttprFault as fault:
            self._fail(Failure.NOT_HTTPR, str(fault))
        else:
            self._ended = True
            self._changed()

    def failed(self, why: RequestFailed) -> None:
        """Not all of it will come."""
        self._fail(Failure.NOT_HTTPR if isinstance(why, BadResponse) else Failure.LOST, str(why))

    # -- what it makes of it

    def _fail(self, failure: Failure, why: str) -> None:
        if self.failure is None and not self._given_up:
            self.failure, self.why = failure, why
            self._parts.clear()
            self._changed()

    def _go_on(self) -> None:
        while self._parts and not self.is_storing:
            part = self._parts.popleft()
            if isinstance(part, MessageRead):
                self._batch.append(part.carried)
            elif isinstance(part, LargePiece):
                self.is_storing = True
                self._bodies.store(self._body.spool if self._body else 0, part.data, self._stored)
            elif isinstance(part, LargeBegun):
                self._large = part.header
            elif isinstance(part, LargeEnded):
                self._batch.append(Carried(self._large, b"", self._body))
                self._body = None
            elif isinstance(part, BatchEnded):
                self._disposition = part.disposition
            elif isinstance(part, HeaderRead):
                assert isinstance(part.header, ResponseHeader), "a response has the header of one"
                self._header = part.header
        self._changed()

    def _stored(self, answer: Answer) -> None:
        self.is_storing = False
        if answer.status is HResult.OK:
            assert isinstance(answer, PieceStored), f"no answer to a piece: {answer!r}"
            self._body = StoredBody(answer.spool, answer.size, answer.pieces)
        if self._given_up:
            self._drop()
        elif answer.status is HResult.OK:
            self._go_on()
        else:
            self._fail(Failure.LOST, f"a large body could not be stored: {answer.why or answer.status.name}")

    def _drop(self) -> None:
        bodies = [carried.stored for carried in self._batch] + [self._body]
        self._batch, self._body = [], None
        for body in bodies:
            if body is not None:
                self._bodies.drop(body.spool)
