"""Tests flow control at the source: the table of [MS-WSRVCRM] 3.2, and the window beside it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec.values import LARGEST_BUFFER, NO_BUFFER
from reliquary.protocols.wsrm.source.flow import BEFORE_ONE_MORE, NEXT, Action, Flow, FlowEvent, Polling, said

NO, YES, ENDED = Polling.NOT_POLLING, Polling.POLLING, Polling.ENDED


@pytest.mark.spec("FC-028", "FC-029")
def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(Polling, FlowEvent))


@pytest.mark.spec("FC-032", "FC-034")
@pytest.mark.wsrm("T01")
def test_a_source_begins_without_polling() -> None:
    assert Flow().polling is NO


@pytest.mark.parametrize(
    ("before", "event", "after", "action"),
    [
        pytest.param(NO, FlowEvent.ROOM, NO, Action.NONE, id="T09", marks=pytest.mark.spec("FC-042")),
        pytest.param(NO, FlowEvent.FULL, YES, Action.START, id="T10", marks=pytest.mark.spec("FC-043")),
        pytest.param(NO, FlowEvent.UNSAID, NO, Action.NONE, id="T12", marks=pytest.mark.spec("FC-042")),
        pytest.param(YES, FlowEvent.ROOM, NO, Action.CANCEL, id="T11", marks=pytest.mark.spec("FC-040")),
        pytest.param(YES, FlowEvent.FULL, YES, Action.NONE, id="T13", marks=pytest.mark.spec("FC-041")),
        pytest.param(YES, FlowEvent.UNSAID, YES, Action.NONE, id="T14", marks=pytest.mark.spec("FC-041")),
        pytest.param(YES, FlowEvent.TIMER, YES, Action.POLL, id="T08", marks=pytest.mark.spec("FC-036")),
        pytest.param(NO, FlowEvent.TIMER, NO, Action.NONE, id="a timer that was cancelled too late"),
        pytest.param(YES, FlowEvent.TERMINATED, ENDED, Action.CANCEL, id="T15"),
        pytest.param(NO, FlowEvent.TERMINATED, ENDED, Action.NONE, id="T16"),
    ],
)  # fmt: skip
def test_each_row_of_the_table_is_obeyed(
    before: Polling, event: FlowEvent, after: Polling, action: Action
) -> None:
    flow = Flow(before)
    assert flow.happen(event) is action
    assert flow.polling is after


@pytest.mark.spec("FC-045")
def test_nothing_follows_from_anything_after_the_end() -> None:
    assert {NEXT[ENDED, event] for event in FlowEvent} == {(ENDED, Action.NONE)}


@pytest.mark.wsrm("T32")
@pytest.mark.parametrize("order", [(FlowEvent.TIMER, FlowEvent.ROOM), (FlowEvent.ROOM, FlowEvent.TIMER)])
def test_expiry_and_room_at_one_moment_end_without_polling(order: tuple[FlowEvent, FlowEvent]) -> None:
    flow = Flow(YES)
    actions = [flow.happen(event) for event in order]
    assert flow.polling is NO
    assert Action.CANCEL in actions
    assert actions.count(Action.POLL) <= 1


@pytest.mark.spec("FC-038", "FC-039")
def test_the_argument_is_the_value_or_minus_one() -> None:
    assert [said(each) for each in (NO_BUFFER, 0, 1, LARGEST_BUFFER)] == [
        FlowEvent.UNSAID,
        FlowEvent.FULL,
        FlowEvent.ROOM,
        FlowEvent.ROOM,
    ]


def test_a_new_connection_is_probed_with_one_message() -> None:
    flow = Flow(buffer=8)
    assert flow.limit(64, probing=True) == 1
    assert flow.limit(64, probing=False) == 8
    flow.heard = True
    assert flow.limit(64, probing=True) == 8
    assert flow.limit(4, probing=True) == 4
    flow.connect()
    assert flow.limit(64, probing=True) == 1


@given(st.integers(1, 4096), st.none() | st.integers(0, LARGEST_BUFFER))
def test_the_limit_never_exceeds_the_window_and_the_room(window: int, buffer: int | None) -> None:
    limit = Flow(buffer=buffer, heard=True).limit(window, probing=True)
    assert limit <= window
    assert buffer is None or limit <= buffer
    assert limit in {window, buffer}


def test_a_peer_that_says_nothing_gets_as_many_as_it_took() -> None:
    flow = Flow(heard=True)
    flow.drop(8)
    flow.drop(20)  # one that went before the first was known to be dropped
    assert flow.limit(64, probing=True) == 8
    flow.take(8 * BEFORE_ONE_MORE - 1)
    assert flow.limit(64, probing=True) == 8
    flow.take(1)
    assert flow.limit(64, probing=True) == 9
    flow.drop(0)
    assert flow.limit(64, probing=True) == 1
    flow.connect()
    flow.heard = True
    assert flow.limit(64, probing=True) == 64
