"""The machine on which the server runs, ends and is started again, always on the same disk."""

from __future__ import annotations

from collections.abc import Callable

from reliquary.base.time import MILLISECOND
from reliquary.sim.clock import Calendar, ProcessClock
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.process import Process, Surroundings
from reliquary.sim.site_faults import jump


class Host:
    """Starts processes, one after the other."""

    def __init__(
        self,
        around: Surroundings,
        *,
        process: type[Process] = Process,
        disk: type[SimulatedDisk] = SimulatedDisk,
    ) -> None:
        self._around = around
        self._scheduler = around.scheduler
        self._chance = around.chance
        self._faults = around.faults
        self._history = around.history
        self._make = process
        self.disk = disk(around.tables)
        self.calendar = Calendar(around.scheduler)
        self.process: Process | None = None
        self.on_end: list[Callable[[Process], None]] = []
        """Called when a process has ended, before the next one starts."""
        self._every(around.faults.power_every, "power_every", self._cut_power)
        self._every(around.faults.jump_every, "jump_every", self._jump)
        self._every(around.faults.stop_every, "stop_every", self._stop)

    @property
    def ready(self) -> bool:
        """Whether a process takes requests."""
        return self.process is not None and self.process.accepting

    def boot(self) -> None:
        """Start a process on what the disk holds."""
        self._history.lives += 1
        self.process = self._make(
            self._history.lives,
            self.disk,
            ProcessClock(self.calendar),
            self._around,
            self._ended,
        )
        self.process.start()

    def _ended(self, process: Process) -> None:
        self.process = None
        self._history.crashes += 1
        self.disk = process.disk.crash(self._chance)
        self._around.witness.crashed(self.disk)
        for tell in self.on_end:
            tell(process)
        self._scheduler.after(self._chance.between(1, 100 * MILLISECOND), self.boot)

    # -- what happens to a machine

    def _every(self, span: int, name: str, action: Callable[[], None]) -> None:
        """Let something happen again and again, until the faults end."""
        if not span:
            return

        def happen() -> None:
            if getattr(self._faults, name):
                action()
                self._every(span, name, action)

        self._scheduler.after(self._chance.between(1, 2 * span), happen)

    def _cut_power(self) -> None:
        if self.process is not None:
            self.process.cut_power()

    def _stop(self) -> None:
        if self.process is not None:
            self.process.stop()

    def _jump(self) -> None:
        self.calendar.jump(jump(self._chance))
