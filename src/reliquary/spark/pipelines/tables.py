"""Stores tables of the lake in batches that any reader sees completely and once.

    lake/bronze/messages/batch=0/day=2026-11-15/part-....parquet
                         batch=0/_commit.json            its query, its rows, its inputs
                         batch=0/_schema.json            its columns: no reader has to look into the files
                         batch=1/...
                         _compacted/0-99/...             many batches as one (`compaction`): these count then
                         _staging/                       batches being written; readers ignore it

Spark writes a batch into `_staging`, its files are synced, and **one rename** puts the folder in its place:
that is the commit.  The number of the batch is the key.  A batch that is there is never written again, so
a pipeline that repeats its last batch after a failure changes nothing; what was not renamed is overwritten.

A table has one file of one day where it is replaced and not appended to (`replace_day`): gold.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

COMMIT: Final = "_commit.json"
SCHEMA: Final = "_schema.json"
STAGING: Final = "_staging"
COMPACTED: Final = "_compacted"
_BATCH: Final = "batch="
_DAY: Final = "day="


class Staged(NamedTuple):
    """A batch that is written and not visible yet."""

    batch: int
    folder: Path
    rows: int
    schema: StructType

    def read(self, spark: SparkSession) -> DataFrame:
        """Read the batch before it is committed."""
        return spark.read.schema(self.schema).parquet(str(self.folder))


class Commit(NamedTuple):
    """The entry of a visible batch in the log of its table."""

    batch: int
    by: str
    """The id of the query that made it; one batch of two queries would be two batches."""
    rows: int
    inputs: tuple[str, ...] = ()
    """The input files of the batch, if it was made from files."""


class Span(NamedTuple):
    """Batches that were compacted to one."""

    folder: Path
    made: float
    """The time of the compaction by the clock of the file system, in seconds."""
    commits: dict[int, Commit]
    days: dict[int, list[str]]

    @property
    def last(self) -> int:
        """The last of its batches."""
        return max(self.commits)


class Part(NamedTuple):
    """Folders or files of a table that are read together."""

    base: Path
    """The folder below which the names of folders are columns."""
    places: list[Path]
    only: Set[int] | None
    """The selected batches; None: all."""

    def with_files(self) -> Part:
        """Return the part without folders that have no file."""
        return self._replace(
            places=[place for place in self.places if next(place.rglob("*.parquet"), None) is not None]
        )

    def read(self, spark: SparkSession, schema: StructType) -> DataFrame:
        """Read the part with these columns."""
        reader = spark.read.option("basePath", str(self.base)).schema(schema)
        frame = reader.parquet(*map(str, self.places))
        return frame if self.only is None else frame.where(frame["batch"].isin(sorted(self.only)))


class Table:
    """One table of batches, as Parquet."""

    compacts: bool = True
    """Whether small batches may become one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spans: dict[str, Span] = {}
        """Compactions that were read, by the name of their folder: they never change."""
        self._span_of: dict[int, Span] = {}

    # -- what is there

    def batches(self) -> list[int]:
        """Return the numbers of the batches, in order."""
        if not self.folder.is_dir():
            return []
        names = (path.name.removeprefix(_BATCH) for path in self.folder.glob(f"{_BATCH}*"))
        numbers = {int(name) for name in names if name.isdigit()}
        self.spans()  # after the folders: a batch whose folder was removed since is in one of these
        return sorted(numbers | self._span_of.keys())

    def spans(self) -> list[Span]:
        """Return the compactions of this table, in the order of their batches."""
        for path in (self.folder / COMPACTED).glob("*"):
            if path.name not in self._spans:
                span = self._spans[path.name] = _read_span(path)
                self._span_of |= dict.fromkeys(span.commits, span)
        return sorted(self._spans.values(), key=lambda span: span.last)

    def single_batches(self) -> list[int]:
        """Return the numbers of the batches that are not compacted, in order."""
        return [batch for batch in self.batches() if batch not in self._span_of]

    def last(self) -> int:
        """Return the last batch; -1 without any."""
        return max(self.batches(), default=-1)

    def commit_of(self, batch: int) -> Commit:
        """Return the commit of a batch."""
        if (span := self._span_of.get(batch)) is not None:
            return span.commits[batch]
        found = json.loads((self.notes(batch) / COMMIT).read_text())
        return _commit(batch, found)

    def rows(self) -> int:
        """Return the number of rows of all batches together."""
        return sum(self.commit_of(batch).rows for batch in self.batches())

    def place(self, batch: int) -> Path:
        """Return the folder of a batch."""
        return self.folder / f"{_BATCH}{batch}"

    def notes(self, batch: int) -> Path:
        """Return the folder that has the commit and the schema of a batch."""
        return self.place(batch)

    def days(self, batch: int) -> list[str]:
        """Return the days that a batch has rows of."""
        if (span := self._span_of.get(batch)) is not None:
            return span.days[batch]
        return sorted(path.name.removeprefix(_DAY) for path in self.place(batch).glob(f"{_DAY}*"))

    def read(
        self,
        spark: SparkSession,
        schema: StructType | None = None,
        batches: Iterable[int] | None = None,
        days: Iterable[str] | None = None,
    ) -> DataFrame | None:
        """Return the rows of these batches and days, with columns `batch` and `day`; None without files.

        Without a schema they have the columns of the last of these batches.
        """
        numbers = self.batches() if batches is None else [*batches]
        parts = self.parts(numbers, days)
        if schema is None and numbers:
            span = self._span_of.get(numbers[-1])
            schema = _kept_schema(self.notes(numbers[-1]) if span is None else span.folder)
        if not parts or schema is None:
            return None
        return reduce(
            lambda one, other: one.unionByName(other),
            [part.read(spark, _with_keys(schema)) for part in parts],
        )

    def parts(self, batches: Iterable[int], days: Iterable[str] | None = None) -> list[Part]:
        """Return the folders with the rows of these batches and days: their own, and those of compactions."""
        self.spans()
        numbers = {*batches}
        spans = {span.last: span for batch in numbers if (span := self._span_of.get(batch)) is not None}
        single = [self.place(batch) for batch in sorted(numbers - self._span_of.keys())]
        found = [Part(self.folder, single, None)]
        for span in spans.values():
            some = span.commits.keys() & numbers
            found.append(Part(span.folder, [span.folder], None if some == span.commits.keys() else some))
        if days is not None:
            wanted = [f"{_DAY}{day}" for day in days]
            found = [
                part._replace(places=[place / day for place in part.places for day in wanted])
                for part in found
            ]
        return [part for each in found if (part := each.with_files()).places]

    # -- batches

    def stage(self, batch: int, frame: DataFrame, partition_by: tuple[str, ...] = ("day",)) -> Staged:
        """Write a batch where readers do not see it; what an earlier try left there is overwritten."""
        folder = self.folder / STAGING / f"{_BATCH}{batch}"
        shutil.rmtree(folder, ignore_errors=True)
        rows = self.write(folder, frame, partition_by)
        return Staged(batch, folder, rows, frame.schema)

    def write(self, folder: Path, frame: DataFrame, partition_by: tuple[str, ...] = ("day",)) -> int:
        """Write rows into a folder that has no readers; return their number."""
        frame.write.mode("overwrite").partitionBy(*partition_by).parquet(str(folder))
        return sum(pq.read_metadata(path).num_rows for path in folder.rglob("*.parquet"))

    def publish(self, staged: Staged, by: str, inputs: Iterable[str] = ()) -> Commit:
        """Make the batch permanently visible to all readers, at once."""
        commit = Commit(staged.batch, by, staged.rows, tuple(inputs))
        write_synced(staged.folder / COMMIT, commit._asdict())
        write_synced(staged.folder / SCHEMA, staged.schema.jsonValue())
        self._show(staged, self.place(staged.batch))
        return commit

    def _show(self, staged: Staged, place: Path) -> None:
        rename_synced(staged.folder, place)

    def append(self, batch: int, frame: DataFrame, by: str, inputs: Iterable[str] = ()) -> Commit:
        """Write a batch and make it visible; an existing one is not changed."""
        if batch in self.batches():
            there = self.commit_of(batch)
            if there.by != by:
                raise UsageError(
                    f"batch {batch} of {self.folder} was made by another query: its checkpoint is gone, and"
                    " going on would lose messages; put it back, or begin a new lake in another folder"
                )
            return there
        return self.publish(self.stage(batch, frame), by, inputs)

    # -- days

    def replace_day(self, day: str, rows: pa.Table) -> None:
        """Replace all rows of a day at once: one file is renamed over another."""
        place = self.folder / f"{_DAY}{day}" / "rows.parquet"
        if len(rows) == 0:
            place.unlink(missing_ok=True)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.draft")
        pq.write_table(rows, draft)
        _sync_file(draft)
        draft.replace(place)
        _sync_folder(place.parent)

    def day_rows(self) -> dict[str, int]:
        """Return the number of rows of each day, for a table that is replaced by days."""
        return {
            path.parent.name.removeprefix(_DAY): pq.read_metadata(path).num_rows
            for path in sorted(self.folder.glob(f"{_DAY}*/*.parquet"))
        }

    def read_days(self, spark: SparkSession) -> DataFrame | None:
        """Return all rows of a table that is replaced by days."""
        return spark.read.parquet(str(self.folder)) if self.day_rows() else None


