"""The reference page of metrics has a line for each declared metric."""

from __future__ import annotations

from pathlib import Path

from tools.metrics_reference import PARTS, declared, page


def test_the_page_has_each_metric_in_the_part_of_its_module() -> None:
    text = page(Path())
    for title, _ in PARTS:
        assert f"\n## {title}\n" in text
    rows = [line for line in text.splitlines() if line.startswith("| `reliquary_")]
    assert len(rows) == len(declared())
    row = "| `reliquary_consumer_lag` | gauge | `queue`, `consumer` | Numbers of a feed that a consumer has"
    assert any(each.startswith(row) for each in rows)
