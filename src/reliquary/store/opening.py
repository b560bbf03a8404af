"""Opens a store on RocksDB if it contains all synced changes.

    FORMAT, mark and MANIFEST fit? --> the logs are a chain? --> open --> reaches the mark? --> ready
                                         | no                     | a torn record
                                         v                        v
                      the logs that RocksDB needs are one?      read-only, up to the tear: reaches the mark?
                         | yes, or a gap behind the mark:         | yes: only unsynced batches are torn
                         '--> open                                '--> open up to the tear --> ready

Every other answer is StoreDamage, and nothing was touched.
The mark is explained in `mark.py`, the chain in `chain.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from rocksdict import AccessType, Cache, Options, Rdict

from reliquary.base.faults import StoreDamage
from reliquary.store import format as store_format
from reliquary.store import tuning
from reliquary.store.chain import CutOff, Damaged, Verdict, cut_off, judge
from reliquary.store.logs import logs_in
from reliquary.store.mark import NAME as MARK
from reliquary.store.mark import NIL_ID, Mark, SyncedMark, read_mark

LOWEST_LOG: Final = "rocksdb.min-log-number-to-keep"
"""RocksDB's property: logs with a lower number are obsolete."""


class Opened(NamedTuple):
    """An open database with its mark."""

    db: Rdict
    mark: SyncedMark


def open_database(folder: Path, tables: tuple[str, ...], *, create: bool) -> Opened:
    """Open the database of a folder, or create it; raise StoreDamage if a synced change is missing."""
    version = store_format.claim(folder, create=create)
    mark = read_mark(folder)
    if mark is None and version >= store_format.VERSION:
        raise StoreDamage(
            f"{folder} is damaged: its file {MARK} is missing or not as it was written,"
            " so nothing says whether its logs are whole"
        )
    _check_manifest(folder, mark)
    _check_logs(folder, tables, mark)
    db = _opened(folder, tables, mark)
    found = db.latest_sequence_number()
    synced = SyncedMark(folder, found, lowest_log(db), NIL_ID if mark is None else mark.owner)
    if version < store_format.VERSION:
        store_format.stamp(folder, store_format.VERSION)
    return Opened(db, synced)


def lowest_log(db: Rdict) -> int:
    """Return the number of the oldest log that RocksDB needs."""
    return db.property_int_value(LOWEST_LOG) or 0


def _check_manifest(folder: Path, mark: Mark | None) -> None:
    """Refuse a cut MANIFEST: RocksDB would read an older state from it and delete the files that it does not
    name."""
    if mark is None or not mark.manifest:
        return
    manifest = folder / f"MANIFEST-{mark.manifest:06}"
    size = manifest.stat().st_size if manifest.exists() else None
    if size is not None and size < mark.manifest_size:
        raise StoreDamage(
            f"{folder} is damaged: its file {manifest.name} has {size} bytes,"
            f" but {mark.manifest_size} had reached the disk"
        )


def _check_logs(folder: Path, tables: tuple[str, ...], mark: Mark | None) -> None:
    logs = logs_in(folder)
    verdict: Verdict = judge(logs, mark)
    if isinstance(verdict, Damaged | CutOff):  # obsolete logs may have gaps, so check the needed ones
        look = _read_only(folder, tables, tuning.database(tuning.up_to_the_tear()))
        lowest = lowest_log(look)
        look.close()
        verdict = judge(logs, mark, lowest)
    if isinstance(verdict, Damaged):
        raise StoreDamage(f"{folder} is damaged: {verdict.why}")
    if isinstance(verdict, CutOff):
        cut_off(verdict)


def _opened(folder: Path, tables: tuple[str, ...], mark: Mark | None) -> Rdict:
    """Return the database if it contains all synced changes."""
    try:
        create = mark is None and not _holds_rows(folder)
        db = _rdict(folder, tables, tuning.database(tuning.strict(), create=create))
    except Exception as why:
        if "Corruption" not in str(why):
            raise
        up_to_the_tear = tuning.database(tuning.up_to_the_tear())
        look = _read_only(folder, tables, up_to_the_tear)
        _must_reach(mark, look, folder).close()
        db = _rdict(folder, tables, up_to_the_tear)
    return _must_reach(mark, db, folder)


def _holds_rows(folder: Path) -> bool:
    """Return whether the folder had a database with rows, which must not be created a second time."""
    return any(folder.glob("*.sst")) or any(path.stat().st_size for path in folder.glob("*.log"))


def _must_reach(mark: Mark | None, db: Rdict, folder: Path) -> Rdict:
    found = db.latest_sequence_number()
    if mark is not None and found < mark.synced:
        db.close()
        raise StoreDamage(
            f"{folder} is damaged: its log ends at change {found},"
            f" but {mark.synced} changes had reached the disk"
        )
    return db


def _read_only(folder: Path, tables: tuple[str, ...], options: Options) -> Rdict:
    """Return the database for reading; a table that an older release did not have is not created."""
    there = set(Rdict.list_cf(str(folder), options))
    return _rdict(
        folder, tuple(name for name in tables if name in there), options, AccessType.read_only(False)
    )


def _rdict(
    folder: Path, tables: tuple[str, ...], options: Options, access: AccessType | None = None
) -> Rdict:
    cache = Cache(tuning.BLOCK_CACHE)
    families = {name: tuning.table(cache) for name in tables}
    return Rdict(str(folder), options, families, access or AccessType.read_write())
