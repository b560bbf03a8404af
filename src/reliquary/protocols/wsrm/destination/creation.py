"""Creates a sequence for a client that sends CreateSequence, or for an offer of the own source.

    CreateSequence --> endpoint, AcksTo, offer, TLS, limits --> SequenceOpened --> CreateSequenceResponse
                                   |
                         CreateSequenceRefused

A repeated CreateSequence is recognized by its MessageID or by the identifier of its offer, and answered as
before.  One that has neither (gSOAP without an offer) makes a new sequence, and the first one times out.
"""

from __future__ import annotations

from typing import Final, NoReturn
from urllib.parse import quote

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.wsrm.codec.addressing import is_anonymous, is_none, is_polled
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import (
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Fault,
    Reference,
)
from reliquary.protocols.wsrm.destination.apply import apply, creation_key
from reliquary.protocols.wsrm.destination.ending import INACTIVITY
from reliquary.protocols.wsrm.destination.facts import SequenceOpened, SequencePaired
from reliquary.protocols.wsrm.destination.lookup import user_of
from reliquary.protocols.wsrm.destination.routing import queue_of
from reliquary.protocols.wsrm.destination.state import Sequence
from reliquary.protocols.wsrm.destination.tables import Inbound
from reliquary.protocols.wsrm.destination.watching import watch
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.numbering import new_identifier, next_sequence
from reliquary.protocols.wsrm.schemes import ENDPOINT_PATH, name_of_url
from reliquary.protocols.wsrm.settings import EndpointSettings
from reliquary.protocols.wsrm.state import State

MOST_OPEN: Final = 100_000
"""The most open sequences of all endpoints, because any name may be one, also that of a missing queue."""


def on_create(state: State, exchange: Exchange, body: CreateSequence, now: Instant) -> int:
    """Create a sequence and answer; return its number, or 0 for a repeated request."""
    state.destination.now = now
    endpoint, queue = _endpoint(state, exchange)
    _check_addresses(state, exchange, body)
    number = _find_created(state, exchange, body)
    if number:
        _answer(state, exchange, state.destination.sequences[number])
        return 0
    _check_limits(state, exchange)
    row = _row(state, exchange, body, endpoint, queue, now)
    sequence = _open(state, row, now)
    _answer(state, exchange, sequence)
    return row.number


def begin_offered(
    state: State, identifier: str, queue: str, dialect: Dialect, acks_to: Reference, now: Instant
) -> int:
    """Begin a sequence that the own source offered and its peer accepted; return its number."""
    known = state.destination.by_identifier.get(identifier)
    if known is not None:
        return known  # the acceptance of the peer came twice
    life = state.settings.longest_life
    number = next_sequence(state)
    _open(state, Inbound(number, identifier, "", queue, dialect, acks_to, now, life), now)
    return number


def pair(state: State, inbound: int, outbound: int) -> None:
    """Record the sequence into which replies to the messages of a client are sent."""
    apply(state, SequencePaired(inbound, outbound))


# -- checks


def _refuse(exchange: Exchange, why: str) -> NoReturn:
    raise WsrmFault(Fault(FaultCode.CREATE_SEQUENCE_REFUSED, why), exchange.envelope.dialect)


def _endpoint(state: State, exchange: Exchange) -> tuple[EndpointSettings, str]:
    """Return the settings of the endpoint of a request, and its queue."""
    endpoint = state.settings.endpoint(exchange.endpoint)
    queue = "" if endpoint is None else queue_of(endpoint, exchange.endpoint)
    if endpoint is None or not queue:
        _refuse(exchange, f"there is no endpoint {exchange.endpoint}")
    return endpoint, queue


