"""Files become parts of trails on disk."""

from __future__ import annotations

from pathlib import Path

import msgspec

from reliquary.spark.pipelines.audit import traces
from reliquary.spark.pipelines.audit.arrays import joined
from reliquary.spark.pipelines.audit.intake import Taken, take_in
from tests.spark.pipelines.audit.test_events import stored
from tests.spark.pipelines.audit.test_traces import traced
from tests.spark.pipelines.audit.world import World, table


def test_what_was_read_is_on_disk_and_the_answer_says_where(tmp_path: Path) -> None:
    rows = World(41, messages=20).rows()
    files = [(name, stored(table(part))) for name, part in (("a", rows[:100]), ("b", rows[100:]))]
    (answer,) = take_in(str(tmp_path), files)
    taken = msgspec.json.decode(answer, type=Taken)
    parts = [part for _, place in taken.parts for part in traces.read(Path(place.path), (place.number,))]
    assert traces.merged([joined(parts)]).rows() == traced(rows).rows()
    assert [file.name for file in taken.files] == ["a", "b"]
    spans = {
        (manager, event)
        for file in taken.files
        for manager, first, last in file.spans
        for event in (first, last)
    }
    first = {manager.identifier for manager in World(41, messages=20).managers}
    assert {(manager, 1) for manager in first} <= spans


def test_a_task_without_files_takes_nothing(tmp_path: Path) -> None:
    (answer,) = take_in(str(tmp_path / "none"), [])
    assert msgspec.json.decode(answer, type=Taken).parts == []
    assert not (tmp_path / "none").exists()
