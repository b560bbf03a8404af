"""One life of a server that speaks SRMP: a queue manager and SRMP beside it, in the same turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reliquary.base.turn import Effect, Event
from reliquary.protocols.srmp import tables
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post
from reliquary.protocols.srmp.events import Addressed
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing import tables as manager_tables
from reliquary.queueing.protocol import Protocol
from reliquary.sim.exchange.observer import Observer
from reliquary.sim.exchange.web import Web
from reliquary.sim.process import Process, Surroundings
from reliquary.store.staging import StagedRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood(Surroundings):
    """What a server lives in that others write to."""

    observer: Observer
    """The witness, by its own name."""
    web: Web
    authority: str
    """The host name under which others reach it."""
    settings: SrmpSettings


class Node(Process):
    """A server that speaks SRMP, until it stops or dies."""

    TABLES: ClassVar[tuple[str, ...]] = manager_tables.TABLES + tables.TABLES
    _around: Neighbourhood

    def _protocols(self) -> tuple[Protocol, ...]:
        return (srmp(self._around.settings),)

    @property
    def srmp(self) -> Srmp:
        """The machine of SRMP."""
        machine = self.machines["srmp"]
        assert isinstance(machine, Srmp)
        return machine

    def _first_events(self) -> tuple[Event, ...]:
        authority = self._around.authority
        return *super()._first_events(), Addressed(authority, frozenset({authority}))

    def _go_out(self, effect: Effect) -> None:
        around = self._around
        if isinstance(effect, Post):
            around.observer.posted(effect, self.disk)
            around.web.post(self, around.authority, effect)
            self._point("between posts")
        elif isinstance(effect, EndSession):
            around.web.end_session(self, effect)
        elif not isinstance(effect, ListenTo):
            super()._go_out(effect)

    def checkpoint(self) -> None:
        """As for every process, and SRMP too."""
        super().checkpoint()
        rebuilt = Srmp(StagedRows(self.disk.copied()), self._around.settings)
        self._around.observer.compare(self.srmp.state, rebuilt.state)
