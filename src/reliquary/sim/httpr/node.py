"""One life of a server that speaks HTTPR: a queue manager and both agents beside it, in the same turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reliquary.base.turn import Effect, Event
from reliquary.protocols.httpr import tables
from reliquary.protocols.httpr.effects import CutConnection, HangUp, SendRequest
from reliquary.protocols.httpr.events import Addressed
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.queueing import tables as manager_tables
from reliquary.queueing.protocol import Protocol
from reliquary.sim.httpr.observer import Observer
from reliquary.sim.httpr.web import Web
from reliquary.sim.process import Process, Surroundings
from reliquary.store.staging import StagedRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood(Surroundings):
    """What a server lives in that others move batches to."""

    observer: Observer
    """The witness, by its own name."""
    web: Web
    authority: str
    """The host name under which others reach it."""
    settings: HttprSettings


class Node(Process):
    """A server that speaks HTTPR, until it stops or dies."""

    TABLES: ClassVar[tuple[str, ...]] = manager_tables.TABLES + tables.TABLES
    _around: Neighbourhood

    def _protocols(self) -> tuple[Protocol, ...]:
        return (httpr(self._around.settings),)

    @property
    def httpr(self) -> Httpr:
        """The machine of both agents."""
        machine = self.machines["httpr"]
        assert isinstance(machine, Httpr)
        return machine

    def _first_events(self) -> tuple[Event, ...]:
        authority = self._around.authority
        return *super()._first_events(), Addressed(f"httpr://{authority}", frozenset({authority}))

    def _go_out(self, effect: Effect) -> None:
        around = self._around
        if isinstance(effect, SendRequest):
            around.observer.sent(effect, self.disk)
            around.web.send(self, around.authority, effect)
            self._point("between requests")
        elif isinstance(effect, HangUp):
            around.web.hang_up(self, effect)
        elif isinstance(effect, CutConnection):
            around.web.cut(self, effect.connection)
        else:
            super()._go_out(effect)

    def checkpoint(self) -> None:
        """As for every process, and HTTPR too."""
        super().checkpoint()
        rebuilt = Httpr(StagedRows(self.disk.copied()), self._around.settings)
        for name in ("channels", "numbers", "fetchers"):
            live, again = getattr(self.httpr.state, name), getattr(rebuilt.state, name)
            self._around.observer.same(f"{name} of HTTPR", live, again)
