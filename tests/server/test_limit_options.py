"""Tests the table [limits]: what is refused, and what the rest of the server gets of it."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.limit_options import NAMES, LimitOptions
from reliquary.server.loading import load


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"keep", "rate", "burst"}])
def test_a_limit_below_one_is_refused_by_name_and_value(name: str) -> None:
    below: dict[str, Any] = {name: 0}
    with pytest.raises(UsageError, match=f"limits.{name} is 0, it must be at least 1"):
        LimitOptions(**below)


def test_a_limit_of_consumers_is_read_from_the_environment_or_refused_with_its_forms() -> None:
    assert load(environment={"RELIQUARY_LIMITS_KEEP": "7d,10g"}).limits.keep == "7d,10g"
    assert load(environment={"RELIQUARY_LIMITS_KEEP": "5000"}).limits.keep == "5000"
    with pytest.raises(UsageError, match="a limit is written as 7d"):
        load(environment={"RELIQUARY_LIMITS_KEEP": "a week"})


def test_limits_are_read_from_the_environment() -> None:
    settings = load(
        environment={"RELIQUARY_LIMITS_BODY_MEMORY": "1000", "RELIQUARY_LIMITS_TRANSACTIONS": "3"}
    )
    assert settings.limits == LimitOptions(body_memory=1000, transactions=3)
    with pytest.raises(UsageError, match=r"limits\.connections: Expected `int`"):
        load(environment={"RELIQUARY_LIMITS_CONNECTIONS": "many"})
