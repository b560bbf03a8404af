"""Delta is refused by name where it is missing; what it holds is shown with the lake."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.delta import DeltaTable, require_delta
from reliquary.spark.pipelines.lake import STATE, open_lake
from reliquary.spark.pipelines.tables import write_state


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    require_delta()
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(UsageError, match=r"pip install 'reliquary\[delta\]'"):
        require_delta()


def test_a_folder_that_the_log_does_not_name_is_no_batch(tmp_path: Path) -> None:
    (tmp_path / "batch=0").mkdir()
    table = DeltaTable(tmp_path)
    assert (table.batches(), table.day_rows()) == ([], {})


@pytest.mark.parametrize(
    ("kept", "variants"),
    [
        ({"format": "delta"}, False),
        ({"format": "parquet"}, True),
        ({"format": "delta", "data_as": "variant"}, True),
        ({"format": "parquet", "data_as": "text"}, False),
    ],
)
def test_a_lake_keeps_the_form_of_its_data(kept: dict[str, str], variants: bool, tmp_path: Path) -> None:
    """Earlier builds wrote no form, and text into lakes of Delta."""
    write_state(tmp_path / STATE, {"version": 1, "id": "x", **kept})
    assert open_lake(tmp_path).variants is variants
    has, other = ("variant", "text") if variants else ("text", "variant")
    assert open_lake(tmp_path, data_as=has).variants is variants
    with pytest.raises(UsageError, match=f"has data as {has}, not as {other}; begin another in a folder"):
        open_lake(tmp_path, data_as=other)
