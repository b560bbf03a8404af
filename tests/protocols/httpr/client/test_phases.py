"""Tests the phases of a channel that we drive: every case, and what must never happen."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.httpr.client.phases import NEXT, SILENT, Move, Phase, moved


def test_the_table_has_every_case() -> None:
    assert set(NEXT) == set(product(Phase, Move))


@pytest.mark.spec("HR-020", "HR-021", "HR-022", "HR-023", "HR-125")
def test_while_something_is_unknown_only_a_report_is_sent() -> None:
    allowed = {move for move in Move if NEXT[Phase.MUST_REPORT, move] is not None}
    assert allowed == {Move.REPORT, Move.END, Move.REST}
    with pytest.raises(AssertionError, match="must-report must not flow"):
        moved(Phase.MUST_REPORT, Move.FLOW)


@pytest.mark.spec("HR-080")
def test_nothing_goes_beside_a_report() -> None:
    sends = (Move.GREET, Move.REPORT, Move.FLOW, Move.LEAVE)
    for phase in SILENT:
        assert all(NEXT[phase, move] is None for move in sends)
    assert NEXT[Phase.WAITING, Move.REPORT] is None


@pytest.mark.spec("HR-036")
def test_a_session_begins_with_a_greeting_and_nothing_else_does() -> None:
    assert [phase for phase in Phase if NEXT[phase, Move.GREET] is not None] == [Phase.CLOSED]


@pytest.mark.spec("HR-016", "HR-032")
def test_all_is_forgotten_only_when_all_is_known() -> None:
    assert [phase for phase in Phase if NEXT[phase, Move.LEAVE] is not None] == [Phase.READY]


def test_every_phase_can_end_and_rest() -> None:
    for phase in Phase:
        assert moved(phase, Move.END) is Phase.CLOSED
        assert moved(phase, Move.REST) is Phase.RESTING
