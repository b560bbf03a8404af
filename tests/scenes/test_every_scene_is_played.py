"""T01 to T80 are all here, each once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

TO_COME = {
    "T04", "T12", "T13", "T14", "T17", "T18", "T19", "T20", "T21",
    "T22", "T23", "T24", "T25", "T26", "T72", "T73", "T74", "T75",
    "T76", "T79",
}  # fmt: skip
"""Scenarios of what is being built."""


def test_every_scene_is_played_once() -> None:
    played = Counter(
        name
        for path in sorted(Path(__file__).parent.glob("test_*.py"))
        for name in re.findall(r'^@pytest\.mark\.scene\("(T\d\d)"\)$', path.read_text(), re.M)
    )
    expected = {f"T{number:02}" for number in range(1, 81)} - TO_COME
    assert set(played) == expected
    assert [name for name, times in played.items() if times > 1] == []
