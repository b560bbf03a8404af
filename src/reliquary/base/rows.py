"""Defines rows, in which a machine stores its durable state.

A machine holds a small port, `Rows`, as part of its state: it stages changes and reads back, and
what it staged in this turn it already sees.  It cannot see whether RocksDB, memory or a
simulated disk is below.

    a value on disk    | version: 1 | checksum: 8 | msgpack of the record |
    the checksum (XXH3) is over key, version and record, so a row in the wrong place is found too

Records are frozen msgspec structs, written as maps without the fields that have their default:
a field that is added later reads as its default from an old row.  A record that is written for every
message may be an array instead: of it, fields are added at the end only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from struct import Struct as Layout
from typing import Any, Final, Generic, Protocol, TypeVar

import msgspec
from xxhash import xxh3_64_digest, xxh3_64_intdigest

from reliquary.base.faults import StoreDamage, StoreFailure

Record = TypeVar("Record", bound=msgspec.Struct)

_FRAME = Layout(">BQ")
FRAME: Final = _FRAME.size
"""The number of bytes of a value before its record."""
_pack = _FRAME.pack
_value, _frame = itemgetter(1), itemgetter(slice(FRAME))
_SMALL: Final = 2048
"""Rows with fewer bytes are copied: for them a copy costs less than a view."""
_encode = msgspec.msgpack.Encoder(uuid_format="bytes").encode

Upgrade = Callable[[dict[str, object]], dict[str, object]]
"""Converts the fields of a record of one version into those of the next version."""


class Table(Generic[Record]):
    """A table: its name, and the encoding of its records."""

    def __init__(
        self,
        name: str,
        record: type[Record],
        *,
        version: int = 1,
        upgrades: Mapping[int, Upgrade] | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self._opening = bytes([version])  # the first byte of a row
        self._upgrades = dict(upgrades or {})
        self._record = record
        self._decode = msgspec.msgpack.Decoder(record).decode

    def encode(self, key: bytes, record: Record) -> bytes:
        """Return the bytes of the value of one row."""
        body = _encode(record)
        return _pack(self.version, _checksum(key, self.version, body)) + body

    def encode_all(self, records: Mapping[bytes, Record | None]) -> dict[bytes, bytes | None]:
        """Return the values of many rows; the value of None is None."""
        version = self.version
        values: dict[bytes, bytes | None] = {}
        for key, record in records.items():
            if record is None:
                values[key] = None
            else:
                body = _encode(record)
                checksum = xxh3_64_intdigest(body, xxh3_64_intdigest(key, version))
                values[key] = _pack(version, checksum) + body
        return values

    def decode(self, key: bytes, value: bytes) -> Record:
        """Return the record of one row; raise StoreDamage if a bit differs from what was written."""
        return self._decoded(key, value)

    def _decoded(self, key: bytes, value: bytes) -> Record:
        version, body = unframe(self.name, key, value)
        try:
            if version == self.version:
                return self._decode(body)
            return self._upgrade(key, version, body)
        except msgspec.MsgspecError as why:
            raise StoreDamage(f"{self.name} row {key.hex()} does not decode: {why}") from why

    def decode_all(self, rows: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, Record]]:
        """Return the records of many rows, with their keys."""
        decode, version, opening = self._decode, self.version, self._opening
        found: list[tuple[bytes, Record]] = []
        seed, digest, size = xxh3_64_intdigest, xxh3_64_digest, _FRAME.size  # it runs for every row
        for key, value in rows:
            body = value[size:] if len(value) < _SMALL else memoryview(value)[size:]
            if value[:size] == opening + digest(body, seed(key, version)):
                try:
                    found.append((key, decode(body)))
                    continue
                except msgspec.MsgspecError:
                    pass
            found.append((key, self.decode(key, value)))  # of another version, or damaged
        return found

    def framed(self, rows: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """Return the checked values of many rows, for callers that decode only some of their fields.

        The record begins after the first FRAME bytes of each.
        """
        if self._is_as_written(rows):
            return list(map(_value, rows))
        return [self.encode(key, self._decoded(key, value)) for key, value in rows]

    def _is_as_written(self, rows: Sequence[tuple[bytes, bytes]]) -> bool:
        """Return whether all rows are of this version and undamaged; all checksums are compared at once."""
        version, opening = self.version, self._opening
        seed, digest, size = xxh3_64_intdigest, xxh3_64_digest, FRAME  # it runs for every row
        sums = [
            digest(value[size:] if len(value) < _SMALL else memoryview(value)[size:], seed(key, version))
            for key, value in rows
        ]
        return opening + opening.join(sums) == b"".join(map(_frame, map(_value, rows)))

    def _upgrade(self, key: bytes, version: int, body: memoryview) -> Record:
        if version > self.version:
            raise StoreFailure(
                "newer",
                f"{self.name} row {key.hex()} has version {version}, this release knows"
                f" {self.version}: run the release that wrote it",
            )
        fields: dict[str, object] = msgspec.msgpack.decode(body, type=dict[str, object])
        for step in range(version, self.version):
            fields = self._upgrades[step](fields)
        return msgspec.convert(fields, self._record)


class UndecodedTable(Table[Any]):
    """A table whose rows are checked but not decoded, for readers that decode many at once."""

    def decode(self, key: bytes, value: bytes) -> bytes:
        """Return the value of one row."""
        return self.framed([(key, value)])[0]

    def decode_all(self, rows: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, Any]]:
        """Return the values of many rows, with their keys."""
        found = list(rows)
        if self._is_as_written(found):
            return found
        return list(zip([key for key, _ in found], self.framed(found), strict=True))


def unframe(table: str, key: bytes, value: bytes) -> tuple[int, memoryview]:
    """Return the version and the record's bytes of a row after a check; the type of the record is
    not needed."""
    if len(value) < _FRAME.size:
        raise StoreDamage(f"{table} row {key.hex()} is cut off at {len(value)} bytes")
    version, checksum = _FRAME.unpack_from(value)
    body = memoryview(value)[_FRAME.size :]
    if checksum != _checksum(key, version, body):
        raise StoreDamage(f"{table} row {key.hex()} fails its checksum")
    return version, body


def _checksum(key: bytes, version: int, body: bytes | memoryview) -> int:
    return xxh3_64_intdigest(body, xxh3_64_intdigest(key, version))


class Rows(Protocol):
    """The port through which a machine reads and stages rows.

    `get` and `range` also return the changes that were staged before in this batch.
    """

    def get(self, table: Table[Record], key: bytes) -> Record | None:
        """Return the record under this key, or None if there is none."""

    def range(
        self, table: Table[Record], first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, Record]]:
        """Return up to `limit` rows with first <= key < last, in the order of keys, or from the end."""

    def put(
        self, table: Table[Record], key: bytes, record: Record, *, fresh: bool = False, size: int = 0
    ) -> None:
        """Stage a row.  The record is encoded when the batch is written, or not at all.

        fresh: the caller knows that no row with this key exists, so that a delete in this batch leaves
        no trace.
        size: the bytes of a row that may be large, so that a batch with many of them is written in time.
        """

    def put_all(self, table: Table[Record], records: Mapping[bytes, Record], *, size: int = 0) -> None:
        """Stage many rows; the caller knows that no rows exist under their keys."""

    def delete_all(self, table: Table[Record], keys: Iterable[bytes]) -> None:
        """Stage the removal of many rows."""

    def delete(self, table: Table[Record], key: bytes) -> None:
        """Stage the removal of a row; a missing row is no error."""

    def delete_range(self, table: Table[Record], first: bytes, last: bytes) -> None:
        """Stage the removal of all rows with first <= key < last."""


CHUNK: Final = 1000
"""The number of rows that are read at a time when a whole table is read."""
_PAST_THE_END: Final = b"\xff" * 64


def every(rows: Rows, table: Table[Record]) -> list[tuple[bytes, Record]]:
    """Return all rows of a table in the order of keys, for tables that are small or are read only once."""
    found: list[tuple[bytes, Record]] = []
    first = b""
    while chunk := rows.range(table, first, _PAST_THE_END, limit=CHUNK):
        found += chunk
        first = chunk[-1][0] + b"\0"
    return found
