"""Tests samples of a manager: rates between them, depths of queues, the ring that holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.time import SECOND
from reliquary.console import samples
from reliquary.console.samples import Rate, Sample, rates
from tests.console.harness import Harness, play


def sample(at: int, messages: int, numbered: int, syncs: int = 0) -> Sample:
    return Sample(at * SECOND, messages, 0, numbered, 0, syncs, 0)


def test_numbers_that_were_given_are_arrivals_and_the_rest_left() -> None:
    found = list(rates([sample(0, 10, 100), sample(2, 14, 110, 6), sample(4, 4, 110, 6)]))
    assert found == [Rate(2 * SECOND, 5.0, 3.0, 3.0), Rate(4 * SECOND, 0.0, 5.0, 0.0)]


def test_one_sample_has_no_rate() -> None:
    assert list(rates([sample(0, 1, 1)])) == []


def test_two_samples_of_one_moment_are_a_microsecond_apart() -> None:
    assert next(rates([sample(1, 0, 0), sample(1, 1, 1)])).arrived == SECOND


def test_a_sample_counts_messages_and_the_depth_of_each_queue(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        sampler = harness.server.sampler
        before = await sampler.take()
        await harness.send("orders", "a", "b")
        after = await sampler.take()
        assert (after.messages, after.numbered - before.numbered) == (2, 2)
        assert after.confirm > 0
        sampler.lag.late.add(samples.LATE_TICK)
        sampler.lag.late.add(samples.LATE_TICK * 2)
        harness.server.opened.engine.syncs.durations.add(samples.SLOW_SYNC * 2)
        slow = await sampler.take()
        assert (slow.slow_syncs, slow.late_ticks) == (1, 1)
        assert slow.ticks >= 2
        orders = next(each for each in harness.server.opened.state.queues.values() if len(each.order) == 2)
        assert [depth for _, depth in sampler.depths[orders.number]][-1] == 2
        await harness.ok("DELETE", "/queues/orders")
        await sampler.take()
        assert orders.number not in sampler.depths

    play(tmp_path, scene)


def test_depths_of_very_many_queues_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "QUEUES", 2)

    async def scene(harness: Harness) -> None:
        await harness.server.sampler.take()
        assert len(harness.server.sampler.depths) == 2

    play(tmp_path, scene)


def test_samples_that_cost_much_are_taken_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "PERIOD", 0.01)
    monkeypatch.setattr(samples, "SHARE", 1e-9)

    async def scene(harness: Harness) -> None:
        sampler = harness.server.sampler
        while not sampler.samples:
            await harness.get("/healthz")
        for _ in range(20):
            await harness.get("/healthz")
        assert len(sampler.samples) == 1
        assert sampler.samples[0].cost > 0

    play(tmp_path, scene)
