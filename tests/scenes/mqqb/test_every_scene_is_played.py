"""Tests that the scenarios T-01 to T-97 of MQQB are all played, here or in other rooms.

A reading with a star in `docs/requirements/mqqb.md` is a trap: who follows the printed text instead
loses, doubles or blocks messages.  A test or a mutant is marked with each of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools import conformance

ROOT = Path(__file__).parents[3]
SCENARIOS = {f"T-{number:02}" for number in range(1, 98)}


def played(letter: str) -> set[str]:
    """Return the marks of tests that begin with this letter: T for scenarios, G for readings."""
    return {name for name in conformance.marks(ROOT / "tests", ROOT, "mqqb") if name.startswith(letter)}


def test_every_scene_is_played() -> None:
    assert played("T") == SCENARIOS


def test_every_trap_has_a_test_or_a_mutant() -> None:
    readings = (ROOT / "docs" / "requirements" / "mqqb.md").read_text()
    traps = set(re.findall(r"^\| (G-\d\d) \* \|", readings, re.MULTILINE))
    known = set(re.findall(r"^\| (G-\d\d)\b", readings, re.MULTILINE))
    assert len(traps) == 31
    assert sorted(traps - played("G")) == []
    assert sorted(played("G") - known) == []
