"""Refused messages whose senders do not know it yet are counted by sender and together."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.mqqb.refusals import Refusals

SENDERS = [UUID(int=number) for number in (1, 2, 3)]


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "forget"]), st.sampled_from(SENDERS))))
def test_the_total_is_the_sum_of_all_senders(steps: list[tuple[str, UUID]]) -> None:
    refusals, expected = Refusals(), dict.fromkeys(SENDERS, 0)
    for step, sender in steps:
        getattr(refusals, step)(sender)
        before = expected[sender]
        expected[sender] = {"add": before + 1, "remove": max(before - 1, 0), "forget": 0}[step]
    assert {sender: refusals.of(sender) for sender in SENDERS} == expected
    assert refusals.total == sum(expected.values())


def test_a_sender_that_knows_all_its_refusals_takes_no_memory() -> None:
    refusals = Refusals()
    for number in range(100):
        refusals.add(UUID(int=number))
        refusals.remove(UUID(int=number))
    assert (refusals.total, refusals._of) == (0, {})
