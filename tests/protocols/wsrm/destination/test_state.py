"""Tests what a sequence says of itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec.values import Dialect, Incomplete
from tests.protocols.wsrm.destination.rmd import ADDRESS, ANONYMOUS, POLLED, Rmd


@given(st.sets(st.integers(1, 8)))
def test_the_figures_follow_from_the_numbers(numbers: set[int]) -> None:
    rmd = Rmd()
    sequence = rmd.sequence(rmd.create())
    for number in numbers:
        rmd.send(sequence.row.identifier, number)
    missing = next(each for each in range(1, 10) if each not in numbers)
    assert sequence.next == missing
    assert sequence.ahead == len([each for each in numbers if each > missing])
    assert sequence.highest == max(numbers, default=0)


def test_a_sequence_is_complete_when_its_last_number_is_known_and_nothing_is_missing() -> None:
    rmd = Rmd()
    sequence = rmd.sequence(rmd.create())
    rmd.send(sequence.row.identifier, 1)
    assert not sequence.is_complete
    rmd.send(sequence.row.identifier, 3, last=True)
    assert not sequence.is_complete
    rmd.send(sequence.row.identifier, 2)
    assert sequence.is_complete


def test_order_is_kept_where_it_is_wanted_or_where_gaps_decide() -> None:
    def keeps(ordered: bool, incomplete: Incomplete) -> bool:
        rmd = Rmd(ordered=ordered, incomplete=incomplete)
        return rmd.sequence(rmd.create()).keeps_order

    assert not keeps(False, Incomplete.NO_DISCARD)
    assert keeps(True, Incomplete.NO_DISCARD)
    assert keeps(False, Incomplete.FOLLOWING)


def test_acks_to_says_how_acknowledgements_leave() -> None:
    rmd = Rmd()
    found = [rmd.sequence(rmd.create(each)) for each in (ANONYMOUS, ADDRESS, POLLED)]
    ways = [(each.acknowledges_on_response, each.acknowledges_on_poll) for each in found]
    assert [each.acks_to for each in found] == [ANONYMOUS, ADDRESS, POLLED]
    assert {each.dialect for each in found} == {Dialect()}
    assert ways == [(True, False), (False, False), (False, True)]


def test_identifiers_without_a_message_id_differ_between_sequences() -> None:
    rmd = Rmd()
    one, other = (rmd.sequence(rmd.create()) for _ in range(2))
    assert one.lineage != other.lineage
    assert one.lineage == one.lineage