def _check_addresses(state: State, exchange: Exchange, body: CreateSequence) -> None:
    """Refuse addresses that acknowledgements cannot reach, long ones, and UsesSequenceSSL without TLS."""
    longest, envelope = state.settings.longest_identifier, exchange.envelope
    address = body.acks_to.address
    if is_none(address) or not (is_anonymous(address) or is_polled(address) or name_of_url(address)):
        _refuse(exchange, f"AcksTo is no address that acknowledgements can be sent to: {address[:80]}")
    longer = max(len(address), len(envelope.message_id))
    if longer > longest:
        _refuse(exchange, f"AcksTo and MessageID have at most {longest} characters, not {longer}")
    if body.offer is not None and not 1 <= len(body.offer.identifier) <= longest:
        _refuse(
            exchange,
            f"the identifier of an offer has 1 to {longest} characters, not {len(body.offer.identifier)}",
        )
    if envelope.uses_ssl and not exchange.secure:
        _refuse(exchange, "UsesSequenceSSL needs a request over TLS")
    # DEPARTS from 5.1 (FC-046): header blocks are protected by TLS, not by signatures of their own,
    # because WS-Security is not supported.  So UsesSequenceSTR and UsesSequenceSSL bind a sequence to
    # the user who created it and to TLS, not to one token or one TLS session: durable sequences outlive
    # both.


def _check_limits(state: State, exchange: Exchange) -> None:
    here = state.destination
    if here.open_counts[exchange.endpoint] >= state.settings.most_sequences:
        _refuse(exchange, "the endpoint has too many sequences")
    if len(here.sequences) - len(here.ended) >= MOST_OPEN:
        _refuse(exchange, "there are too many sequences")


def _find_created(state: State, exchange: Exchange, body: CreateSequence) -> int:
    """Return the sequence that was created by this request before; 0 for none."""
    texts = (exchange.envelope.message_id, "" if body.offer is None else body.offer.identifier)
    user, address = user_of(exchange.by), body.acks_to.address
    found = [
        state.destination.created.get(creation_key(user, exchange.endpoint, address, text), 0)
        for text in texts
        if text
    ]
    return max(found, default=0)


# -- the sequence and the answer


def _row(
    state: State,
    exchange: Exchange,
    body: CreateSequence,
    endpoint: EndpointSettings,
    queue: str,
    now: Instant,
) -> Inbound:
    envelope, longest = exchange.envelope, state.settings.longest_life
    offer = body.offer if endpoint.offers else None
    return Inbound(
        next_sequence(state),
        new_identifier(state, now),
        exchange.endpoint,
        queue,
        envelope.dialect,
        body.acks_to,
        now,
        min(body.expires or longest, longest),
        user_of(exchange.by),
        envelope.uses_ssl,
        envelope.message_id,
        "" if offer is None else offer.identifier,
        "" if offer is None else _url_of(offer.endpoint or envelope.reply_to or body.acks_to),
    )


def _url_of(target: Reference) -> str:
    """Return the URL for requests; empty for a target that only responses reach."""
    unreachable = is_anonymous(target.address) or is_none(target.address) or is_polled(target.address)
    return target.address if not unreachable and name_of_url(target.address) else ""


def _open(state: State, row: Inbound, now: Instant) -> Sequence:
    apply(state, SequenceOpened(row))
    sequence = state.destination.sequences[row.number]
    sequence.heard = now
    watch(state, sequence.target)
    wait = min(state.settings.inactivity, row.life)
    state.draft.ask(SetTimer((INACTIVITY, row.number), Duration(wait)))
    return sequence


def _answer(state: State, exchange: Exchange, sequence: Sequence) -> None:
    row, envelope = sequence.row, exchange.envelope
    exchange.response = Envelope(
        dialect=envelope.dialect,
        to=envelope.reply_to,
        relates_to=envelope.message_id,
        body=CreateSequenceResponse(
            row.identifier,
            Duration(row.life),
            sequence.settings.incomplete,
            _own_address(state, exchange) if row.offer else None,
        ),
    )
    state.draft.wait()


def _own_address(state: State, exchange: Exchange) -> Reference:
    """Return AcksTo of an offered sequence.

    The own address as the client wrote it, because WCF compares both.
    """
    to = exchange.envelope.to
    if to is not None and _url_of(to):
        return Reference(to.address)
    return Reference(f"{state.address.origin}{ENDPOINT_PATH}{quote(exchange.endpoint)}")
