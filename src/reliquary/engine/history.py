"""Exports the history: a task beside the engine writes its events to files, and then deletes its rows.

    every few seconds, or when many events wait:
        events --AwaitDisk--> rows --a thread--> files --ForgetHistory--> rows are deleted
                                                   '--> the oldest files are deleted, if there are too many

Only events on disk are exported, so no file has an event that a crash could undo.  An error (no folder, no
room, no right to write) becomes a warning, is shown in the status, and the export is tried again; the queues
are not affected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import StoreDamage, StoreFailure, UsageError
from reliquary.base.turn import Warn
from reliquary.engine.clock import Clock
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.queueing.history.events import ForgetHistory
from reliquary.queueing.model.events import AwaitDisk
from reliquary.queueing.model.history.history import History
from reliquary.queueing.model.state import State
from reliquary.store.disk import Disk
from reliquary.store.files import make_folder
from reliquary.store.history.folder import HistoryFile, Kept, clear_unfinished, copy_missing, files_in, sweep

LOOK_SECONDS: Final = 1.0
"""The time between two checks whether many events wait."""
MUCH: Final = 500_000
"""The number of waiting events that starts an export before its time.  A file has a cost of its own: with
500,000 events each costs a sixth less than with 100,000."""
SWEEP_EVERY: Final = timedelta(minutes=10)
ABOUT: Final = "history"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TROUBLES: Final = (OSError, UsageError, StoreDamage, StoreFailure, ValueError)
"""The errors that files and rows can cause; the errors of Arrow are subclasses of these."""


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """The settings of the history that an administrator can choose."""

    folder: Path
    every: float = 10
    """The number of seconds between two exports."""
    kept: Kept = Kept(days=30, bytes=10 * 1024**3)  # noqa: RUF009 - it is a tuple


class NotExported(Exception):
    """The history cannot be exported to files now; the sentence says why."""


class HistoryStatus(msgspec.Struct, frozen=True):
    """The state of the history and of its export."""

    folder: str
    last: int
    """The number of the last event."""
    exported: int
    pending: int
    pending_bytes: int
    files: int
    bytes: int
    oldest: datetime | None
    """The beginning of the first hour that the files contain."""
    newest: datetime | None
    """The beginning of the last hour that the files contain."""
    stopped: bool
    """The history has stopped for lack of room: events are only counted."""
    missing: int
    """The number of events that were only counted since it stopped."""
    error: str
    """The reason why the last export failed; empty if it succeeded."""


@dataclass(slots=True)
class _ExportedFiles:
    """The totals of the files, kept in memory so that the folder need not be read again."""

    files: int = 0
    bytes: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None

    def add(self, file: HistoryFile) -> None:
        self.files += 1
        self.bytes += file.size
        self.oldest = file.hour if self.oldest is None else min(self.oldest, file.hour)
        self.newest = file.hour if self.newest is None else max(self.newest, file.hour)


class Exporter:
    """Exports the history of one engine; it is created before the engine starts."""

    def __init__(
        self, engine: Engine, state: State, disk: Disk, clock: Clock, options: HistoryOptions
    ) -> None:
        assert state.history is not None, "there is a history to export"
        self._engine = engine
        self._state = state
        self._history: History = state.history
        self._disk = disk
        self._clock = clock
        self.options = options
        self._busy = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._in_files: int | None = None
        """The last event that is in a file; None until the folder has been read."""
        self._exported = _ExportedFiles()
        self._swept: datetime | None = None
        self._stopped = asyncio.Event()
        self.error = ""

    # -- what the other rooms call

    def first_look(self, manager: UUID | None) -> int:
        """Return the number of the last event in the files; 0 if the folder cannot be read.  It blocks."""
        try:
            return self._look(manager)
        except _TROUBLES as why:
            self.error = str(why)
            return 0

    def start(self) -> None:
        """Start the task that exports the history."""
        self._task = asyncio.ensure_future(self._export_forever())

    async def stop(self) -> None:
        """Export the waiting events and end the task; after a failure, the next start exports them."""
        self._stopped.set()
        if self._task is not None:
            await self._task
        async with self._busy:  # the export of another caller ends first: its thread reads the disk
            if self._history.pending:
                await self._export()

    async def export_now(self, to: Path | None = None) -> list[HistoryFile]:
        """Export all events until now to files, and return the files that were written.

        With `to`, copy all files that this folder lacks into it, and return those.  NotExported says why an
        export or a copy failed.
        """
        async with self._busy:
            files = await self._export()
            if self.error:
                raise NotExported(self.error)
            if to is not None:
                try:
                    files = await asyncio.to_thread(copy_missing, self.options.folder, to)
                except OSError as why:
                    raise NotExported(f"nothing can be copied to {to}: {why}") from why
        await self._engine.ask(AwaitDisk)
        return files

    def status(self) -> HistoryStatus:
        """Return the state of the history and of its export."""
        history, exported = self._history, self._exported
        return HistoryStatus(
            str(self.options.folder),
            history.last,
            history.exported,
            history.pending,
            history.pending_bytes,
            exported.files,
            exported.bytes,
            exported.oldest,
            exported.newest,
            history.gap,
            history.missing,
            self.error,
        )

    # -- the task

    async def _export_forever(self) -> None:
        step, waited = min(LOOK_SECONDS, self.options.every), 0.0
        while not await self._is_stopped_after(step):
            waited += step
            if waited >= self.options.every or self._history.pending >= MUCH:
                waited = 0.0
                async with self._busy:
                    await self._export()

    async def _is_stopped_after(self, span: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), span)
        return self._stopped.is_set()

    async def _export(self) -> list[HistoryFile]:
        """Export all events that are on disk now, and return the files that were written."""
        if self._history.gap:
            missing, folder = self._history.missing, self.options.folder
            why = f"too many wait for export, so {missing} were lost: see that {folder} can be written"
            self._engine.warn(Warn(ABOUT, "no events are recorded", why))
        until = self._history.last
        try:
            await self._engine.ask(AwaitDisk)
        except EngineStopped:
            return []
        files: list[HistoryFile] = []
        loop = asyncio.get_running_loop()

        def forget(event: int) -> None:
            loop.call_soon_threadsafe(self._forget, event)

        try:
            await asyncio.to_thread(self._write, until, files, forget)
            self.error = ""
        except _TROUBLES as why:
            self.error = str(why)
            self._engine.warn(
                Warn(
                    ABOUT,
                    "events cannot be exported",
                    f"{why}; it is tried again: see that the folder can be written",
                )
            )
        return files

    def _forget(self, until: int) -> None:
        with suppress(EngineStopped):  # the next start deletes these rows
            self._engine.submit(ForgetHistory(until))

    # -- in a thread

    def _look(self, manager: UUID | None) -> int:
        """Read the folder, and return the number of the last event in its files."""
        from reliquary.store.history.export import last_in  # imported here because Arrow is slow to load

        folder = self.options.folder
        make_folder(folder)
        clear_unfinished(folder)
        self._in_files = last_in(folder, manager)
        self._count()
        return self._in_files

    def _count(self) -> None:
        exported = _ExportedFiles()
        for file in files_in(self.options.folder):
            exported.add(file)
        self._exported = exported

    def _write(self, until: int, files: list[HistoryFile], forget: Callable[[int], object]) -> None:
        from reliquary.store.history.export import ExportedManager, export

        record, history = self._state.identity(), self._history
        exported = history.exported
        in_files = self._look(record.identifier) if self._in_files is None else self._in_files
        if in_files > history.last:
            raise UsageError(
                f"{self.options.folder} has events up to {in_files}, and this store only up to"
                f" {history.last}: start the server again, or choose another folder"
            )
        if in_files > history.exported:
            forget(in_files)
        after = max(in_files, history.exported)
        if after < until:
            whose = ExportedManager(record.identifier, record.computer_name)
            for file in export(self._disk, self.options.folder, whose, after, until):
                self._in_files = file.last
                self._exported.add(file)
                files.append(file)
                forget(file.last)
        self._sweep(exported)  # new files stay: the deletion of their rows may not be on disk yet

    def _sweep(self, exported: int) -> None:
        now = _EPOCH + timedelta(microseconds=self._clock.now())
        if self._swept is None or not timedelta(0) <= now - self._swept < SWEEP_EVERY:
            self._swept = now
            if sweep(self.options.folder, self.options.kept, exported, now):
                self._count()
