"""Tests which names of queues MQQP reads."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.reader import NAME, READER
from reliquary.queueing.model.names.formats import DirectName, parse_single


@pytest.mark.parametrize(
    ("name", "claimed"),
    [
        (r"DIRECT=OS:far\private$\orders", True),
        (r"DIRECT=TCP:10.0.0.7\orders", True),
        (r"DIRECT=OS:far\private$\orders;JOURNAL", True),
        ("DIRECT=HTTP://far/msmq/orders", False),
        (r"DIRECT=SPX:00000012:00a0234f7500\orders", False),
    ],
)
def test_names_with_a_host_or_an_address_are_read(name: str, claimed: bool) -> None:
    parsed = parse_single(name)
    assert isinstance(parsed, DirectName)
    assert READER.claims(parsed) is claimed
    assert READER.name == NAME == "mqqp"
