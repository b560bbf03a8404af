"""SRMP's state in another process."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import State
from tests.protocols.srmp.peer import TORDERS, stream_message, user_message
from tests.protocols.srmp.receiving import Receiving
from tests.protocols.srmp.sending import Sender

OTHER = "DIRECT=HTTP://other.example/msmq/private$/orders"


def received(state: State) -> dict[str, Any]:
    """Return the receiver's state that a restart must not change."""
    return {
        "streams": {key: incoming.stream for key, incoming in state.incoming.items()},
        "identifiers": list(state.history.durable.items()),
        "next place": state.history.next,
    }


ARRIVALS = st.lists(
    st.one_of(
        st.tuples(st.just("message"), st.integers(1, 6), st.booleans()),
        st.tuples(st.just("stream"), st.integers(1, 6), st.booleans()),
        st.tuples(st.just("wait"), st.integers(1, 3), st.booleans()),
    ),
    max_size=30,
)


@pytest.mark.spec("SR-118", "SR-128", "SR-155", "SR-160", "SR-162")
@settings(max_examples=40, deadline=None)
@given(ARRIVALS)
def test_what_came_is_known_as_before(arrivals: list[tuple[str, int, bool]]) -> None:
    bench = Receiving(settings=SrmpSettings(history_size=4, most_coalesced=3))
    other = TORDERS.replace("bench.example", "localhost")
    for what, number, other_way in arrivals:
        if what == "message":
            bench.post(*user_message(number=number, durable=other_way))
        elif what == "stream":
            bench.post(*stream_message(number, to=other if other_way else TORDERS))
        else:
            bench.advance(number / 4)
    live = received(bench.srmp.state)
    assert received(Srmp(bench.rows, bench.settings).state) == live
    bench.restart()
    assert received(bench.srmp.state) == live


def test_a_first_start_finds_nothing() -> None:
    bench = Receiving()
    assert received(bench.srmp.state) == {"streams": {}, "identifiers": [], "next place": 0}


def test_a_history_that_is_shorter_now_keeps_its_end() -> None:
    bench = Receiving(settings=SrmpSettings(history_size=10))
    for number in range(1, 8):
        bench.post(*user_message(number=number))
    bench.settings = SrmpSettings(history_size=3)
    bench.restart()
    assert [uniquifier for (_, uniquifier, _), _ in received(bench.srmp.state)["identifiers"]] == [
        5,
        6,
        7,
    ]


@pytest.mark.spec("SR-118", "SR-120", "SR-128", "SR-156", "SR-157", "SR-160")
def test_what_goes_is_known_as_before() -> None:
    """Streams in all their parts: waiting for receipts, for final receipts, with gaps, and one that ended."""
    bench = Sender()
    bench.stream(b"1", b"2", negative_journaling=True)
    bench.stream(b"3", time_to_reach_queue=1)
    bench.stream(*[b"%d" % number for number in range(4, 150)])
    bench.answer_all()
    bench.receipt(2)
    bench.stream(b"a", to=OTHER)
    bench.answer_all()
    other = bench.srmp.state.sent[bench.outgoing(OTHER).number].stream
    bench.receipt(1, bench.srmp.state.name_of(other))
    bench.advance(31)
    live = bench.srmp.state
    assert [len(sent.numbers) for sent in live.sent.values()] == [148]
    bench.flush()
    again = Srmp(bench.rows, bench.settings).state
    assert (again.sent, again.ordinals, again.queue_of) == (live.sent, live.ordinals, live.queue_of)
