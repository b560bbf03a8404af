"""Sends envelopes: as requests to an address, or into the mailbox of a client that fetches them.

    to an http or https URL     Post on its connection; acknowledgements that are due there go along
    to a MakeConnection URI     the mailbox; the client's next poll takes it
    to an anonymous address     nowhere: only the response to a request reaches it

Envelopes that are sent here are not sent again: a peer that misses an acknowledgement asks for it, and
a peer that misses a response repeats its request.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.wsrm.codec.addressing import is_anonymous, is_polled
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.values import Envelope, Reference
from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.numbering import new_identifier
from reliquary.protocols.wsrm.state import State

MAILBOX_LIMIT: Final = 64
"""The most envelopes that wait for a client; the oldest is dropped, and its sender repeats it if needed."""
MAILBOXES_LIMIT: Final = 10_000


def send(state: State, to: Reference, envelope: Envelope, now: Instant) -> None:
    """Send an envelope to an address; nothing is sent to an address that only responses reach."""
    if is_polled(to.address):
        _keep(state, to.address, envelope)
    elif is_anonymous(to.address) or not to.address.lower().startswith(("http://", "https://")):
        state.draft.ask(
            Warn(
                f"WS-RM to {to.address}",
                "an answer was dropped",
                "its address is anonymous or not a URL of HTTP, so no request can be sent there",
            )
        )
    else:
        _post(state, to, envelope, now)


def _keep(state: State, address: str, envelope: Envelope) -> None:
    mailboxes = state.backchannel.mailboxes
    if address not in mailboxes and len(mailboxes) >= MAILBOXES_LIMIT:
        del mailboxes[next(iter(mailboxes))]
    mailboxes.setdefault(address, deque(maxlen=MAILBOX_LIMIT)).append(envelope)


def _post(state: State, to: Reference, envelope: Envelope, now: Instant) -> None:
    url = to.address
    numbers = state.connections.numbers
    connection = numbers.setdefault(url, -1 - len(numbers))
    state.last_ticket += 1
    identified = replace(envelope, to=to, message_id=envelope.message_id or new_identifier(state, now))
    encoded = encode(identified)
    state.draft.ask(
        Post(
            connection,
            state.connections.epochs.get(connection, 0),
            state.last_ticket,
            url,
            encoded.content_type,
            encoded.action,
            encoded.data,
        )
    )
    state.draft.wait()  # it may report facts that an earlier turn wrote
