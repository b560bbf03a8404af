"""The rules, held against worlds with planted faults by the reference; Spark is held against it elsewhere."""

from __future__ import annotations

import pytest

from reliquary.spark.pipelines.audit.rules import RULES, LateCondition, RuleRows, span, times
from reliquary.spark.pipelines.audit.verdicts import FindingKind
from tests.spark.pipelines.audit.reference import Reference
from tests.spark.pipelines.audit.world import FAULTS, World


def reference(world: World) -> Reference:
    return Reference(world.rows())


@pytest.mark.parametrize("seed", range(40))
def test_a_healthy_world_has_no_finding(seed: int) -> None:
    assert reference(World(seed)).found == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_and_no_other(fault: str) -> None:
    for seed in range(12):
        world = World(seed, (fault,) * 2)
        assert reference(world).found == world.expected, f"seed {seed}"


@pytest.mark.parametrize("seed", range(20))
def test_all_faults_at_once_are_distinguished(seed: int) -> None:
    world = World(seed, FAULTS)
    assert reference(world).found == world.expected
    assert {kind for kind, *_ in world.expected} == set(FindingKind)


def test_every_kind_has_a_rule_and_every_rule_is_whole() -> None:
    assert {rule.kind for rule in RULES} == set(FindingKind)
    assert {rule.over for rule in RULES} == set(RuleRows)
    assert {rule.later for rule in RULES} == set(LateCondition)
    ranks = [rule.rank for rule in RULES if rule.rank]
    assert sorted(ranks) == list(range(1, len(ranks) + 1))
    for rule in RULES:
        assert (rule.detail is None) == (rule.amount is None)
        assert 1 <= len(rule.events) <= 2
        assert len(rule.other_events) <= 1
        assert rule.sentence[0].islower()
        assert not rule.sentence.endswith(".")


def test_numbers_are_written_as_people_do() -> None:
    assert [span(each * 1_000_000) for each in (3, 600, 7200)] == ["3.0 s", "10.0 min", "2.0 h"]
    assert times(3) == "3 times"
