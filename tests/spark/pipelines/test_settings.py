"""Settings are refused by name, and options win over the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.settings import LakeSettings, load, with_schema_file


def test_options_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "lake.toml"
    (tmp_path / "history").mkdir()
    file.write_text(
        'server = "http://a:1"\nqueues = ["orders", "inv*"]\nhistory = ["history"]\nlake = "l"\n'
        "continuous = 10\n"
    )
    found = load(file, {"server": "http://b:2", "format": None})
    assert found == LakeSettings(
        server="http://b:2",
        queues=("orders", "inv*"),
        history=(tmp_path / "history",),
        lake=tmp_path / "l",
        continuous=10.0,
    )
    file.write_text('[lake]\nqueues = ["orders"]\n')
    assert load(file, {}).queues == ("orders",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('quues = ["a"]', "'quues'"),
        ('queues = "a"', "queues is not as it must be"),
        ("rows_per_batch = true\n", "rows_per_batch"),
        ("queues = [", "is not TOML"),
        ('queues = ["a"]\ncompact_batches = 1', "0 or at least 2"),
        ('queues = ["a"]\ngrace = -1', "grace is 0 or more seconds"),
        ('queues = ["a"]\nformat = "csv"', "parquet or delta"),
        ('queues = ["a"]\ndata_as = "json"', "data_as is variant or text, not 'json'"),
        ('queues = ["a"]\nrows_per_batch = 0', "at least 1"),
        ('queues = ["a"]\ncontinuous = 0', "more than 0"),
        ('queues = ["a"]\nlookback = 1000', "0 to 366 days"),
        ('queues = ["a"]\nserver = "n=http://a:1,http://b:2"', "a lake reads one server, .* make a lake for"),
        ('queues = ["a"]\nconsumer = ""', "consumer is empty"),
        ('history = ["nowhere"]', "this folder does not exist"),
        ('queues = ["a"]\nlake = "lake.toml"', "which is a file"),
        ("", "needs queues or a history"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "lake.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=why):
        load(file, {})


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        load(tmp_path / "none.toml", {})
    settings = LakeSettings(queues=("a",))
    with pytest.raises(UsageError, match="--json-schema"):
        with_schema_file(settings, tmp_path / "none")
    (tmp_path / "schema").write_text("order bigint\n")
    assert with_schema_file(settings, tmp_path / "schema").json_schema == "order bigint"
