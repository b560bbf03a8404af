"""Tests the table [acts] of the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.console.acts_file import KeptActs
from reliquary.server.acts_options import ActsOptions
from reliquary.server.loading import load


def test_a_year_and_a_hundred_megabytes_are_kept_unless_the_settings_say_otherwise() -> None:
    assert ActsOptions().kept() == KeptActs(365, 100 * 1024 * 1024)
    assert ActsOptions().place(Path("/data")) == Path("/data/acts")
    found = load(None, {"RELIQUARY_ACTS_KEEP_DAYS": "0", "RELIQUARY_ACTS_KEEP_BYTES": "0"}).acts
    assert found.kept() == KeptActs(None, None)
    assert ActsOptions(folder=Path("/log")).place(Path("/data")) == Path("/log")


@pytest.mark.parametrize(("name", "value"), [("keep_days", "-1"), ("keep_days", "nan"), ("keep_bytes", "-1")])
def test_what_cannot_be_kept_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"acts.{name} is 0 or a number of"):
        load(None, {f"RELIQUARY_ACTS_{name.upper()}": value})
