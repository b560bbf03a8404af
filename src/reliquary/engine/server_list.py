"""Updates the Directory Server List (DM-087): a thread resolves the names when the manager needs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal, Turn
from reliquary.engine.loop import EngineStopped
from reliquary.queueing.directory.events import DirectoryServersFound
from reliquary.queueing.model.facts import DirectoryServersWanted

FindServers = Callable[[], tuple[str, ...]]


class ServerList:
    """Resolves the list when the manager signals that it needs it; the result becomes an event of a later
    turn."""

    SIGNALS: Final[tuple[type[Signal], ...]] = (DirectoryServersWanted,)

    def __init__(self, find: FindServers) -> None:
        self._find = find
        self._looking: asyncio.Future[tuple[str, ...]] | None = None
        self.submit: Callable[[Event], None] = lambda _: None

    def handle(self, event: Event, now: Instant) -> Turn:
        """Raise AssertionError, because no event is routed to this machine."""
        raise AssertionError(f"the server list takes no events, and got {event} at {now}")

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        """Start to resolve the names in a thread, unless a thread does it already."""
        del signal, now
        if self._looking is None:
            self._looking = asyncio.get_running_loop().run_in_executor(None, self._find)
            self._looking.add_done_callback(self._found)
        return Turn()

    def settle(self) -> None:
        """Do nothing, because this machine has no rows to stage."""

    def _found(self, looked: asyncio.Future[tuple[str, ...]]) -> None:
        self._looking = None
        if not looked.cancelled() and looked.exception() is None and looked.result():
            with suppress(EngineStopped):
                self.submit(DirectoryServersFound(looked.result()))
