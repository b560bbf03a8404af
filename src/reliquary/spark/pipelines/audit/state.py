"""What one run of the audit leaves for the next, so that every file of the history is read once.

    OUT/state/current.json     which files were read, what they cover, and which traces are valid
    OUT/state/traces-N/        a row for each message and manager (`traces`), as run N left them

A run reads the files that are new, merges their traces with the old ones into a new folder, and only then
renames the new `current.json` over the old: a run that dies changes nothing.  Verdicts are not kept; they are
drawn from all traces each time, so a file that comes late takes back what it explains.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.coverage import SIZE, Survey
from reliquary.spark.pipelines.audit.traces import STORED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VERSION: Final = 1


class Kept(msgspec.Struct, frozen=True):
    """The content of `current.json`."""

    version: int = VERSION
    run: int = 0
    block: int = SIZE
    files: list[str] = []
    survey: Survey = Survey()


class State:
    """The folder of the state."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kept = self._load()

    def _load(self) -> Kept:
        try:
            data = (self.folder / "current.json").read_bytes()
        except FileNotFoundError:
            return Kept()
        try:
            kept = msgspec.json.decode(data, type=Kept)
        except msgspec.DecodeError as why:
            raise UsageError(f"{self.folder} holds no state of an audit ({why}): name another --out") from why
        if (kept.version, kept.block) != (VERSION, SIZE):
            raise UsageError(
                f"another release wrote {self.folder}: remove it, and the audit reads all files again"
            )
        return kept

    def new(self, files: list[str]) -> list[str]:
        """The files that no run has read."""
        return sorted(set(files) - set(self.kept.files))

    def traces(self, spark: SparkSession) -> DataFrame | None:
        """What the last run left; None before the first."""
        if not self.kept.run:
            return None
        return spark.read.schema(STORED).parquet(str(self._traces(self.kept.run)))

    def advance(self, traces: DataFrame, survey: Survey, files: list[str]) -> None:
        """Keep what this run has put together, in place of what was kept."""
        run = self.kept.run + 1
        self.folder.mkdir(parents=True, exist_ok=True)
        # nearly all numbers of a column differ: a dictionary of them would cost much and save nothing
        plain = traces.write.mode("overwrite").option("parquet.enable.dictionary", "false")
        plain.parquet(str(self._traces(run)))
        kept = Kept(run=run, files=sorted({*self.kept.files, *files}), survey=survey)
        draft = self.folder / "current.json.new"
        draft.write_bytes(msgspec.json.encode(kept))
        draft.replace(self.folder / "current.json")
        self.kept = kept
        for old in self.folder.glob("traces-*"):
            if old != self._traces(run):
                shutil.rmtree(old, ignore_errors=True)

    def _traces(self, run: int) -> Path:
        return self.folder / f"traces-{run}"
