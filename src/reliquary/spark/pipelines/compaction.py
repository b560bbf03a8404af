"""Compacts many small batches of a Parquet table to one, while it is read.

    batch=0 ... batch=99                   1. their rows are written into _staging, and one rename makes
    _compacted/0-99/day=.../part.parquet      _compacted/0-99 of it: the commit; `Table` reads them there now
    (a grace period)                       2. who began to read before still finds the files of the batches
    batch=99/day=.../part.parquet          3. these go, and links to the files of _compacted take their place

A program that goes by `Table` sees each row once at every moment, and after a crash at any step: before the
rename the batches count, after it `_compacted` does, whatever other folders are there.  A program that only
lists the folders `batch=...` sees the batches until step 3, and what took their place afterwards, with the
last number in the column `batch`.  Step 3 is a few renames: a listing that is made in this moment can miss
folders, and a read that began before it fails by name.  What a crash leaves of it is finished by the next
run.

Time is that of the file system: two machines that share a lake need not agree on another one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reliquary.spark.pipelines.tables import (
    COMMIT,
    COMPACTED,
    SCHEMA,
    STAGING,
    Span,
    Table,
    rename_synced,
    write_synced,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_BYTES: Final = 256 << 20
"""The approximate size of the files of a compaction."""
REPLACES: Final = "_replaces.json"
"""The file in a compacted folder that names the batches that it replaces."""


def compact(spark: SparkSession, table: Table, batches: int) -> Span | None:
    """Compact the oldest `batches` that are not compacted; None if there are fewer."""
    numbers = table.single_batches()[:batches]
    if len(numbers) < batches:
        return None
    frame = table.read(spark, batches=numbers)
    folder = table.folder / STAGING / f"{numbers[0]}-{numbers[-1]}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = 0
    if frame is not None:
        files = 1 + _bytes(table.place(number) for number in numbers) // FILE_BYTES
        rows = table.write(folder, frame.coalesce(files))
    commits = [table.commit_of(number) for number in numbers]
    wanted = sum(commit.rows for commit in commits)
    assert rows == wanted, f"{folder.name} of {table.folder} has {wanted} rows, and {rows} were written"
    shutil.copyfile(table.place(numbers[-1]) / SCHEMA, folder / SCHEMA)
    days = {commit.batch: table.days(commit.batch) for commit in commits}
    entries = [{**commit._asdict(), "days": days[commit.batch]} for commit in commits]
    write_synced(folder / COMMIT, {"commits": entries})
    rename_synced(folder, table.folder / COMPACTED / folder.name)
    return table.spans()[-1]


def _bytes(places: Iterable[Path]) -> int:
    return sum(file.stat().st_size for place in places for file in place.rglob("*.parquet"))


def clean(table: Table, grace: float, now: float) -> list[Span]:
    """Replace batches by compactions that are older than the grace period."""
    replaced = []
    for span in table.spans():
        if now - span.made < grace or (table.place(span.last) / REPLACES).exists():
            continue
        _replace(table, span)
        replaced.append(span)
    shutil.rmtree(table.folder / STAGING / "replaced", ignore_errors=True)
    return replaced


def _replace(table: Table, span: Span) -> None:
    """Move the batches away, and put links to the files of the compaction where the last one was."""
    staged = table.folder / STAGING / f"links-{span.folder.name}"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    for file in span.folder.rglob("*.parquet"):
        link = staged / file.relative_to(span.folder)
        link.parent.mkdir(exist_ok=True)
        os.link(file, link)
    for name in (COMMIT, SCHEMA):
        shutil.copyfile(span.folder / name, staged / name)
    write_synced(staged / REPLACES, {"batches": [*span.commits]})
    away = table.folder / STAGING / "replaced" / span.folder.name
    away.mkdir(parents=True, exist_ok=True)
    for batch in span.commits:
        if table.place(batch).exists():
            table.place(batch).rename(away / str(batch))
    rename_synced(staged, table.place(span.last))
