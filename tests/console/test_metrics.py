"""The page of metrics is valid Prometheus text, and all that it has was declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.console.metrics import PREFIX, text_of
from reliquary.engine.histogram import Histogram
from reliquary.net.counters import Metric
from tests.console import prometheus_text
from tests.console.harness import Harness, play
from tools.metrics_reference import declared

ODD = 'a"b\\c\nd'


def test_the_page_can_be_read_and_all_its_metrics_are_declared(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        far = "DIRECT%3DTCP%3A192.0.2.1%5Cprivate$%5Cfar"
        await harness.send(far, "x")
        await harness.data.request("POST", "/api/v1/queues/orders/consumers", b'{"name": "lake"}')
        await harness.ok("POST", "/queues", {"name": "empty"})
        await harness.server.sampler.take()
        found = prometheus_text.read((await harness.get("/metrics")).body.decode())
        known = {PREFIX + each.name: each for each in declared()}
        for name, each in found.items():
            metric = known[name]
            assert (each.kind, each.meaning) == (metric.kind, metric.meaning)
            labels = (*metric.labels, "le") if metric.kind == "histogram" else metric.labels
            seen = {tuple(key for key, _ in pairs) for _, pairs in each.samples}
            assert seen <= {labels, ()} if metric.kind == "histogram" else seen <= {labels}
        of_queues = [each for name, each in found.items() if name.startswith(f"{PREFIX}queue_")]
        assert len(of_queues) == 9
        for each in of_queues:  # every queue always, zeros too
            assert {"orders", "empty"} <= {dict(labels)["queue"] for _, labels in each.samples}
        assert found["reliquary_sync_seconds"].samples["_count", ()] > 0
        turns = found["reliquary_sync_turns"].samples
        assert turns["_sum", ()] >= turns["_count", ()] > 0
        assert found["reliquary_consumer_lag"].samples[("", (("queue", "orders"), ("consumer", "lake")))] >= 0

    play(tmp_path, scene)


def test_no_metric_is_declared_twice() -> None:
    names = [each.name for each in declared()]
    assert len(names) == len(set(names)) > 60
    for each in declared():
        assert each.meaning.endswith("."), each
        assert each.name.endswith("_total") == (each.kind == "counter"), each


def test_a_label_cannot_break_out_of_its_quotes() -> None:
    text = text_of(Metric("m", "gauge", "x.", ("queue",)).of([({"queue": ODD}, 1)]))
    assert text.splitlines()[2] == r'reliquary_m{queue="a\"b\\c\nd"} 1'
    assert prometheus_text.read(text)["reliquary_m"].samples == {("", (("queue", ODD),)): 1}


def test_a_histogram_has_its_buckets_its_sum_and_its_count() -> None:
    values = Histogram((0.5, 2))
    values.add(0.25)
    values.add(9)
    text = text_of(Metric("m", "histogram", "x.").spread(values))
    assert text.splitlines()[2:] == [
        'reliquary_m_bucket{le="0.5"} 1',
        'reliquary_m_bucket{le="2"} 1',
        'reliquary_m_bucket{le="+Inf"} 2',
        "reliquary_m_sum 9.25",
        "reliquary_m_count 2",
    ]


def test_labels_that_were_not_declared_are_a_fault_of_ours() -> None:
    with pytest.raises(AssertionError, match="other labels"):
        Metric("m", "gauge", "x.", ("queue",)).of([({"peer": "a"}, 1)])
