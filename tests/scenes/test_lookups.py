"""Scenes of Read Message By Lookup Identifier."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import Seek
from tests.scenes.harness import Scene


@pytest.mark.scene("T55")
@pytest.mark.spec("DM-308", "DM-309", "DM-310", "DM-222")
def test_a_lookup_finds_its_neighbours() -> None:
    scene = Scene()
    scene.send("orders", b"m1", b"m2", b"m3")
    middle = scene.lookup_ids()[1]
    found = {seek: scene.look_up("orders", middle, seek) for seek in Seek}
    assert found == {
        Seek.PREVIOUS: b"m1",
        Seek.CURRENT: b"m2",
        Seek.NEXT: b"m3",
        Seek.FIRST: b"m1",
        Seek.LAST: b"m3",
    }
    assert scene.bodies() == [b"m1", b"m2", b"m3"]


@pytest.mark.scene("T56")
@pytest.mark.spec("DM-311", "DM-313")
@pytest.mark.parametrize("allowed", [False, True])
def test_a_locked_message_is_looked_up_only_where_that_is_allowed(allowed: bool) -> None:
    scene = Scene()
    scene.send("orders", b"m1", b"m2", allow_peek_when_locked=allowed)
    middle = scene.lookup_ids()[1]
    assert scene.look_up("orders", middle, peek=False, transaction=scene.begin()) == b"m2"
    assert scene.look_up("orders", middle) == (b"m2" if allowed else HResult.TRANSACTION_USAGE)
    assert scene.look_up("orders", middle, peek=False) is HResult.MESSAGE_NOT_FOUND


@pytest.mark.scene("T57")
@pytest.mark.spec("DM-307", "DM-218")
def test_an_unknown_identifier_finds_nothing() -> None:
    scene = Scene()
    scene.send("orders", b"m1")
    assert scene.look_up("orders", scene.lookup_ids()[0] + 1) is HResult.MESSAGE_NOT_FOUND
