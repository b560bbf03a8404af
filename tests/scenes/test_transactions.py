"""Scenes of transactions: which changes are visible when, and what an abort undoes."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import CreateQueue, MoveMessage, PurgeQueue
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.queue import QueueSettings
from tests.queueing.answers import everything
from tests.scenes.harness import Scene


def with_transactional_queue() -> Scene:
    scene = Scene()
    scene.ask(CreateQueue(0, "tq", QueueSettings(transactional=True)))
    return scene


@pytest.mark.scene("T42")
@pytest.mark.spec("DM-114")
def test_what_an_abort_gives_back_is_at_its_old_place() -> None:
    """The bytes of the messages were counted all the while, and are counted once (AN-05)."""
    scene = Scene()
    scene.send("orders", b"m1", b"m2")
    size, transaction = scene.queue().total_bytes, scene.begin()
    assert scene.take("orders", transaction=transaction) == b"m1"
    assert scene.abort(transaction) is HResult.OK
    assert scene.bodies() == [b"m1", b"m2"]
    assert scene.queue().total_bytes == size


@pytest.mark.scene("T43")
@pytest.mark.spec("DM-184", "DM-113")
def test_what_was_purged_while_locked_goes_when_it_comes_back() -> None:
    """The reason is the purge: no reader received the message (AN-10)."""
    scene = Scene()
    scene.send("orders", b"m1")
    transaction = scene.begin()
    scene.take("orders", transaction=transaction)
    scene.ask(PurgeQueue(0, "orders"))
    assert [each.purged for each in scene.queue().order.locked.values()] == [scene.now]
    scene.abort(transaction)
    assert scene.bodies() == []
    assert scene.deleted == [MessageClass.NACK_QUEUE_PURGED]
    assert scene.queue().total_bytes == 0


@pytest.mark.scene("T44")
@pytest.mark.spec("DM-109", "DM-184")
def test_a_commit_wins_over_a_purge() -> None:
    scene = Scene()
    scene.send("orders", b"m1")
    transaction = scene.begin()
    scene.take("orders", transaction=transaction)
    scene.ask(PurgeQueue(0, "orders"))
    scene.commit(transaction)
    assert scene.deleted == [MessageClass.ACK_RECEIVE]


@pytest.mark.scene("T45")
@pytest.mark.spec("DM-195", "DM-108")
def test_what_a_transaction_sent_shows_when_it_commits() -> None:
    scene = with_transactional_queue()
    transaction, waiting = scene.begin(), scene.wait("tq")
    scene.send("tq", b"m1", b"m2", transaction=transaction)
    assert scene.take("tq", timeout=0) is HResult.IO_TIMEOUT
    assert scene.heard_by(waiting) is None
    scene.commit(transaction)
    assert scene.heard_by(waiting) == b"m1"
    assert scene.bodies("tq") == [b"m2"]


@pytest.mark.scene("T46")
@pytest.mark.spec("DM-115")
def test_what_a_transaction_sent_never_was_when_it_aborts() -> None:
    scene = with_transactional_queue()
    transaction = scene.begin()
    scene.send("tq", b"m1", transaction=transaction)
    scene.abort(transaction)
    assert scene.bodies("tq") == []
    assert scene.signals == []
    assert scene.queue("tq").total_bytes == scene.queue("tq").counts.reserved == 0


@pytest.mark.scene("T47")
@pytest.mark.spec("DM-103", "DM-104")
@pytest.mark.parametrize("bodies", [(b"a", b"b", b"c"), (b"a",)])
def test_the_ends_of_a_transaction_are_marked(bodies: tuple[bytes, ...]) -> None:
    scene = with_transactional_queue()
    transaction = scene.begin()
    for body in bodies:
        scene.send("tq", body, transaction=transaction)
    assert scene.prepare(transaction) is HResult.OK
    scene.commit(transaction)
    received = [each.message for each in scene.receive("tq", count=5).messages]
    assert [each.body for each in received if each.first_in_transaction] == [bodies[0]]
    assert [each.body for each in received if each.last_in_transaction] == [bodies[-1]]


@pytest.mark.scene("T48")
@pytest.mark.spec("DM-101", "DM-106", "DM-112")
def test_an_unknown_transaction_cannot_end() -> None:
    scene, unknown = Scene(), UUID(int=7)
    before = everything(scene.state)
    for step in (scene.prepare, scene.commit, scene.abort):
        assert step(unknown) is HResult.TRANSACTION_SEQUENCE
    assert everything(scene.state) == before


@pytest.mark.scene("T49")
@pytest.mark.spec("DM-234", "DM-110")
@pytest.mark.parametrize("committed", [True, False])
def test_a_move_in_a_transaction_happens_at_its_end(committed: bool) -> None:
    scene = Scene("a", "b")
    scene.send("a", b"m1")
    transaction = scene.begin()
    moved = scene.ask(MoveMessage(0, "a", scene.lookup_ids("a")[0], "b", transaction))
    assert moved.status is HResult.OK
    assert (scene.bodies("a"), scene.bodies("b")) == ([], [])
    if committed:
        scene.commit(transaction)
        assert (scene.bodies("a"), scene.bodies("b")) == ([], [b"m1"])
        assert scene.became_available("b") == 1
    else:
        scene.abort(transaction)
        assert (scene.bodies("a"), scene.bodies("b")) == ([b"m1"], [])
        assert scene.became_available("b") == 0


@pytest.mark.scene("T50")
@pytest.mark.spec("DM-232", "DM-233")
def test_a_dead_letter_moves_to_a_system_queue() -> None:
    """Applications do not move messages there, the manager does; readers there are woken too (AN-14)."""
    scene = Scene("a")
    scene.send("a", b"m1", negative_journaling=True)
    waiting = scene.wait("system$;deadletter")
    refused = scene.ask(MoveMessage(0, "a", scene.lookup_ids("a")[0], "system$;deadletter"))
    assert refused.status is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    scene.ask(PurgeQueue(0, "a"))
    assert scene.bodies("a") == []
    assert scene.heard_by(waiting) == b"m1"
