"""Tests that an acknowledgement which is false, or was not requested, is found."""

from __future__ import annotations

import pytest

from reliquary.sim.history import Sending
from reliquary.sim.mqqb.plugin import MqqbPlugin
from reliquary.sim.world import receipts
from reliquary.sim.world.promises import Deliveries
from reliquary.sim.world.run import simulate

SEED = 3


def test_acknowledgements_come_and_are_true() -> None:
    assert not simulate(SEED, [MqqbPlugin]).failure


def test_an_acknowledgement_that_is_not_true_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sending] = []

    def is_true(deliveries: Deliveries, sending: Sending, kind: object) -> bool:
        del deliveries, kind
        asked.append(sending)
        return False

    monkeypatch.setattr(receipts, "_is_true", is_true)
    assert simulate(SEED, [MqqbPlugin]).failure.startswith("receipt: ")
    assert asked[0].asks is not None
