"""Collects the batch of a request or a response while it arrives, and stores large bodies in pieces.

    parts as they were read --> messages in memory --> batch
                           '--> pieces --> stored, one after the other --'

Parts behind a piece wait until that piece is stored, so memory holds at most one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from reliquary.base.hresult import HResult
from reliquary.net.httpr.bodies import Bodies
from reliquary.protocols.httpr.codec.reader import (
    BatchEnded,
    BodyPart,
    LargeBegun,
    LargeEnded,
    LargePiece,
)
from reliquary.protocols.httpr.codec.values import Carried, Disposition
from reliquary.queueing.model.events import Answer, PieceStored
from reliquary.queueing.model.message import StoredBody


class Intake:
    """The received parts of one batch."""

    __slots__ = (
        "_bodies",
        "_body",
        "_given_up",
        "_large",
        "_parts",
        "_stored",
        "batch",
        "disposition",
        "is_storing",
        "refusal",
    )

    def __init__(self, bodies: Bodies, stored: Callable[[], None]) -> None:
        """`stored` is called when a piece was stored or refused, and the parts behind it were processed."""
        self._bodies = bodies
        self._stored = stored
        self._parts: Iterator[BodyPart] = iter(())
        self._large = ""  # the header of the large message that arrives
        self._body: StoredBody | None = None  # the part of it that is stored
        self._given_up = False
        self.batch: list[Carried] = []
        self.disposition: Disposition | None = None
        self.is_storing = False
        """Whether a piece is being stored, so that the rest waits for it."""
        self.refusal = ""
        """The reason why a piece could not be stored."""

    def take(self, parts: list[BodyPart]) -> None:
        """Process the parts that were read, up to a piece that must be stored first."""
        self._parts = chain(self._parts, parts) if self.is_storing else iter(parts)
        if not self.is_storing:
            self._go_on()

    def give_up(self) -> None:
        """Drop the batch: stored pieces now, and a piece that is being stored as soon as that has ended."""
        self._given_up = True
        self._parts = iter(())
        if not self.is_storing:
            self._drop()

    def _go_on(self) -> None:
        batch = self.batch
        for part in self._parts:
            kind = type(part)
            if kind is Carried:
                batch.append(part)  # type: ignore[arg-type]
            elif isinstance(part, LargePiece):
                self.is_storing = True
                self._bodies.store(self._body.spool if self._body else 0, part.data, self._answered)
                return
            elif isinstance(part, LargeBegun):
                self._large = part.header
            elif isinstance(part, LargeEnded):
                batch.append(Carried(self._large, b"", self._body))
                self._body = None
            elif isinstance(part, BatchEnded):
                self.disposition = part.disposition

    def _answered(self, answer: Answer) -> None:
        self.is_storing = False
        if answer.status is HResult.OK:
            assert isinstance(answer, PieceStored), f"no answer to a piece: {answer!r}"
            self._body = StoredBody(answer.spool, answer.size, answer.pieces)
        else:
            self.refusal = answer.why or answer.status.name
        if self._given_up:
            self._drop()
            return
        if not self.refusal:
            self._go_on()
        self._stored()

    def _drop(self) -> None:
        bodies = [carried.stored for carried in self.batch] + [self._body]
        self.batch, self._body = [], None
        for body in bodies:
            if body is not None:
                self._bodies.drop(body.spool)
