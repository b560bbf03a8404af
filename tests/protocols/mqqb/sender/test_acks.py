"""Order and final acknowledgements of the peer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench, stream_of, waiting


@pytest.mark.spec("QB-226", "QB-228")
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 6), max_size=8))
def test_order_acknowledgements_are_cumulative_in_any_order(numbers: list[int]) -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, *(b"%d" % number for number in range(1, 7)))
    peer = bench.dialled()
    stream = stream_of(peer.messages[0])
    for number in numbers:
        peer.order_ack(stream, number)
    assert waiting(bench) == 6 - max(numbers, default=0)


def test_a_refusal_is_a_dead_letter_and_confirms_all_before_it() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2", b"3")
    peer = bench.dialled()
    peer.final_ack(stream_of(peer.messages[0]), 2, 0x8000)
    assert bench.bodies("system$;deadxact")[0] == b"2"
    bench.advance(1)
    assert waiting(bench) <= 1  # 1 is confirmed, 2 refused, and 3 shares the transaction of 2


def test_an_unknown_class_counts_as_a_refusal() -> None:
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", negative_journaling=True)
    peer = bench.dialled()
    peer.final_ack(stream_of(peer.messages[0]), 1, 0xFEDC)
    assert bench.bodies("system$;deadxact") == [b"1"]
