"""Processes acknowledgements: messages that arrived, missing messages, and the room of the peer.

An acknowledgement is cumulative: an acknowledged number stays acknowledged.  So there are four cases.

    new numbers, and all known ones        those messages are delivered
    the known ones exactly                 only its BufferRemaining is new
    fewer than are known, and nothing new  it is old and is ignored (H-12)
    new numbers, and known ones missing    InvalidAcknowledgement, nothing changes; also for unsent numbers
"""

from __future__ import annotations

from enum import Enum

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import Instant
from reliquary.protocols.wsrm.codec.fault_writer import invalid_acknowledgement
from reliquary.protocols.wsrm.codec.faults import WsrmFault
from reliquary.protocols.wsrm.codec.values import Acknowledgement, Version
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.source.apply import apply
from reliquary.protocols.wsrm.source.closing import decide, refuse
from reliquary.protocols.wsrm.source.facts import NumbersAcknowledged
from reliquary.protocols.wsrm.source.flow import said
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.polling import flow_happens
from reliquary.protocols.wsrm.source.posting import session_of
from reliquary.protocols.wsrm.source.posts_due import schedule_posts
from reliquary.protocols.wsrm.source.progress import tell_progress
from reliquary.protocols.wsrm.source.restoring import known_part
from reliquary.protocols.wsrm.source.state import Purpose, Sequence, Session
from reliquary.protocols.wsrm.source.tables import Ranges
from reliquary.protocols.wsrm.source.waits import start_wait, stop_wait
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.transfer import Outcome, TransferEnded


class Verdict(Enum):
    """The relation of an acknowledgement to the known numbers."""

    NEW = "new"
    KNOWN = "known"
    OLD = "old"
    INVALID = "invalid"


def judge(known: NumberRanges, last: int, ranges: Ranges) -> tuple[Verdict, Ranges]:
    """Compare acknowledged ranges with the known ones; also return the new numbers.  Nothing is changed.

    `last` is the highest number that was sent.
    """
    if any(not 1 <= low <= high <= last for low, high in ranges):
        return Verdict.INVALID, ()
    claimed = NumberRanges(ranges)
    new = tuple(gap for low, high in claimed for gap in known.gaps(low, high))
    withdrawn = any(True for low, high in known for _ in claimed.gaps(low, high))
    if new:
        return (Verdict.INVALID, ()) if withdrawn else (Verdict.NEW, new)
    return (Verdict.OLD if withdrawn else Verdict.KNOWN), ()


def on_acknowledgement(
    state: State, exchange: Exchange, acknowledgement: Acknowledgement, now: Instant
) -> None:
    """Process an acknowledgement; one of an ended or unknown sequence is ignored."""
    number = state.source.by_identifier.get(acknowledgement.identifier)
    sequence = None if number is None else state.source.sequences[number]
    if sequence is None:
        return
    nacks = acknowledgement.nacks
    only_nacks = bool(nacks) and not acknowledgement.ranges  # then the ranges have no meaning
    ranges = known_part(sequence, acknowledgement.ranges)
    verdict, new = judge(sequence.acknowledged, sequence.row.last, ranges)
    if verdict is Verdict.INVALID:
        dialect = exchange.envelope.dialect
        raise WsrmFault(invalid_acknowledgement(acknowledgement, dialect), dialect, spec="part 3.4")
    if sequence.phase is Phase.TERMINATING:
        return  # the outcome of the messages was decided before
    if verdict is Verdict.OLD and not only_nacks and not acknowledgement.final:
        return
    session = session_of(state, sequence)
    session.acknowledgements += 1
    session.acknowledged_at = now
    sequence.flow.heard = True
    if sequence.phase is Phase.OPEN:
        session.unconfirmed = session.unacknowledged_sequences = 0
    if new:
        _acknowledge(state, session, sequence, new, now)
    if verdict is not Verdict.OLD:
        flow_happens(state, sequence, said(acknowledgement.buffer))  # FC-037
        if acknowledgement.buffer >= 0:
            sequence.flow.buffer = acknowledgement.buffer
    _hurry(sequence, nacks, progress=bool(new))
    _go_on(state, exchange, session, sequence, final=acknowledgement.final, now=now)


def _acknowledge(state: State, session: Session, sequence: Sequence, new: Ranges, now: Instant) -> None:
    """Remove messages that arrived from their queue in this turn, and make the next wait short again."""
    flights = sequence.flights
    arrived = [flights[each] for low, high in new for each in range(low, high + 1) if each in flights]
    delivered = tuple(flight.lookup_id for flight in arrived if flight.lookup_id)
    apply(state, NumbersAcknowledged(sequence.number, new))
    sequence.used = now
    sequence.flow.take(len(arrived))
    if delivered:
        state.draft.signal(TransferEnded(session.queue, delivered, Outcome.DELIVERED, by_receipt=True))
    sequence.round += 1
    sequence.timeouts = 0
    if sequence.phase is Phase.OPEN:
        if flights:
            start_wait(state, sequence, now)
        else:
            stop_wait(state, sequence)
    tell_progress(state, session, sequence)


def _hurry(sequence: Sequence, nacks: tuple[int, ...], *, progress: bool) -> None:
    """Send missing messages again without waiting, each once between two acknowledgements with something new.

    Missing messages are those in a Nack, those below an acknowledged number, and those that the peer
    did not accept before, because it may have room now.
    """
    missing = set(nacks)
    highest = sequence.row.acknowledged[-1][1] if sequence.row.acknowledged else 0
    for number in sequence.flights:
        if number > highest:
            break
        missing.add(number)
    if progress:
        missing |= sequence.dropped
    for number in missing:
        flight = sequence.flights.get(number)
        if flight is not None and not flight.ticket and flight.resent_in_round != sequence.round:
            flight.resent_in_round = sequence.round
            sequence.due.add(number)


def _go_on(
    state: State, exchange: Exchange, session: Session, sequence: Sequence, *, final: bool, now: Instant
) -> None:
    """End the sequence after its last acknowledgement, or send the messages for which there is room now."""
    if sequence.row.offered_by:
        if final:
            refuse(state, sequence)
        else:
            schedule_posts(state, session.queue)
    elif final or _is_last_word(exchange, session, sequence):
        decide(state, sequence, now)
    else:
        schedule_posts(state, session.queue)


def _is_last_word(exchange: Exchange, session: Session, sequence: Sequence) -> bool:
    """Return whether an acknowledgement of WS-RM 1.0, without Final, is the last of a closing sequence."""
    row = sequence.row
    if sequence.phase is not Phase.CLOSING or row.dialect.version is not Version.RM10:
        return False
    if row.last_message:
        sequence.heard_last = sequence.tries > 0
        return row.last in sequence.acknowledged
    posted = session.posted.get(exchange.ticket) if exchange.connection else None
    return posted is not None and posted.purpose is Purpose.CLOSE
