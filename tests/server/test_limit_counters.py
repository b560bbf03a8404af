"""The use of the budget, as metrics."""

from __future__ import annotations

from pathlib import Path

from reliquary.net.tcp.budget import Budget
from reliquary.server.limit_counters import families
from tests.console.harness import Harness, play
from tests.console.test_pages import samples


def test_each_account_has_a_gauge() -> None:
    budget = Budget()
    budget.bodies.used, budget.answers.used = 5, 7
    assert {each.name: list(each.samples) for each in families(budget)} == {
        "body_memory_bytes": [({}, 5)],
        "answer_memory_bytes": [({}, 7)],
    }


def test_a_server_shows_the_use_of_its_budget(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        found = samples((await harness.get("/metrics")).body.decode())
        assert found["reliquary_body_memory_bytes"] == found["reliquary_answer_memory_bytes"] == 0

    play(tmp_path, scene)
