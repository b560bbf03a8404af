"""Scenes of creating, deleting and sharing queues."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import Access, CreateQueue, DeleteQueue, OpenQueue, Share
from reliquary.queueing.model.message import FOREVER, NO_GUID, MessageClass
from reliquary.queueing.model.queue import QueuePrivacy, QueueType
from tests.queueing.answers import everything
from tests.scenes.harness import Scene


@pytest.mark.scene("T06")
@pytest.mark.spec("DM-283", "DM-140", "DM-141", "DM-137", "DM-145")
def test_a_private_queue_is_made_with_the_defaults() -> None:
    scene = Scene("other")
    queue = scene.ask(CreateQueue(0, "BENCH\\private$\\a")).queue
    assert queue.kind is QueueType.PRIVATE
    others = [number for number in scene.state.queues if number != queue.number]
    assert len({queue.number, *others}) == len(scene.state.queues)
    settings = queue.settings
    assert (settings.label, settings.type, settings.journaling) == ("", NO_GUID, False)
    assert (settings.quota, settings.journal_quota) == (FOREVER, FOREVER)
    assert (settings.authentication, settings.privacy) == (False, QueuePrivacy.OPTIONAL)
    assert (settings.transactional, settings.multicast_address, settings.base_priority) == (False, None, 0)
    assert scene.state.queues[queue.journal].record.is_journal
    assert scene.queue("a").record == queue


@pytest.mark.scene("T07")
@pytest.mark.spec("DM-136")
@pytest.mark.parametrize("path", ["private$\\", "private$\\a+b", "private$\\a,b", 'private$\\a"b', "a;b;c"])
def test_a_path_with_an_illegal_character_makes_no_queue(path: str) -> None:
    scene = Scene()
    before = everything(scene.state)
    answer = scene.ask(CreateQueue(0, path))
    assert answer.status is not HResult.OK
    assert answer.why
    assert everything(scene.state) == before


@pytest.mark.scene("T08")
@pytest.mark.spec("DM-137")
def test_a_subqueue_has_no_journal() -> None:
    scene = Scene("a")
    queue = scene.ask(CreateQueue(0, "BENCH\\private$\\a;s")).queue
    assert queue.journal is None


@pytest.mark.scene("T15")
@pytest.mark.spec("DM-154", "DM-155", "DM-199")
def test_a_deleted_queue_loses_its_messages_in_every_state() -> None:
    scene = Scene()
    scene.send("orders", b"m2", b"m1")
    readers = [scene.open("orders"), scene.open("orders", Access.PEEK)]
    assert scene.take("orders", transaction=scene.begin()) == b"m2"
    assert scene.ask(DeleteQueue(0, "orders")).status is HResult.OK
    assert scene.deleted == [MessageClass.NACK_QUEUE_DELETED] * 2
    assert [scene.state.open.handles[handle].queue for handle in readers] == [None, None]
    assert scene.take(readers[0]) is HResult.QUEUE_NOT_AVAILABLE
    assert scene.peek(readers[1]) is HResult.QUEUE_NOT_AVAILABLE


READ, PEEK, OTHER = (
    [Access.RECEIVE],
    [Access.PEEK, Access.PEEK_ADMIN],
    [Access.SEND, Access.MOVE],
)
NONE, DENY = Share.DENY_NONE, Share.DENY_RECEIVE
REFUSED = {
    **dict.fromkeys(product([DENY], READ, [NONE], READ), True),
    **dict.fromkeys(product([DENY], READ, [DENY], READ + PEEK + OTHER), True),
    **dict.fromkeys(product([DENY], PEEK, [NONE, DENY], READ), True),
    **dict.fromkeys(product([NONE], READ, [DENY], READ + PEEK + OTHER), True),
}
"""The cells of the sharing matrix that are not "ok": existing share and access, then the request's."""


@pytest.mark.scene("T16")
@pytest.mark.spec("DM-175", "DM-176", "DM-177")
def test_every_cell_of_the_sharing_matrix_is_obeyed() -> None:
    """ReceiveAdminAccess is left out here: it counts as ReceiveAccess (AN-48)."""
    every = READ + PEEK + OTHER
    for cell in product([DENY, NONE], every, [NONE, DENY], every):
        scene = Scene()
        scene.open("orders", cell[1], cell[0])
        second = scene.ask(OpenQueue(0, "orders", cell[3], cell[2]))
        expected = HResult.SHARING_VIOLATION if cell in REFUSED else HResult.OK
        assert second.status is expected, cell
