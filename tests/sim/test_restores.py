"""Tests when backups are made and restored."""

from __future__ import annotations

from typing import Any

from reliquary.sim import restores
from reliquary.sim.chance import SeededChance
from reliquary.sim.run import simulate


class StubHost:
    """Records the calls to a host."""

    def __init__(self, name: str, story: list[tuple[str, str]]) -> None:
        self.name = name
        self.story = story

    def back_up(self) -> str:
        self.story.append((self.name, "backup"))
        return f"backup {len(self.story)}"

    def restore(self, backup: str, *, known: bool) -> None:
        assert backup.startswith("backup")
        self.story.append((self.name, f"restore, {known}"))


def suffered(seed: int, steps: int = 200) -> tuple[list[tuple[str, str]], list[int]]:
    story: list[tuple[str, str]] = []
    turns: list[int] = []
    hosts: list[Any] = [StubHost(name, story) for name in "abc"]
    restores.run_with_restores(SeededChance(seed), hosts, steps, turns.append)
    return story, turns


def test_every_tenth_seed_restores() -> None:
    assert [seed for seed in range(1, 51) if restores.are_due(seed)] == [10, 20, 30, 40, 50]
    assert simulate(10).restores > 0 == simulate(11).restores


def test_a_host_is_backed_up_before_it_is_restored() -> None:
    for seed in range(50):
        story, turns = suffered(seed)
        assert turns == sorted(turns)
        assert turns[-1] == 300
        for name in {host for host, _ in story}:
            acts = [act for host, act in story if host == name]
            assert acts[0] == "backup"
            assert acts[-1].startswith("restore")


def test_every_host_may_suffer_also_two_of_them_and_more_than_once() -> None:
    stories = [suffered(seed)[0] for seed in range(80)]
    assert {name for story in stories for name, _ in story} == set("abc")
    assert any(len({name for name, _ in story}) == 2 for story in stories)
    counts = {sum(act != "backup" for _, act in story) for story in stories}
    assert counts >= {1, 2}
    assert {act for story in stories for _, act in story} >= {"restore, True", "restore, False"}
