"""The transmit window keeps packets until they are too old to be repaired."""

from __future__ import annotations

import pytest

from reliquary.base.time import MILLISECOND, Duration, Instant
from reliquary.protocols.pgm.window import SentPacket, TransmitWindow


def filled(count: int, first: int = 100) -> TransmitWindow:
    """Return a packet of one byte each second."""
    window = TransmitWindow(first)
    for at in range(count):
        window.add(SentPacket(bytes([at]), None, False, Instant(at * 1_000_000)))
    return window


def test_an_empty_window_ends_before_it_begins() -> None:
    window = TransmitWindow(100)
    assert (window.trail, window.lead, window.size) == (100, 99, 0)
    assert 100 not in window


def test_packets_are_found_by_number() -> None:
    window = filled(5)
    assert (window.trail, window.lead, window.size) == (100, 104, 5)
    assert window[103].payload == b"\3"
    assert 104 in window
    assert 105 not in window


@pytest.mark.spec("SR-011")
def test_the_window_drops_old_packets() -> None:
    window = filled(5)
    window.advance(Instant(3_000_000), None)
    assert (window.trail, window.lead, window.size) == (103, 104, 2)
    assert window[103].payload == b"\3"
    window.advance(Instant(9_000_000), None)
    assert (window.trail, window.lead, window.size) == (105, 104, 0)


@pytest.mark.spec("SR-012")
def test_the_window_keeps_the_first_requested_number() -> None:
    window = filled(5)
    window.advance(Instant(9_000_000), 102)
    assert window.trail == 102


@pytest.mark.spec("SR-010")
def test_a_repair_of_a_newer_packet_waits_longer() -> None:
    window = filled(6)
    longest = Duration(60 * MILLISECOND)
    assert [window.repair_delay(number, longest) // MILLISECOND for number in range(100, 106)] == [
        0, 10, 20, 30, 40, 50,
    ]  # fmt: skip
