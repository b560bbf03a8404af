"""Selects the manager of each row of a sink by the value of a key column.

    value --hash--> slot 0 to 4095 --table--> manager

A slot belongs to the manager for which the hash of slot and name is highest.  So equal values go to one
manager, in every batch and every run, for any order of the managers.  A manager that is
added takes its part of the slots from all others; a manager that is left out gives its slots to all others;
no other slot moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]

SLOTS: Final = 4096


class Spread:
    """The managers of a sink, and the slots that belong to each."""

    def __init__(self, managers: Sequence[str]) -> None:
        self._managers = tuple(managers)
        self._table = [self._owner(slot) for slot in range(SLOTS)]

    def _owner(self, slot: int) -> str:
        return max(self._managers, key=lambda name: (_hash(f"{slot}:{name}".encode()), name))

    def manager_of(self, value: bytes | None) -> str:
        """Return the manager of a value; all rows without a value have one manager."""
        return self._table[_hash(value or b"") % SLOTS]

    def split(self, keys: pa.Array, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yield the rows of each manager, in their order; `keys` are the values of the key column."""
        if len(self._managers) == 1:
            yield self._managers[0], batch
            return
        encoded = as_bytes(keys).dictionary_encode(null_encoding="encode")
        owners = [self.manager_of(value) for value in encoded.dictionary.to_pylist()]
        rows: dict[str, list[int]] = {}
        for row, index in enumerate(encoded.indices.to_pylist()):
            rows.setdefault(owners[index], []).append(row)
        for manager in self._managers:
            if manager in rows:
                yield manager, batch.take(pa.array(rows[manager], pa.int64()))


def spread_of(managers: Sequence[str], column: str) -> str:
    """Return a word that two runs of a sink share exactly if they send each row to an equal manager."""
    if len(managers) == 1:
        return ""
    return blake2b("\n".join([column, *sorted(managers)]).encode(), digest_size=16).hexdigest()


def as_bytes(column: pa.Array) -> pa.Array:
    """Return values as bytes; a number as its digits, independent of its width."""
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return column.cast(pa.binary())
    return (column if pa.types.is_string(column.type) else column.cast(pa.string())).cast(pa.binary())


def _hash(value: bytes) -> int:
    return int.from_bytes(blake2b(value, digest_size=8).digest())
