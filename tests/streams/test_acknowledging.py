"""A receipt confirms all messages up to its number."""

from __future__ import annotations

from reliquary.streams.acknowledging import Confirmed, acknowledge
from reliquary.streams.apply import apply
from reliquary.streams.facts import NumbersFreed, StreamAcknowledged
from tests.streams.streams_harness import begin, new_state


def test_a_receipt_confirms_all_up_to_its_number() -> None:
    state = new_state()
    begin(state, 101, 102, 103, 104, finals=(102, 104))
    assert acknowledge(state, 4, 3) == Confirmed(arrived=(101, 102, 103), reached=(102,), done=(101, 103))
    assert (state.sent[4].stream.acknowledged, state.sent[4].awaiting) == (3, 1)
    assert state.draft.take().facts[-1] == StreamAcknowledged(4, 3)


def test_a_receipt_confirms_only_what_is_new() -> None:
    state = new_state()
    begin(state, 101, 102, 103)
    acknowledge(state, 4, 2)
    assert acknowledge(state, 4, 3) == Confirmed(arrived=(103,), reached=(), done=(103,))


def test_a_receipt_that_comes_again_or_late_confirms_nothing() -> None:
    state = new_state()
    begin(state, 101, 102, 103)
    acknowledge(state, 4, 2)
    state.draft.take()
    assert [acknowledge(state, 4, last) for last in (2, 1, 0)] == [None, None, None]
    assert state.draft.take().facts == ()


def test_a_receipt_for_messages_that_are_gone_is_noted_nevertheless() -> None:
    """The next number names it as the one before: the receiver has it."""
    state = new_state()
    begin(state, 101, 102)
    apply(state, NumbersFreed(4, (101,)))
    assert acknowledge(state, 4, 1) == Confirmed(arrived=(), reached=(), done=())
    assert state.sent[4].previous(2) == 1
