"""Stores tables of the lake with a Delta log, by `deltalake`: no jar, and each batch is visible once.

    lake/bronze/messages/_delta_log/
                         batch=0/day=2026-11-15/part-....parquet
                         _batches/0/_commit.json, _schema.json

The files of a batch are renamed into place as with Parquet, and the commit is the entry in the log that
names them.  It has a transaction, the name of this program and the batch: a batch whose number the log
has is not entered again, and a second writer that did not see it is refused.  A folder without its
entry is left from a crash, and is made again.

The log names the valid files, for this program too: a user may let `deltalake` write them again as
fewer ones. Commit and schema of a batch are not in its folder only, because `vacuum(full=True)` of
`deltalake` removes all files there that the log does not name.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.tables import COMMIT, SCHEMA, STAGING, Part, Staged, Table, rename_synced

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

APP: Final = "reliquary-lake"
"""The application in Delta's transactions, which numbers the batches."""
NOTES: Final = "_batches"
"""The folder with the commits and schemas of batches."""
SHREDDING: Final = "spark.sql.variant.writeShredding.enabled"


def require_delta() -> None:
    """Refuse the format by name if the extra is missing."""
    try:
        import deltalake  # noqa: F401
    except ImportError:
        raise UsageError("--format delta needs deltalake: pip install 'reliquary[delta]'") from None


class DeltaTable(Table):
    """One table of batches, with a Delta log."""

    compacts = False
    """Readers of Delta have tools for that, which keep its log."""

    def write(self, folder: Path, frame: DataFrame, partition_by: tuple[str, ...] = ("day",)) -> int:
        """Write rows into a folder that has no readers; return their number.

        A VARIANT is written whole.  Parts of it in columns of their own ("shredding", as Spark writes them)
        are another feature of Delta, which `deltalake` 1.6 cannot read.
        """
        conf = frame.sparkSession.conf
        before = conf.get(SHREDDING) or "true"
        conf.set(SHREDDING, "false")
        try:
            return super().write(folder, frame, partition_by)
        finally:
            conf.set(SHREDDING, before)

    def batches(self) -> list[int]:
        """Return the numbers of the batches that the log has, in order."""
        entered = self._entered()
        return [batch for batch in super().batches() if batch <= entered]

    def _entered(self) -> int:
        from deltalake import DeltaTable as Log

        if not Log.is_deltatable(str(self.folder)):
            return -1
        version = Log(str(self.folder)).transaction_version(APP)
        return -1 if version is None else version

    def notes(self, batch: int) -> Path:
        """Return the folder that has the commit and the schema of a batch."""
        kept = self.folder / NOTES / str(batch)
        return kept if kept.exists() else super().notes(batch)  # earlier builds had them there only

    def parts(self, batches: Iterable[int], days: Iterable[str] | None = None) -> list[Part]:
        """Return the files that the log has of these batches and days.

        Other files may be beside them: those that `optimize` has replaced stay until `vacuum`.
        """
        from deltalake import DeltaTable as Log

        if not Log.is_deltatable(str(self.folder)):
            return []
        actions: Any = Log(str(self.folder)).get_add_actions(flatten=True)
        numbers, wanted = {*batches}, None if days is None else {*days}
        found = zip(
            *(actions[name].to_pylist() for name in ("path", "partition.batch", "partition.day")), strict=True
        )
        files = sorted(
            self.folder / unquote(path)
            for path, batch, day in found
            if batch in numbers and (wanted is None or day in wanted)
        )
        return [Part(self.folder, files, None)] if files else []

    def _show(self, staged: Staged, place: Path) -> None:
        if place.exists():  # renamed before a crash, and never entered
            shutil.rmtree(place)
        self._note(staged)
        super()._show(staged, place)
        self._enter(staged, place)

    def _note(self, staged: Staged) -> None:
        """Copy commit and schema to a place where no `vacuum` removes them."""
        draft = self.folder / STAGING / f"notes-{staged.batch}"
        kept = self.folder / NOTES / str(staged.batch)
        for folder in (draft, kept):  # of a batch that was never entered
            shutil.rmtree(folder, ignore_errors=True)
        draft.mkdir(parents=True)
        for name in (COMMIT, SCHEMA):
            shutil.copyfile(staged.folder / name, draft / name)
        rename_synced(draft, kept)

    def _enter(self, staged: Staged, place: Path) -> None:
        from deltalake import CommitProperties, Transaction
        from deltalake import DeltaTable as Log
        from deltalake.transaction import AddAction, create_table_with_add_actions

        properties = CommitProperties(app_transactions=[Transaction(APP, staged.batch)])
        actions = [
            AddAction(
                path=str(file.relative_to(self.folder)),
                size=file.stat().st_size,
                partition_values={
                    "batch": str(staged.batch),
                    "day": unquote(file.parent.name.removeprefix("day=")),
                },
                modification_time=int(file.stat().st_mtime * 1000),
                data_change=True,
                stats=f'{{"numRecords": {pq.read_metadata(file).num_rows}}}',
            )
            for file in sorted(place.rglob("*.parquet"))
        ]
        keys = ["batch", "day"]
        if Log.is_deltatable(str(self.folder)):
            log = Log(str(self.folder))
            log.create_write_transaction(
                [*actions], "append", log.schema(), keys, commit_properties=properties
            )
        else:
            create_table_with_add_actions(
                str(self.folder),
                _schema(staged.schema),
                actions,
                partition_by=keys,
                commit_properties=properties,
            )

    def replace_day(self, day: str, rows: pa.Table) -> None:
        """Replace all rows of a day at once, by one entry in the log."""
        from deltalake import DeltaTable as Log
        from deltalake import write_deltalake

        there = Log.is_deltatable(str(self.folder))
        if len(rows):
            write_deltalake(
                str(self.folder),
                rows.append_column("day", pa.array([day] * len(rows), pa.string())),
                mode="overwrite",
                partition_by=["day"],
                predicate=f"day = '{day}'" if there else None,
            )
        elif there:
            Log(str(self.folder)).delete(f"day = '{day}'")

    def day_rows(self) -> dict[str, int]:
        """Return the number of rows of each day, for a table that is replaced by days."""
        from deltalake import DeltaTable as Log

        if not Log.is_deltatable(str(self.folder)):
            return {}
        actions: Any = Log(str(self.folder)).get_add_actions(flatten=True)
        rows: dict[str, int] = {}
        for day, count in zip(
            actions["partition.day"].to_pylist(), actions["num_records"].to_pylist(), strict=True
        ):
            rows[day] = rows.get(day, 0) + count
        return rows

    def read_days(self, spark: SparkSession) -> DataFrame | None:
        """Return all rows of a table that is replaced by days."""
        from deltalake import DeltaTable as Log

        if not Log.is_deltatable(str(self.folder)):
            return None
        files = Log(str(self.folder)).file_uris()
        return spark.read.option("basePath", str(self.folder)).parquet(*files) if files else None


def _schema(schema: StructType) -> Any:
    """Return the schema of Delta, which writes types as Spark does."""
    from deltalake import Schema
    from pyspark.sql.types import LongType, StructType

    return Schema.from_json(StructType([*schema.fields]).add("batch", LongType()).json())
