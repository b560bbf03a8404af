"""Fixtures that several folders of these tests need."""

from __future__ import annotations

import pytest

from tests.queueing.fact_bench import FactBench


@pytest.fixture
def made() -> FactBench:
    """Return a manager with the queues "orders" and "other"."""
    return FactBench()
