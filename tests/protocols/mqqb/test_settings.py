"""Tests of the settings of MQQB and their limits."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, seconds
from reliquary.protocols.mqqb.settings import MqqbSettings


@pytest.mark.spec("QB-001", "QB-002", "QB-102", "QB-103", "QB-145", "QB-158", "QB-160", "QB-161", "QB-101")
def test_the_defaults_are_those_of_windows() -> None:
    settings = MqqbSettings()
    assert [span // SECOND for span in settings.resend_ladder] == [30] * 3 + [300] * 3 + [1800] * 3 + [21600]
    assert (settings.port, settings.ping_port, settings.window) == (1801, 3527, 64)
    assert (settings.order_ack, settings.longest_order_ack) == (seconds(0.5), seconds(10))
    assert not settings.insecure_nacks


def test_a_host_may_have_another_port() -> None:
    settings = MqqbSettings(ports={"shop.example": 1802})
    assert settings.port_of("Shop.Example") == 1802
    assert settings.port_of("other") == 1801


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"window": 0}, "window is 0, it must be at least 1"),
        ({"window": 65_536}, "it must be at most 65535"),
        ({"ack_wait": seconds(19)}, "ack_wait is 19 s, it must be between 20 and 120 s"),
        ({"resend_ladder": ()}, "resend_ladder needs at least one span"),
        ({"order_ack": seconds(11)}, "longest_order_ack is 10 s, shorter than order_ack, 11 s"),
        ({"largest_packet": 1 << 23}, "largest_packet is 8388608, it must be between 1024"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        MqqbSettings(**wrong)
