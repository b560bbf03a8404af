"""Tests the pure parts of the growth benchmark: its cases, its ratios, and what it says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.backlog import Sample, stalls
from bench.growth import CASES, QUICK, case_of, judged, middle, ratios
from bench.usage import Usage


def row(extent: int, cost: float, **more: Any) -> dict[str, Any]:
    return {"extent": extent, "foreground_us": cost - 1, "background_us": 1.0, **more}


def deep(extent: int, enqueue: float, dequeue: float, ratio: float) -> dict[str, Any]:
    costs = {"enqueue_bench": row(0, enqueue), "dequeue_bench": row(0, dequeue)}
    return row(extent, 1, **costs, enqueue_ratio=0.9, dequeue_ratio=ratio)


def test_the_quick_cases_have_every_axis_and_begin_with_the_smallest_case() -> None:
    assert {axis: cases[0] for axis, cases in QUICK.items()} == {
        axis: cases[0] for axis, cases in CASES.items()
    }


def test_the_cases_of_an_axis_differ_in_what_grows() -> None:
    assert [case_of("queues", extent).queues for extent in (1, 10_000)] == [1, 10_000]
    assert [case_of("connections", extent).connections for extent in (1, 2_000)] == [1, 2_000]
    assert [case_of("size", extent).body_bytes for extent in (100, 10_000_000)] == [100, 10_000_000]


def test_every_queue_and_connection_of_a_case_has_messages() -> None:
    assert case_of("queues", 10_000).messages >= 10_000
    assert case_of("connections", 2_000).messages >= 8_000
    assert case_of("size", 10_000_000).messages == 60


def test_the_middle_of_the_rounds_counts() -> None:
    samples = [Sample(rate, Usage(cost, 0.0, 10.0, 20.0)) for rate, cost in ((5, 3e-6), (9, 1e-6), (7, 2e-6))]
    assert middle(samples) == {
        "per_s": 7,
        "foreground_us": 2.0,
        "background_us": 0.0,
        "written_bytes": 10,
        "read_bytes": 20,
    }


def test_a_deep_queue_is_compared_by_rate_and_by_processor_time() -> None:
    shallow, slow = row(0, 20.0, per_s=1_000), row(0, 25.0, per_s=700)
    assert ratios("enqueue", shallow, slow) == {"enqueue_ratio": 0.7, "enqueue_processor_ratio": 0.8}


def test_an_expensive_case_is_named_with_its_ratio() -> None:
    (line,) = judged("queues", [row(1, 100.0), row(10, 100.0), row(1_000, 150.0)])
    assert line.endswith("more than 20 % dearer: 1,000 (1.50)")


def test_without_an_expensive_case_the_slope_is_still_printed() -> None:
    (line,) = judged("connections", [row(1, 100.0), row(100, 100.0)])
    assert line == ("a message costs 100 us in the smallest case, slope +0.000; no case is 20 % dearer")


def test_sizes_have_a_cost_for_each_kilobyte() -> None:
    (line,) = judged("size", [row(1_000, 101.0), row(1_000_000, 1_100.0)])
    assert "1.00 us for each KB; no case is 20 % dearer" in line


def test_a_depth_that_is_slow_beside_an_empty_queue_is_named() -> None:
    lines = judged("depth", [deep(10, 20.0, 30.0, 1.0), deep(10_000_000, 20.0, 60.0, 0.6)])
    assert [text.split(" costs ")[0] for text in lines[:2]] == ["an enqueue", "a dequeue"]
    assert "10,000,000 (2.00)" in lines[1]
    assert lines[2] == "below 0.85 of an empty queue: 10000000"


def test_stalls_are_counted_over_all_files_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text(
        "[x] Stalling writes because we have 4 immutable memtables\n[x] Moved #7 to level-6\n"
    )
    (tmp_path / "LOG.old.1").write_text("[x] Stopping writes because we have 36 level-0 files\n")
    assert stalls(tmp_path) == 2
