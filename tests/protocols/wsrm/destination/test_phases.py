"""The table of phases has an entry for every phase and every move."""

from __future__ import annotations

from itertools import product

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.destination.phases import NEXT, Move, Phase


def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(Phase, Move))


def test_no_move_leads_back() -> None:
    order = list(Phase)
    for (phase, _), following in NEXT.items():
        if isinstance(following, Phase):
            assert order.index(following) >= order.index(phase)


def test_no_move_leads_out_of_the_end() -> None:
    following = {NEXT[Phase.ENDED, move] for move in Move}
    assert following == {Phase.ENDED, FaultCode.SEQUENCE_TERMINATED}


def test_only_a_new_message_is_refused_after_the_close() -> None:
    refused = {move for move in Move if isinstance(NEXT[Phase.CLOSED, move], FaultCode)}
    assert refused == {Move.MESSAGE}
