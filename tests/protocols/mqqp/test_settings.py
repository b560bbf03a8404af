"""Tests what an administrator may choose, and what is refused."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings

FAR, REST = ServerSettings(name="far", host="10.0.0.5"), ServerSettings(name="*", user="u", password="p")


@pytest.mark.parametrize("name", ["queues", "pending", "open_time", "call_time", "memory"])
def test_nothing_may_be_zero(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is 0, it must be at least 1"):
        MqqpSettings(**{name: Duration(0)})  # type: ignore[arg-type]


def test_a_server_is_found_by_the_host_of_a_name_in_any_case() -> None:
    chosen = MqqpSettings(servers=(FAR, REST))
    assert chosen.server("FAR") is FAR
    assert chosen.server("near") is REST


def test_a_server_that_was_not_named_is_where_its_name_says() -> None:
    assert MqqpSettings(servers=(FAR,)).server("near") == ServerSettings(name="near")
