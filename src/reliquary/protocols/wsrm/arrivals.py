"""Passes each part of an envelope that arrives, in a request or a response, to its rule.

    1. every SequenceAcknowledgement   the source
    2. the body                        _BODIES: one rule for each kind
    3. the Sequence header             the destination
    4. every AckRequested              the destination, so that it confirms the messages with it
    5. the response                    written at once, with the verdict of the queue manager, or with a reply

An envelope that breaks a rule is answered with a fault, and its remaining parts are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.wsrm import backchannel, plain
from reliquary.protocols.wsrm.codec.addressing import is_anonymous
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    CloseSequenceResponse,
    CreateSequence,
    CreateSequenceResponse,
    Envelope,
    Fault,
    MakeConnection,
    Payload,
    Reference,
    TerminateSequence,
    TerminateSequenceResponse,
)
from reliquary.protocols.wsrm.destination import acknowledging, creation, messages
from reliquary.protocols.wsrm.destination import ending as destination_ending
from reliquary.protocols.wsrm.events import CallerLeft, PostArrived, PostEnded
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.responding import refuse, respond
from reliquary.protocols.wsrm.source import acknowledgements, answers, offered
from reliquary.protocols.wsrm.source import creation as source_creation
from reliquary.protocols.wsrm.source import ending as source_ending
from reliquary.protocols.wsrm.state import Count, State
from reliquary.queueing.model.travel.transfer import BatchJudged

# -- events


def on_post(state: State, event: PostArrived, now: Instant) -> None:
    """Process a request to an endpoint of this server."""
    try:
        envelope = decode(event.content_type, event.body)
    except WsrmFault as refused:
        refuse(state, event.to, refused, event.peer)
        return
    _take(
        state,
        Exchange(envelope, event.to, event.endpoint, event.by, event.peer, secure=event.secure),
        now,
    )


def on_post_ended(state: State, event: PostEnded, now: Instant) -> None:
    """Process the envelope of a response, and report the result to its connection."""
    envelope = _envelope_of(state, event)
    if envelope is not None:
        _take(state, Exchange(envelope, connection=event.connection, ticket=event.ticket), now)
    if event.connection > 0:
        answers.on_post_ended(state, event, envelope, now)
    elif event.failure is not None and event.epoch == state.connections.epochs.get(event.connection, 0):
        state.connections.epochs[event.connection] = event.epoch + 1


def on_judged(state: State, signal: BatchJudged, now: Instant) -> None:
    """Continue an exchange whose message the queue manager has accepted or refused."""
    exchange = state.turn.exchanges.pop(signal.ticket)
    exchange.judging = False
    try:
        if exchange.envelope.sequence is None:
            plain.on_judged(state, exchange, signal)
        else:
            messages.on_judged(state, exchange, signal, now)
            _request_acknowledgements(state, exchange, now)
    except WsrmFault as refused:
        _fail(state, exchange, refused)
    _finish(state, exchange, now)


def on_caller_left(state: State, event: CallerLeft, now: Instant) -> None:
    """Forget a request that waits for its reply, because its caller has disconnected."""
    del now
    backchannel.on_caller_left(state, event.to)


def _envelope_of(state: State, event: PostEnded) -> Envelope | None:
    if not event.body:
        return None
    try:
        return decode(event.content_type, event.body)
    except WsrmFault as wrong:
        state.draft.ask(Warn(f"WS-RM connection {event.connection}", "a response cannot be read", wrong.why))
        return None


# -- parts of an envelope


def _take(state: State, exchange: Exchange, now: Instant) -> None:
    try:
        _dispatch(state, exchange, now)
    except WsrmFault as refused:
        _fail(state, exchange, refused)
    if not exchange.judging:
        _finish(state, exchange, now)


def _dispatch(state: State, exchange: Exchange, now: Instant) -> None:
    envelope = exchange.envelope
    if envelope.foreign:
        unknown = Fault(FaultCode.MUST_UNDERSTAND, f"{envelope.foreign[0]} is not understood here")
        raise WsrmFault(unknown, envelope.dialect)
    if envelope.malformed_buffers:
        about = f"WS-RM from {exchange.peer or f'connection {exchange.connection}'}"
        why = "it is not a number from 0 to 2147483647, or occurs twice"
        state.draft.ask(Warn(about, "BufferRemaining is ignored", why, envelope.malformed_buffers))  # H-18
    for each in envelope.acknowledgements:
        state.counts[Count.ACKNOWLEDGEMENTS_RECEIVED] += 1
        acknowledgements.on_acknowledgement(state, exchange, each, now)
    if envelope.sequence is not None:
        messages.on_message(state, exchange, now)
    else:
        _BODIES[type(envelope.body)](state, exchange, envelope.body, now)
    if not exchange.judging:
        _request_acknowledgements(state, exchange, now)


def _request_acknowledgements(state: State, exchange: Exchange, now: Instant) -> None:
    for identifier in exchange.envelope.ack_requests:
        # gSOAP requests the acknowledgement of the sequence that it offered, which it has to write
        # itself; and an accepted message is not answered with a fault about another sequence
        if _is_alone(exchange) or identifier in state.destination.by_identifier:
            acknowledging.on_ack_requested(state, exchange, identifier, now)


def _is_alone(exchange: Exchange) -> bool:
    """Return whether an envelope has nothing but AckRequested, so that a fault can only be about that."""
    envelope = exchange.envelope
    return envelope.sequence is None and envelope.body == Payload() and not envelope.acknowledgements


def _fail(state: State, exchange: Exchange, refused: WsrmFault) -> None:
    state.counts[Count.FAULTS_SENT] += 1
    request = exchange.envelope
    exchange.response = Envelope(dialect=request.dialect, foreign=request.foreign, body=refused.fault)
    exchange.reply_to = 0


def _finish(state: State, exchange: Exchange, now: Instant) -> None:
    if exchange.reply_to and exchange.to:
        backchannel.wait_for_reply(state, exchange, now)
    else:
        respond(state, exchange, now)


# -- bodies


def _on_create(state: State, exchange: Exchange, body: CreateSequence, now: Instant) -> None:
    """Create a sequence, and the one that its client offers for replies."""
    number = creation.on_create(state, exchange, body, now)
    response = exchange.response
    assert response is not None, "a sequence that is created is answered"
    created = response.body
    assert isinstance(created, CreateSequenceResponse), f"not the answer to CreateSequence: {created}"
    if number and body.offer is not None and created.accept is not None:
        reachable = _target(body.offer.endpoint, exchange.envelope.reply_to, body.acks_to)
        outbound = offered.accept(state, body.offer, number, exchange.envelope.dialect, reachable, now)
        if outbound:
            creation.pair(state, number, outbound)
        else:  # another client offered this identifier
            exchange.response = replace(response, body=replace(created, accept=None))


def _target(*references: Reference | None) -> Reference | None:
    """Return the address for messages of an offered sequence; None for a client that cannot be reached."""
    given = next((each for each in references if each is not None and each.address), None)
    return None if given is None or is_anonymous(given.address) else given


def _on_create_response(state: State, exchange: Exchange, body: CreateSequenceResponse, now: Instant) -> None:
    """Open a sequence that the peer has created, and the offered one if it was accepted."""
    source_creation.on_create_response(state, exchange, body, now)
    accepted, state.source.accepted_offers = state.source.accepted_offers, []
    for offer in accepted:
        creation.begin_offered(state, offer.identifier, offer.queue, offer.dialect, offer.acks_to, now)


def _on_fault(state: State, exchange: Exchange, body: Fault, now: Instant) -> None:
    """Pass a fault of a peer to the role whose sequence it names."""
    state.counts[Count.FAULTS_RECEIVED] += 1
    source_ending.on_fault(state, exchange, body, now)
    destination_ending.on_fault(state, exchange, body, now)


def _on_terminate(state: State, exchange: Exchange, body: TerminateSequence, now: Instant) -> None:
    """End a sequence.  In WS-RM 1.0 the answer is the end of what its client offered: WCF requires one.

    An answer that ends nothing is one of gSOAP to a source that offered nothing.
    """
    if not body.identifier:
        if exchange.to:
            raise WsrmFault(Fault(FaultCode.SENDER, "there is no Identifier"), exchange.envelope.dialect)
        return
    destination_ending.on_terminate(state, exchange, body, now)
    sequence = state.destination.sequences[state.destination.by_identifier[body.identifier]]
    if exchange.response is None and sequence.row.offer and not sequence.row.reply_url:
        exchange.response = Envelope(
            dialect=exchange.envelope.dialect,
            relates_to=exchange.envelope.message_id,
            body=TerminateSequence(sequence.row.offer),
        )
        exchange.acknowledged.append(sequence.number)


_BODIES: Final[dict[type, Callable[[State, Exchange, Any, Instant], None]]] = {
    CreateSequence: _on_create,
    CreateSequenceResponse: _on_create_response,
    CloseSequence: destination_ending.on_close,
    CloseSequenceResponse: source_ending.on_close_response,
    TerminateSequence: _on_terminate,
    TerminateSequenceResponse: source_ending.on_terminate_response,
    MakeConnection: backchannel.on_make_connection,
    Fault: _on_fault,
    Payload: plain.on_payload,
}
