"""Tests that the scenarios T-01 to T-97 of MQQB are all played, here or in other rooms."""

from __future__ import annotations

from pathlib import Path

from tools import conformance

ROOT = Path(__file__).parents[3]
SCENARIOS = {f"T-{number:02}" for number in range(1, 98)}


def test_every_scene_is_played() -> None:
    played = conformance.marks(ROOT / "tests", ROOT, "mqqb")
    assert sorted(SCENARIOS - set(played)) == []
    assert sorted(set(played) - SCENARIOS) == []
