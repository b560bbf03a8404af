"""Delta is refused by name where it is missing; what it holds is shown with the lake."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.delta import DeltaTable, require_delta


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    require_delta()
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(UsageError, match=r"pip install 'reliquary\[delta\]'"):
        require_delta()


def test_a_folder_that_the_log_does_not_name_is_no_batch(tmp_path: Path) -> None:
    (tmp_path / "batch=0").mkdir()
    table = DeltaTable(tmp_path)
    assert (table.batches(), table.day_rows()) == ([], {})
