"""Simulates the machine on which the server is started again and again, on its disk or on a backup of it."""

from __future__ import annotations

from collections.abc import Callable

from reliquary.base.chance import new_guid
from reliquary.base.restoration import Restoration
from reliquary.base.time import MILLISECOND, SECOND
from reliquary.sim.clock import Calendar, ProcessClock
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.process import Process, Surroundings
from reliquary.sim.restores import Backup
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
        """Functions that are called when a process has ended, before the next one starts."""
        self._due: tuple[Backup, bool] | None = None
        """The backup that is restored when the process has ended."""
        self._every(around.faults.power_every, "power_every", self._cut_power)
        self._every(around.faults.jump_every, "jump_every", self._jump)
        self._every(around.faults.stop_every, "stop_every", self._stop)

    @property
    def ready(self) -> bool:
        """Return whether a process accepts requests."""
        return self.process is not None and self.process.accepting

    def boot(self) -> None:
        """Start a process on the rows of the disk."""
        self._history.processes += 1
        self.process = self._make(
            self._history.processes,
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
        pause = self._chance.between(1, 100 * MILLISECOND)
        if self._due is not None:
            self._put_back()
            pause = self._chance.pick((pause, 2 * SECOND))
        for tell in self.on_end:
            tell(process)
        self._scheduler.after(pause, self.boot)

    # -- backups

    def back_up(self) -> Backup:
        """Back up the rows that are durable now."""
        return Backup(self.disk.backed_up(), self._around.witness.turns_on(self.disk))

    def restore(self, backup: Backup, *, known: bool) -> None:
        """End the process, and start the next one on a backup.

        `known`: the backup has the moment until which the old store was used.
        """
        self._due = backup, known
        if self.process is None:
            self._put_back()
        elif self._chance.happens(0.3) and self.process.accepting:
            self.process.stop()
        else:
            self.process.cut_power()
        if self._chance.happens(0.4):  # the first turns of the new era may not be completed
            self._scheduler.after(self._chance.between(1, 300 * MILLISECOND), self._cut_power)

    def _put_back(self) -> None:
        """Replace the disk by the backup that is due."""
        assert self._due is not None, "no backup is to be restored"
        backup, known = self._due
        self._due = None
        alive_until = self.calendar.read() if known else 0
        self.disk = backup.disk.restored(Restoration(new_guid(self._chance), alive_until))
        self._history.note(self._scheduler.now, f"a backup is restored, known until {alive_until}")
        self._around.witness.restored(self.disk, backup.turns)

    # -- what happens to a machine

    def _every(self, span: int, name: str, action: Callable[[], None]) -> None:
        """Perform an action again and again, until the faults end."""
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
