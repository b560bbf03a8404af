"""What the manager has of the directory in memory."""

from __future__ import annotations

from reliquary.queueing.directory.holdings import Directory
from reliquary.queueing.directory.objects import Kind


def test_an_empty_directory_has_a_place_for_each_type() -> None:
    assert Directory().objects == {kind: {} for kind in Kind}
    assert Directory().objects is not Directory().objects
