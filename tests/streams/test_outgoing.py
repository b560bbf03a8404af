"""An outgoing stream keeps which message has which number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.streams.outgoing import Sent
from reliquary.streams.tables import OutgoingStream


def sent_with(*numbers: int, acknowledged: int = 0, started: bool = False) -> Sent:
    """Return a stream whose message n has the LookupIdentifier 1000 + n."""
    sent = Sent(OutgoingStream(1, max(numbers), acknowledged, started=started))
    for number in numbers:
        sent.give(number, 1000 + number)
    return sent


@pytest.mark.spec("SR-264")
@pytest.mark.parametrize(
    ("numbers", "acknowledged", "number", "previous"),
    [
        pytest.param((1, 2, 3), 0, 1, 0, id="the first"),
        pytest.param((1, 2, 3), 0, 3, 2, id="without a gap"),
        pytest.param((1, 4), 0, 4, 1, id="those between are gone"),
        pytest.param((3, 4), 2, 3, 2, id="what was acknowledged is gone and counts"),
        pytest.param((9,), 2, 9, 2, id="acknowledged, then a gap"),
        pytest.param((2, 9), 5, 9, 5, id="acknowledged is later than what waits for its final receipt"),
        pytest.param((63, 200), 0, 200, 63, id="over several rows"),
    ],
)
def test_the_previous_number_is_one_that_the_receiver_has_or_gets(
    numbers: tuple[int, ...], acknowledged: int, number: int, previous: int
) -> None:
    assert sent_with(*numbers, acknowledged=acknowledged).previous(number) == previous


def test_numbers_are_found_both_ways_and_forgotten() -> None:
    sent = sent_with(1, 63, 64, 65)
    assert [sent.at(number) for number in (1, 2, 63, 64, 65, 500)] == [1001, 0, 1063, 1064, 1065, 0]
    assert sent.up_to(64) == [1001, 1063, 1064]
    assert (sent.first_awaiting(), sent.awaiting) == (1, 4)
    assert sent.free((1001, 1063)) == {0}
    assert (sorted(sent.rows), sent.first_awaiting(), sent.awaiting) == ([1], 64, 2)


def test_what_is_acknowledged_and_stays_awaits_no_stream_receipt() -> None:
    sent = sent_with(1, 2, 3, acknowledged=2)
    assert (sent.awaiting, sent.first_awaiting(), sent.up_to(3)) == (1, 3, [1003])


@pytest.mark.parametrize(
    ("sent", "lost"),
    [
        pytest.param(sent_with(1, 2), False, id="it is there"),
        pytest.param(sent_with(2, 3), True, id="it is gone"),
        pytest.param(sent_with(2, 3, acknowledged=1), False, id="a receipt confirmed it"),
        pytest.param(sent_with(2, 3, started=True), False, id="it was answered"),
    ],
)
def test_a_start_is_lost_when_it_is_gone_and_was_not_seen(sent: Sent, lost: bool) -> None:
    assert sent.start_is_lost is lost


@given(st.sets(st.integers(1, 200), min_size=1), st.integers(0, 200), st.data())
def test_a_stream_is_what_a_plain_dictionary_would_be(
    numbers: set[int], acknowledged: int, data: st.DataObject
) -> None:
    """Messages leave in any order; what is left is found both ways, and counted."""
    sent = sent_with(*sorted(numbers), acknowledged=acknowledged)
    left = {number: 1000 + number for number in numbers}
    for number in data.draw(st.permutations(sorted(numbers))):
        awaiting = sorted(each for each in left if each > acknowledged)
        assert sent.numbers == {lookup_id: each for each, lookup_id in left.items()}
        assert [sent.at(each) for each in range(203)] == [left.get(each, 0) for each in range(203)]
        assert sent.awaiting == len(awaiting)
        assert sent.up_to(150) == [left[each] for each in awaiting if each <= 150]
        if awaiting:
            assert sent.first_awaiting() == awaiting[0]
            assert sent.previous(awaiting[-1]) == max([acknowledged, *awaiting[:-1]])
        sent.free((left.pop(number),))
    assert (sent.numbers, sent.rows, sent.awaiting) == ({}, {}, 0)
