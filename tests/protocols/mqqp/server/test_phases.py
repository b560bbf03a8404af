"""Tests RemoteReadState: the table answers every case."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.mqqp.server.phases import NEXT, OpenedQueueEvent, Phase


def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(Phase, OpenedQueueEvent))


def test_each_phase_is_reached_and_only_the_closed_one_is_the_end() -> None:
    reached = {Phase.OPENED}
    for _ in Phase:
        reached |= {NEXT[phase, step] for phase in reached for step in OpenedQueueEvent}
    assert reached == set(Phase)
    ends = [phase for phase in Phase if {NEXT[phase, step] for step in OpenedQueueEvent} == {phase}]
    assert ends == [Phase.CLOSED]


@pytest.mark.parametrize(
    ("steps", "phase"),
    [
        pytest.param([OpenedQueueEvent.CONTEXT_CLOSED], Phase.CLOSED, id="it was not taken over"),
        pytest.param(
            [OpenedQueueEvent.SESSION_OPENED, OpenedQueueEvent.CONTEXT_CLOSED],
            Phase.READY_FOR_READ,
            id="a session has it",
        ),
        pytest.param(
            [OpenedQueueEvent.SESSION_OPENED, OpenedQueueEvent.SESSION_CLOSED],
            Phase.ENDING,
            id="messages may be out",
        ),
        pytest.param(
            [
                OpenedQueueEvent.SESSION_OPENED,
                OpenedQueueEvent.SESSION_CLOSED,
                OpenedQueueEvent.CONTEXT_CLOSED,
            ],
            Phase.ENDING,
            id="both closed",
        ),
        pytest.param(
            [OpenedQueueEvent.SESSION_OPENED, OpenedQueueEvent.ALL_READS_ENDED],
            Phase.READY_FOR_READ,
            id="the next read may come",
        ),
        pytest.param(
            [
                OpenedQueueEvent.SESSION_OPENED,
                OpenedQueueEvent.SESSION_CLOSED,
                OpenedQueueEvent.ALL_READS_ENDED,
            ],
            Phase.CLOSED,
            id="all is done",
        ),
    ],
)
def test_each_event_leads_to_the_next_phase(steps: list[OpenedQueueEvent], phase: Phase) -> None:
    now = Phase.OPENED
    for step in steps:
        now = NEXT[now, step]
    assert now is phase
