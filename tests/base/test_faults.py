"""The classes of errors in base.faults stay distinct from each other."""

from __future__ import annotations

from itertools import permutations

import pytest

from reliquary.base.faults import PeerFault, StoreDamage, StoreFailure, UsageError

KINDS = (PeerFault, UsageError, StoreDamage, StoreFailure)


def test_a_peer_fault_has_the_code_of_the_answer_and_the_broken_rule() -> None:
    fault = PeerFault(400, "no <to>", spec="MC-MQSRM 2.2.4.2")
    assert (fault.status, fault.why, fault.spec) == (400, "no <to>", "MC-MQSRM 2.2.4.2")
    assert str(fault) == "no <to>"


@pytest.mark.parametrize("kind", ["full", "permission", "io", "locked", "newer", "older", "missing"])
def test_a_store_failure_has_a_word_for_the_exit_code_and_a_sentence(kind: str) -> None:
    failure = StoreFailure(kind, "the disk is full")
    assert failure.kind == kind
    assert str(failure) == "the disk is full"


@pytest.mark.parametrize(("one", "other"), list(permutations(KINDS, 2)))
def test_an_except_clause_for_one_class_catches_no_other(
    one: type[Exception], other: type[Exception]
) -> None:
    assert not issubclass(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_no_class_is_an_assertion_error(kind: type[Exception]) -> None:
    assert not issubclass(kind, AssertionError)
