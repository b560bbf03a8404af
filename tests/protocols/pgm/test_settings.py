"""The constants, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import MILLISECOND, SECOND, seconds
from reliquary.protocols.pgm.settings import PgmSettings


@pytest.mark.spec("SR-007")
def test_the_constants_are_those_of_the_specification() -> None:
    settings = PgmSettings()
    assert settings.rate == 70_000
    assert settings.window == settings.kept == 300 * SECOND
    assert settings.advance == 45 * SECOND
    assert (settings.shortest_heartbeat, settings.longest_heartbeat) == (SECOND, 15 * SECOND)
    assert (settings.nak_repeat, settings.nak_data) == (seconds(0.75), 2 * SECOND)
    assert (settings.ncf_retries, settings.data_retries) == (10, 10)
    assert settings.bucket == 40 * MILLISECOND


@pytest.mark.spec("SR-008", "SR-009", "SR-010", "SR-013")
def test_details_that_the_rfc_leaves_open_have_values() -> None:
    settings = PgmSettings()
    assert (settings.shortest_back_off, settings.longest_back_off) == (10 * MILLISECOND, 50 * MILLISECOND)
    assert (settings.ambient_packets, settings.ambient_time) == (50, 500 * MILLISECOND)
    assert settings.repair_delay == 60 * MILLISECOND
    assert settings.largest_apdu == 65_536


def test_a_high_rate_shortens_the_window_not_the_memory() -> None:
    settings = PgmSettings(rate=10_000_000, most_kept=20_000_000)
    assert settings.kept == 2 * SECOND
    assert settings.advance == 300 * MILLISECOND


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"rate": 0}, "rate is 0"),
        ({"window": 0}, "window is 0"),
        ({"naks": 0}, "naks is 0"),
        ({"most_missing": 0}, "most_missing is 0"),
        ({"ncf_retries": -1}, "ncf_retries is -1"),
        ({"longest_heartbeat": 1}, "longest_heartbeat"),
        ({"longest_back_off": 1}, "longest_back_off"),
        ({"largest_packet": 100}, "largest_packet is 100"),
        ({"largest_packet": 66_000}, "largest_packet is 66000"),
    ],
)
def test_contradictory_settings_are_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        PgmSettings(**wrong)
