"""Transfers large bodies between the network and the disk, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from reliquary.engine.loop import Engine, EngineStopped
from reliquary.queueing.model.events import Answer, DropSpool, StorePiece
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.spool import read_piece

Stored = Callable[[Answer], None]
"""The type of a callback that takes a `PieceStored`, or the reason why there is none."""


class Bodies(Protocol):
    """The operations of the network on stored bodies."""

    def read(self, spool: int, index: int) -> bytes:
        """Return one piece; UsageError if it was removed."""

    def store(self, spool: int, data: bytes, stored: Stored) -> None:
        """Store one more piece; a spool of 0 begins a new body."""

    def drop(self, spool: int) -> None:
        """Drop a body that will belong to no message."""


class EngineBodies:
    """The bodies of an engine's queue manager."""

    def __init__(self, engine: Engine, state: State) -> None:
        self._engine = engine
        self._state = state

    def read(self, spool: int, index: int) -> bytes:
        """Return one piece; UsageError if it was removed."""
        return read_piece(self._state, spool, index)

    def store(self, spool: int, data: bytes, stored: Stored) -> None:
        """Store one more piece; once the engine has stopped, `stored` is not called."""

        def answered(answer: object) -> None:
            assert isinstance(answer, Answer), f"no answer to a piece: {answer!r}"
            stored(answer)

        caller = self._engine.caller(answered)
        try:
            self._engine.submit(StorePiece(caller, spool, data))
        except EngineStopped:
            self._engine.forget(caller)

    def drop(self, spool: int) -> None:
        """Drop a body that will belong to no message; bodies that are left at a stop are removed at
        the next start.
        """
        with suppress(EngineStopped):
            self._engine.submit(DropSpool(spool))
