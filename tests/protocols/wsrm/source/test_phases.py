"""Tests the table of a sequence's phases."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.wsrm.source.phases import NEXT, Move, Phase, moved


def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(Phase, Move))


def test_every_phase_leads_to_the_end_and_the_end_nowhere() -> None:
    for phase in Phase:
        following = {NEXT[phase, move] for move in Move}
        assert (Phase.ENDED in following) is (phase is not Phase.ENDED)
    assert {NEXT[Phase.ENDED, move] for move in Move} == {None}


def test_a_sequence_never_goes_back() -> None:
    order = list(Phase)
    for (phase, _), after in NEXT.items():
        assert after is None or order.index(after) > order.index(phase)


def test_a_move_that_must_not_happen_is_our_error() -> None:
    assert moved(Phase.OPEN, Move.CLOSE) is Phase.CLOSING
    with pytest.raises(AssertionError, match="a sequence that is open must not created"):
        moved(Phase.OPEN, Move.CREATED)
