"""Tests the settings of a manager that takes part in a directory."""

from __future__ import annotations

from reliquary.queueing.model.directory.integration import Integration


def test_everything_has_a_default() -> None:
    assert Integration() == Integration(None, (), (), ())
