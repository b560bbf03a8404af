"""Writes responses: to the request itself, or to the address that it names for them.

the response    its request's ReplyTo (of a fault, FaultTo)    what leaves
none            any                                            202, or 200 with acknowledgements
a body          anonymous, or not said                         200, of a fault 400 or 500
a body          an address                                     a request to that address, and 202 or 200
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import Reply, Warn
from reliquary.protocols.wsrm.codec.addressing import ANONYMOUS, is_anonymous, is_none
from reliquary.protocols.wsrm.codec.encode import encode, encode_acknowledgement
from reliquary.protocols.wsrm.codec.faults import WsrmFault, status_of
from reliquary.protocols.wsrm.codec.values import (
    Addressing,
    CloseSequenceResponse,
    CreateSequenceResponse,
    Envelope,
    Fault,
    Reference,
    TerminateSequenceResponse,
)
from reliquary.protocols.wsrm.destination import acknowledging
from reliquary.protocols.wsrm.events import PostAnswer
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.state import Count, State
from reliquary.protocols.wsrm.transport import send

RELATED: Final = (CreateSequenceResponse, CloseSequenceResponse, TerminateSequenceResponse, Fault)
"""Bodies whose envelope names the request that they answer."""


def respond(state: State, exchange: Exchange, now: Instant) -> None:
    """Write the response of an exchange, with the acknowledgements that it carries."""
    if not exchange.to:
        return
    request, response = exchange.envelope, exchange.response
    if response is None and len(exchange.acknowledged) == 1:
        _acknowledge(state, exchange, exchange.acknowledged[0])
        return
    if response is not None and isinstance(response.body, RELATED):
        response = replace(response, relates_to=response.relates_to or request.message_id)
        elsewhere = _address_for(request, response)
        if elsewhere is not None:
            send(state, elsewhere, response, now)
            response = None
    wanted = dict.fromkeys(exchange.acknowledged)
    numbers = [number for number in wanted if acknowledging.is_wanted(state, exchange, number)]
    acknowledgements = tuple(acknowledging.acknowledgement(state, number) for number in numbers)
    for number in numbers:
        acknowledging.sent(state, number)
    if acknowledgements:
        state.draft.wait()  # an earlier turn stored what they confirm, and may not be synced
        response = response or Envelope(dialect=request.dialect)
    if response is None:
        _reply(state, exchange.to, PostAnswer(202))
        return
    known = {each.identifier for each in response.acknowledgements}
    added = tuple(each for each in acknowledgements if each.identifier not in known)
    _write(state, exchange, replace(response, acknowledgements=response.acknowledgements + added))


def _acknowledge(state: State, exchange: Exchange, number: int) -> None:
    """Answer with the acknowledgement of a sequence, as most messages are answered."""
    written = acknowledging.acknowledgement(state, number)
    acknowledging.sent(state, number)
    state.draft.wait()  # as in `respond`
    encoded = encode_acknowledgement(written, exchange.envelope.dialect)
    _reply(state, exchange.to, PostAnswer(200, encoded.content_type, encoded.data))


def _write(state: State, exchange: Exchange, response: Envelope) -> None:
    if response.dialect.addressing is Addressing.WSA2004 and response.to is None:
        response = replace(response, to=Reference(ANONYMOUS[Addressing.WSA2004]))
    encoded = encode(response)
    fault = response.body if isinstance(response.body, Fault) else None
    status = 200 if fault is None else status_of(fault.code, response.dialect)
    why = "" if fault is None else fault.reason or fault.code.value
    _reply(state, exchange.to, PostAnswer(status, encoded.content_type, encoded.data, why))


def refuse(state: State, to: int, refused: WsrmFault, peer: str) -> None:
    """Answer a request that could not be read."""
    state.counts[Count.FAULTS_SENT] += 1
    state.draft.ask(Warn(f"WS-RM from {peer or 'an unknown peer'}", "refused", refused.why))
    exchange = Exchange(Envelope(dialect=refused.dialect), to)
    _write(state, exchange, Envelope(dialect=refused.dialect, body=refused.fault))


def _address_for(request: Envelope, response: Envelope) -> Reference | None:
    """Return the address that the response is sent to; None for the response to the request itself."""
    chosen = request.reply_to
    if isinstance(response.body, Fault):
        chosen = request.fault_to or request.reply_to
    if chosen is None or not chosen.address or is_anonymous(chosen.address) or is_none(chosen.address):
        return None
    return chosen


def _reply(state: State, to: int, answer: PostAnswer) -> None:
    state.draft.ask(Reply(to, answer))
