"""What multicast can be told."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.multicast.options import MulticastOptions
from reliquary.protocols.pgm.settings import PgmSettings


@pytest.mark.spec("SR-007")
def test_the_rate_is_the_one_of_the_specification_unless_it_is_chosen() -> None:
    assert MulticastOptions().protocol == PgmSettings()
    assert MulticastOptions(rate=5_000_000).protocol.rate == 5_000_000


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"ttl": 256}, "multicast.ttl is 0 to 255"),
        ({"rate": 999}, "multicast.rate is at least 1000"),
        ({"group_port": 0}, "multicast.group_port is 1 to 65535"),
        ({"group_port": 3055}, "are both 3055"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        MulticastOptions(**wrong)
