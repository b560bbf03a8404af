"""Tests what acknowledgements say: what arrived, what is missing, what cannot be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.ranges import NumberRanges
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import Acknowledgement, Dialect, Envelope
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.acknowledgements import Verdict, judge
from tests.protocols.wsrm.source.source_bench import FAULTS, Came, SourceBench, durable

SETS = st.sets(st.integers(1, 12))


def sent(*words: str, **peer: object) -> SourceBench:
    """Return a source that has sent all of these; the first is acknowledged."""
    bench = SourceBench(settings=WsrmSettings(peers=(PeerSettings(address="*", **peer),)))  # type: ignore[arg-type]
    bench.put(*words)
    bench.open()
    bench.acknowledge((1, 1))
    return bench


def ranges_of(numbers: set[int]) -> tuple[tuple[int, int], ...]:
    return tuple(NumberRanges((each, each) for each in numbers))


@given(SETS, SETS)
def test_an_acknowledgement_is_judged_as_a_set(known: set[int], claimed: set[int]) -> None:
    verdict, new = judge(NumberRanges(ranges_of(known)), 12, ranges_of(claimed))
    if claimed == known:
        expected = Verdict.KNOWN
    elif claimed < known:
        expected = Verdict.OLD
    else:
        expected = Verdict.NEW if claimed > known else Verdict.INVALID
    assert verdict is expected
    if verdict is Verdict.NEW:
        assert {each for low, high in new for each in range(low, high + 1)} == claimed - known
    else:
        assert new == ()


@pytest.mark.parametrize("ranges", [((1, 4),), ((0, 1),), ((3, 2),), ((1, 1), (4, 9))])
def test_numbers_that_were_never_sent_are_invalid(ranges: tuple[tuple[int, int], ...]) -> None:
    assert judge(NumberRanges(), 3, ranges) == (Verdict.INVALID, ())


@pytest.mark.parametrize(
    "ranges",
    [
        pytest.param(((1, 9),), id="a number above the highest that was sent"),
        pytest.param(((2, 3),), id="a known number is withdrawn and another one claimed"),
    ],
)
def test_an_invalid_acknowledgement_is_refused_and_changes_nothing(
    ranges: tuple[tuple[int, int], ...],
) -> None:
    bench = sent("a", "b", "c")
    before, waiting = durable(bench.wsrm), bench.waiting()
    bench.hear(*ranges, buffer=0)
    assert FAULTS == [FaultCode.INVALID_ACKNOWLEDGEMENT]
    assert durable(bench.wsrm) == before
    assert bench.waiting() == waiting
    assert bench.sequence.flow.buffer is None


def test_messages_leave_their_queue_in_the_turn_of_the_acknowledgement() -> None:
    bench = sent("a", "b", "c")
    bench.hear((1, 1), (3, 3))
    assert bench.waiting() == 1
    assert list(bench.sequence.flights) == [2]
    assert bench.link().delivered == 2


@pytest.mark.spec("FC-037")
def test_an_acknowledgement_from_a_decoupled_endpoint_counts() -> None:
    bench = sent("a", "b", addressable=True)
    bench.answer(bench.take()[0])
    bench.hear((1, 2), buffer=7)
    assert bench.waiting() == 0
    assert bench.sequence.flow.buffer == 7


def test_an_acknowledgement_of_an_unknown_sequence_is_ignored() -> None:
    bench = sent("a", "b")
    said = Acknowledgement("urn:uuid:other", ((1, 2),), buffer=0)
    bench.handle(Came(Envelope(dialect=Dialect(), acknowledgements=(said,))))
    assert bench.waiting() == 1
    assert FAULTS == []


def test_a_late_one_for_an_older_sequence_says_nothing_of_the_new_one() -> None:
    bench = sent("a", "b", "c")
    old = bench.acknowledgement((1, 2))
    bench.fault(bench.take()[0], FaultCode.UNKNOWN_SEQUENCE)
    bench.open("urn:uuid:second")
    assert bench.words == ["b"]
    bench.handle(Came(old))
    assert bench.waiting() == 2
    assert bench.sequence.row.acknowledged == ()


def test_a_gap_is_sent_again_at_once_and_only_once_for_each_news() -> None:
    bench = sent("a", "b", "c", "d")
    bench.acknowledge((1, 1), (3, 3))
    assert bench.numbers == [2]
    bench.acknowledge((1, 1), (3, 3))  # nothing is new
    assert bench.numbers == []
    bench.hear((1, 1), (3, 4))
    assert bench.numbers == [2]


def test_a_gap_whose_request_is_under_way_is_not_sent_beside_it() -> None:
    bench = sent("a", "b", "c", addressable=True)
    second, third = bench.take()
    bench.answer(third)
    bench.hear((1, 1), (3, 3))
    assert bench.posts == []
    bench.answer(second)
    bench.advance(2)
    assert bench.numbers == [2]


def test_a_nack_is_answered_at_once_and_only_once() -> None:
    bench = sent("a", "b", "c")
    for post in bench.take():
        bench.answer(post)
    bench.hear(nacks=(3,))
    assert bench.numbers == [3]
    bench.answer(bench.take()[0])
    bench.hear(nacks=(3, 77))
    assert bench.numbers == []
    assert bench.sequence.row.acknowledged == ((1, 1),)


def test_what_the_peer_did_not_take_goes_again_when_there_is_news() -> None:
    """No time-out is waited for: the response has said that it was dropped."""
    bench = sent("a", "b", "c", "d")
    second, third, fourth = bench.take()
    bench.answer(second, bench.acknowledgement((1, 2)))
    bench.answer(third, bench.acknowledgement((1, 2)))
    bench.answer(fourth, bench.acknowledgement((1, 2)))
    assert bench.numbers == []
    bench.advance(2)
    assert bench.numbers == [3]  # it took one at once
    bench.acknowledge((1, 3))
    assert bench.numbers == [4]


def test_a_final_acknowledgement_of_an_open_sequence_ends_it() -> None:
    bench = sent("a", "b", "c")
    bench.acknowledge((1, 2), final=True)
    assert bench.kinds() == ["TerminateSequence", "CreateSequence"]
    bench.open("urn:uuid:second")
    assert (bench.numbers, bench.words) == ([1], ["c"])


def test_an_acknowledgement_during_the_termination_changes_nothing() -> None:
    bench = sent("a", "b", "c")
    late = bench.acknowledgement((1, 3))
    bench.acknowledge((1, 2), final=True)
    bench.handle(Came(late))
    assert bench.waiting() == 1
    bench.open("urn:uuid:second")
    assert bench.words == ["c"]


def test_an_old_acknowledgement_does_not_limit_a_new_connection() -> None:
    bench = sent("a", "b", "c", "d")
    old = bench.acknowledgement()
    bench.restart()
    bench.handle(Came(old))
    assert not bench.sequence.flow.heard
    bench.handle(Came(bench.acknowledgement((1, 1))))
    assert bench.sequence.flow.heard
