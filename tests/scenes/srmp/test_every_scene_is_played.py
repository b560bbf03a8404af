"""The scenarios T-01 to T-79 and the error cases F-01 to F-74 of SRMP are all played, here or in other rooms.

T-75 says "each error case": it is played when those are.
"""

from __future__ import annotations

from pathlib import Path

from tools import conformance

ROOT = Path(__file__).parents[3]
SCENARIOS = {f"T-{number:02}" for number in range(1, 80)} - {"T-75"}
ERRORS = {f"F-{number:02}" for number in range(1, 75)}


def test_every_scene_is_played() -> None:
    played = conformance.marks(ROOT / "tests", ROOT, "srmp")
    assert sorted((SCENARIOS | ERRORS) - set(played)) == []
    assert sorted(set(played) - SCENARIOS - ERRORS) == []
