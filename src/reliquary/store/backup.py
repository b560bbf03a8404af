"""Backs up and restores a store.

A backup is a checkpoint: a folder with the files of one moment, made in little time beside running
work, because files that never change are linked when both folders are on one file system.  It is a
store like any other and can be opened, verified or carried away.

The manager's private keys are beside the rows and go with them, readable only by their owner, as
always: the holder of a backup can act as this manager.

The history (`store.history.folder`) goes with them where that is wanted.  Rows of events go when a file has
them, so the files are taken after the rows: an event is then in a file, in a row, or in both, and the manager
that opens the store ignores the rows of those in both.

A restore copies, so that the backup stays what it is, and notes in the copy that it was restored
(`restored.py`).  FORMAT comes last in both: a folder that was left half done is no store.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from reliquary.base.chance import Chance, new_guid
from reliquary.base.faults import StoreFailure, UsageError
from reliquary.base.restoration import Restoration
from reliquary.store import format as store_format
from reliquary.store import restored
from reliquary.store.engine_errors import translate_errors
from reliquary.store.files import FOR_OWNER, copy_durably, make_folder, sync_file, sync_folder
from reliquary.store.history.folder import NAME as HISTORY
from reliquary.store.history.folder import HistoryFile, copy_missing, files_in, take_files
from reliquary.store.reserve import NAME as RESERVE
from reliquary.store.rocks import RocksDisk, tables_in

KEYS: Final = "keys.pem"
"""The file with the private keys of the manager whose store it is; a store may have none."""
PATH_LIMIT: Final = 4096 - 64
"""The largest number of bytes in the path of a folder, with room for the names of its files."""
NAME_LIMIT: Final = 255
ACTS: Final = "acts"
"""The folder of the log of acts, which the console keeps in the folder of a store."""
_LEFT_BEHIND: Final = {store_format.NAME, restored.NAME, RESERVE, ACTS, "LOCK", "LOG"}
"""Files that a backup leaves out: FORMAT is written at the end, and the others describe the folder and the
process, not the rows.
"""


def backup(disk: RocksDisk, target: str | Path, history: Path | None = None) -> None:
    """Back up an open store into a folder that does not exist yet, with the files of a folder of history."""
    target = Path(target)
    _must_be_new(target)
    before = [] if history is None else files_in(history)
    with translate_errors(target):
        make_folder(target.parent)
        disk.checkpoint(target)
        target.chmod(FOR_OWNER)
        if (disk.folder / KEYS).exists():
            copy_durably(disk.folder / KEYS, target / KEYS)
        if history is not None:
            make_folder(target / HISTORY)
            take_files(_without_holes(before, files_in(history)), history, target / HISTORY)
        _sync_all(target)
        store_format.stamp(target, store_format.VERSION)
        sync_folder(target.parent)


def _without_holes(before: list[HistoryFile], after: list[HistoryFile]) -> list[HistoryFile]:
    """Return the files that may be copied: all files from before, and new files up to the first gap.

    A folder is not read in one moment.  Rows behind a file that was overlooked would be taken for exported.
    """
    known = {file.path for file in before}
    taken = [file for file in after if file.path in known]
    for file in after:
        if file.path in known:
            continue
        if taken and file.first != max(each.last for each in taken) + 1:
            break
        taken.append(file)
    return taken


def backup_stopped(folder: str | Path, target: str | Path, *, with_history: bool = False) -> None:
    """Back up a store that no process has open; its history is in the folder of its rows."""
    folder = Path(folder)
    history = folder / HISTORY if with_history else None
    if history is not None and not history.is_dir():
        raise UsageError(f"{folder} has no folder `{HISTORY}`: there is no history beside this store")
    disk = RocksDisk(folder, tables_in(folder), create=False)
    try:
        backup(disk, target, history)
    finally:
        disk.close()


def restore(source: str | Path, folder: str | Path, chance: Chance) -> None:
    """Make a store in an empty or new folder from a backup, with the history that is in it.

    A copy of the folder of a stopped server is taken too; its log of acts stays where it is.
    """
    source, folder = Path(source), Path(folder)
    version = _version_of(source)
    _must_be_empty(folder)
    with translate_errors(folder):
        make_folder(folder)
        for file in sorted(source.iterdir()):
            if file.name == HISTORY:
                make_folder(folder / HISTORY)
                copy_missing(file, folder / HISTORY)
            elif file.name not in _LEFT_BEHIND and not file.name.startswith("LOG.old."):
                copy_durably(file, folder / file.name)
        sync_folder(folder)
        restored.note(folder, Restoration(new_guid(chance)))
        store_format.stamp(folder, version)


def _must_be_new(target: Path) -> None:
    """Refuse a path that exists, or that no folder can have, before any file is written."""
    with translate_errors(target):
        why = _impossible(target)
        if why:
            raise UsageError(f"no folder can have the path {str(target)[:200]!r}: {why}")
        if target.exists():
            raise UsageError(f"a backup makes its own folder, but {target} exists")


def _impossible(target: Path) -> str:
    """Return the reason why a folder with this path cannot exist; its parents may be missing."""
    names = [len(os.fsencode(name)) for name in target.parts]
    if max(names) > NAME_LIMIT or len(os.fsencode(target)) > PATH_LIMIT:
        return os.strerror(errno.ENAMETOOLONG)
    return os.strerror(errno.ENOTDIR) if any(map(Path.is_file, target.parents)) else ""


def _version_of(source: Path) -> int:
    try:
        return store_format.claim(source, create=False)
    except StoreFailure as why:
        if why.kind != "missing":
            raise
        raise UsageError(f"{source} is not a backup: it holds no store") from why


def _must_be_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"a store is restored into an empty folder, but {folder} holds something")


def _sync_all(folder: Path) -> None:
    for file in folder.iterdir():
        sync_file(file)
    sync_folder(folder)
