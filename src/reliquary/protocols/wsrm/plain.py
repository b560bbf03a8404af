"""Processes application messages outside any sequence.

in a request     an endpoint that does not require WS-RM takes it unchanged; else WSRMRequired
on a response    it goes into the queue for replies of the peer's settings; without one it is dropped
an empty Body    of an acknowledgement or an AckRequested alone: there is no message
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.wsrm.carrier import NAME
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import Fault, Payload
from reliquary.protocols.wsrm.destination.routing import crosses, queue_of
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.mapping import identifier_of, message_of
from reliquary.protocols.wsrm.numbering import new_identifier
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.transfer import BatchArrived, BatchJudged, Outcome
from reliquary.queueing.travel.crossing import as_sent_onward


def on_payload(state: State, exchange: Exchange, body: Payload, now: Instant) -> None:
    """Process a message without a number in a sequence."""
    envelope = exchange.envelope
    if not body.content and not body.attachments and (envelope.acknowledgements or envelope.ack_requests):
        return
    if exchange.to:
        endpoint = state.settings.endpoint(exchange.endpoint)
        if endpoint is None:
            unreachable = Fault(FaultCode.UNREACHABLE, f"there is no endpoint {exchange.endpoint}")
            raise WsrmFault(unreachable, envelope.dialect)
        if endpoint.required:
            raise WsrmFault(Fault(FaultCode.WSRM_REQUIRED), envelope.dialect)
        queue = queue_of(endpoint, exchange.endpoint)
    else:
        session = state.source.sessions.get(exchange.connection)
        queue = "" if session is None else session.way.peer.replies_into
        if not queue:
            return
    identifier = identifier_of(envelope.message_id or new_identifier(state, now))
    message = message_of(envelope, fallback=identifier, response_queue="", now=now)
    if crosses(queue):
        message = as_sent_onward(message, None)  # outside a sequence nothing is delivered once or in order
    state.last_ticket += 1
    state.turn.exchanges[state.last_ticket] = exchange
    exchange.judging = True
    transaction = identifier.lineage
    state.draft.signal(
        BatchArrived(
            NAME,
            state.last_ticket,
            (queue,),
            (message,),
            transaction,
            exchange.by,
            once=False,
            peer=exchange.peer,
        )
    )


def on_judged(state: State, exchange: Exchange, signal: BatchJudged) -> None:
    """Refuse a message that the queue manager refused.

    After a temporary refusal the peer may send it again.
    """
    if signal.outcome is Outcome.DELIVERED:
        return
    if not exchange.to:
        state.draft.ask(Warn(f"WS-RM connection {exchange.connection}", "a reply was dropped", signal.why))
        return
    later = signal.outcome is Outcome.TRY_LATER
    code = FaultCode.ENDPOINT_UNAVAILABLE if later else FaultCode.UNREACHABLE
    raise WsrmFault(Fault(code, signal.why), exchange.envelope.dialect)
