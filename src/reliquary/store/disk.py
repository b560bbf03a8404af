"""Defines the disk: the small interface between the rows of the machines and a storage engine.

A batch reaches the disk in two steps, because a sync is slow and the loop need not wait for it:

    apply(changes)   atomic, in order, seen by every later read     lost by a crash
    sync()           covers all that was applied before it began    kept by a crash

Applies and reads come from one thread, the loop's; one sync at a time may run beside them in
another.  A crash keeps a prefix of the applied batches, never a part of one and never a later one
without the earlier: what was synced, and perhaps later batches that were not yet acknowledged.

A write that failed is never tried again.  After a failed fsync the kernel may have dropped the
pages, and a second one that succeeds proves nothing: the disk refuses all later work, the process
ends, and recovery starts from what is on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True)
class Changes:
    """The changes of one batch: first the ranges are emptied, then the rows are put."""

    puts: dict[str, dict[bytes, bytes | None]] = field(default_factory=dict)
    """The rows by table and key; None deletes a row."""
    ranges: list[tuple[str, bytes, bytes]] = field(default_factory=list)
    """Table, first and last: all rows with first <= key < last are deleted."""

    @property
    def is_empty(self) -> bool:
        """Return whether the changes contain nothing to apply."""
        return not self.ranges and not any(self.puts.values())


class Reads(Protocol):
    """The operations with which rows are read."""

    def get(self, table: str, key: bytes) -> bytes | None:
        """Return the value of one row, or None."""

    def range(
        self, table: str, first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, bytes]]:
        """Return up to `limit` rows with first <= key < last, in the order of keys, or from the end."""


class Disk(Reads, Protocol):
    """The operations of a storage engine that Reliquary needs."""

    def frozen(self) -> Reads:
        """Return all rows in their state between two batches; later batches do not change what it reads."""

    def apply(self, changes: Changes) -> None:
        """Write a batch as a whole or not at all; reads see it at once, but a crash may still lose it."""

    def sync(self) -> None:
        """Wait until everything that was applied before this call is durable."""

    def close(self) -> None:
        """Sync and close; a second call does nothing."""
