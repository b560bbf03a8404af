"""Writes RESTORED, the file that marks a store as older than the last state of its manager.

`backup.restore` writes it.  The manager that opens the store next begins a new era (`queueing.era`), and the
file goes when that is on disk.  After a crash in between, the next start finds the file again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from reliquary.base.faults import StoreDamage
from reliquary.base.restoration import Restoration
from reliquary.store.files import sync_file, sync_folder

NAME: Final = "RESTORED"


def note(folder: Path, restoration: Restoration) -> None:
    """Record durably that the store in this folder was restored."""
    (folder / NAME).write_bytes(msgspec.json.encode(restoration))
    sync_file(folder / NAME)
    sync_folder(folder)


def noted(folder: Path) -> Restoration | None:
    """Return what `note` wrote; None for a store that was not restored, or whose new era is on disk."""
    try:
        content = (folder / NAME).read_bytes()
    except FileNotFoundError:
        return None
    try:
        return msgspec.json.decode(content, type=Restoration)
    except msgspec.DecodeError as why:
        raise StoreDamage(f"{folder / NAME} cannot be read: {why}") from why


def forget(folder: Path) -> None:
    """Remove the file durably, because the new era is on disk."""
    (folder / NAME).unlink(missing_ok=True)
    sync_folder(folder)
