"""Scenes of Enqueue Message: quotas, order, identifiers, ranges."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import CreateQueue, FlowControl
from reliquary.queueing.model.message import FOREVER, LABEL_LIMIT, Message, size_of
from reliquary.queueing.model.queue import QueueSettings
from tests.queueing.answers import everything
from tests.scenes.harness import Scene

HEADERS = size_of(Message())


@pytest.mark.scene("T28")
@pytest.mark.spec("DM-187", "DM-197", "DM-294")
def test_a_throttled_manager_takes_nothing() -> None:
    scene = Scene()
    scene.handle(FlowControl(throttled=True))
    before = everything(scene.state)
    assert scene.send("orders", b"m1").status is HResult.INSUFFICIENT_RESOURCES
    assert everything(scene.state) == before
    scene.handle(FlowControl(throttled=False))
    assert scene.send("orders", b"m1").status is HResult.OK


@pytest.mark.scene("T29")
@pytest.mark.spec("DM-188")
def test_a_full_queue_takes_nothing_more() -> None:
    scene = Scene("endless")
    scene.ask(CreateQueue(0, "small", QueueSettings(quota=1)))
    assert scene.send("small", b"." * (900 - HEADERS)).status is HResult.OK
    assert scene.queue("small").total_bytes == 900
    answer = scene.send("small", b".")
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert "the queue's quota" in answer.why
    assert scene.queue("small").total_bytes == 900
    assert scene.queue("endless").record.settings.quota == FOREVER
    assert scene.send("endless", b"." * 5_000_000).status is HResult.OK


@pytest.mark.scene("T30")
@pytest.mark.spec("DM-187")
def test_the_managers_quota_is_looked_at_first() -> None:
    scene = Scene(quota=1)
    scene.ask(CreateQueue(0, "small", QueueSettings(quota=1)))
    answer = scene.send("small", b"." * 2000)
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert "the manager's quota" in answer.why


@pytest.mark.scene("T31")
@pytest.mark.spec("DM-028", "DM-193")
def test_priority_goes_before_arrival() -> None:
    scene = Scene()
    for name, priority in ((b"first 3", 3), (b"7", 7), (b"second 3", 3), (b"0", 0)):
        scene.send("orders", name, priority=priority)
    assert scene.bodies() == [b"7", b"first 3", b"second 3", b"0"]


@pytest.mark.scene("T32")
@pytest.mark.spec("DM-190", "DM-191", "DM-192")
def test_a_lookup_identifier_is_a_lane_and_seven_bytes_of_the_sequential_id() -> None:
    """The scenario's literal rule has the lanes in the wrong order (AN-03): this manager sorts by the
    identifier."""
    scene = Scene("q")
    scene.create("tq", transactional=True)
    for path, lane in (("tq", 0x00), ("q", 0x02)):
        scene.state.numbers.sequence = 0x1122334455667788
        sent = scene.send(path, b"m1", priority=5)
        assert scene.state.numbers.sequence == 0x1122334455667789
        assert sent.lookup_ids == (lane << 56 | 0x22334455667789,)


@pytest.mark.scene("T80")
@pytest.mark.spec("DM-055", "DM-048")
@pytest.mark.parametrize(("attribute", "value"), [("label", "x" * (LABEL_LIMIT + 1)), ("priority", 8)])
def test_what_is_out_of_range_is_refused(attribute: str, value: Any) -> None:
    scene = Scene()
    before = everything(scene.state)
    answer = scene.send("orders", b"m1", **{attribute: value})
    assert answer.status is HResult.INVALID_PARAMETER
    assert answer.why
    assert everything(scene.state) == before
