"""Creates a sequence, and creates another one after it was lost.

nothing --> CreateSequence --> CreateSequenceResponse: open
               ^    |
               |    '-- no response: the queue pauses; then it is sent again with its first MessageID
               '------- refused: the queue pauses; then another one is sent

The MessageID is on disk before the request leaves.  A peer that knows it answers with the sequence that it
created the first time, so a lost response leaves no sequence behind.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Duration, Instant, later
from reliquary.base.turn import Warn
from reliquary.protocols.wsrm.codec.values import CreateSequence, CreateSequenceResponse, Offer
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.numbering import new_identifier, next_sequence
from reliquary.protocols.wsrm.source.apply import apply
from reliquary.protocols.wsrm.source.facts import SequenceBegun, SequenceCreated, SequenceEnded
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.posting import lifecycle, post, session_of
from reliquary.protocols.wsrm.source.posts_due import schedule_posts
from reliquary.protocols.wsrm.source.sessions import fail, watch_idleness
from reliquary.protocols.wsrm.source.state import AcceptedOffer, Posted, Purpose, Sequence, Session
from reliquary.protocols.wsrm.source.tables import Outbound
from reliquary.protocols.wsrm.source.waits import start_wait, stop_wait
from reliquary.protocols.wsrm.source.ways import own_reference
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.link import ConnectionStatus

USED_OF_LIFE: Final = 0.75
"""The part of its lifetime in which a sequence takes new messages, to be acknowledged in the rest."""


def begin(state: State, session: Session, now: Instant) -> None:
    """Request a sequence from the peer of a queue."""
    peer = session.peer
    row = Outbound(
        number=next_sequence(state),
        dialect=peer.dialect,
        queue=session.queue,
        destination=session.destination,
        create_id=new_identifier(state, now),
        target=session.way.to,
        offer=new_identifier(state, now) if peer.offer else "",
    )
    apply(state, SequenceBegun(row))
    session.acknowledgements = 0
    sequence = state.source.sequences[row.number]
    watch_idleness(state, sequence, now)
    ask(state, session, sequence, now)


def ask(state: State, session: Session, sequence: Sequence, now: Instant) -> None:
    """Send CreateSequence, first or again."""
    row = sequence.row
    ours = own_reference(session.way, row.dialect, state.address.origin)
    # no Expires is written, and Offer has the address of AcksTo, as WCF expects
    offer = Offer(row.offer, endpoint=ours) if row.offer else None
    envelope = lifecycle(state, session, sequence, CreateSequence(ours, offer=offer), now)
    sequence.used = now
    post(state, session, envelope, Posted(Purpose.CREATE, row.number))
    start_wait(state, sequence, now)


def on_create_response(state: State, exchange: Exchange, body: CreateSequenceResponse, now: Instant) -> None:
    """Open the sequence that was requested; a repeated response, or one for nothing, changes nothing."""
    sequence = _asked_for(state, exchange)
    if sequence is None:
        return
    row, session = sequence.row, session_of(state, sequence)
    problem = _objection(state, body.identifier)
    if problem:
        state.draft.ask(Warn(row.destination, "a sequence cannot be used", problem))
        refused(state, session, sequence)
        return
    accepted = row.offer if body.accept is not None else ""
    renewed_at = later(now, Duration(int(body.expires * USED_OF_LIFE))) if body.expires else 0
    apply(state, SequenceCreated(row.number, body.identifier, accepted, renewed_at, body.incomplete))
    if accepted and body.accept is not None:
        offered = AcceptedOffer(accepted, session.peer.replies_into, row.dialect, body.accept)
        state.source.accepted_offers.append(offered)
    sequence.used, sequence.timeouts = now, 0
    stop_wait(state, sequence)
    schedule_posts(state, session.queue)


def refused(state: State, session: Session, sequence: Sequence) -> None:
    """Forget a sequence that the peer does not create, and pause its queue; the next one has other names."""
    stop_wait(state, sequence)
    apply(state, SequenceEnded(sequence.number))
    fail(state, session, ConnectionStatus.CONNECTION_REFUSED)


def _asked_for(state: State, exchange: Exchange) -> Sequence | None:
    """Return the sequence of a response; gSOAP writes no RelatesTo, so the request identifies it."""
    source = state.source
    number = source.by_create_id.get(exchange.envelope.relates_to)
    session = source.sessions.get(exchange.connection)
    if number is None and session is not None and not exchange.envelope.relates_to:
        posted = session.posted.get(exchange.ticket)
        number = posted.sequence if posted is not None and posted.purpose is Purpose.CREATE else None
    sequence = None if number is None else source.sequences.get(number)
    return sequence if sequence is not None and sequence.phase is Phase.CREATING else None


def _objection(state: State, identifier: str) -> str:
    """Return the reason why an identifier cannot be used; empty if it can."""
    if len(identifier) > state.settings.longest_identifier:
        return f"its identifier has {len(identifier)} characters"
    if identifier in state.source.by_identifier:
        return f"{identifier} is the identifier of another sequence that goes out"
    return ""
