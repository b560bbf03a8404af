"""Converts files of the history to traces on disk, divided into buckets, as the first step of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from reliquary.spark.pipelines.audit import traces
from reliquary.spark.pipelines.audit.arrays import Table
from reliquary.spark.pipelines.audit.buckets import Part, new_path, trail_parts
from reliquary.spark.pipelines.audit.coverage import Survey, combined
from reliquary.spark.pipelines.audit.events import traces_of
from reliquary.spark.pipelines.audit.state import ReadFile
from reliquary.spark.pipelines.audit.work import NamedBytes

AT_ONCE: Final = 1 << 17
"""The most traces in memory before they are written."""


class Taken(msgspec.Struct, frozen=True):
    """The result of one task that read files."""

    files: list[ReadFile]
    survey: Survey
    parts: list[tuple[str, Part]]
    """New traces, with the trail that each part belongs to."""


def take_in(folder: str, files: NamedBytes) -> Iterator[bytes]:
    """Read files and write their traces.

    The result has the files that were read and the places of the traces.
    """
    pending: list[Table] = []
    read: list[ReadFile] = []
    parts: list[tuple[str, Part]] = []
    surveys: list[Survey] = []
    for name, data in files:
        chosen: list[Survey] = []
        for table, survey in traces_of(data, name):
            chosen.append(survey)
            pending.append(table)
            if sum(map(len, pending)) >= AT_ONCE:
                parts += _write(folder, pending)
                pending = []
        surveys.append(combined(chosen))
        read.append(ReadFile(name, _spans(surveys[-1])))
    parts += _write(folder, pending)
    yield msgspec.json.encode(Taken(read, combined(surveys), parts))


def _spans(survey: Survey) -> list[tuple[str, int, int]]:
    spans: dict[str, tuple[int, int]] = {}
    for block in survey.blocks:
        first, last = spans.get(block.manager, (block.first, block.last))
        spans[block.manager] = min(first, block.first), max(last, block.last)
    return [(manager, *span) for manager, span in spans.items()]


def _write(folder: str, pending: list[Table]) -> list[tuple[str, Part]]:
    if not any(map(len, pending)):
        return []
    path = new_path(folder, "arrow")
    keys: list[str] = []

    def parts() -> Iterator[Table]:
        for key, part in trail_parts(traces.merged(pending)):
            keys.append(key)
            yield part

    traces.write(Path(path), parts())
    return [(key, Part(str(path), number)) for number, key in enumerate(keys)]
