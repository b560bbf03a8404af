"""The work of an audit done in this process: what Spark spreads over tasks, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from glob import glob
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.work import Reader


class Alone:
    """Work without Spark; each file is read by a task of its own, as on a cluster with many cores."""

    def files(self, folders: Sequence[str]) -> list[str]:
        found = {path for folder in folders for path in glob(f"{folder}/**/*.parquet", recursive=True)}
        if not found:
            raise UsageError(f"there is no history in {folders[0]}")
        return sorted(found)

    def read(self, files: Sequence[str], reader: Reader) -> list[bytes]:
        return [
            answer for file in files for answer in reader([(file, pa.py_buffer(Path(file).read_bytes()))])
        ]

    def each(self, items: Sequence[Any], done: Callable[[Any], bytes]) -> list[bytes]:
        return [done(item) for item in items]
