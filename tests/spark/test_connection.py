"""How long a query waits for a server that is away."""

from __future__ import annotations

import pytest

from reliquary.client.errors import ServerUnreachable
from reliquary.spark.access import Access
from reliquary.spark.connection import LONGEST, connected, pauses


@pytest.mark.parametrize("seconds", [0.1, 3.0, 60.0, 3600.0])
def test_the_waits_grow_and_last_as_long_as_they_should(seconds: float) -> None:
    waits = pauses(seconds)
    assert sum(waits) == pytest.approx(seconds)
    assert max(waits) <= LONGEST
    assert all(wait > 0 for wait in waits)


def test_no_connection_is_opened_before_the_first_call() -> None:
    with connected(Access("http://127.0.0.1:9", timeout=0.01)) as client, pytest.raises(ServerUnreachable):
        client.feeds(["orders"])
