"""Makes records of WS-RM's sequences for administrators; it reads the state and never changes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import as_datetime
from reliquary.protocols.wsrm.codec.values import Dialect
from reliquary.protocols.wsrm.destination.flow_control import room_for
from reliquary.protocols.wsrm.destination.phases import Phase as InboundPhase
from reliquary.protocols.wsrm.destination.state import Sequence as Inbound
from reliquary.protocols.wsrm.nouns import SequenceInfo
from reliquary.protocols.wsrm.source.flow import Polling
from reliquary.protocols.wsrm.source.phases import Phase as OutboundPhase
from reliquary.protocols.wsrm.source.state import Sequence as Outbound
from reliquary.protocols.wsrm.state import State

IN: Final = "in"
OUT: Final = "out"


def sequences(state: State) -> Iterator[SequenceInfo]:
    """Return all sequences, by their numbers."""
    offers = _own_offers(state)
    for number in sorted([*state.destination.sequences, *state.source.sequences]):
        found = _view(state, number, offers)
        assert found is not None, f"sequence {number} was known a moment ago"
        yield found


def sequence(state: State, number: int) -> SequenceInfo | None:
    """Return the sequence of this number; None where there is none."""
    return _view(state, number, _own_offers(state))


def _view(state: State, number: int, offers: dict[str, int]) -> SequenceInfo | None:
    inbound = state.destination.sequences.get(number)
    if inbound is not None:
        return _inbound(state, inbound, offers)
    outbound = state.source.sequences.get(number)
    return None if outbound is None else _outbound(state, outbound)


def _own_offers(state: State) -> dict[str, int]:
    """Return the own sequences by the identifiers of their offers."""
    return {each.row.offer: number for number, each in state.source.sequences.items() if each.row.offer}


def _inbound(state: State, each: Inbound, offers: dict[str, int]) -> SequenceInfo:
    row, received = each.row, each.received
    return SequenceInfo(
        number=row.number,
        direction=IN,
        state=received.phase.value,
        identifier=row.identifier,
        queue=row.queue,
        endpoint=row.endpoint,
        **_dialect(row.dialect),
        **_numbers(received.ranges, max(each.highest, received.last)),
        held=len(each.buffered),
        duplicates=each.duplicates,
        dropped=each.dropped,
        room=room_for(state, each) if received.phase is InboundPhase.OPEN else None,
        acks_to=row.acks_to.address,
        pair=row.offered or offers.get(row.identifier, 0),
        created=_moment(row.created),
        expires=_moment(row.expires),
        used=_moment(each.heard),
        ended=_moment(received.ended),
    )


def _outbound(state: State, each: Outbound) -> SequenceInfo:
    row = each.row
    return SequenceInfo(
        number=row.number,
        direction=OUT,
        state=row.phase.value,
        identifier=row.identifier,
        queue=row.destination,
        **_dialect(row.dialect),
        **_numbers(row.acknowledged, row.last),
        unacknowledged=len(each.flights),
        retransmissions=each.retransmissions,
        room=each.flow.buffer,
        polling=each.flow.polling is Polling.POLLING,
        to="" if row.target is None else row.target.address,
        pair=row.offered_by or state.destination.by_identifier.get(row.offer, 0),
        used=_moment(each.used),
    )


def _dialect(dialect: Dialect) -> dict[str, Any]:
    return {
        "version": dialect.version.value,
        "soap": dialect.soap.value,
        "addressing": dialect.addressing.value,
    }


def _numbers(acknowledged: Iterable[tuple[int, int]], last: int) -> dict[str, Any]:
    known = NumberRanges(acknowledged)
    return {"acknowledged": ranges_text(known), "gaps": ranges_text(known.gaps(1, last)), "last": last}


def ranges_text(ranges: Iterable[tuple[int, int]]) -> str:
    """Return ranges of numbers as people write them.

    >>> ranges_text([(1, 5), (7, 7)])
    '1-5, 7'
    """
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


def _moment(microseconds: int) -> datetime | None:
    return as_datetime(microseconds) if microseconds else None


# -- for metrics


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums over all sequences, for the metrics."""

    sequences: dict[tuple[str, str], int]
    """The number of sequences, by direction and state."""
    unacknowledged: int
    held: int


def totals(state: State) -> Totals:
    """Return the sums over all sequences."""
    inbound, outbound = state.destination.sequences.values(), state.source.sequences.values()
    phases = Counter([(IN, each.phase.value) for each in inbound])
    phases.update([(OUT, each.phase.value) for each in outbound])
    kinds = [(IN, each.value) for each in InboundPhase]
    kinds += [(OUT, each.value) for each in OutboundPhase if each is not OutboundPhase.ENDED]
    return Totals(
        {kind: phases[kind] for kind in kinds},
        unacknowledged=sum(len(each.flights) for each in outbound),
        held=sum(len(each.buffered) for each in inbound),
    )
