"""Tests the table of a session's phases."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.srmp.sender.phases import NEXT, Move, Phase

CLOSING = (Move.FAIL, Move.IDLE, Move.PAUSE)


def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(Phase, Move))


def test_every_phase_is_reached_and_left() -> None:
    for phase in Phase:
        assert any(after is phase for (before, _), after in NEXT.items() if before is not phase)
        assert any(after is not phase for (before, _), after in NEXT.items() if before is phase)


@pytest.mark.spec("SR-254", "SR-293", "SR-304")
@pytest.mark.parametrize(("phase", "move"), list(product(Phase, CLOSING)))
def test_what_closes_a_session_does_so_in_every_phase(phase: Phase, move: Move) -> None:
    assert NEXT[phase, move] is Phase.CLOSED


@pytest.mark.spec("SR-310")
def test_a_session_opens_because_a_connection_is_wanted_and_for_no_other_reason() -> None:
    assert [move for move in Move if NEXT[Phase.CLOSED, move] is Phase.OPEN] == [Move.CONNECT]


@pytest.mark.spec("SR-247")
def test_an_open_session_drains_before_its_messages_are_sent_again() -> None:
    assert [NEXT[Phase.OPEN, Move.RESEND], NEXT[Phase.DRAINING, Move.RESEND]] == [Phase.DRAINING] * 2
    assert NEXT[Phase.DRAINING, Move.ANSWERED] is Phase.OPEN
