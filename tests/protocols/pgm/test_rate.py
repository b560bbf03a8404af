"""Tests the rate of a source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.pgm.rate import Bucket, Pace
from reliquary.protocols.pgm.settings import PgmSettings

START = Instant(5_000_000)


def test_a_bucket_gives_what_it_has_and_then_what_flows_in() -> None:
    bucket = Bucket(1_000, 500, START)
    assert bucket.ready_at(500, START) == START
    bucket.take(500, START)
    assert bucket.ready_at(100, START) == START + SECOND // 10
    assert bucket.ready_at(1, START) == START + SECOND // 1_000


def test_packets_that_may_not_wait_leave_a_debt() -> None:
    bucket = Bucket(1_000, 500, START)
    bucket.take(1_500, START)
    assert bucket.ready_at(1, START) == START + 1_001_000


def test_a_packet_larger_than_the_bucket_goes_when_it_is_full() -> None:
    bucket = Bucket(1_000, 500, START)
    bucket.take(500, START)
    assert bucket.ready_at(9_000, START) == START + SECOND // 2


@pytest.mark.spec("SR-007")
@given(st.lists(st.integers(24, 1468), min_size=1, max_size=200), st.integers(10_000, 5_000_000))
def test_no_interval_sees_more_than_the_bucket_and_what_flows_in(sizes: list[int], rate: int) -> None:
    settings = PgmSettings(rate=rate)
    pace, now, sent = Pace(settings, START), START, []
    for size in sizes:
        now = pace.ready_at(size, now)
        pace.take(size, now)
        sent.append((now, size))
    burst = max(rate * settings.bucket // SECOND, settings.largest_packet)
    for begin in range(0, len(sent), 7):
        total = sum(size for _, size in sent[begin:])
        assert total <= burst + rate * (sent[-1][0] - sent[begin][0]) / SECOND + 1


def test_the_peak_is_bounded_too() -> None:
    settings = PgmSettings(rate=1_000_000, largest_packet=1_400)
    pace = Pace(settings, START)
    for _ in range(4):  # an eighth of the bucket: 5,000 bytes
        assert pace.ready_at(1_250, START) == START
        pace.take(1_250, START)
    assert pace.ready_at(1_250, START) == START + 625  # at twice the rate
