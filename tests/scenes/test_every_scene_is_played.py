"""Tests that each of the scenes T01 to T80 is here once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path


def test_every_scene_is_played_once() -> None:
    played = Counter(
        name
        for path in sorted(Path(__file__).parent.glob("test_*.py"))
        for name in re.findall(r'^@pytest\.mark\.scene\("(T\d\d)"\)$', path.read_text(), re.M)
    )
    expected = {f"T{number:02}" for number in range(1, 81)}
    assert set(played) == expected
    assert [name for name, times in played.items() if times > 1] == []