def _read_span(path: Path) -> Span:
    found = json.loads((path / COMMIT).read_text())
    commits = {each["batch"]: _commit(each["batch"], each) for each in found["commits"]}
    days = {each["batch"]: each["days"] for each in found["commits"]}
    return Span(path, (path / COMMIT).stat().st_mtime, commits, days)


def _commit(batch: int, found: Mapping[str, Any]) -> Commit:
    return Commit(batch, found["by"], found["rows"], tuple(found.get("inputs", ())))


def _kept_schema(place: Path) -> StructType:
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads((place / SCHEMA).read_text()))


def _with_keys(schema: StructType) -> StructType:
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    names = set(schema.names)
    keys = [StructField("batch", LongType()), StructField("day", StringType())]
    return StructType([*schema.fields, *(key for key in keys if key.name not in names)])


# -- files


def write_state(path: Path, value: Mapping[str, Any]) -> None:
    """Replace a small file of JSON at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    write_synced(draft, value)
    draft.replace(path)
    _sync_folder(path.parent)


def read_state(path: Path) -> dict[str, Any]:
    """Return the value of `write_state`; empty before the first one."""
    if not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def rename_synced(folder: Path, place: Path) -> None:
    """Move a folder with complete files to its place, so that it exists after a power failure."""
    _sync(folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(place)
    _sync_folder(place.parent)


def write_synced(path: Path, value: Mapping[str, Any]) -> None:
    """Write a small file of JSON, whose folder must still be synced."""
    with path.open("w") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Sync all files below a folder, and the folders."""
    for path in _below(folder):
        (_sync_folder if path.is_dir() else _sync_file)(path)
    _sync_folder(folder)


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if not path.name.endswith(".crc"))


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
