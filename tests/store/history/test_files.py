"""Tests files of the history: they are cut by hour and by number, and name their manager."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reliquary.store.history.columns import PACKED, SCHEMA
from reliquary.store.history.files import SEARCHED, FileWriter, owner_of
from reliquary.store.history.folder import HistoryFile, files_in
from reliquary.wire.history import VERSION_KEY

US = UUID(int=1)
TEN = datetime(2026, 11, 15, 10, tzinfo=UTC)


def events(first: int, moments: list[datetime]) -> pa.Table:
    columns = {name: pa.nulls(len(moments), PACKED.field(name).type) for name in PACKED.names}
    columns["event_id"] = pa.array(range(first, first + len(moments)), pa.int64())
    columns["time"] = pa.array(moments, SCHEMA.field("time").type)
    return pa.table(columns, schema=PACKED)


def written(folder: Path, tables: list[pa.Table], *, file_events: int = 1000) -> list[HistoryFile]:
    writer = FileWriter(folder, US, file_events=file_events)
    return [file for table in tables for file in writer.add(table)] + list(writer.end())


def numbers_in(folder: Path) -> list[int]:
    """Return all events of all files, in the order of their names."""
    found = [
        pq.read_table(file.path, partitioning=None).column("event_id").to_pylist()
        for file in files_in(folder)
    ]
    return [number for each in found for number in each]


def test_a_file_is_in_the_folder_of_its_day_and_hour_and_is_named_by_its_events(tmp_path: Path) -> None:
    written(tmp_path, [events(1, [TEN, TEN + timedelta(minutes=59), TEN + timedelta(hours=1)])])
    assert [str(file.path.relative_to(tmp_path)) for file in files_in(tmp_path)] == [
        "day=2026-11-15/hour=10/00000000000000000001-00000000000000000002.parquet",
        "day=2026-11-15/hour=11/00000000000000000003-00000000000000000003.parquet",
    ]
    assert [file.hour for file in files_in(tmp_path)] == [TEN, TEN + timedelta(hours=1)]


def test_a_file_says_which_version_it_is_of_and_whose(tmp_path: Path) -> None:
    [file] = written(tmp_path, [events(1, [TEN])])
    assert owner_of(file) == str(US)
    assert pq.read_metadata(file.path).metadata[VERSION_KEY.encode()] == b"1"
    assert pq.read_table(file.path, partitioning=None).schema.equals(SCHEMA)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=8), min_size=1, max_size=4), st.integers(1, 6)
)
def test_every_event_is_in_one_file_of_its_own_hour(
    tmp_path_factory: pytest.TempPathFactory, hours: list[list[int]], most: int
) -> None:
    """The rule holds also when the calendar jumps."""
    folder = tmp_path_factory.mktemp("history")
    first, tables = 1, []
    for part in hours:
        tables.append(events(first, [TEN + timedelta(hours=hour) for hour in part]))
        first += len(part)
    reported = written(folder, tables, file_events=most)
    assert reported == files_in(folder)
    assert numbers_in(folder) == list(range(1, first))
    wanted = [TEN + timedelta(hours=hour) for part in hours for hour in part]
    for file in reported:
        assert {wanted[number - 1] for number in range(file.first, file.last + 1)} == {file.hour}
        assert file.last - file.first < most


def test_a_writer_that_gives_up_leaves_nothing_behind(tmp_path: Path) -> None:
    writer = FileWriter(tmp_path, US)
    assert list(writer.add(events(1, [TEN]))) == []
    writer.give_up()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_has_statistics_of_its_events_and_messages(tmp_path: Path) -> None:
    [file] = written(tmp_path, [events(1, [TEN] * 3), events(4, [TEN] * 2)])
    metadata = pq.read_metadata(file.path)
    place = PACKED.get_field_index("event_id")
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    stretches = [(group.column(place).statistics.min, group.column(place).statistics.max) for group in groups]
    assert stretches == [(1, 3), (4, 5)]
    for group in groups:
        assert [each.column_index for each in group.sorting_columns] == [place]
        assert all(group.column(each).has_offset_index for each in range(metadata.num_columns))
        with_index = {
            group.column(each).path_in_schema
            for each in range(metadata.num_columns)
            if group.column(each).has_column_index
        }
        assert with_index == set(SEARCHED)
