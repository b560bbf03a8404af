"""The classes of errors in base.faults stay distinct from each other."""

from __future__ import annotations

from itertools import permutations

import pytest

from reliquary.base.faults import PeerFault, StoreDamage, StoreFailure, UsageError

KINDS = (PeerFault, UsageError, StoreDamage, StoreFailure)


def test_a_peer_fault_knows_the_code_to_answer_with_and_the_rule_that_was_broken() -> None:
    fault = PeerFault(400, "no <to>", spec="MC-MQSRM 2.2.4.2")
    assert (fault.status, fault.why, fault.spec) == (400, "no <to>", "MC-MQSRM 2.2.4.2")
    assert str(fault) == "no <to>"


@pytest.mark.parametrize("kind", ["full", "permission", "io", "locked", "newer", "older", "missing"])
def test_a_store_failure_has_a_word_for_the_exit_code_and_a_sentence(kind: str) -> None:
    failure = StoreFailure(kind, "the disk is full")
    assert failure.kind == kind
    assert str(failure) == "the disk is full"


@pytest.mark.parametrize(("one", "other"), list(permutations(KINDS, 2)))
def test_who_catches_one_kind_does_not_catch_another(one: type[Exception], other: type[Exception]) -> None:
    assert not issubclass(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_none_is_taken_for_a_mistake_of_ours(kind: type[Exception]) -> None:
    assert not issubclass(kind, AssertionError)
