"""Stores the state between runs of the audit, so that every file of the history is read once.

    OUT/state/current.json     the files that were read, their intervals, and the valid files below
    OUT/state/files/           traces and verdicts of buckets (`buckets`)

A run reads the files that are new, writes the buckets that these change under new names, and only then
renames the new `current.json` over the old: a run that fails changes nothing.  Verdicts of buckets that
nothing changed are kept; decisions that need all histories are made again each time, so a late file
removes the findings that it explains.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.buckets import BITS, Settings, Trail
from reliquary.spark.pipelines.audit.coverage import SIZE, Survey

VERSION: Final = 2


class ReadFile(msgspec.Struct, frozen=True):
    """A file of the history that was read, and the events that it has."""

    name: str
    spans: list[tuple[str, int, int]] = []
    """The first and the last event of each manager."""


class Kept(msgspec.Struct, frozen=True):
    """The content of the file `current.json`."""

    version: int = VERSION
    run: int = 0
    block: int = SIZE
    bits: int = BITS
    settings: Settings | None = None
    """The settings with which the verdicts were found."""
    files: list[ReadFile] = []
    survey: Survey = Survey()
    trails: dict[str, Trail] = {}
    meetings: dict[str, str] = {}
    """The verdicts of each meeting."""


class State:
    """The folder of the state."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = str(folder / "files")
        self.kept = self._load()

    def _load(self) -> Kept:
        try:
            data = (self.folder / "current.json").read_bytes()
        except FileNotFoundError:
            return Kept()
        try:
            version = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("version", b"0")
            if bytes(version) != str(VERSION).encode():
                raise UsageError(_ANOTHER.format(folder=self.folder))
            kept = msgspec.json.decode(data, type=Kept)
        except msgspec.DecodeError as why:
            raise UsageError(f"{self.folder} holds no state of an audit ({why}): name another --out") from why
        if (kept.block, kept.bits) != (SIZE, BITS):
            raise UsageError(_ANOTHER.format(folder=self.folder))
        return kept

    def new(self, files: list[str]) -> list[str]:
        """Return the files that no run has read."""
        return sorted(set(files) - {file.name for file in self.kept.files})

    def advance(self, kept: Kept) -> None:
        """Replace the kept state by that of this run, and remove files that are no longer valid."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / "current.json.new"
        draft.write_bytes(msgspec.json.encode(kept))
        draft.replace(self.folder / "current.json")
        self.kept = kept
        valid = {*kept.meetings.values()}
        for trail in kept.trails.values():
            valid |= {trail.path, trail.result}
        for path in Path(self.files).glob("*"):
            if str(path) not in valid:
                path.unlink(missing_ok=True)


_ANOTHER: Final = "another release wrote {folder}: remove it, and the audit reads all files again"
