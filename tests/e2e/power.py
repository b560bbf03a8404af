"""A server for power cuts: what was written and not synced outlives kill -9 in the kernel, and no power cut.

After every sync it notes how long its log is; when the power goes, the rest of the log is cut off.

    | synced, noted | applied, not synced |
                    '-- lost

Run as a program it is the server, with that one addition.  With `hasty` as its argument answers
leave before the sync, which is what must never happen: the trial has to find it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from reliquary.engine import loop
from reliquary.engine.syncs import Syncs
from reliquary.server.__main__ import main
from reliquary.store import opening as store_opening
from reliquary.store.mark import SyncedMark

COMMAND: Final = (sys.executable, __file__)
HASTY: Final = (*COMMAND, "hasty")


class NotingMark(SyncedMark):
    """Moves right after a sync, and notes first how long the log is.

    What was applied during the sync may be counted in, so the note is never too short.
    """

    def move(self, synced: int, lowest: int) -> None:
        """Move a message as usual, and note it."""
        log = _logs(self.folder)[-1]
        note = f"{log.name} {log.stat().st_size:>20}\n"
        handle = os.open(_note(self.folder), os.O_WRONLY | os.O_CREAT, 0o666)
        os.pwrite(handle, note.encode(), 0)
        os.close(handle)
        super().move(synced, lowest)


class HastySyncs(Syncs):
    """Performs the effects of a batch before its sync."""

    def proceed(self) -> None:
        batch = self._core.batch
        self._owner.perform(batch.after_sync)
        batch.after_sync = []
        super().proceed()


def cut(folder: Path) -> None:
    """Cut the power: what was not synced is lost. The server must be dead."""
    name, size = _note(folder).read_text().split() if _note(folder).exists() else ("", "0")
    for log in _logs(folder):
        if log.name == name:
            os.truncate(log, min(int(size), log.stat().st_size))
        elif log.name > name:
            os.truncate(log, 0)


def _logs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.log"))


def _note(folder: Path) -> Path:
    return folder.with_name(folder.name + ".synced")


if __name__ == "__main__":
    store_opening.SyncedMark = NotingMark  # type: ignore[attr-defined]
    if sys.argv[1:] == ["hasty"]:
        loop.Syncs = HastySyncs  # type: ignore[attr-defined]
    sys.exit(main([]))
