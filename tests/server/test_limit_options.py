"""The table [limits]: what is refused, and what the rest of the server gets of it."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.limit_options import NAMES, LimitOptions
from reliquary.server.loading import load


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_below_one_is_refused_by_name_and_value(name: str) -> None:
    with pytest.raises(UsageError, match=f"limits.{name} is 0, it must be at least 1"):
        LimitOptions(**{name: 0})


def test_limits_are_read_from_the_environment() -> None:
    settings = load(
        environment={"RELIQUARY_LIMITS_BODY_MEMORY": "1000", "RELIQUARY_LIMITS_TRANSACTIONS": "3"}
    )
    assert settings.limits == LimitOptions(body_memory=1000, transactions=3)
    with pytest.raises(UsageError, match=r"limits\.connections: Expected `int`"):
        load(environment={"RELIQUARY_LIMITS_CONNECTIONS": "many"})
