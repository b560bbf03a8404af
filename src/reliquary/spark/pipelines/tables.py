"""Tables of the lake: batches that any reader sees whole and once.

    lake/bronze/messages/batch=0/day=2026-11-15/part-....parquet
                         batch=0/_commit.json            who made it, how many rows, of what
                         batch=0/_schema.json            its columns: nobody has to look into the files
                         batch=1/...
                         _staging/                       what is being written; readers pass over it

Spark writes a batch into `_staging`, its files are synced, and **one rename** puts the folder in its place:
that is the commit.  The number of the batch is the key.  A batch that is there is never written again, so
a pipeline that died and does its last batch over changes nothing; what died before the rename is overwritten.

A table has one file of one day where it is replaced and not appended to (`replace_day`): gold.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
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
_BATCH: Final = "batch="
_DAY: Final = "day="


class Staged(NamedTuple):
    """A batch that is written and not yet seen."""

    batch: int
    folder: Path
    rows: int
    schema: StructType


class Commit(NamedTuple):
    """A batch that is seen."""

    batch: int
    by: str
    """Who made it: the id of the query; one batch of two makers would be two batches."""
    rows: int
    inputs: tuple[str, ...] = ()
    """What it was made of, where that is files."""


class Table:
    """One table of batches, as Parquet."""

    variants: bool = True
    """Whether a column may be VARIANT."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # -- what is there

    def batches(self) -> list[int]:
        """The numbers of the batches, in order."""
        if not self.folder.is_dir():
            return []
        names = (path.name.removeprefix(_BATCH) for path in self.folder.glob(f"{_BATCH}*"))
        return sorted(int(name) for name in names if name.isdigit())

    def last(self) -> int:
        """The last batch; -1 before the first."""
        return max(self.batches(), default=-1)

    def commit_of(self, batch: int) -> Commit:
        """What is noted of a batch."""
        found = json.loads((self.place(batch) / COMMIT).read_text())
        return Commit(batch, found["by"], found["rows"], tuple(found.get("inputs", ())))

    def rows(self) -> int:
        """How many rows all batches have together."""
        return sum(self.commit_of(batch).rows for batch in self.batches())

    def place(self, batch: int) -> Path:
        """The folder of a batch."""
        return self.folder / f"{_BATCH}{batch}"

    def days(self, batch: int) -> list[str]:
        """The days that a batch has rows of."""
        return sorted(path.name.removeprefix(_DAY) for path in self.place(batch).glob(f"{_DAY}*"))

    def read(
        self,
        spark: SparkSession,
        schema: StructType | None = None,
        batches: Iterable[int] | None = None,
        days: Iterable[str] | None = None,
    ) -> DataFrame | None:
        """The rows of these batches and days, with columns `batch` and `day`; None if there is no file.

        Without a schema they have the columns of the last of these batches.
        """
        numbers = self.batches() if batches is None else [*batches]
        places = [self.place(batch) for batch in numbers]
        if schema is None and places:
            schema = _kept_schema(places[-1])
        if days is not None:
            wanted = [f"{_DAY}{day}" for day in days]
            places = [place / day for place in places for day in wanted]
        paths = [str(place) for place in places if next(place.rglob("*.parquet"), None) is not None]
        if not paths or schema is None:
            return None
        return spark.read.option("basePath", str(self.folder)).schema(_with_keys(schema)).parquet(*paths)

    # -- batches

    def stage(self, batch: int, frame: DataFrame, partition_by: tuple[str, ...] = ("day",)) -> Staged:
        """Write a batch where nobody sees it; what an earlier try left there is overwritten."""
        folder = self.folder / STAGING / f"{_BATCH}{batch}"
        shutil.rmtree(folder, ignore_errors=True)
        frame.write.mode("overwrite").partitionBy(*partition_by).parquet(str(folder))
        rows = sum(pq.read_metadata(path).num_rows for path in folder.rglob("*.parquet"))
        return Staged(batch, folder, rows, frame.schema)

    def publish(self, staged: Staged, by: str, inputs: Iterable[str] = ()) -> Commit:
        """Let everybody see it, at once and for good."""
        commit = Commit(staged.batch, by, staged.rows, tuple(inputs))
        _write(staged.folder / COMMIT, commit._asdict())
        _write(staged.folder / SCHEMA, staged.schema.jsonValue())
        _sync(staged.folder)
        self._show(staged, self.place(staged.batch))
        return commit

    def _show(self, staged: Staged, place: Path) -> None:
        staged.folder.rename(place)
        _sync_folder(place.parent)

    def append(self, batch: int, frame: DataFrame, by: str, inputs: Iterable[str] = ()) -> Commit:
        """Write a batch and let it be seen; one that is there already stays as it is."""
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
        """Put rows in place of all that a day had, at once: one file is renamed over another."""
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
        """How many rows each day of a table has that is replaced by days."""
        return {
            path.parent.name.removeprefix(_DAY): pq.read_metadata(path).num_rows
            for path in sorted(self.folder.glob(f"{_DAY}*/*.parquet"))
        }

    def read_days(self, spark: SparkSession) -> DataFrame | None:
        """All rows of a table that is replaced by days."""
        return spark.read.parquet(str(self.folder)) if self.day_rows() else None


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
    """Write a small file of JSON in place of the one that is there, at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    _write(draft, value)
    draft.replace(path)
    _sync_folder(path.parent)


def read_state(path: Path) -> dict[str, Any]:
    """What `write_state` wrote; empty before the first time."""
    if not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def _write(path: Path, value: Mapping[str, Any]) -> None:
    with path.open("w") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """All files below a folder, and the folders."""
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
