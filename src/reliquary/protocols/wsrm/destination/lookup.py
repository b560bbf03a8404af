"""Finds the sequence of an envelope, and refuses its use with a fault if the user may not use it.

A user who did not create a sequence, another endpoint, and a message without TLS if the sequence requires it:
all get UnknownSequence, so that the sequences of others stay unknown.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import Fault
from reliquary.protocols.wsrm.destination.phases import NEXT, Move, Phase
from reliquary.protocols.wsrm.destination.state import Sequence
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal


def find(state: State, exchange: Exchange, identifier: str, now: Instant) -> Sequence:
    """Return the sequence that an envelope of its source names; UnknownSequence for all others."""
    here = state.destination
    here.now = now
    number = here.by_identifier.get(identifier)
    sequence = None if number is None else here.sequences[number]
    if sequence is None or not _may_use(sequence, exchange):
        raise WsrmFault(Fault(FaultCode.UNKNOWN_SEQUENCE, identifier=identifier), exchange.envelope.dialect)
    sequence.heard = now
    sequence.by = exchange.by
    return sequence


def move(exchange: Exchange, sequence: Sequence, wanted: Move) -> Phase:
    """Return the phase that follows; raise the fault that refuses the move, with the final acknowledgement.

    So a source that lost the last acknowledgement does not send its messages again in a new sequence.
    """
    following = NEXT[sequence.received.phase, wanted]
    if isinstance(following, Phase):
        return following
    exchange.acknowledged.append(sequence.number)
    raise fault(exchange, following, sequence)


def fault(exchange: Exchange, code: FaultCode, sequence: Sequence, reason: str = "") -> WsrmFault:
    """Return a fault about a sequence."""
    return WsrmFault(Fault(code, reason, sequence.row.identifier), exchange.envelope.dialect)


def user_of(by: Principal) -> str:
    """Return the SID of a user; empty for an anonymous one."""
    return "" if by is ANONYMOUS else str(by.user)


def _may_use(sequence: Sequence, exchange: Exchange) -> bool:
    row = sequence.row
    if row.endpoint != exchange.endpoint or (row.secure and not exchange.secure):
        return False
    return not row.owner or row.owner == user_of(exchange.by)
