"""Tests the table [history]: every setting from file and environment, each wrong one named."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.history_options import NAMES, HistoryOptions
from reliquary.server.loading import load
from reliquary.store.history.folder import Kept

EVERYTHING = """
[history]
enabled = false
folder = "/lake"
every = 2.5
keep_days = 7
keep_bytes = 1000
"""
CHOSEN = HistoryOptions(enabled=False, folder=Path("/lake"), every=2.5, keep_days=7, keep_bytes=1000)


def test_every_setting_comes_from_the_file_or_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(EVERYTHING)
    assert load(file).history == CHOSEN
    words = dict(zip(NAMES, ("false", "/lake", "2.5", "7", "1000"), strict=True))
    environment = {f"RELIQUARY_HISTORY_{name.upper()}": word for name, word in words.items()}
    assert load(environment=environment).history == CHOSEN


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("every = 0", "history.every is 0.1 to 86400 seconds, not 0"),
        ("every = nan", "history.every is 0.1 to 86400 seconds, not nan"),
        ("keep_days = -1", "history.keep_days is 0 or a number of days, not -1"),
        ("keep_days = inf", "history.keep_days is 0 or a number of days, not inf"),
        ("keep_bytes = -1", "history.keep_bytes is 0 or a number of bytes, not -1"),
        ("keep_bytes = 1.5", "history.keep_bytes: "),
        ('folder = ""', "history.folder: "),
        ('enabled = "perhaps"', "history.enabled: "),
        ("keep = 1", "there is no setting 'keep' in [history]; these are enabled, folder, every"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, setting: str, sentence: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(f"[history]\n{setting}\n")
    with pytest.raises(UsageError) as refused:
        load(file)
    assert sentence in str(refused.value)


def test_a_store_has_its_history_beside_its_rows_by_default() -> None:
    assert CHOSEN.export(Path("/data")) is None
    usual = HistoryOptions().export(Path("/data"))
    assert usual is not None
    assert usual.folder == Path("/data/history")
    chosen = HistoryOptions(folder=Path("/lake"), keep_days=0, keep_bytes=0).export(Path("/data"))
    assert chosen is not None
    assert (chosen.folder, chosen.kept) == (Path("/lake"), Kept(None, None))
