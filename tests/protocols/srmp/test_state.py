"""What SRMP knows."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.srmp import tables
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import Sent, State
from reliquary.protocols.srmp.tables import IncomingStream, OutgoingStream
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows


def test_a_stream_that_comes_in_has_one_place_for_its_timer() -> None:
    state = State(StagedRows(MemoryDisk(tables.TABLES)), SrmpSettings())
    first = state.incoming_stream((UUID(int=1), "a"), IncomingStream(1))
    second = state.incoming_stream((UUID(int=1), "b"), IncomingStream(1))
    assert state.incoming_stream((UUID(int=1), "a"), IncomingStream(2)) is first
    assert [first.place, second.place] == [0, 1]
    assert state.places == [first, second]


# -- a stream that goes out


def sent_with(*numbers: int, acknowledged: int = 0) -> Sent:
    """A stream whose message n has the LookupIdentifier 1000 + n."""
    sent = Sent(OutgoingStream(1, max(numbers), acknowledged))
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
    assert [sent.free(1001), sent.free(1063)] == [0, 0]
    assert (sorted(sent.rows), sent.first_awaiting(), sent.awaiting) == ([1], 64, 2)


def test_what_is_acknowledged_and_stays_awaits_no_stream_receipt() -> None:
    sent = sent_with(1, 2, 3, acknowledged=2)
    assert (sent.awaiting, sent.first_awaiting(), sent.up_to(3)) == (1, 3, [1003])
