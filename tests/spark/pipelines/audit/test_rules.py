"""The rules, held against worlds with planted faults by the reference; Spark is held against it elsewhere."""

from __future__ import annotations

import pytest

from reliquary.spark.pipelines.audit.rules import HAPPENINGS, RULES, Kind, Limits, Over, Reason, bit, span
from reliquary.wire.history import Happening
from tests.spark.pipelines.audit.reference import Reference
from tests.spark.pipelines.audit.world import FAULTS, World


def reference(world: World) -> Reference:
    return Reference(world.rows(), in_order="ledger")


@pytest.mark.parametrize("seed", range(40))
def test_a_healthy_world_has_no_finding(seed: int) -> None:
    assert reference(World(seed)).found == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_and_no_other(fault: str) -> None:
    for seed in range(12):
        world = World(seed, (fault,) * 2)
        assert reference(world).found == world.expected, f"seed {seed}"


@pytest.mark.parametrize("seed", range(20))
def test_all_faults_at_once_are_told_apart(seed: int) -> None:
    world = World(seed, FAULTS)
    assert reference(world).found == world.expected
    assert {kind for kind, *_ in world.expected} == set(Kind)


def test_the_bit_of_an_event_is_its_number() -> None:
    assert [bit(name) for name in HAPPENINGS] == [1 << int(happening) for happening in sorted(Happening)]


def test_every_kind_has_a_rule_and_every_rule_is_whole() -> None:
    assert {rule.kind for rule in RULES} == set(Kind)
    assert {rule.over for rule in RULES} == set(Over)
    for rule in RULES:
        for part in ("condition", "since", "until", "at"):
            assert "{" not in rule.text(getattr(rule, part), Limits())
        assert rule.events
        assert rule.sentence[0].islower()
        assert not rule.sentence.endswith(".")


def test_every_reason_has_a_sentence() -> None:
    assert len({reason.sentence for reason in Reason}) == len(Reason)


def test_a_span_is_sql() -> None:
    assert span("x").startswith("case when x < 120e6")
