"""Tests the bits of a mask: events have their own numbers, and no other bit is an event or two things."""

from __future__ import annotations

from reliquary.spark.pipelines.audit import masks
from reliquary.spark.pipelines.audit.masks import EVENT_NAMES, LANE, bit
from reliquary.wire.history import HistoryEvent


def test_the_bit_of_an_event_is_its_number() -> None:
    assert [bit(name) for name in EVENT_NAMES] == [1 << int(event) for event in sorted(HistoryEvent)]


def test_no_two_meanings_share_a_bit() -> None:
    names = (
        "TRANSACTIONAL", "REACHED", "READ", "BATCHED", "FETCHED", "OUTGOING", "LOCAL", "UNPROMISED",
    )  # fmt: skip
    flags = [getattr(masks, name) for name in names] + [bit(event) for event in EVENT_NAMES] + [7 << LANE]
    assert sum(flags).bit_count() == sum(flag.bit_count() for flag in flags)
    assert sum(flags).bit_length() < 64
