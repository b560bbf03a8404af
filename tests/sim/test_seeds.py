"""Tests that no promise is broken, in many seeds. A failure prints the command that repeats it."""

from __future__ import annotations

import pytest

from reliquary.sim.run import simulate
from tests.sim.seeds import check_seeds

CHUNK = 30


@pytest.mark.parametrize("first", range(1, 61, CHUNK))
def test_no_promise_is_broken(first: int) -> None:
    check_seeds(simulate, first, CHUNK)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 15_001, 100))
def test_no_promise_is_broken_in_thousands_of_seeds(first: int) -> None:
    check_seeds(simulate, first, 100)
