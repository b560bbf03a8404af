"""Tests when an SPM is due: ambient SPMs, and heartbeats whose pauses become longer."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.protocols.pgm.spm_schedule import SpmSchedule

SETTINGS = PgmSettings(ambient_packets=3)
START = Instant(0)
QUIET = Instant(1000 * SECOND)
"""An ambient SPM at this moment keeps heartbeats the only cause before it."""


@pytest.mark.spec("SR-009")
def test_an_ambient_spm_is_due_after_a_time_or_a_number_of_packets() -> None:
    spms = SpmSchedule(SETTINGS, START)
    assert spms.take_due(START)
    assert spms.spm_sent(START) == 1
    assert not spms.take_due(START)
    assert [spms.data_sent(START) for _ in range(3)] == [False, False, True]
    assert spms.take_due(START)
    assert spms.spm_sent(START) == 2
    assert not spms.take_due(START)
    assert spms.take_due(Instant(SETTINGS.ambient_time))


def test_heartbeats_become_rarer_until_data_is_sent() -> None:
    spms = SpmSchedule(SETTINGS, START)
    spms.ambient_at = QUIET
    times = []
    for _ in range(6):
        times.append(spms.heartbeat_at // SECOND)
        assert spms.take_due(spms.heartbeat_at)
    assert times == [1, 3, 7, 15, 30, 45]
    now = spms.heartbeat_at
    spms.data_sent(now)
    assert spms.heartbeat_at - now == SETTINGS.shortest_heartbeat
