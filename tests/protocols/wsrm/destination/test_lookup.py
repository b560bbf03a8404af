"""Tests who may use a sequence."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import Dialect, Envelope, TerminateSequence
from reliquary.protocols.wsrm.destination.lookup import find, move, user_of
from reliquary.protocols.wsrm.destination.phases import Move, Phase
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.wire.security import Sid
from tests.protocols.wsrm.destination.rmd import Rmd

ALICE = Principal(Sid(5, (21, 1)))
ALICE_AGAIN = Principal(Sid(5, (21, 1)), (Sid(5, (21, 9)),))
BOB = Principal(Sid(5, (21, 2)))


@pytest.mark.parametrize(
    ("creator", "by", "allowed"),
    [
        (ANONYMOUS, ANONYMOUS, True),
        (ANONYMOUS, BOB, True),
        (ALICE, ALICE_AGAIN, True),
        (ALICE, BOB, False),
        (ALICE, ANONYMOUS, False),
    ],
)
def test_only_the_creator_uses_a_sequence_that_has_one(
    creator: Principal, by: Principal, allowed: bool
) -> None:
    rmd = Rmd()
    sequence = rmd.create(by=creator)
    exchange = Exchange(Envelope(dialect=Dialect()), 1, "orders", by)
    if allowed:
        found = find(rmd.state, exchange, sequence, rmd.now)
        assert (found.heard, found.by) == (rmd.now, by)
        return
    with pytest.raises(WsrmFault) as refused:
        find(rmd.state, exchange, sequence, rmd.now)
    assert refused.value.fault.code is FaultCode.UNKNOWN_SEQUENCE
    assert refused.value.fault.identifier == sequence


def test_a_refused_move_brings_the_final_acknowledgement() -> None:
    rmd = Rmd()
    sequence = rmd.create()
    exchange = Exchange(Envelope(dialect=Dialect()), 1, "orders")
    assert move(exchange, rmd.sequence(sequence), Move.MESSAGE) is Phase.OPEN
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(sequence)))
    with pytest.raises(WsrmFault):
        move(exchange, rmd.sequence(sequence), Move.MESSAGE)
    assert exchange.acknowledged == [1]


def test_an_anonymous_user_has_no_name() -> None:
    assert user_of(ANONYMOUS) == ""
    assert user_of(ALICE) == "S-1-5-21-1"
