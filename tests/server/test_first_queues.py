"""Queues that are made by their names; tests/server/test_build.py shows that they are made once and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.first_queues import make_queues
from tests.console.harness import Harness, play


def test_a_queue_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        with pytest.raises(UsageError, match="the queue 'nowhere;retry' cannot be made"):
            await make_queues(harness.server.opened, ("made", "nowhere;retry"))
        assert (await harness.ok("GET", "/queues/made"))["messages"] == 0

    play(tmp_path, scene)
