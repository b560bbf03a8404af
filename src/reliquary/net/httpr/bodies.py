"""Large bodies on their way between the network and the disk, a piece at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from reliquary.engine.loop import Engine, EngineStopped
from reliquary.queueing.model.events import Answer, DropSpool, StorePiece
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.spool import read_piece

Stored = Callable[[Answer], None]
"""Takes a `PieceStored`, or why there is none."""


class Bodies(Protocol):
    """What the network needs of them."""

    def read(self, spool: int, index: int) -> bytes:
        """One piece; UsageError when it is gone."""

    def store(self, spool: int, data: bytes, stored: Stored) -> None:
        """Keep one more piece; 0 begins a new body."""

    def drop(self, spool: int) -> None:
        """It will belong to no message."""


class EngineBodies:
    """The bodies of an engine's queue manager."""

    def __init__(self, engine: Engine, state: State) -> None:
        self._engine = engine
        self._state = state

    def read(self, spool: int, index: int) -> bytes:
        """One piece; UsageError when it is gone."""
        return read_piece(self._state, spool, index)

    def store(self, spool: int, data: bytes, stored: Stored) -> None:
        """Keep one more piece; nobody is told once the engine has stopped."""

        def answered(answer: object) -> None:
            assert isinstance(answer, Answer), f"no answer to a piece: {answer!r}"
            stored(answer)

        caller = self._engine.caller(answered)
        try:
            self._engine.submit(StorePiece(caller, spool, data))
        except EngineStopped:
            self._engine.forget(caller)

    def drop(self, spool: int) -> None:
        """It will belong to no message; what is left at a stop is thrown away at the next start."""
        with suppress(EngineStopped):
            self._engine.submit(DropSpool(spool))
