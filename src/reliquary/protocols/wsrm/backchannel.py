"""Sends messages to clients without an address, on responses to their requests or to MakeConnection.

a request waits for its reply --> wait --- the application replies: the reply is the response
                                    |----- the client sends the request again: the newer one waits
                                    '----- too long: the response has only the acknowledgement
MakeConnection ---------------> an envelope in the mailbox, or a message of a sequence that the client
                                offered; the acknowledgements that are due; or nothing (202)
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.wsrm.codec.addressing import is_polled
from reliquary.protocols.wsrm.codec.fault_writer import unsupported_selection
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import Envelope, Fault, MakeConnection
from reliquary.protocols.wsrm.destination import acknowledging
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.mapping import identifier_of
from reliquary.protocols.wsrm.responding import respond
from reliquary.protocols.wsrm.source import offered
from reliquary.protocols.wsrm.state import State

REPLY_WAIT: Final = "wsrm-reply"
"""The timer for a response that waits, one for each caller."""


# -- a request that waits for its reply


def wait_for_reply(state: State, exchange: Exchange, now: Instant) -> None:
    """Let a request wait for its reply; if the reply is already known, answer at once."""
    message_id, sequence = exchange.envelope.message_id, exchange.reply_to
    for to, other in list(state.backchannel.unanswered.items()):
        if other.reply_to == sequence and other.envelope.message_id == message_id:
            _release(state, to)
            _give_up(state, other, now)  # its client waits for the newer request
    state.backchannel.unanswered[exchange.to] = exchange
    state.draft.ask(SetTimer((REPLY_WAIT, exchange.to), state.settings.reply_wait))
    _answer(state, exchange, now)


def serve(state: State, now: Instant) -> None:
    """Give new messages of offered sequences to the requests that wait for them."""
    ready, state.turn.ready = state.turn.ready, []
    for sequence in ready:
        for exchange in [each for each in state.backchannel.unanswered.values() if each.reply_to == sequence]:
            _answer(state, exchange, now)


def _answer(state: State, exchange: Exchange, now: Instant) -> None:
    request = identifier_of(exchange.envelope.message_id)
    reply = offered.take_reply(state, exchange.reply_to, request, now)
    if reply is not None:
        _release(state, exchange.to)
        exchange.response = reply
        respond(state, exchange, now)


def _release(state: State, to: int) -> None:
    del state.backchannel.unanswered[to]
    state.draft.ask(CancelTimer((REPLY_WAIT, to)))


def on_reply_wait(state: State, to: int, now: Instant) -> None:
    """Answer a request whose reply did not come in time."""
    exchange = state.backchannel.unanswered.pop(to, None)
    if exchange is not None:
        _give_up(state, exchange, now)


def _give_up(state: State, exchange: Exchange, now: Instant) -> None:
    """Answer 202 without an acknowledgement: WCF sends the request again then, and may get its reply."""
    exchange.acknowledged.clear()
    respond(state, exchange, now)


def on_caller_left(state: State, to: int) -> None:
    """Forget a waiting request whose client has disconnected.

    Its reply waits until the client sends it again.
    """
    if to in state.backchannel.unanswered:
        _release(state, to)


# -- MakeConnection


def on_make_connection(state: State, exchange: Exchange, body: MakeConnection, now: Instant) -> None:
    """Answer a polling client with the next envelope that waits for it."""
    dialect = exchange.envelope.dialect
    if body.unsupported:
        raise WsrmFault(unsupported_selection(body.unsupported), dialect)
    address = body.address or _address_of(state, body.identifier)
    if not address and not body.identifier:
        raise WsrmFault(Fault(FaultCode.MISSING_SELECTION), dialect)
    if not is_polled(address):
        return
    exchange.acknowledged += acknowledging.due_to(state, address)
    found = _next_for(state, address, now)
    if found is not None:
        exchange.response = replace(found, pending=_has_more(state, address))


def _address_of(state: State, identifier: str) -> str:
    """Return the address of the client that has this sequence; only MakeConnection 1.0 selects by one."""
    number = state.destination.by_identifier.get(identifier)
    return "" if number is None else state.destination.sequences[number].row.acks_to.address


def _next_for(state: State, address: str, now: Instant) -> Envelope | None:
    mailbox = state.backchannel.mailboxes.get(address)
    if mailbox:
        envelope = mailbox.popleft()
        if not mailbox:
            del state.backchannel.mailboxes[address]
        return envelope
    for sequence in offered.waiting_for(state, address):
        message = offered.take_next(state, sequence, now)
        if message is not None:
            return message
    return None


def _has_more(state: State, address: str) -> bool:
    return address in state.backchannel.mailboxes or bool(offered.waiting_for(state, address))
