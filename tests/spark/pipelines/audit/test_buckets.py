"""Tests buckets: every message is in one, and the flow does not depend on how they are cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reliquary.spark.pipelines.audit import buckets, tables
from reliquary.spark.pipelines.audit.arrays import joined
from reliquary.spark.pipelines.audit.buckets import (
    NAMELESS,
    WIDTHS,
    flow,
    meeting_parts,
    trail_parts,
    width_of,
)
from reliquary.spark.pipelines.audit.rules import SECOND
from tests.spark.pipelines.audit.test_traces import traced
from tests.spark.pipelines.audit.world import BEGIN, FAULTS, HOUR, World


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "BITS", 3)


def test_every_trace_is_in_one_trail_and_one_meeting() -> None:
    whole = traced(World(31, FAULTS, messages=30).rows())
    for parts in (list(trail_parts(whole)), list(meeting_parts(whole))):
        assert len(parts) == len({key for key, _ in parts}) > 3
        rows = joined([part for _, part in parts]).rows()
        assert sorted(map(repr, rows)) == sorted(map(repr, whole.rows()))


def test_all_traces_of_an_identifier_are_in_one_meeting() -> None:
    where: dict[tuple[int, ...], set[str]] = {}
    for key, part in meeting_parts(traced(World(32, messages=40).rows())):
        for row in part.rows():
            where.setdefault((row["id_high"], row["id_low"], row["id_number"]), set()).add(key)
    assert {len(keys) for keys in where.values()} == {1}


def test_a_message_without_an_identifier_is_in_no_meeting_of_others() -> None:
    world = World(33, messages=0)
    world.managers[0].tell(BEGIN, "received", "orders", 5)
    keys = [key for key, part in meeting_parts(traced(world.rows())) if 5 in part["message"]]
    assert NAMELESS in keys


def test_the_columns_of_a_flow_are_as_wide_as_its_time_needs() -> None:
    assert width_of(BEGIN, BEGIN + 1) == WIDTHS[0] * SECOND
    assert width_of(BEGIN, BEGIN + 2 * HOUR) == 300 * SECOND
    assert all(wide % narrow == 0 for narrow, wide in pairwise(WIDTHS))


def test_a_flow_is_the_sum_of_the_flows_of_its_buckets() -> None:
    whole = traced(World(34, messages=60).rows())
    times = np.concatenate([whole["entered_time"], whole["received_time"]])
    known = times[(times > 0) & (times < BEGIN * 2)]
    width = width_of(int(known.min()), int(known.max()))
    parts = [flow(part) for _, part in trail_parts(whole)]
    assert tables.flow(parts, width) == tables.flow([flow(whole)], width)
