"""Tests how long a sender waits for a receipt."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, Duration, Instant
from reliquary.streams.ladder import RESEND_LADDER, ReceiptWait

LADDER = (Duration(2), Duration(2), Duration(60))


@pytest.mark.spec("SR-158")
def test_the_retry_delays_are_those_of_the_specification() -> None:
    assert [span // SECOND for span in RESEND_LADDER] == [30] * 3 + [300] * 3 + [1800] * 3 + [21600]


@pytest.mark.spec("SR-224")
def test_a_time_out_makes_the_next_wait_longer_up_to_the_last_delay() -> None:
    wait, spans = ReceiptWait(LADDER), []
    for _ in range(5):
        spans.append(wait.start(Instant(100)))
        wait.time_out()
    assert spans == [2, 2, 60, 60, 60]
    assert wait.timeouts == 5


@pytest.mark.spec("SR-224")
def test_progress_makes_the_next_wait_short_again() -> None:
    wait = ReceiptWait(LADDER)
    for _ in range(3):
        wait.time_out()
    wait.progress()
    assert (wait.start(Instant(100)), wait.timeouts) == (2, 0)


def test_a_wait_shows_the_time_when_it_ends() -> None:
    wait = ReceiptWait(LADDER)
    wait.start(Instant(100))
    assert (wait.running, wait.until) == (True, 102)
    wait.stop()
    assert (wait.running, wait.until) == (False, 0)
