"""Scenes in which TimeToBeReceived runs out."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.message import FOREVER, MessageClass
from tests.scenes.harness import Scene


@pytest.mark.scene("T64")
@pytest.mark.spec("DM-077", "DM-297")
def test_a_message_goes_when_its_time_is_over() -> None:
    scene = Scene()
    for name, limit in ((b"ten", 10), (b"zero", 0), (b"never", FOREVER)):
        scene.send("orders", name, time_to_be_received=limit)
    scene.advance(0)
    assert scene.bodies() == [b"ten", b"never"]
    scene.advance(9.999)
    assert scene.bodies() == [b"ten", b"never"]
    scene.advance(0.001)
    assert scene.bodies() == [b"never"]
    assert scene.deleted == [MessageClass.NACK_RECEIVE_TIMEOUT] * 2
    scene.advance(10_000_000)
    assert scene.bodies() == [b"never"]


@pytest.mark.scene("T65")
@pytest.mark.spec("DM-296")
def test_a_message_whose_time_ends_inside_a_transaction_goes_when_that_commits() -> None:
    """No reader gets the message in between: its time is over when the commit makes it available (AN-46)."""
    scene = Scene()
    scene.create("tq", transactional=True)
    transaction, waiting = scene.begin(), scene.wait("tq")
    scene.send("tq", b"m1", transaction=transaction, time_to_be_received=10)
    scene.advance(20)
    assert scene.deleted == []
    assert scene.commit(transaction) is HResult.OK
    assert scene.heard_by(waiting) is None
    assert scene.deleted == [MessageClass.NACK_RECEIVE_TIMEOUT]
    assert scene.bodies("tq") == []
