"""Scenes of starting: what a new manager creates, and what an old one finds again."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.names.pathnames import SYSTEM_QUEUES
from tests.queueing.state_checks import durable
from tests.scenes.harness import Scene


@pytest.mark.scene("T03")
@pytest.mark.spec("DM-097", "DM-114")
def test_a_single_phase_transaction_does_not_survive_the_process() -> None:
    scene = Scene()
    scene.send("orders", b"m1", b"m2")
    transaction = scene.begin()
    assert scene.take("orders", transaction=transaction) == b"m1"
    scene.prepare(transaction, single_phase=True)
    scene.restart(start=False)
    assert list(scene.state.transactions.open) == [transaction]
    scene.start()
    assert not scene.state.transactions.open
    assert scene.bodies() == [b"m1", b"m2"]


@pytest.mark.scene("T05")
@pytest.mark.spec("DM-047", "DM-018", "DM-093")
def test_what_is_recoverable_is_there_after_a_restart() -> None:
    scene = Scene()
    scene.send("orders", b"m1", label="kept", priority=5, application_tag=7, time_to_be_received=1000)
    scene.send("orders", b"m2", delivery=Delivery.EXPRESS)
    before, sequence = durable(scene.state), scene.state.numbers.sequence
    scene.restart()
    assert durable(scene.state) == before
    assert scene.bodies() == [b"m1"], "an express message may be lost, and ours is"
    assert scene.state.numbers.sequence >= sequence
    assert all(f"system$;{name}" in scene.state.names.by_path for name in SYSTEM_QUEUES)
