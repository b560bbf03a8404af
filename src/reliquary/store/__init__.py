"""Stores rows durably: a small disk interface, the engines below it, and the changed rows above it.

It may import `queueing`, `wire` and `base`.  Begin with `disk`.

Machines stage rows (`StagedRows`); the engine takes a batch of `Changes` and hands it to a `Disk`:
`RocksDisk`, a folder, or `MemoryDisk`, the simulator's.
"""

from reliquary.store.backup import backup, backup_stopped, restore
from reliquary.store.disk import Changes, Disk
from reliquary.store.memory import MemoryDisk
from reliquary.store.rocks import RocksDisk, tables_in
from reliquary.store.staging import StagedRows
from reliquary.store.verify import Damage, Report, verify

__all__ = [
    "Changes",
    "Damage",
    "Disk",
    "MemoryDisk",
    "Report",
    "RocksDisk",
    "StagedRows",
    "backup",
    "backup_stopped",
    "restore",
    "tables_in",
    "verify",
]
