"""Scenes of Dequeue Message Begin and End."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.model.events import EndRead, PurgeQueue, ReceiveMessages
from reliquary.queueing.model.message import MessageClass
from tests.queueing.answers import everything
from tests.scenes.harness import Scene


def begun() -> tuple[Scene, int]:
    """Return a queue with m1 and m2 of which m1 is locked under a receipt, and the reader's handle."""
    scene = Scene()
    scene.send("orders", b"m1", b"m2")
    reader = scene.open("orders")
    assert scene.receive(reader, hold=60).receipt == reader
    return scene, reader


@pytest.mark.scene("T51")
@pytest.mark.spec("DM-209", "DM-213", "DM-215")
def test_a_read_that_ends_well_deletes_the_message() -> None:
    scene, reader = begun()
    assert scene.ask(EndRead(0, reader, delete=True)).status is HResult.OK
    assert scene.deleted == [MessageClass.ACK_RECEIVE]
    assert scene.bodies() == [b"m2"]


@pytest.mark.scene("T52")
@pytest.mark.spec("DM-214", "DM-211")
def test_a_read_that_is_given_up_leaves_the_message_at_its_place() -> None:
    scene, reader = begun()
    lookup_id = next(iter(scene.state.open.handles[reader].locked))
    assert scene.ask(EndRead(0, reader, delete=False)).status is HResult.OK
    assert scene.bodies() == [b"m1", b"m2"]
    again = scene.ask(EndRead(0, reader, delete=False, lookup_ids=(lookup_id,)))
    assert again.status is HResult.TRANSACTION_SEQUENCE


@pytest.mark.scene("T53")
@pytest.mark.spec("DM-213")
def test_a_read_that_is_given_up_after_a_purge_deletes_the_message() -> None:
    scene, reader = begun()
    scene.ask(PurgeQueue(0, "orders"))
    assert scene.ask(EndRead(0, reader, delete=False)).status is HResult.OK
    assert scene.deleted == [MessageClass.NACK_QUEUE_PURGED] * 2
    assert scene.bodies() == []


@pytest.mark.scene("T54")
@pytest.mark.spec("DM-198", "DM-212")
def test_a_read_is_held_or_in_a_transaction_and_not_both() -> None:
    """The scenario's read with both ends with its transaction; ours is refused before it begins (AN-32)."""
    scene = Scene()
    scene.send("orders", b"m1")
    transaction = scene.begin()
    before = everything(scene.state)
    both = ReceiveMessages(0, "orders", transaction=transaction, hold=seconds(60))
    assert scene.ask(both).status is HResult.INVALID_PARAMETER
    assert everything(scene.state) == before
    assert scene.take("orders", transaction=transaction) == b"m1"
    assert scene.bodies() == [], "locked until the transaction ends"
    scene.commit(transaction)
    assert scene.deleted == [MessageClass.ACK_RECEIVE]
